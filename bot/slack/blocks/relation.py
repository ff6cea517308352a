"""How a request stands among the others of its conversation, as small print on its card."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType

from bot.approvals.request import Approval
from bot.approvals.terms import Policy, is_person
from bot.slack.blocks.rendered import Block, mention, moment, small
from bot.slack.text import cut, visible

NAMES_LIMIT = 10
LINE_LIMIT = 1_000
EACH_LIMIT, BEFORE = 60, 20
"""Characters shown of a value that differs, and how many of them before the difference."""
UNTOLD = "somebody who is not mentioned here"
_STANDS: Mapping[str, str] = MappingProxyType(
    {
        "pending": "is still open",
        "rejected": "was rejected",
        "approved": "was approved and is about to run",
        "started": "was approved and is running",
        "done": "was approved and has run",
        "unknown": "was approved and may have run",
    }
)
MOVED_ON = (
    "People went on writing in the conversation after this was asked; it may not be up to date."
)


def talked_on() -> Block:
    """The line that people went on talking since it was asked."""
    return small(f":speech_balloon: {MOVED_ON}")


def alike(
    other: Approval,
    apart: Sequence[tuple[str, str]],
    *,
    here: Mapping[str, str],
    there: Mapping[str, str],
    policy: Policy,
) -> Block:
    """The line about another request that looks the same, and what differs: name and form.

    `here` and `there` are the values in both that may be shown. Of people only those are mentioned
    who are told about this one, by its policy.
    """
    like = "Nearly the same as" if apart else "The same as"
    what = f"{like} a request that {_STANDS[other.status]}"
    asked = f"`{other.reference}`, asked {moment(other.asked_at)}"
    by = f", decided by {_whom(other.decided_by, policy)}" if other.decided_by else ""
    told = f": {_apart(apart, here, there)}" if apart else ""
    return small(asked + by, before=cut(f"⚠ {what}{told}.", LINE_LIMIT))


def attempt(number: int, failed: Approval, corrected: Sequence[str], *, policy: Policy) -> Block:
    """The line that says which attempt at a failed call this is, and which arguments changed."""
    changed = f"changed: {_listed(corrected)}" if corrected else "nothing changed"
    by = f", approved by {_whom(failed.decided_by, policy)}," if failed.decided_by else ""
    told = f"Attempt {number - 1}{by} failed: `{failed.reference}`"
    return small(told, before=cut(f"Attempt {number}: {changed}.", LINE_LIMIT))


def _whom(person: str, policy: Policy) -> str:
    """Who decided another request: Slack notifies whoever a new message mentions."""
    told = policy.approvers if policy.notified is None else policy.notified
    return mention(person) if person in told or not is_person(person) else UNTOLD


def _apart(
    apart: Sequence[tuple[str, str]], here: Mapping[str, str], there: Mapping[str, str]
) -> str:
    """Which arguments differ, how, and what they are in both."""
    names = [name for name, _ in apart]
    forms = dict.fromkeys(form for _, form in apart if form)
    shown = [name for name in names[:NAMES_LIMIT] if name in here and name in there]
    told = [pair for name in shown if (pair := _pair(here[name], there[name]))]
    ways = f", in {' and '.join(forms)}" if forms else ""
    values = f" ({', '.join(told)})" if told else ""
    return f"only {_listed(names)} {'differs' if len(names) == 1 else 'differ'}{ways}{values}"


def _pair(one: str, other: str) -> str:
    """Two values from where they begin to differ; empty if the shown parts do not differ."""
    lines = [" ".join(each.split()) for each in (one, other)]
    if lines[0] == lines[1]:
        lines = [json.dumps(each, ensure_ascii=False) for each in (one, other)]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(*lines, strict=False))
    begin = max(sum(1 for _ in same) - BEFORE, 0)
    shown = [_around(line, begin) for line in lines]
    return " / ".join(shown) if shown[0] != shown[1] else ""


def _around(line: str, begin: int) -> str:
    """A part of a line, with dots for what comes before and after it."""
    if len(line) <= EACH_LIMIT:
        return line
    end = begin + EACH_LIMIT
    return f"{'…' if begin else ''}{line[begin:end]}{'…' if len(line) > end else ''}"


def _listed(names: Iterable[str]) -> str:
    """Names of arguments as people write them."""
    told = [visible(name.replace("_", " "))[0] for name in names]
    more = len(told) - NAMES_LIMIT
    return ", ".join(told[:NAMES_LIMIT]) + (f" and {more} more" if more > 0 else "")
