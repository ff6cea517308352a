"""A channel or DM: who is in it, what was said in it, in which order; pure."""

from dataclasses import dataclass, field
from typing import Literal

from bot.playground.grants import Refused, require
from bot.playground.people import (
    ANA,
    BEN,
    BOT,
    MAX,
    MIA,
    PARTNER_TEAM_ID,
    PAT,
    TEAM_ID,
)
from bot.slack.checks import JsonObject

Kind = Literal["channel", "group", "im", "mpim"]


@dataclass
class Channel:
    """A conversation; `messages` by ts in order, `whispers` are (person id, ephemeral)."""

    id: str
    name: str
    members: set[str]
    kind: Kind = "channel"
    is_ext_shared: bool = False
    is_archived: bool = False
    messages: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    whispers: list[tuple[str, JsonObject]] = field(default_factory=list[tuple[str, JsonObject]])
    last_ts: int = 0

    def next_ts(self, now: float) -> str:
        """A ts no message of this channel has, as close to now as possible."""
        self.last_ts = max(int(now * 1_000_000), self.last_ts + 1)
        return f"{self.last_ts // 1_000_000}.{self.last_ts % 1_000_000:06d}"

    def message(self, ts: str) -> JsonObject:
        """The message with this ts; Refused when there is none."""
        require(ts in self.messages, "message_not_found")
        return self.messages[ts]

    def top_level(self) -> list[JsonObject]:
        """What stands in the channel itself, replies left out."""
        return [each for each in self.messages.values() if not is_reply(each)]

    def thread(self, ts: str) -> list[JsonObject]:
        """A message and its replies; of a reply, only itself, as Slack answers."""
        require(ts in self.messages, "thread_not_found")
        replies = [each for each in self.messages.values() if each.get("thread_ts") == ts]
        parent = self.messages[ts]
        return [parent, *(each for each in replies if each is not parent)]

    def add(self, message: JsonObject, *, thread_ts: str | None) -> None:
        """Append a message, to a thread perhaps, and count it on the thread's first one."""
        if thread_ts and thread_ts != message["ts"]:
            parent = self.messages.get(thread_ts)
            if parent is None or is_reply(parent):
                raise Refused("thread_not_found")
            message |= {"thread_ts": thread_ts, "parent_user_id": parent["user"]}
            users = sorted({*parent.get("reply_users", []), message["user"]})
            parent |= {
                "thread_ts": thread_ts,
                "reply_count": parent.get("reply_count", 0) + 1,
                "reply_users": users,
                "reply_users_count": len(users),
                "latest_reply": message["ts"],
            }
        self.messages[message["ts"]] = message

    def remove(self, ts: str) -> JsonObject:
        """Delete a message; the first one of a thread leaves a tombstone."""
        message = self.message(ts)
        if message.get("reply_count"):
            grave = {
                "subtype": "tombstone",
                "text": "This message was deleted.",
                "user": "USLACKBOT",
            }
            kept = {key: message[key] for key in message if key not in ("blocks", "metadata")}
            self.messages[ts] = kept | grave
        else:
            del self.messages[ts]
        return message

    def as_object(self) -> JsonObject:
        """What conversations.info says."""
        teams = [TEAM_ID, PARTNER_TEAM_ID] if self.is_ext_shared else [TEAM_ID]
        entry: JsonObject = {
            "id": self.id,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_archived": self.is_archived,
            "is_ext_shared": self.is_ext_shared,
            "is_shared": self.is_ext_shared,
            "is_org_shared": False,
            "connected_team_ids": teams[1:],
            "shared_team_ids": teams,
            "context_team_id": TEAM_ID,
            "is_member": BOT.id in self.members,
            "created": 1_700_000_000,
        }
        if self.kind == "im":
            return entry | {"user": next(iter(self.members - {BOT.id})), "is_user_deleted": False}
        return entry | {"name": self.name, "name_normalized": self.name}


def is_reply(message: JsonObject) -> bool:
    """Whether a message stands in a thread below another one."""
    return message.get("thread_ts") not in (None, message["ts"])


def default_channels() -> list[Channel]:
    """The channels of a new workspace; the bot is in all but #random."""
    team = {ANA.id, BEN.id, MAX.id, MIA.id}
    return [
        Channel("C0GENERAL01", "general", team | {BOT.id}),
        Channel("C0EXPENSES1", "expenses", team | {BOT.id}),
        Channel("C0TIMEOFF01", "time-off", team | {BOT.id}),
        Channel("C0SUPPORT01", "support", team | {BOT.id}),
        Channel("C0APPROVAL1", "approvals", {MAX.id, MIA.id, BOT.id}, kind="group"),
        Channel("C0PARTNERS1", "partners", {ANA.id, MAX.id, PAT.id, BOT.id}, is_ext_shared=True),
        Channel("C0RANDOM001", "random", set(team)),
    ]
