"""The members of a group change while a request is open: who is asked then, and who is not."""

import pytest

from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals import policy as rules
from bot.approvals.board import concerned
from bot.approvals.decision import change
from bot.approvals.life import prompted
from bot.approvals.policy import Person
from bot.approvals.posts import kind_of
from bot.approvals.request import Approval, Copy, Escalation
from bot.approvals.rota import TOLD, newcomers, rotated
from bot.approvals.succession import Succession
from bot.approvals.terms import Policy, Quota, is_person
from bot.slack.blocks.line import waited_for
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval, person

GROUP = ((Quota(names=("oncall",)),),)
BESIDE = ((Quota(names=("UCFO", "oncall"), count=2),),)
BOTH = ((Quota(names=("oncall",)),), (Quota(names=("legal",)),))
DMS = tuple(Copy.numbered("3-0", n, who) for n, who in enumerate(("UANN", "UBOB")))
LATER = Escalation(at=DEADLINE - 9, names=("managers",), people=("UANN", "UVP"))


def asked(*people: str, rules=GROUP, **more) -> Policy:
    """These people were asked, as members of a group."""
    return Policy(approvers=people, rules=rules, **more)


@pytest.mark.parametrize(
    ("before", "members", "approvers", "cards"),
    [
        pytest.param(
            approval(policy=asked("UANN", "UBOB"), copies=DMS),
            {"oncall": ("UCYD",)},
            ("UCYD",),
            ["UCYD"],
            id="all others",
        ),
        pytest.param(
            approval(policy=asked("UANN", "UBOB"), copies=DMS),
            {"oncall": ("UCYD", "UBOB")},
            ("UBOB", "UCYD"),
            ["UCYD"],
            id="one other",
        ),
        pytest.param(
            approval(policy=asked("UANN", "UBOB")), {"oncall": ("UBOB",)}, ("UBOB",), [], id="fewer"
        ),
        pytest.param(
            approval(policy=asked("UANN")),
            {"oncall": ("UANN", "UCYD")},
            ("UANN", "UCYD"),
            [],
            id="more",
        ),
        pytest.param(
            approval(policy=asked("UANN"), copies=DMS),
            {"oncall": ("UASK", "UCYD")},
            ("UCYD",),
            ["UCYD"],
            id="whoever asked is in it",
        ),
        pytest.param(
            approval(policy=asked("UANN", self_approval=True), copies=DMS),
            {"oncall": ("UASK",)},
            ("UASK",),
            ["UASK"],
            id="whoever asked may decide",
        ),
        pytest.param(
            approval(policy=asked("UCFO", "UANN", rules=BESIDE)),
            {"oncall": ("UCYD",)},
            ("UCFO", "UCYD"),
            [],
            id="beside a person",
        ),
        pytest.param(
            approval(policy=asked("UANN", "ULEX", rules=BOTH)),
            {"oncall": ("UCYD",), "legal": ("ULEX",)},
            ("ULEX", "UCYD"),
            [],
            id="one of two groups",
        ),
        pytest.param(
            approval(policy=asked("UANN", rules=BOTH)),
            {"oncall": (), "legal": ("UANN",)},
            None,
            [],
            id="out of one and in the other",
        ),
        pytest.param(
            approval(policy=asked("UANN", "ULEX", rules=BOTH)),
            {"oncall": ("UCYD",)},
            None,
            [],
            id="the other is not known",
        ),
        pytest.param(approval(policy=asked("UANN")), {"oncall": ()}, None, [], id="nobody is left"),
        pytest.param(
            approval(policy=asked("UANN")), {"oncall": ("UANN",)}, None, [], id="the same"
        ),
        pytest.param(
            approval(policy=asked("UANN", "UBOB")),
            {"oncall": ("UBOB", "UANN")},
            None,
            [],
            id="order",
        ),
        pytest.param(
            approval(policy=Policy(approvers=("UANN",))), {}, None, [], id="people, and no group"
        ),
        pytest.param(
            approval(policy=asked("UANN", notified=("UTOLD",)), copies=DMS[:1]),
            {"oncall": ("UCYD",)},
            ("UCYD",),
            [],
            id="others are told of it",
        ),
        pytest.param(
            approval(
                policy=asked("UANN", notified=("UANN", "UTOLD"), notify=("oncall", "UTOLD")),
                copies=DMS[:1],
            ),
            {"oncall": ("UCYD",)},
            ("UCYD",),
            ["UCYD"],
            id="the group is told of it",
        ),
    ],
)
def test_who_is_asked_now(before: Approval, members, approvers, cards: list[str]):
    """Those who stand for the names now, and nobody else; what it takes stays as it was."""
    after = rotated(before, members)
    if approvers is None:
        assert after is None
        return
    assert after is not None
    assert after.policy.approvers == approvers
    assert after.policy.demands == before.policy.demands
    assert [each.channel for each in after.copies[len(before.copies) :]] == cards
    assert concerned(after) >= {*approvers}
    assert after.rev == before.rev + 1
    assert rotated(after, members) is None
    assert not newcomers(after, members)


BESIDE_TOLD = Policy(approvers=("UANN", "UVP"), notified=("UTOLD", "UVP"), notify=("UTOLD",))
BY_NAME = Escalation(at=ASKED, names=("UVP",), people=("UVP",))
BY_GROUP = Escalation(at=ASKED, names=("managers",), people=("UVP",))
WIDER = ((Quota(names=("UANN", "managers")),),)


@pytest.mark.parametrize(
    ("policy", "came", "told"),
    [
        pytest.param({}, {"escalations": (BY_NAME,)}, ("UTOLD", "UVP"), id="by an escalation"),
        pytest.param({}, {"heirs": ("UVP",)}, ("UTOLD", "UVP"), id="as an heir"),
        pytest.param(
            {"approvers": ("UANN",)}, {"heirs": ("UVP",)}, ("UTOLD",), id="and is asked no more"
        ),
        pytest.param({}, {}, ("UTOLD",), id="stood for a name that is told"),
        pytest.param(
            {"rules": WIDER},
            {"escalations": (BY_GROUP,)},
            ("UTOLD", "UCYD"),
            id="for a group with others in it now",
        ),
        pytest.param(
            {"rules": WIDER},
            {"heirs": ("managers",)},
            ("UTOLD", "UCYD"),
            id="for a group of heirs with others in it now",
        ),
        pytest.param(
            {"rules": WIDER, "notify": ("UASK",), "notified": ("UASK", "UVP")},
            {"heirs": ("managers",)},
            ("UASK", "UCYD"),
            id="and whoever asked is told by name",
        ),
    ],
)
def test_who_came_in_later_is_told_still(policy, came, told: tuple[str, ...]):
    """Whom an escalation or too few approvers brought in, besides those who are to be told."""
    before = approval(policy=BESIDE_TOLD.model_copy(update=policy)).model_copy(
        update={"escalated": len(came.get("escalations", ())), **came}
    )
    after = rotated(before, {"managers": ("UCYD", "UASK")}) or before
    assert after.policy.notified == told
    assert {*told} - {"UTOLD", "UASK"} <= {*after.policy.approvers}
    assert rotated(after, {"managers": ("UCYD", "UASK")}) is None


def test_a_line_names_those_who_joined():
    """It is under each card, but for the cards of those who are not asked any more."""
    before = approval(policy=asked("UANN", "UBOB"), copies=DMS)
    after = rotated(before, {"oncall": ("UBOB", "UCYD")})
    assert after is not None
    owed = change(before, after, now=ASKED + 1, head="").posts
    lines = [post for post in owed if kind_of(post) == "escalation"]
    assert [(post.after, post.body["people"]) for post in lines] == [(DMS[1].post, ["UCYD"])]
    updated = [post.after for post in owed if kind_of(post) == "card_update"]
    assert updated[:2] == [copy.post for copy in DMS]
    reminded = prompted(after.model_copy(update={"reminders": (ASKED + 2,)}), now=ASKED + 2)
    assert reminded is not None
    assert waited_for(reminded) == ("UBOB", "UCYD")
    reminders = change(after, reminded, now=ASKED + 2, head="").posts
    assert [post.after for post in reminders] == [copy.post for copy in after.copies[1:]]


CROWD = tuple(f"U{number:04}" for number in range(300))


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        pytest.param(("oncall",), 0, id="who were not known"),
        pytest.param(("UANN", *CROWD[:2]), 2, id="who joined three, of whom one is gone"),
    ],
)
async def test_a_crowd_is_asked_at_once(before, lines: int):
    """All three hundred are asked by one change, and so many of them get cards as Slack bears.

    It answers about so many in a moment only, so no more are looked up.
    """
    looked: list[str] = []

    async def members(_name):
        return CROWD

    async def able(names, most):
        looked.extend(p for each in names for p in (CROWD[:most] if each == "oncall" else (each,)))
        return {each: frozenset(CROWD[:most] if each == "oncall" else (each,)) for each in names}

    slot = MemorySlot()
    dms = tuple(Copy.numbered("3-0", n, who) for n, who in enumerate(before) if is_person(who))
    thread = Copy(post="card:3-0:0", channel="C1", thread_ts="100.1")
    asked_before = await put(slot, policy=asked(*before), copies=dms or (thread,))
    clock = Succession((), look_up=able, voter=voter, follow=lambda _: (), members=members)
    assert await clock.look(slot, KEY, "3-0")
    assert await clock.look(slot, KEY, "3-0")
    after = await stored(slot)
    view = await slot.read(KEY, parts=("posts",))
    assert view is not None
    assert after.rev == asked_before.rev + 1
    assert after.policy.approvers == CROWD
    assert sum(copy.channel in CROWD for copy in after.copies) == TOLD
    assert TOLD <= len(looked) < TOLD + 10
    assert [kind_of(post) for post in view.posts].count("escalation") == lines


@pytest.mark.parametrize(
    ("members", "asked_too", "named"),
    [
        pytest.param(("UCYD", "UVP"), ("UVP", "UCYD"), ["UVP", "UCYD"], id="one other"),
        pytest.param(("UANN", "UCYD"), ("UANN", "UCYD"), ["UCYD"], id="one is asked already"),
        pytest.param((), ("UANN", "UVP"), ["UVP"], id="nobody is left"),
    ],
)
def test_who_comes_in_later(members, asked_too, named: list[str]):
    """An escalation asks those who stand for its names then, and names whoever is new."""
    before = approval(policy=Policy(approvers=("UANN",)), escalations=(LATER,))
    now = rotated(before, {"managers": members}) or before
    assert now.escalations[0].people == asked_too
    assert now.policy == before.policy
    after = prompted(now, now=LATER.at)
    assert after is not None
    owed = change(now, after, now=LATER.at, head="").posts
    assert [p.body["people"] for p in owed if kind_of(p) == "escalation"] == [named]


@pytest.mark.parametrize(
    ("approvers", "people"),
    [
        pytest.param(("UANN", "UBOB"), ("UBOB",), id="others"),
        pytest.param(("UANN",), (), id="nobody else"),
    ],
)
def test_a_refusal_does_not_name_who_is_refused(approvers, people):
    """Until the change is known the record still names whoever has left."""
    found = rules.refusal(
        approval(policy=asked(*approvers)), person("UANN"), "approve", now=ASKED + 1
    )
    assert found is not None
    assert (found.code, found.people) == ("not_approver", people)
    assert found.sentence.endswith(":") is bool(people)


async def voter(name, _names):
    """Everybody is who they are."""
    return Person(id=name, team="T1")


@pytest.mark.parametrize(
    ("barred", "expected"),
    [
        pytest.param(frozenset[str](), ("UCYD", "UDOG"), id="all can"),
        pytest.param(frozenset({"UDOG"}), ("UCYD",), id="one is a guest"),
    ],
)
async def test_the_clock_asks_who_joined(store_url: str, barred: frozenset[str], expected):
    """Of the members only who is new is looked up; whoever never can decide is not asked."""
    looked: list[str] = []

    async def members(_name):
        return ("UCYD", "UDOG")

    async def able(names, _most):
        looked.extend(names)
        people = {each: frozenset({each} - barred) for each in names}
        return {**people, "oncall": frozenset({"UCYD"})}

    async with connect(store_url) as client:
        slot = RedisSlot(client)
        await put(slot, policy=asked("UANN"), copies=DMS[:1])
        clock = Succession((), look_up=able, voter=voter, follow=lambda _: (), members=members)
        assert await clock.look(slot, KEY, "3-0")
        assert await clock.look(slot, KEY, "3-0")
        after = await stored(slot)
    assert after.policy.approvers == expected
    assert [copy.channel for copy in after.copies[1:]] == [*expected]
    assert looked.count("UCYD") == 1
