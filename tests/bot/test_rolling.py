"""Two releases at once: what a newer one wrote is not lost in the hands of an older one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agents import Post, Record
from agents.runtime.slot.codec import begun
from agents.runtime.slot.port import Decide
from bot.approvals import posts
from bot.approvals.life import closed, prompted, voted
from bot.approvals.request import Approval, Copy, Escalation
from bot.approvals.rota import introduced
from bot.approvals.succession import succeeded
from bot.approvals.terms import Policy, Quota, Vote
from bot.turns import thread_of
from tests.bot.approvals.samples import ASKED, approval
from tests.bot.owing import Desk, question

NEW = {"of a newer release": {"key": [1]}}
LATER = Escalation(at=ASKED + 1, names=("UVP",), people=("UVP",))
FULL = approval(
    policy=Policy(
        approvers=("UBOSS", "UCFO", "S0FIN"),
        rules=((Quota(names=("UBOSS", "UCFO", "S0FIN"), count=2),),),
    ),
    votes=(Vote(person="UBOSS", confirmed=True, at=ASKED),),
    copies=(Copy.numbered("3-0", 0, "UBOSS"),),
    escalations=(LATER,),
    reminders=(ASKED + 1,),
)
PLACES: tuple[tuple[str | int, ...], ...] = (
    (),
    ("policy",),
    ("policy", "rules", 0, 0),
    ("votes", 0),
    ("copies", 0),
    ("escalations", 0),
)
STEPS: dict[str, Callable[[Approval], Approval | None]] = {
    "a vote": lambda before: voted(
        before, Vote(person="UCFO", confirmed=True, at=ASKED), run_for=None
    ),
    "a rejection": lambda before: voted(
        before, Vote(person="UCFO", confirmed=False, at=ASKED), run_for=None
    ),
    "a reminder and an escalation": lambda before: prompted(before, now=ASKED + 1),
    "its time is up": lambda before: closed(before, "expired", now=ASKED + 2),
    "others are asked": lambda before: succeeded(
        before, _able("UDEE", "UBOSS"), heirs=("UDEE",), now=ASKED
    ),
    "a group is known": lambda before: introduced(before, {"S0FIN": ("UFIN",)}),
}


def _able(*people: str) -> dict[str, frozenset[str]]:
    every = ("UBOSS", "UCFO", "UVP", "UDEE", "S0FIN")
    return {name: frozenset({name} & {*people}) for name in every}


def newer(record: Record, *place: str | int) -> Record:
    """The same record with more in it, as a newer release writes it."""
    body: Any = Approval.from_record(record).record().body
    at = body
    for each in place:
        at = at[each]
    at.update(NEW)
    return replace(record, body=body)


def there(record: Record, *place: str | int) -> bool:
    """Whether what the newer release wrote is still in that place."""
    at: Any = record.body
    for each in place:
        at = at[each]
    return NEW.items() <= at.items()


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_is_not_known_stays(step: Callable[[Approval], Approval | None], place):
    """Whatever an older release does with a request, it leaves in it what it does not know."""
    after = step(Approval.from_record(newer(FULL.record(), *place)))
    assert after is not None
    assert there(after.record(), *place)


async def test_a_call_with_more_to_it_is_still_open():
    """An open call of which a newer release wrote down more is read as far as it is known."""
    call = '{"name": "pay", "kind": "tool", "version": 2, "since": 5}'
    rest = [(), (), (), (), (), "1", 0]
    answer = ["begun", 1, 2, 9, 1, 0, (), (), "o", (), ["2-0", call], ["2-0", "{}"], *rest]
    assert begun(answer, {}, user="").open["2-0"].name == "pay"


@pytest.mark.parametrize("kind", ["a kind of post", "a record"])
async def test_what_is_owed_is_posted_by_the_newer_one(desk: Desk, kind: str):
    """The older one strikes off nothing that it cannot show; the newer one posts it once."""
    home = thread_of(desk.key)
    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    card = posts.card(asked, asked.copies[0])
    if kind == "a kind of post":
        card = Post(id="digest:1", body={"kind": "digest", "channel": home.channel})
    bad = replace(asked.record(), body={**asked.record().body, "policy": {"rules": "new"}})

    class Newer(Approval):
        """The record of a newer release."""

        def record(self) -> Record:
            return bad if kind == "a record" else super().record()

    await desk.owe(card, approvals=(Newer(**dict(asked)),))
    for _ in range(3):
        debt = await desk.pay()
        assert debt.waits.again is not None
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert ([post.id for post in view.posts], desk.said()) == ([card.id], [])
    if kind == "a record":
        await desk.slot.decide(desk.key, Decide(record=replace(asked.record(), rev=2)))
        debt = await desk.pay()
        assert len(desk.slack.messages("approvals")) == 1
        assert debt.waits.again is None
