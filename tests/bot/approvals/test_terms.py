"""Conditions, working hours, rules over groups, and what votes make of them: tables."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from agents import ApprovalPolicy
from bot.approvals.conditions import condition
from bot.approvals.hours import Calendar, later
from bot.approvals.request import next_look, prompted, voted
from bot.approvals.resolve import Defaults, NoApprovers, chosen, resolve, times, unsettled
from bot.approvals.terms import Policy, Quota, Vote, in_favour, reached
from tests.bot.approvals.samples import ASKED, DEADLINE, approval

HOUR = timedelta(hours=1)

NUMBERS = (-1, 0, 1, 999.99, 1000, 1000.0, 1000.01, 10**30)
MEANS = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@pytest.mark.parametrize(
    ("sign", "found", "value"), list(product(MEANS, NUMBERS, (0, 1000, 1000.5)))
)
def test_numbers(sign, found, value):
    """Whole numbers and others compare by their values."""
    assert condition(f"amount {sign} {value}").met({"amount": found}) is MEANS[sign](found, value)


@pytest.mark.parametrize(
    ("text", "args", "met"),
    [
        pytest.param('team == "ops"', {"team": "ops"}, True, id="a text"),
        pytest.param('team == "ops"', {"team": "Ops"}, False, id="another text"),
        pytest.param('team in ["a", "b"]', {"team": "b"}, True, id="one of"),
        pytest.param('team in ["a", "b"]', {"team": "c"}, False, id="none of"),
        pytest.param("team in []", {"team": "c"}, False, id="one of nothing"),
        pytest.param('day >= "2026-12-01"', {"day": "2026-12-24"}, True, id="a later date"),
        pytest.param('day >= "2026-12-01"', {"day": "2026-11-30"}, False, id="an earlier date"),
        pytest.param("dry == true", {"dry": True}, True, id="yes"),
        pytest.param("dry == true", {"dry": 1}, False, id="1 is not yes"),
        pytest.param("n == 1", {"n": True}, False, id="yes is not 1"),
        pytest.param("n == null", {"n": None}, True, id="nothing"),
        pytest.param("amount > 10", {}, True, id="a missing argument counts as met"),
        pytest.param("amount > 10", {"amount": "1"}, True, id="a text for a number does, too"),
        pytest.param("amount > 10", {"amount": None}, True, id="null does, too"),
        pytest.param("amount > 10", {"amount": True}, True, id="a flag does, too"),
        pytest.param("amount > 10", {"amount": [1]}, True, id="a list does, too"),
        pytest.param("a.b > 10", {"a": {"b": 11}}, True, id="inside"),
        pytest.param("a.b > 10", {"a": {"b": 9}}, False, id="inside, less"),
        pytest.param("a.b > 10", {"a": 9}, True, id="no inside counts as met"),
        pytest.param("  amount>10  ", {"amount": 9}, False, id="blanks do not matter"),
    ],
)
def test_conditions(text, args, met):
    """What is certain is compared, what is not counts as met."""
    assert condition(text).met(args) is met


@pytest.mark.parametrize(
    "text",
    ["", "amount", "amount >", "> 10", "amount > ten", "amount ~ 3", "amount > NaN", "a in 3",
     "amount > true", "amount > [1]", "1a > 3", "a..b > 3", "amount > 1 or true"],
)  # fmt: skip
def test_conditions_nobody_can_read(text):
    """What is no condition is refused with a sentence, never passed over."""
    with pytest.raises(ValueError, match=r"condition|JSON|needs"):
        condition(text)


BERLIN = Calendar(zone=ZoneInfo("Europe/Berlin"), holidays=frozenset({date(2026, 12, 25)}))


def at(text: str) -> int:
    """A moment in Berlin in milliseconds."""
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("Europe/Berlin"))
    return int(moment.timestamp() * 1000)


@pytest.mark.parametrize(
    ("start", "hours", "end"),
    [
        pytest.param("2026-11-30T10:00", 2, "2026-11-30T12:00", id="within a day"),
        pytest.param("2026-11-30T16:00", 2, "2026-12-01T10:00", id="over night"),
        pytest.param("2026-11-30T05:00", 1, "2026-11-30T10:00", id="before work"),
        pytest.param("2026-11-30T22:00", 1, "2026-12-01T10:00", id="after work"),
        pytest.param("2026-11-30T09:00", 8, "2026-11-30T17:00", id="a whole day"),
        pytest.param("2026-12-04T16:00", 2, "2026-12-07T10:00", id="over a weekend"),
        pytest.param("2026-12-05T12:00", 1, "2026-12-07T10:00", id="on a Saturday"),
        pytest.param("2026-12-24T16:00", 2, "2026-12-28T10:00", id="over a holiday and a weekend"),
        pytest.param("2026-11-30T09:00", 40, "2026-12-04T17:00", id="a week"),
        pytest.param("2026-03-27T16:00", 2, "2026-03-30T10:00", id="when summer begins"),
        pytest.param("2026-10-23T16:00", 2, "2026-10-26T10:00", id="when summer ends"),
        pytest.param("2026-11-30T10:00", 0, "2026-11-30T10:00", id="no time at all"),
    ],
)
def test_working_hours(start, hours, end):
    """Only working time counts, by the clocks of the calendar's zone."""
    assert later(at(start), hours * HOUR, BERLIN) == at(end)


def test_without_a_calendar_all_time_counts():
    """A span is a span; and a calendar without working days ends somewhere."""
    assert later(0, HOUR) == 3_600_000
    assert later(0, HOUR, Calendar(days=frozenset())) == 3_600_000
    assert later(0, HOUR, Calendar(start=time(17), end=time(9))) == 3_600_000


def test_reminders_follow_the_calendar():
    """Half of eight working hours from Friday noon is Friday at four."""
    policy = ApprovalPolicy(
        expires=8 * HOUR, working_hours=True, reminders=(0.5,), escalate={0.75: ("leads",)}
    )
    start = at("2026-12-04T12:00")
    found = times([policy], defaults=Defaults(calendar=BERLIN), now=start)
    assert found.reminders == (at("2026-12-04T16:00"),)
    assert found.escalations == ((at("2026-12-07T10:00"), ("leads",)),)
    assert found.deadline == at("2026-12-07T12:00")
    assert datetime.fromtimestamp(found.deadline / 1000, UTC).hour == 11


GROUPS = {"cfo": ("UCFO",), "finance": ("UF1", "UF2", "UCFO"), "down": None, "empty": ()}
RULE = ApprovalPolicy(any_of={"cfo": 1, "finance": 2})
PEOPLE = ("UCFO", "UF1", "UF2", "UX1")


def stands(person: str) -> tuple[str, ...]:
    """The groups somebody is in."""
    return tuple(sorted(name for name, members in GROUPS.items() if person in (members or ())))


def yes(person: str, **more) -> Vote:
    """A vote in favour by somebody with their groups of now."""
    return Vote(
        **{"person": person, "confirmed": True, "at": ASKED, "names": stands(person), **more}
    )


@pytest.mark.parametrize("voters", [v for n in range(4) for v in product(PEOPLE, repeat=n)])
def test_one_cfo_or_two_of_finance(voters):
    """Every set of voters, in every order: enough means one CFO, or two different of finance."""
    policy = resolve([RULE], defaults=Defaults(groups=GROUPS), requester="UASK")
    assert isinstance(policy, Policy)
    people = set(voters)
    enough = "UCFO" in people or len(people & {"UF1", "UF2"}) == 2
    assert reached(policy, in_favour([yes(v) for v in voters], None)) is enough


@pytest.mark.parametrize("voters", [v for n in range(4) for v in product(PEOPLE, repeat=n)])
def test_both_the_tool_and_the_deployment(voters):
    """A tool wants one of finance, the settings want UX1: both rules have to be met."""
    policies = [ApprovalPolicy(approvers=("finance",)), ApprovalPolicy(approvers=("UX1",))]
    policy = resolve(policies, defaults=Defaults(groups=GROUPS), requester="UASK")
    assert isinstance(policy, Policy)
    people = set(voters)
    enough = "UX1" in people and bool(people & {"UCFO", "UF1", "UF2"})
    assert reached(policy, in_favour([yes(v) for v in voters], None)) is enough


@pytest.mark.parametrize(
    ("policies", "defaults", "present"),
    [
        pytest.param(
            [RULE], Defaults(groups=GROUPS, barred=frozenset({"UCFO"})), None, id="no cfo"
        ),
        pytest.param(
            [RULE], Defaults(groups=GROUPS, barred=frozenset({"UCFO", "UF1"})), 1, id="one left"
        ),
        pytest.param(
            [ApprovalPolicy(approvers=("down",), quorum=5)],
            Defaults(groups=GROUPS),
            None,
            id="a group that cannot be looked up may have everybody",
        ),
        pytest.param(
            [ApprovalPolicy(approvers=("empty",))], Defaults(groups=GROUPS), 0, id="an empty group"
        ),
        pytest.param(
            [ApprovalPolicy(approvers=("UX1",)), ApprovalPolicy(approvers=("UASK",))],
            Defaults(groups=GROUPS),
            0,
            id="one rule that nobody can meet is enough",
        ),
        pytest.param(
            [ApprovalPolicy(quorum=2), ApprovalPolicy(approvers=("UX1",))],
            Defaults(groups=GROUPS),
            1,
            id="a number without names raises the other's",
        ),
    ],
)
def test_nobody_left(policies, defaults, present):
    """A rule nobody can meet is told at once; what is not known is asked."""
    found = resolve(policies, defaults=defaults, requester="UASK")
    assert (found.present if isinstance(found, NoApprovers) else None) == present


@pytest.mark.parametrize(
    ("amount", "who"),
    [
        (1, "UX1"),
        (100, "UX1"),
        (100.01, "UX2"),
        (1000, "UX2"),
        (1000.01, "UX3"),
        (10**9, "UX3"),
        ("much", "UX3"),
        (None, "UX3"),
    ],
)
def test_tiers(amount, who):
    """The last tier that is met counts, and an amount nobody can compare is the highest."""
    policy = ApprovalPolicy(
        approvers=("UX1",),
        tiers={
            "amount > 100": ApprovalPolicy(approvers=("UX2",)),
            "amount > 1000": ApprovalPolicy(approvers=("UX3",)),
        },
    )
    (found,) = chosen([policy], {"amount": amount})
    assert found.approvers == (who,)


STRICT = {
    "the same": ([ApprovalPolicy(approvers=("UBOSS", "UCFO"))], ("UBOSS",), ""),
    "looser": ([ApprovalPolicy(approvers=("UBOSS", "UCFO", "UX1"))], ("UBOSS",), ""),
    "two now": ([ApprovalPolicy(approvers=("UBOSS", "UCFO"), quorum=2)], ("UBOSS",), "stricter"),
    "others now": ([ApprovalPolicy(approvers=("UX1",))], ("UBOSS",), "stricter"),
    "no right any more": ([ApprovalPolicy(approvers=("UBOSS",))], (), "may not decide"),
    "nobody now": ([ApprovalPolicy(approvers=("nosuch",))], ("UBOSS",), "nobody may decide"),
    "a rule more": (
        [ApprovalPolicy(approvers=("UBOSS",)), ApprovalPolicy(approvers=("UX1",))],
        ("UBOSS",),
        "stricter",
    ),
}


@pytest.mark.parametrize("name", STRICT)
def test_what_was_approved_at_the_start(name):
    """Stricter rules and lost rights ask again; looser ones change nothing."""
    policies, voters, words = STRICT[name]
    asked = approval(status="approved", decided_by="UBOSS")
    told = unsettled(asked, [yes(v) for v in voters], policies, defaults=Defaults(groups=GROUPS))
    assert words in told
    assert bool(told) is bool(words)


def test_a_self_approval_does_not_count_once_it_is_forbidden():
    """The requester's own approval is not enough for a policy that forbids it now."""
    asked = approval(
        status="approved", policy=Policy(approvers=("UASK", "UBOSS"), self_approval=True)
    )
    policies = [ApprovalPolicy(approvers=("UASK", "UBOSS"))]
    assert "stricter" in unsettled(asked, [yes("UASK")], policies, defaults=Defaults())


@pytest.mark.parametrize(
    ("rejections", "noes", "status"),
    [
        (1, ("UF1",), "rejected"),
        (2, ("UF1",), "pending"),
        (2, ("UF1", "UF1"), "pending"),
        (2, ("UF1", "UF2"), "rejected"),
        (3, ("UF1", "UASK"), "rejected"),
    ],
)
def test_how_many_rejections_close_it(rejections, noes, status):
    """So many different people against it close it; whoever asked closes it alone."""
    asked = approval(policy=Policy(approvers=("UF1", "UF2", "UF3"), rejections=rejections))
    for person in noes:
        asked = voted(asked, yes(person, confirmed=False), run_for=None)
    assert asked.status == status


def test_what_is_due_when():
    """Reminders, then the next group, then the end; each once, and all of them when late."""
    from_half = {"at": ASKED + 30, "names": ("leads",), "people": ("UL1",)}
    asked = approval(
        reminders=(ASKED + 10, ASKED + 50), escalations=(from_half,), deadline=DEADLINE
    )
    looks = []
    while (look := next_look(asked)) is not None and look < DEADLINE:
        looks.append(look - ASKED)
        asked = prompted(asked, now=look)
        assert prompted(asked, now=look) is None
    assert looks == [10, 30, 50]
    assert (asked.reminded, asked.escalated, asked.status) == (2, 1, "pending")
    assert asked.policy.entitles("UX7", ["leads"])
    assert asked.policy.approvers == ("UBOSS", "UCFO", "UL1")
    late_one = approval(reminders=(ASKED + 10, ASKED + 50), escalations=(from_half,))
    assert prompted(late_one, now=ASKED + 60).rev == 2


def test_who_takes_over_gets_a_card_where_cards_are_private():
    """With cards in private messages the next group's people get their own."""
    first = {"post": "card:3-0:0", "channel": "UBOSS"}
    more = {"at": ASKED, "names": ("leads",), "people": ("UL1", "UBOSS")}
    found = prompted(approval(copies=(first,), escalations=(more,)), now=ASKED)
    assert [copy.channel for copy in found.copies] == ["UBOSS", "UL1"]


def test_who_takes_over_gets_a_card_where_only_the_thread_has_one():
    """A card in the requester's thread is seen by nobody else: the next people get their own."""
    first = {"post": "card:3-0:0", "channel": "C1", "thread_ts": "100.1"}
    more = {"at": ASKED, "names": ("leads",), "people": ("UL1", "UBOSS")}
    found = prompted(approval(copies=(first,), escalations=(more,)), now=ASKED)
    assert [copy.channel for copy in found.copies] == ["C1", "UL1", "UBOSS"]


def test_quotas_are_kept_whole():
    """A widened rule lets the new names count as any other, and nothing else changes."""
    policy = Policy(approvers=("UX1",), rules=((Quota(names=("cfo",), count=2),),))
    wide = policy.widened(["leads"], ["UL1"])
    assert wide.rules == ((Quota(names=("cfo", "leads"), count=2),),)
