"""When those who were asked may not decide any more: who is asked then, and who hears of it."""

import asyncio
import logging
from datetime import timedelta

import pytest

from agents import ApprovalPolicy, Slot
from bot.approvals.decide import decide
from bot.approvals.left import unmet
from bot.approvals.life import prompted, voted
from bot.approvals.policy import Person
from bot.approvals.request import Approval, Copy, Escalation, tally
from bot.approvals.resolve import Defaults, unsettled
from bot.approvals.succession import Succession, succeeded
from bot.approvals.terms import Policy, Quota, Vote
from bot.approvals.wording import demands
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval, click

HEIRS = ("UDEE", "UEVE")
FINANCE = Policy(approvers=("UFAY", "UFIN"), rules=((Quota(names=("finance",), count=2),),))
EITHER = Policy(
    approvers=("UCFO", "UFAY", "UFIN"),
    rules=((Quota(names=("UCFO",)), Quota(names=("finance",), count=2)),),
)
BOTH = Policy(
    approvers=("UBOSS", "UFAY"),
    rules=((Quota(names=("UBOSS",)),), (Quota(names=("finance",)),)),
)
TWO = Policy(approvers=("UBOSS", "UCFO"), quorum=2)
OWN = Policy(approvers=("UBOSS", "UASK"), self_approval=True)


def able(*people: str, **groups: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Who may decide now: these people, and those of groups."""
    every = {"UBOSS", "UCFO", "UVP", "UASK", "UDEE", "UEVE", *people}
    found = {name: frozenset({name} & {*people}) for name in every}
    return found | {"finance": frozenset()} | {n: frozenset(p) for n, p in groups.items()}


def yes(person: str, **more) -> Vote:
    """Somebody approved."""
    return Vote(person=person, confirmed=True, at=ASKED, **more)


@pytest.mark.parametrize(
    ("policy", "votes", "left", "expected"),
    [
        pytest.param(Policy(approvers=("UBOSS", "UCFO")), (), able("UCFO"), True, id="one is left"),
        pytest.param(Policy(approvers=("UBOSS", "UCFO")), (), able(), False, id="nobody is left"),
        pytest.param(TWO, (), able("UCFO"), False, id="one of two is left"),
        pytest.param(TWO, (yes("UBOSS"),), able("UCFO"), True, id="who left had voted"),
        pytest.param(TWO, (yes("UBOSS"),), able("UBOSS"), False, id="who voted counts once"),
        pytest.param(
            TWO, (yes("UBOSS", payload={"d": 1}),), able("UCFO"), True, id="the same can be entered"
        ),
        pytest.param(
            Policy(approvers=("UBOSS", "UCFO", "UVP"), quorum=3),
            (yes("UBOSS", payload={"d": 1}), yes("UCFO", payload={"d": 2})),
            able("UVP"),
            False,
            id="those who left entered different values",
        ),
        pytest.param(
            TWO,
            (yes("UBOSS"), Vote(person="UBOSS", confirmed=False, at=ASKED)),
            able("UCFO"),
            False,
            id="who left thought again before",
        ),
        pytest.param(
            Policy(approvers=("UBOSS", "UCFO"), rejections=2),
            (Vote(person="UCFO", confirmed=False, at=ASKED),),
            able("UCFO"),
            True,
            id="who rejected can think again",
        ),
        pytest.param(FINANCE, (), able(finance=("UFAY", "UNEW")), True, id="others joined"),
        pytest.param(FINANCE, (), able(finance=("UFAY",)), False, id="a group grew too small"),
        pytest.param(
            FINANCE,
            (yes("UFIN", names=("finance",)),),
            able(finance=("UFAY",)),
            True,
            id="who left the group had voted",
        ),
        pytest.param(FINANCE, (), able(finance=("UFAY", "UASK")), False, id="who asked is in it"),
        pytest.param(EITHER, (), able("UCFO"), True, id="the other alternative"),
        pytest.param(EITHER, (), able(finance=("UFAY",)), False, id="neither alternative"),
        pytest.param(BOTH, (), able("UBOSS"), False, id="one of two rules"),
        pytest.param(BOTH, (), able("UBOSS", finance=("UFAY",)), True, id="both rules"),
        pytest.param(OWN, (), able("UASK"), True, id="who asked may decide"),
    ],
)
def test_whether_enough_are_left(policy, votes, left, expected: bool):
    """Votes that were cast stay counted; beside them only those count who may still vote."""
    assert (not unmet(approval(policy=policy, votes=votes), left)) == expected


LATER = Escalation(at=DEADLINE - 9, names=("UVP",), people=("UVP",))
DMS = tuple(Copy.numbered("3-0", n, who) for n, who in enumerate(("UBOSS", "UCFO")))


@pytest.mark.parametrize(
    ("changes", "left", "heirs", "status", "asked"),
    [
        pytest.param({}, able("UCFO", "UDEE"), HEIRS, None, (), id="enough are left"),
        pytest.param({}, able(*HEIRS), HEIRS, "pending", HEIRS, id="the heirs"),
        pytest.param({}, able("UEVE"), HEIRS, "pending", ("UEVE",), id="one heir is gone too"),
        pytest.param({}, able(), HEIRS, "cancelled", (), id="the heirs are gone too"),
        pytest.param({}, able(), (), "cancelled", (), id="there are no heirs"),
        pytest.param(
            {"policy": TWO}, able("UCFO", "UDEE"), HEIRS, "pending", ("UCFO", "UDEE"), id="together"
        ),
        pytest.param({"policy": TWO}, able("UDEE"), HEIRS, "cancelled", (), id="too few heirs"),
        pytest.param(
            {"requester": "UDEE"}, able("UDEE"), ("UDEE",), "cancelled", (), id="who asked is heir"
        ),
        pytest.param(
            {}, able(), ("UBOSS", "UCFO"), "cancelled", (), id="those who were asked were the heirs"
        ),
        pytest.param(
            {"escalations": (LATER,)},
            able("UVP"),
            (),
            "pending",
            ("UVP",),
            id="others come at once",
        ),
        pytest.param(
            {"escalations": (LATER,), "policy": TWO},
            able("UVP", "UCFO"),
            (),
            None,
            (),
            id="one of two is there, and others will be asked",
        ),
        pytest.param(
            {"escalations": (LATER, LATER.model_copy(update={"at": DEADLINE - 1}))},
            able("UVP"),
            (),
            "pending",
            ("UVP",),
            id="of others only the next",
        ),
        pytest.param(
            {"escalations": (LATER,)},
            able("UVP", "UDEE"),
            HEIRS,
            "pending",
            ("UDEE",),
            id="heirs come before who would be asked later",
        ),
        pytest.param(
            {"escalations": (LATER,), "escalated": 1}, able("UVP"), (), "cancelled", (), id="was"
        ),
        pytest.param(
            {"policy": FINANCE},
            able("UDEE", finance=("UFAY",)),
            HEIRS,
            "pending",
            ("UFAY", "UDEE"),
            id="beside who is left of a group",
        ),
    ],
)
def test_who_is_asked_then(changes, left, heirs, status, asked):
    """Default approvers stand in; where they are too few it is closed, and nobody waits."""
    before = approval(**changes)
    after = succeeded(before, left, heirs=heirs, now=ASKED + 5)
    assert (after and after.status) == status
    if after is None:
        return
    assert after.rev == before.rev + 1
    if status == "pending":
        assert after.policy.approvers == asked
        assert succeeded(after, left, heirs=heirs, now=ASKED + 6) is None
    else:
        assert (after.why, after.decided_by) == ("nobody", None)


@pytest.mark.parametrize(
    ("rules", "left", "expected"),
    [
        pytest.param([(0,)], able("UVP", finance=("UFAY",)), "pending", id="the rule in need"),
        pytest.param([(0, 1)], able("UVP"), "pending", id="both, by one person"),
        pytest.param([(0,), (1,)], able("UVP"), "pending", id="both, one after the other"),
        pytest.param([(1,)], able("UVP", finance=("UFAY",)), "cancelled", id="the other rule"),
        pytest.param([(0,)], able("UVP"), "cancelled", id="one of two in need"),
        pytest.param([(0,)], able(finance=("UFAY",)), "cancelled", id="nobody who is there"),
    ],
)
def test_whether_an_escalation_helps(rules, left, expected: str):
    """It is waited for where it brings enough for the rules that it counts for, and only there."""
    later = tuple(
        LATER.model_copy(update={"rules": each, "at": LATER.at + n}) for n, each in enumerate(rules)
    )
    before = approval(policy=BOTH, escalations=later)
    now = succeeded(before, left, heirs=(), now=ASKED)
    assert (now or before).status == expected
    made = prompted(before, now=DEADLINE - 1)
    assert made is not None
    then = succeeded(made, left, heirs=(), now=DEADLINE - 1)
    assert (then or made).status == expected


@pytest.mark.parametrize(
    ("copies", "new"),
    [
        pytest.param(approval().copies, (), id="a channel has it"),
        pytest.param(DMS, HEIRS, id="each gets a card"),
        pytest.param((*DMS, Copy.numbered("3-0", 2, "UDEE")), ("UEVE",), id="one has it"),
    ],
)
def test_who_gets_a_card(copies, new):
    """Where cards are private, each of those asked now gets one that is new to them."""
    after = succeeded(approval(copies=copies), able(*HEIRS), heirs=HEIRS, now=ASKED)
    assert after is not None
    assert [copy.channel for copy in after.copies[len(copies) :]] == list(new)
    assert len({copy.post for copy in after.copies}) == len(after.copies)


def test_a_vote_of_who_left_counts_on():
    """With one of two votes cast, the next one decides, though the first voter is gone."""
    before = approval(policy=Policy(approvers=("UBOSS", "UCFO"), quorum=2), votes=(yes("UBOSS"),))
    after = succeeded(before, able("UDEE"), heirs=HEIRS, now=ASKED)
    assert after is not None
    assert after.policy.entitles("UBOSS")
    assert not after.policy.entitles("UCFO")


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        pytest.param(HEIRS, "", id="they are still the default approvers"),
        pytest.param(("UX",), "nobody may decide about this any more", id="they are not"),
    ],
)
def test_what_heirs_approved_may_start(defaults, expected):
    """Their word is good enough for the policy of now, in which nobody is left."""
    after = succeeded(approval(policy=FINANCE), able(*HEIRS), heirs=HEIRS, now=ASKED)
    assert after is not None
    policy = (ApprovalPolicy(approvers=("finance",), quorum=2),)
    told = Defaults(approvers=defaults, groups={"finance": ()})
    assert unsettled(after, (yes("UDEE"), yes("UEVE")), policy, defaults=told) == expected


CFO, LEGAL = ("UCFO",), ("ULEX",)
RULES: dict[str, tuple[tuple[tuple[tuple[str, ...], int], ...], ...]] = {
    "the other is a person": (((CFO, 1),), ((LEGAL, 1),)),
    "the other comes first": (((LEGAL, 1),), ((CFO, 1),)),
    "the other is a group": (((CFO, 1),), ((("legal",), 1),)),
    "the other wants two": (((CFO, 1),), ((("ULEX", "ULUX"), 2),)),
    "the other has two ways": (((CFO, 1),), ((LEGAL, 1), (("nobody",), 2))),
    "each has two ways": (((CFO, 1), (("nobody",), 1)), ((LEGAL, 1), (("nobody",), 2))),
    "there are two others": (((CFO, 1),), ((LEGAL, 1),), ((("legal",), 1),)),
    "the heir is named in the other": (((CFO, 1),), ((("ULEX", "ULUX", "UDEE"), 2),)),
}
LEFT = able("ULEX", "ULUX", "UDEE", legal=("ULEX", "ULUX"), nobody=())
LAWYERS = {"legal": ("ULEX", "ULUX"), "nobody": (), "UCFO": ()}


@pytest.mark.parametrize("written", RULES.values(), ids=RULES)
def test_only_the_rule_that_has_too_few_is_passed_on(written):
    """Where the CFO has left and legal is all there, legal has to agree as before."""
    rules = tuple(tuple(Quota(names=n, count=c) for n, c in rule) for rule in written)
    before = approval(policy=Policy(approvers=("UCFO", "ULEX", "ULUX"), rules=rules))
    after = succeeded(before, LEFT, heirs=("UDEE",), now=ASKED)
    assert after is not None
    alone = voted(after, yes("UDEE"), run_for=None)
    assert alone.status == "pending"
    policies = [_as_policy(rule) for rule in written]
    told = Defaults(approvers=("UDEE",), groups=LAWYERS, barred=frozenset({"UCFO"}))
    assert "stricter" in unsettled(_open(after), [yes("UDEE")], policies, defaults=told)
    lawyers = [yes(lawyer, names=("legal",)) for lawyer in ("ULEX", "ULUX")]
    done = alone
    for vote in lawyers:
        done = voted(done, vote, run_for=None) if done.status == "pending" else done
    assert done.status == "approved"
    assert not unsettled(done, [yes("UDEE"), *lawyers], policies, defaults=told)


def _as_policy(rule) -> ApprovalPolicy:
    ways = {name: count for names, count in rule for name in names}
    if len(rule) > 1:
        return ApprovalPolicy(any_of=ways)
    return ApprovalPolicy(approvers=rule[0][0], quorum=rule[0][1])


def _open(of: Approval) -> Approval:
    """The same with a policy of then that anybody meets, to look at the one of now alone."""
    return of.model_copy(update={"policy": Policy(approvers=("UDEE", "ULEX", "ULUX"))})


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        pytest.param(ApprovalPolicy(approvers=("UBOSS", "UCFO")), "", id="the same"),
        pytest.param(ApprovalPolicy(approvers=("UCFO",)), "", id="one of them"),
        pytest.param(ApprovalPolicy(approvers=("UASK", "UCFO")), "", id="whoever asked beside"),
        pytest.param(ApprovalPolicy(approvers=("UGONE", "UCFO")), "", id="somebody barred beside"),
        pytest.param(ApprovalPolicy(approvers=("UVP",)), "stricter", id="somebody else"),
        pytest.param(ApprovalPolicy(approvers=("UBOSS", "UVP")), "stricter", id="one more"),
        pytest.param(ApprovalPolicy(any_of={"UCFO": 1, "UVP": 1}), "stricter", id="another way"),
    ],
)
def test_what_heirs_stand_in_for_today(today: ApprovalPolicy, expected: str):
    """Their word counts for what was passed on to them, and not for what others may decide now."""
    after = succeeded(approval(), able("UDEE"), heirs=HEIRS, now=ASKED)
    assert after is not None
    told = Defaults(approvers=HEIRS, barred=frozenset({"UGONE"}))
    found = unsettled(after, [yes("UDEE")], [today], defaults=told)
    assert expected in found
    assert bool(found) is bool(expected)


def test_an_heir_that_another_rule_names():
    """Who is named in one rule can stand in for those of another that has too few."""
    rules = ((Quota(names=("UCFO",)),), (Quota(names=("UDEE", "ULEX")),))
    before = approval(policy=Policy(approvers=("UCFO", "UDEE", "ULEX"), rules=rules))
    after = succeeded(before, able("UDEE", "ULEX"), heirs=("UDEE",), now=ASKED)
    assert after is not None
    assert after.status == "pending"
    assert voted(after, yes("UDEE"), run_for=None).status == "approved"


TWO_HEIRS = able("UDEE", "UEVE")
PAIR = ((Quota(names=("UCFO",)),), (Quota(names=("legal",)),))
SHARED = ((Quota(names=("UCFO", "UVP")),), (Quota(names=("UVP", "legal")),))
WAYS = (
    (Quota(names=("UCFO",)), Quota(names=("finance",), count=2)),
    (Quota(names=("legal",), count=2),),
)


@pytest.mark.parametrize(
    ("rules", "left", "people", "voters", "status"),
    [
        pytest.param(PAIR, TWO_HEIRS, 2, ["UDEE"], "pending", id="one default approver is one"),
        pytest.param(PAIR, TWO_HEIRS, 2, ["UDEE", "UEVE"], "approved", id="two are two"),
        pytest.param(PAIR, able("UDEE"), None, [], "cancelled", id="only one there, so nobody"),
        pytest.param(
            SHARED, TWO_HEIRS, 1, ["UDEE"], "approved", id="one person could have met both"
        ),
        pytest.param(
            WAYS,
            able("UDEE", "UEVE", "UVP"),
            3,
            ["UDEE", "UEVE"],
            "pending",
            id="one and two, by two",
        ),
        pytest.param(
            WAYS,
            able("UDEE", "UEVE", "UVP"),
            3,
            ["UDEE", "UEVE", "UVP"],
            "approved",
            id="three of three",
        ),
        pytest.param(
            (*PAIR, (Quota(names=("UBOSS",)),)),
            able("UDEE", "UEVE", "UBOSS"),
            2,
            ["UDEE", "UBOSS"],
            "pending",
            id="who is left of a third rule stands for none of them",
        ),
        pytest.param(
            (*PAIR, (Quota(names=("UBOSS",)),)),
            able("UDEE", "UEVE", "UBOSS"),
            2,
            ["UDEE", "UEVE", "UBOSS"],
            "approved",
            id="two, and who is left",
        ),
    ],
)
def test_two_rules_at_once(rules, left, people, voters, status):
    """Where nobody is left in two rules, it takes as many default approvers as people before."""
    heirs = ("UDEE", "UEVE", "UVP")
    before = approval(policy=Policy(approvers=("UCFO",), rules=rules), requester="UASK")
    now = succeeded(before, {**left, "legal": frozenset()}, heirs=heirs, now=ASKED)
    assert now is not None
    if people is not None:
        assert now.policy.people == people
    for person in voters:
        assert now.status == "pending"
        now = voted(now, yes(person), run_for=None)
    assert now.status == status


@pytest.mark.parametrize(
    ("first", "then", "status"),
    [
        pytest.param(("UDEE",), ("UDEE", "UEVE"), "pending", id="one who had agreed before"),
        pytest.param((), ("UDEE", "UEVE"), "pending", id="one who has not agreed yet"),
        pytest.param(("UDEE",), ("UDEE",), "cancelled", id="only one is there"),
    ],
)
def test_two_rules_one_after_the_other(first, then, status):
    """Who stands in for one rule does not do for the next one that is passed on as well."""
    before = approval(
        policy=Policy(approvers=("UCFO", "ULEX"), rules=(PAIR[0], (Quota(names=("ULEX",)),)))
    )
    now = succeeded(before, able("UDEE", "UEVE", "ULEX"), heirs=HEIRS, now=ASKED)
    assert now is not None
    assert now.policy.people == 1
    for person in first:
        now = voted(now, yes(person), run_for=None)
    now = succeeded(now, able(*then, ULEX=()), heirs=HEIRS, now=ASKED + 1)
    assert now is not None
    assert now.status == status
    if status == "pending":
        assert now.policy.people == 2
        for person in then:
            assert now.status == "pending"
            now = voted(now, yes(person), run_for=None)
        assert now.status == "approved"


def test_a_rule_that_is_passed_on_twice():
    """When the first who stood in has left as well, it still takes one person and no more."""
    before = approval(policy=Policy(approvers=("UCFO",), rules=(PAIR[0],)))
    once = succeeded(before, able("UDEE"), heirs=("UDEE",), now=ASKED)
    assert once is not None
    twice = succeeded(once, able("UEVE"), heirs=HEIRS, now=ASKED + 1)
    assert twice is not None
    assert (twice.policy.passed_on, twice.policy.people) == ((0, 0), 1)
    assert voted(twice, yes("UEVE"), run_for=None).status == "approved"


def test_the_same_person_in_two_rules():
    """Whom two rules name, or who is in both groups, meets both, as who wrote them has it."""
    named = Policy(
        approvers=("UBOSS",), rules=((Quota(names=("UBOSS",)),), (Quota(names=("legal", "UBOSS")),))
    )
    assert voted(approval(policy=named), yes("UBOSS"), run_for=None).status == "approved"
    groups = Policy(
        approvers=("UBOSS",), rules=((Quota(names=("finance",)),), (Quota(names=("legal",)),))
    )
    vote = yes("UBOSS", names=("finance", "legal"))
    assert voted(approval(policy=groups), vote, run_for=None).status == "approved"


def test_a_card_says_how_many_different_people():
    """The words of the two rules alone would let one of those who stand in do."""
    before = approval(policy=Policy(approvers=("UCFO",), rules=PAIR))
    now = succeeded(before, {**TWO_HEIRS, "legal": frozenset()}, heirs=HEIRS, now=ASKED)
    assert now is not None
    words = "any 1 of (UDEE, UEVE); and also any 1 of (legal, UDEE, UEVE); 2 different people"
    assert demands(now.policy, list) == f"it takes {words}"
    assert tally(voted(now, yes("UDEE"), run_for=None), None) == "1 of at least 2"


def looking(*people: str, asked: list | None = None):
    """A look-up of who may decide, which notes what it is asked for."""

    async def look_up(names, most):
        (asked if asked is not None else []).append((names, most))
        return {name: frozenset({name} & {*people}) for name in names}

    return look_up


async def passed(slot: Slot, look_up, heirs=HEIRS) -> bool:
    """Look at the approval once."""

    async def voter(person, _names):
        able = await look_up([person], 1)
        return able and Person(id=person, team="T", deleted=not able[person])

    succession = Succession(heirs, look_up=look_up, voter=voter, follow=lambda _: ())
    return await succession.look(slot, KEY, "3-0")


async def test_it_is_passed_on_once(slot: Slot, caplog):
    """Whoever looks, and however often: one change, one line in the log, one notice."""
    await put(slot)
    with caplog.at_level(logging.WARNING, logger="countersign"):
        await asyncio.gather(*(passed(slot, looking(*HEIRS)) for _ in range(5)))
    after = await stored(slot)
    assert (after.rev, after.heirs) == (2, HEIRS)
    assert [record.msg for record in caplog.records] == ["approval.passed_on"]
    view = await slot.read(KEY, parts=("posts", "audit"))
    kinds = [str(post.body["kind"]) for post in view.posts]
    assert sorted(kinds) == ["asked_update", "card_update", "notice", "succession"]
    assert [entry["type"] for entry, _ in view.audit] == ["approval.passed_on"]
    assert (await decide(slot, KEY, click(after, "UDEE"))).kind == "decided"


async def test_nobody_is_left(slot: Slot, caplog):
    """It is closed at once: the requester reads it, the model gets an answer, operators a line."""
    await put(slot)
    with caplog.at_level(logging.WARNING, logger="countersign"):
        await asyncio.gather(*(passed(slot, looking(), heirs=()) for _ in range(5)))
    after = await stored(slot)
    assert (after.status, after.why) == ("cancelled", "nobody")
    [line] = caplog.records
    assert (line.msg, line.fields["gap"]) == ("settings.unsafe", "no_approvers")
    view = await slot.read(KEY, parts=("posts",))
    assert view.inbox == 1
    told = [str(post.body["text"]) for post in view.posts if post.body["kind"] == "notice"]
    assert len(told) == 1
    assert told[0].startswith(f"Too few are left who may decide about request {after.reference}")
    begun = await slot.begin(KEY, owner="test", lease=1000)
    answer = begun.head.body["content"]["parts"][0]["function_response"]["response"]
    assert (answer["confirmed"], answer["outcome"]) == (False, "cancelled")
    assert "name approvers" in answer["reason"]


@pytest.mark.parametrize(
    ("changes", "left", "looks"),
    [
        pytest.param({}, 60_000, 1, id="enough are left"),
        pytest.param({"status": "approved"}, 60_000, 0, id="decided"),
        pytest.param({}, -1, 0, id="its time is up"),
    ],
)
async def test_what_stays_as_it_is(slot: Slot, changes, left, looks: int):
    """What needs nobody is not looked up, and what can be decided is let be."""
    before = await put(slot, left=left, **changes)
    asked: list = []
    assert await passed(slot, looking("UCFO", asked=asked))
    assert await stored(slot) == before
    assert len(asked) == looks


async def test_what_slack_does_not_say(slot: Slot):
    """While nobody says who may decide, nothing is passed on or closed; it is looked at again."""
    before = await put(slot)

    async def silent(_names, _most):
        return None

    assert not await passed(slot, silent)
    assert await stored(slot) == before


async def test_a_vote_at_the_same_moment(slot: Slot):
    """A decision and a succession that meet: one of them is first, and it is decided once."""
    before = await put(slot)
    outcome, _ = await asyncio.gather(
        decide(slot, KEY, click(before, "UCFO"), run_for=timedelta(days=1)),
        passed(slot, looking(*HEIRS)),
    )
    after = await stored(slot)
    assert (outcome.kind, after.status) in [("decided", "approved"), ("refused", "pending")]
