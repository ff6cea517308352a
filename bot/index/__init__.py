"""What is due when, what people find again, and a few marks: every key outside sessions.

All of it is hints. The truth is in the sessions, so what is lost here is found again by whoever
walks through them; what is here too much is looked at once and struck off. Bots of several
tenants may share a store: each has hints of its own and never sees another one's.

`<t>` is the tenant.

| key | type | what is in it | lifetime |
|---|---|---|---|
| `{due:<t>}:ready` | zset | session -> when to look at it (ms; 0: now, 1: behind) | while due |
| `{due:<t>}:took:<claim>` | string | what a claim took, for who did not hear it | its lease |
| `{due:<t>}:wake` | list | at most 32 tokens that end a wait early | a minute |
| `{due:<t>}:seen` | zset | `session|approval` -> when it was asked, open ones ahead | a month |
| `{mine:<t>:<name>}:appr` | zset | the same, of those that concern a person or group | a month |
| `{due:<t>}:home` | zset | person -> when they opened their Home last (ms) | a month |
| `{due:<t>}:audit` | zset | session -> when people were asked last (ms) | while it is kept |
| `{due:<t>}:apps` | set | agents that have sessions, by name | 90 days |
| `{due:<t>}:anchors` | hash | date -> the audit's anchor of that day as JSON | 400, in 4 MB |
| `{due:<t>}:anchoring` | string | one of the clocks posts an anchor | 2 minutes |
| `{due:<t>}:appr` | zset | `session|approval` -> when to look at it (ms) | while it is open |
| `{due:<t>}:left` | zset | `session|approval` -> when to look who may decide (ms) | till then |
| `{due:<t>}:until` | zset | `method:channel` -> when Slack wants such a call again (ms) | a day |
| `{boot}:marker` | hash | since when the store remembers, when found emptied (ms) | always |
| `{due:<t>}:dead` | zset | session -> when a turn of it was given up (ms) | 90 days |
| `{due:<t>}:tick` | zset | `session|call` -> when to look at its ticket | while it waits |
| `{due:<t>}:missed` | hash | the same -> looks since its ticket was there | 90 days |
| `{spent:<t>:<person>}:tokens` | string | tokens a person used up today | until midnight |
| `{spent:<t>:<person>}:tokens:<count>` | string | that some of them were counted | 10 minutes |
| `{dm:<t>:<channel>}:agent` | string | which agent answered last in a DM | 90 days |
| `{note:<t>:<hash>}:told` | string | an answer to a click was given | an hour |
| `{gone:<t>:<turn>}:told` | string | the message of a turn was deleted | a day, a month |
| `{aside:<session>}:said` | zset | what was said in a thread of nobody's yet, by ts | 10 minutes |
"""

from bot.index.due import Claim, Index, Marker
from bot.index.hints import Client
from bot.index.lists import Lists

__all__ = ["Claim", "Client", "Index", "Lists", "Marker"]
