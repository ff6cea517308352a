"""How a request stands among the others of its conversation, as small print on its card."""

from collections.abc import Iterable, Sequence

from bot.approvals.board import reference
from bot.approvals.kin import Difference, Kin
from bot.approvals.request import Approval
from bot.slack.blocks.arguments import arguments
from bot.slack.blocks.outcome import approvers
from bot.slack.blocks.rendered import Block, mention, mentions, moment, small
from bot.slack.text import cut, visible

VALUE_LIMIT = 60
NAMES_LIMIT = 10
MOVED_ON = (
    "People went on writing in the conversation after this was asked; it may not be up to date."
)


def relation(approval: Approval, kin: Kin, *, is_open: bool) -> list[Block]:
    """The lines about tries that failed and, while it is open, its likes and the talk since."""
    talk = [small(f":speech_balloon: {MOVED_ON}")] if kin.moved_on else []
    return [*_attempt(kin), *([*_alike(approval, kin), *talk] if is_open else [])]


def _alike(approval: Approval, kin: Kin) -> list[Block]:
    other = kin.alike
    if other is None:
        return []
    opened = other.status == "pending"
    like = "Nearly the same as" if kin.apart else "The same as"
    what = f"{like} a request that {'is still open' if opened else 'was rejected'}"
    apart = f": {_apart(approval, other, kin.apart)}" if kin.apart else "."
    asked = f"`{reference(other)}`, asked {moment(other.asked_at)}"
    by = "" if opened else f", rejected by {mention(other.decided_by or '')}"
    return [small(asked + by, before=f"⚠ {what}{apart}")]


def _apart(one: Approval, other: Approval, apart: Sequence[Difference]) -> str:
    """Which arguments differ, in what, and how they stand in both; secrets are not told."""
    here, there = _shown(one), _shown(other)
    hidden = {*one.secrets, *other.secrets}
    forms = dict.fromkeys(each.form for each in apart if each.form)
    verb = "differs" if len(apart) == 1 else "differ"
    said = f"only {_listed(each.name for each in apart)} {verb}"
    told = [
        f"{here.get(each.name, 'nothing')} / {there.get(each.name, 'nothing')}"
        for each in apart[:NAMES_LIMIT]
        if each.name not in hidden
    ]
    ways = f", in {' and '.join(forms)}" if forms else ""
    values = f" ({', '.join(told)})" if told else ""
    return f"{said}{ways}{values}."


def _shown(approval: Approval) -> dict[str, str]:
    """A few characters of each argument, in one line."""
    pairs = zip(approval.args, arguments(approval), strict=True)
    return {name: cut(" ".join(each.value.split()), VALUE_LIMIT) for name, each in pairs}


def _attempt(kin: Kin) -> list[Block]:
    failed = kin.failed
    if failed is None:
        return []
    changed = f"changed: {_listed(kin.corrected)}" if kin.corrected else "nothing changed"
    by = f", approved by {mentions(approvers(failed))}," if approvers(failed) else ""
    before = f"Attempt {kin.attempt}: {changed}."
    return [small(f"Attempt {kin.attempt - 1}{by} failed: `{reference(failed)}`", before=before)]


def _listed(names: Iterable[str]) -> str:
    """Names of arguments as people write them."""
    told = [visible(name.replace("_", " "))[0] for name in names]
    more = len(told) - NAMES_LIMIT
    return ", ".join(told[:NAMES_LIMIT]) + (f" and {more} more" if more > 0 else "")
