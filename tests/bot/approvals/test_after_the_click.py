"""What follows from votes and from time that others have to hear of."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from agents.runtime.payload import schema_of
from agents.runtime.slot.memory import MemorySlot
from bot.approvals.life import closed, prompted
from bot.approvals.posts import kind_of, prompts
from bot.approvals.request import Approval, Escalation
from bot.approvals.ruling import (
    NO_REASON,
    NO_VALUES,
    NOT_KEPT,
    ONLY_APPROVED,
    Ruled,
    Ruling,
    carried,
    rule,
)
from bot.approvals.terms import Policy, Vote
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import ASKED, approval

YES = Vote(person="UBOSS", confirmed=True, at=ASKED)
FORM: dict[str, Any] = {
    "payload_schema": {"type": "object", "properties": {"days": {"type": "integer"}}}
}
UNKNOWN: dict[str, Any] = {"unknown": True}
STRICT = Policy(approvers=("UBOSS", "UCFO"), reason_required=True)


@pytest.mark.parametrize("reason", [None, "", "  \n"])
def test_an_operator_says_why_as_well(reason):
    """Where a policy wants a reason for a rejection, one from outside Slack has it too."""
    ruling = Ruling(act="reject", by="jo", reason=reason)
    assert carried(approval(policy=STRICT), ruling, now=ASKED, run_for=None) == Ruled(
        "invalid", NO_REASON
    )


class Begun(BaseModel):
    """Fields whose values would be read otherwise if somebody typed them."""

    any: Any = "12"
    tags: list[str] | str = "[urgent]"
    about: dict[str, int] | str = '{"a": 1}'
    number: int | str = "7"
    key: str = Field("hunter2", title="API key")
    days: int = 1


async def test_an_operator_leaves_the_rest_as_it_is():
    """What they do not set is approved as it is shown; what they set is read as typed."""
    slot = MemorySlot()
    schema, begun = schema_of(Begun)
    asked = await put(slot, payload_schema=schema, payload=begun)
    ruling = Ruling(act="approve", by="jo", values={"days": "3", "about": '{"b": 2}'})
    came = await rule(slot, asked, ruling)
    assert (await stored(slot)).payload == {**begun, "days": 3, "about": {"b": 2}}
    assert "hunter2" not in came.sentence
    assert '"tags": "[urgent]"' in came.sentence


@pytest.mark.parametrize(
    ("ruling", "how", "told"),
    [
        pytest.param(
            Ruling(act="approve", by="jo", values={"amount": "1"}), {}, NO_VALUES, id="no form"
        ),
        pytest.param(
            Ruling(act="reject", by="jo", values={"days": "3"}), FORM, ONLY_APPROVED, id="no"
        ),
        pytest.param(
            Ruling(act="cancel", by="jo", values={"days": "3"}), FORM, ONLY_APPROVED, id="cancel"
        ),
        pytest.param(
            Ruling(act="leave", by="jo", values={"days": "3"}),
            FORM | UNKNOWN,
            ONLY_APPROVED,
            id="leave",
        ),
        pytest.param(
            Ruling(act="happened", by="jo", values={"days": "3"}),
            FORM | UNKNOWN,
            ONLY_APPROVED,
            id="happened",
        ),
        pytest.param(
            Ruling(act="run", by="jo", values={"days": "3"}), UNKNOWN, NO_VALUES, id="run"
        ),
        pytest.param(
            Ruling(act="happened", by="jo", reason="seen"), UNKNOWN, NOT_KEPT, id="a reason"
        ),
    ],
)
def test_nothing_an_operator_gives_is_dropped(ruling: Ruling, how: dict[str, Any], told: str):
    """What nothing would read is told, and nothing is decided."""
    came = carried(approval(**how), ruling, now=ASKED, run_for=None)
    assert came == Ruled("invalid", told)


@pytest.mark.parametrize(
    ("act", "reason", "policy"),
    [
        pytest.param("reject", " too dear ", STRICT, id="with a reason"),
        pytest.param("reject", None, Policy(approvers=("UBOSS",)), id="not wanted"),
        pytest.param("approve", None, STRICT, id="an approval"),
        pytest.param("cancel", None, STRICT, id="closed for nobody's sake"),
    ],
)
def test_nothing_else_needs_a_reason(act, reason, policy):
    """It is closed, with the words that were said."""
    ruling = Ruling(act=act, by="jo", reason=reason)
    after = carried(approval(policy=policy), ruling, now=ASKED, run_for=None)
    assert isinstance(after, Approval)
    assert [vote.reason for vote in after.votes] in ([], [reason and reason.strip()])


@pytest.mark.parametrize(
    ("votes", "why", "kinds"),
    [
        pytest.param((YES,), "superseded", ["superseded"], id="somebody had voted"),
        pytest.param((), "superseded", [], id="nobody had"),
        pytest.param((YES,), "withdrawn", [], id="withdrawn"),
    ],
)
def test_votes_on_what_is_superseded(votes, why, kinds):
    """Who voted is told under the card that their vote is not counted for the newer request."""
    before = approval(votes=votes)
    after = closed(before, "cancelled", now=ASKED, why=why)
    assert [kind_of(post) for post in prompts(before, after)] == kinds


@pytest.mark.parametrize(
    ("notified", "expected"),
    [
        pytest.param(None, None, id="everybody is told"),
        pytest.param((), ("UDEPUTY",), id="nobody was told"),
        pytest.param(("UCFO",), ("UCFO", "UDEPUTY"), id="one was told"),
    ],
)
def test_who_decides_later_is_told_like_others(notified, expected):
    """Whoever an escalation brings in is in the reminders that follow."""
    later = Escalation(at=ASKED + 1, names=("UDEPUTY",), people=("UDEPUTY",))
    policy = Policy(approvers=("UBOSS", "UCFO"), notified=notified)
    after = prompted(approval(policy=policy, escalations=(later,)), now=ASKED + 1)
    assert after is not None
    assert after.policy.notified == expected


BEGINS = {
    "type": "object",
    "properties": {
        "days": {"type": "integer", "default": 1},
        "comment": {"type": "string", "default": ""},
    },
}


@pytest.mark.parametrize("act", ["approve", "run"])
@pytest.mark.parametrize(
    ("values", "entered"),
    [
        pytest.param({}, {"days": 3, "comment": "half"}, id="nothing"),
        pytest.param({"days": "2"}, {"days": 2, "comment": "half"}, id="one field"),
        pytest.param({"comment": ""}, {"days": 3, "comment": ""}, id="emptied"),
    ],
)
def test_what_an_operator_does_not_set_is_what_the_card_begins_with(act, values, entered):
    """Not a default of the form's class, which nobody was shown."""
    begins = {"days": 3, "comment": "half"}
    before = approval(payload_schema=BEGINS, payload=begins, unknown=act == "run")
    after = carried(before, Ruling(act=act, by="jo", values=values), now=ASKED, run_for=None)
    assert isinstance(after, Approval)
    assert after.payload == entered
