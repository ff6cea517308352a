"""A card that does not show what it is about is not one to approve on, whatever is forged."""

import asyncio

import pytest

from agents import Slot
from bot.approvals.decide import decide
from bot.approvals.hidden import note
from bot.approvals.policy import Person
from bot.approvals.request import Copy
from bot.approvals.succession import Succession
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import KEY, approval, click


@pytest.mark.parametrize(
    ("changes", "card", "act", "kind"),
    [
        pytest.param({"hidden": ("CBOSS",)}, "CBOSS|1.2", "approve", "refused", id="withheld"),
        pytest.param({"hidden": ("C1", "D2")}, "D2|1.2", "approve", "refused", id="cut, in a DM"),
        pytest.param({"hidden": ("C1",)}, "CBOSS|1.2", "approve", "decided", id="another copy"),
        pytest.param({"hidden": ("CBOSS",)}, "", "approve", "decided", id="in full view"),
        pytest.param({"hidden": ("CBOSS",)}, "CBOSS|1.2", "reject", "decided", id="a rejection"),
        pytest.param(
            {"hidden": ("CBOSS",), "requester": "UBOSS"},
            "CBOSS|1.2",
            "withdraw",
            "withdrawn",
            id="own",
        ),
        pytest.param(
            {"hidden": ("CBOSS",), "unknown": True},
            "CBOSS|1.2",
            "happened",
            "refused",
            id="it happened",
        ),
        pytest.param({"unknown": True}, "CBOSS|1.2", "happened", "withdrawn", id="it is shown"),
        pytest.param({}, "CBOSS|1.2", "approve", "decided", id="nothing is hidden"),
    ],
)
async def test_where_it_is_decided(slot: Slot, changes, card, act, kind: str):
    """From a card that hides something nothing is approved, though the call is short."""
    asked = await put(slot, copies=(), notice="", **changes)
    outcome = await decide(
        slot, KEY, click(asked, "UBOSS", act, card=card, whole=not card), shows_all=lambda _: True
    )
    if act == "happened" and kind == "withdrawn":
        assert outcome.sentence == "You said that it happened."
        return
    assert outcome.kind == kind
    if kind == "refused":
        assert (outcome.code, (await stored(slot)).status) == ("unseen", "pending")
        assert "Show everything" in outcome.sentence


@pytest.mark.parametrize(
    ("before", "hides", "after", "rev"),
    [
        pytest.param((), True, ("C9",), 2, id="it is hidden now"),
        pytest.param(("C9",), True, ("C9",), 1, id="known already"),
        pytest.param(("C9", "C1"), False, ("C1",), 2, id="it is shown again"),
        pytest.param(("C1",), False, ("C1",), 1, id="never was hidden"),
    ],
)
async def test_what_is_written_down(slot: Slot, before, hides: bool, after, rev: int):
    """Only a change is written, and nothing else of the request changes."""
    asked = await put(slot, hidden=before)
    noted = await note(slot, asked, "C9", hides=hides)
    assert noted == await stored(slot)
    assert noted == asked.model_copy(update={"hidden": after, "rev": rev})


async def test_many_write_at_once(slot: Slot):
    """What others change meanwhile stays."""
    asked = await put(slot)
    channels = [f"C{n}" for n in range(5)]
    await asyncio.gather(*(note(slot, asked, each, hides=True) for each in channels))
    assert sorted((await stored(slot)).hidden) == channels


@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_what_is_decided_is_let_be(slot: Slot, act):
    """Nothing is written to a request that somebody decided meanwhile."""
    asked = await put(slot)
    await decide(slot, KEY, click(asked, "UBOSS", act))
    decided = await stored(slot)
    assert await note(slot, asked, "C9", hides=True) == decided
    assert await stored(slot) == decided


HERE, LINE = Copy(post="card:3-0:0", channel="CBOSS"), "asked:3-0"


@pytest.mark.parametrize(
    ("places", "before", "shared", "after"),
    [
        pytest.param({HERE.post: "CBOSS|1.1"}, (), {"CBOSS"}, ("CBOSS",), id="the card's"),
        pytest.param({LINE: "C1|1.2"}, (), {"C1"}, ("C1",), id="the thread's"),
        pytest.param(
            {HERE.post: "CBOSS|1.1", LINE: "C1|1.2"},
            ("CBOSS",),
            {"C1", "CBOSS"},
            ("CBOSS", "C1"),
            id="the other one is known",
        ),
        pytest.param({HERE.post: "CBOSS|1.1"}, (), {"C7"}, (), id="another"),
        pytest.param({HERE.post: "C7|1.1"}, (), {"CBOSS"}, (), id="where the card is not"),
        pytest.param({HERE.post: "CBOSS|1.1"}, ("CBOSS",), {"CBOSS"}, ("CBOSS",), id="known"),
        pytest.param({}, (), {"CBOSS"}, (), id="nothing is posted yet"),
    ],
)
async def test_a_channel_that_others_see_by_now(places, before, shared: set[str], after):
    """Only channels in which something of it stands are asked about, and those not known yet."""
    looked: list[str] = []

    async def is_shared(channel: str) -> bool:
        looked.append(channel)
        return channel in shared

    clock = Succession((), look_up=able, voter=voter, follow=lambda _: (), shared=is_shared)
    asked = approval(copies=(HERE,), notice=LINE, hidden=before)
    found = await clock.concealed(asked, places)
    assert (found or asked).hidden == after
    assert (found or asked).rev == asked.rev + bool(found)
    assert not {*before} & {*looked}


async def able(names, _most):
    """Everybody who is named may decide."""
    return {name: frozenset({name}) for name in names}


async def voter(person, _names):
    """Everybody is who they are."""
    return Person(id=person, team="T1")
