"""Conditions, working hours, rules over groups, and what votes make of them: tables."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from agents import ApprovalPolicy
from bot.approvals.conditions import condition
from bot.approvals.hours import Calendar, later
from bot.approvals.life import next_look, prompted, voted
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
        pytest.param('team == "ops"', {"team": "dev"}, False, id="another text"),
        pytest.param('team in ["a", "b"]', {"team": "b"}, True, id="one of"),
        pytest.param('team in ["a", "b"]', {"team": "c"}, False, id="none of"),
        pytest.param("team in []", {"team": "c"}, False, id="one of nothing"),
        pytest.param('day >= "2026-12-01"', {"day": "2026-12-24"}, True, id="a later date"),
        pytest.param('day >= "2026-12-01"', {"day": "2026-11-30"}, False, id="an earlier date"),
        pytest.param("dry == true", {"dry": True}, True, id="yes"),
        pytest.param("n == null", {"n": None}, True, id="nothing"),
        pytest.param("n != null", {"n": 5}, True, id="not nothing"),
        pytest.param("a.b > 10", {"a": {"b": 11}}, True, id="inside"),
        pytest.param("a.b > 10", {"a": {"b": 9}}, False, id="inside, less"),
        pytest.param("  amount>10  ", {"amount": 9}, False, id="blanks do not matter"),
        pytest.param("amount > 10", {"amount": "10.01"}, True, id="a Decimal is a number"),
        pytest.param("amount > 10", {"amount": "9.99"}, False, id="a smaller Decimal"),
        pytest.param("amount > 10", {"amount": "1E+2"}, True, id="a Decimal with an exponent"),
        pytest.param("amount == 0.1", {"amount": "0.10"}, True, id="digits, not bits"),
        pytest.param("amount in [5, 7]", {"amount": "7.00"}, True, id="a Decimal among numbers"),
        pytest.param('amount > "600"', {"amount": "5000"}, True, id="digits order as numbers"),
        pytest.param("tags == [1]", {"tags": [True]}, False, id="inside a list yes is not 1"),
    ],
)
def test_conditions(text, args, met):
    """What can be compared is compared, a Decimal in text as the number it is."""
    assert condition(text).met(args) is met


NO_NUMBERS = {
    "missing": {},
    "null": {"amount": None},
    "a flag": {"amount": True},
    "a text": {"amount": "much"},
    "blank": {"amount": ""},
    "a date": {"amount": "2026-12-24"},
    "digits with a blank": {"amount": " 5"},
    "digits of another script": {"amount": "５"},
    "a thousand with a comma": {"amount": "1,000"},
    "no finite number": {"amount": "NaN"},
    "a list": {"amount": [1]},
    "an object": {"amount": {"b": 1}},
}


@pytest.mark.parametrize("sign", [*MEANS, "in"])
@pytest.mark.parametrize("args", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_cannot_be_compared(sign, args):
    """Nothing is said about an argument that is of another kind than what it is compared with."""
    assert condition(f"amount {sign} {'[10]' if sign == 'in' else '10'}").met(args) is None
    inside = condition(f"amount.b.c {sign} {'[10]' if sign == 'in' else '10'}")
    assert inside.met(args) is None


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
    assert [(e.at, e.names) for e in found.escalations] == [(at("2026-12-07T10:00"), ("leads",))]
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
        (1, ["UX1"]),
        (100, ["UX1"]),
        (100.01, ["UX2"]),
        ("100.01", ["UX2"]),
        (1000, ["UX2"]),
        (1000.01, ["UX3"]),
        (10**9, ["UX3"]),
        ("1000000", ["UX3"]),
        ("much", ["UX1", "UX2", "UX3"]),
        (None, ["UX1", "UX2", "UX3"]),
        ([5], ["UX1", "UX2", "UX3"]),
        (True, ["UX1", "UX2", "UX3"]),
    ],
)
def test_tiers(amount, who):
    """The last tier that is met counts, and an amount nobody can compare needs all of them."""
    policy = ApprovalPolicy(
        approvers=("UX1",),
        tiers={
            "amount > 100": ApprovalPolicy(approvers=("UX2",)),
            "amount > 1000": ApprovalPolicy(approvers=("UX3",)),
        },
    )
    found = chosen([policy], {"amount": amount})
    assert [name for each in found for name in each.approvers] == who


JUNIOR = ApprovalPolicy(approvers=("UJR",), escalate={0.5: ("UJR",)}, notify=("UJR",))
LOOSENING = {
    "a named policy": (ApprovalPolicy(approvers=("UX1",)), {"UX1", "UJR"}),
    "the default approvers": (ApprovalPolicy(), {"UBOSS", "UJR"}),
    "one of two groups": (ApprovalPolicy(any_of={"UX1": 1, "UX2": 1}), {"UX1", "UX2", "UJR"}),
    "a tier in a tier": (
        ApprovalPolicy(tiers={"amount <= 500": ApprovalPolicy(approvers=("UX2",))}),
        {"UBOSS", "UX2", "UJR"},
    ),
}


@pytest.mark.parametrize("args", NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.parametrize(("base", "asked"), LOOSENING.values(), ids=LOOSENING)
def test_a_looser_tier_is_no_way_around(base, asked, args):
    """Where a tier that loosens cannot be compared, nobody decides by it alone."""
    loose = replace(base, tiers={**base.tiers, "amount <= 100": JUNIOR})
    defaults = Defaults(approvers=("UBOSS",))
    found = resolve(
        chosen([loose], args, everybody=defaults.approvers), defaults=defaults, requester="UASK"
    )
    assert isinstance(found, Policy)
    assert set(found.approvers) == asked
    assert not reached(found, [Vote(person="UJR", confirmed=True, at=ASKED)])
    assert found.notified is None


def test_without_default_approvers_a_looser_tier_does_not_make_some():
    """Whoever has no default approvers gets none by an argument that cannot be compared."""
    policies = chosen([ApprovalPolicy(tiers={"amount <= 100": JUNIOR})], {})
    assert isinstance(resolve(policies, defaults=Defaults(), requester=""), NoApprovers)


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
