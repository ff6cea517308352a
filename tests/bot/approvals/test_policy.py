"""Who may decide, how many of them, and until when."""

from datetime import UTC, timedelta

import pytest

from agents import ApprovalPolicy
from bot.approvals.hours import Calendar, later
from bot.approvals.life import inherited, voted
from bot.approvals.policy import refusal
from bot.approvals.resolve import Defaults, NoApprovers, chosen, members, resolve, times
from bot.approvals.terms import Policy, Quota, Vote
from tests.bot.approvals.samples import ASKED, DEADLINE, approval, person

GROUPS = {"finance": ("UCFO", "UBOSS"), "leads": ("UBOSS", "UASK"), "S1": ("UX1",), "empty": ()}
DEFAULTS = Defaults(approvers=("UBOSS",), groups=GROUPS)


def policy(*approvers: str, **more) -> ApprovalPolicy:
    return ApprovalPolicy(approvers=approvers, **more)


def may(
    *approvers: str, quorum: int = 1, self_approval: bool = False, of: tuple[str, ...] = ()
) -> Policy:
    rules = ((Quota(names=of, count=quorum),),) if of else ()
    return Policy(approvers=approvers, quorum=quorum, self_approval=self_approval, rules=rules)


def nobody(present: int = 0, needed: int = 1) -> NoApprovers:
    return NoApprovers(present=present, needed=needed)


@pytest.mark.parametrize(
    ("names", "people", "unknown"),
    [
        pytest.param((), (), (), id="nobody"),
        pytest.param(("UA1",), ("UA1",), (), id="a person"),
        pytest.param(("WA1",), ("WA1",), (), id="a person of a grid"),
        pytest.param(("UA1", "UA1"), ("UA1",), (), id="a person twice"),
        pytest.param(("finance",), ("UCFO", "UBOSS"), (), id="a group"),
        pytest.param(("S1",), ("UX1",), (), id="a user group by its id"),
        pytest.param(("S2",), (), ("S2",), id="a user group nobody resolved"),
        pytest.param(("finance", "leads"), ("UCFO", "UBOSS", "UASK"), (), id="groups that overlap"),
        pytest.param(("UBOSS", "finance"), ("UBOSS", "UCFO"), (), id="a person and their group"),
        pytest.param(("empty",), (), (), id="a group without members"),
        pytest.param(("nosuch",), (), ("nosuch",), id="a name nobody knows"),
        pytest.param(("nosuch", "UA1"), ("UA1",), ("nosuch",), id="known beside unknown"),
        pytest.param(("ua1",), (), ("ua1",), id="an id in small letters"),
        pytest.param(("<@UA1>",), (), ("<@UA1>",), id="a mention is no id"),
        pytest.param(("",), (), ("",), id="an empty name"),
    ],
)
def test_members(names, people, unknown):
    """Names become people, each once, and names that nobody knows are told."""
    assert members(names, GROUPS) == (people, unknown)


@pytest.mark.parametrize(
    ("declared", "defaults", "expected"),
    [
        pytest.param(None, DEFAULTS, may("UBOSS"), id="no policy: the defaults"),
        pytest.param(None, Defaults(), nobody(), id="no policy, no defaults: nobody"),
        pytest.param(policy(), DEFAULTS, may("UBOSS"), id="an empty policy: the defaults"),
        pytest.param(policy("UX1"), DEFAULTS, may("UX1"), id="a policy wins over the defaults"),
        pytest.param(policy("UX1"), Defaults(), may("UX1"), id="a policy without defaults"),
        pytest.param(
            policy("finance"), DEFAULTS, may("UCFO", "UBOSS", of=("finance",)), id="a group"
        ),
        pytest.param(
            None,
            Defaults(approvers=("finance",), groups=GROUPS),
            may("UCFO", "UBOSS", of=("finance",)),
            id="a group among the defaults",
        ),
        pytest.param(
            policy("leads"), DEFAULTS, may("UBOSS", of=("leads",)), id="the requester is taken out"
        ),
        pytest.param(policy("UASK"), DEFAULTS, nobody(), id="only the requester: nobody"),
        pytest.param(
            None, Defaults(approvers=("UASK",)), nobody(), id="only the requester by default"
        ),
        pytest.param(
            policy("nosuch"), DEFAULTS, nobody(), id="an unknown name is not the defaults"
        ),
        pytest.param(policy("empty"), DEFAULTS, nobody(), id="an empty group is not the defaults"),
        pytest.param(
            policy("nosuch", "UX1"),
            DEFAULTS,
            may("UX1", of=("nosuch", "UX1")),
            id="who is left may",
        ),
        pytest.param(
            policy("UASK", self_approval=True),
            DEFAULTS,
            may("UASK", self_approval=True),
            id="self approval, when the tool says so",
        ),
        pytest.param(
            policy("leads", self_approval=True),
            DEFAULTS,
            may("UBOSS", "UASK", self_approval=True, of=("leads",)),
            id="self approval within a group",
        ),
        pytest.param(
            policy("UX1", self_approval=True),
            DEFAULTS,
            may("UX1", self_approval=True),
            id="self approval adds nobody",
        ),
        pytest.param(
            policy("UASK", self_approval=True),
            Defaults(self_approval=False),
            nobody(),
            id="the deployment forbids self approval",
        ),
        pytest.param(
            policy("leads", self_approval=True),
            Defaults(self_approval=False, groups=GROUPS),
            may("UBOSS", of=("leads",)),
            id="forbidden self approval leaves the others",
        ),
        pytest.param(
            policy("finance", quorum=2),
            DEFAULTS,
            may("UCFO", "UBOSS", quorum=2, of=("finance",)),
            id="2 of 2",
        ),
        pytest.param(policy("UX1", quorum=2), DEFAULTS, nobody(1, 2), id="2 of 1 is nobody"),
        pytest.param(
            policy("leads", quorum=2), DEFAULTS, nobody(1, 2), id="2 of 2 with the requester"
        ),
        pytest.param(
            policy("leads", quorum=2, self_approval=True),
            DEFAULTS,
            may("UBOSS", "UASK", quorum=2, self_approval=True, of=("leads",)),
            id="2 of 2, the requester counts",
        ),
        pytest.param(policy("UX1", "UX1", quorum=2), DEFAULTS, nobody(1, 2), id="twice is one"),
        pytest.param(
            policy("UX1", "UX2"),
            Defaults(quorum=2),
            may("UX1", "UX2", quorum=2),
            id="the deployment asks for more",
        ),
        pytest.param(
            policy("UX1", "UX2", quorum=2),
            Defaults(quorum=1),
            may("UX1", "UX2", quorum=2),
            id="the tool asks for more",
        ),
        pytest.param(policy("UX1"), Defaults(quorum=2), nobody(1, 2), id="the deployment's quorum"),
    ],
)
def test_resolve(declared, defaults, expected):
    """The stricter of tool and deployment counts, and nobody left never means anybody."""
    policies = chosen([declared] if declared else [], {})
    assert resolve(policies, defaults=defaults, requester="UASK") == expected


def test_an_unknown_requester_takes_nobody_out():
    """Without a requester, as in news of a ticket, all approvers are asked."""
    assert resolve(chosen([], {}), defaults=DEFAULTS, requester="") == may("UBOSS")


DAY, HOUR = timedelta(days=1), timedelta(hours=1)


MONTH, WEEK = timedelta(days=30), timedelta(days=7)
MILLISECOND = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("declared", "ttl", "longest", "span"),
    [
        pytest.param([], DAY, None, DAY, id="no policy: the deployment's"),
        pytest.param([], None, None, None, id="no policy and never"),
        pytest.param([policy()], MONTH, None, MONTH, id="a policy that does not say"),
        pytest.param([policy()], MONTH, MONTH, MONTH, id="one that does not say, and a limit"),
        pytest.param([policy(expires=HOUR)], DAY, DAY, HOUR, id="the tool's is shorter"),
        pytest.param([policy(expires=DAY)], HOUR, HOUR, HOUR, id="the deployment's is shorter"),
        pytest.param([policy(expires=MONTH)], WEEK, None, MONTH, id="longer than what is usual"),
        pytest.param([policy(expires=None)], WEEK, None, None, id="never, and nothing is said"),
        pytest.param([policy(expires=None)], DAY, DAY, DAY, id="never, and a limit"),
        pytest.param([policy(expires=DAY)], None, None, DAY, id="the deployment says never"),
        pytest.param([policy(expires=None), policy()], WEEK, None, None, id="never and unsaid"),
        pytest.param([policy(expires=None), policy(expires=DAY)], WEEK, None, DAY, id="never, day"),
        pytest.param([policy(), policy()], WEEK, None, WEEK, id="twice unsaid"),
        pytest.param(
            [policy(expires=timedelta(milliseconds=1))],
            DAY,
            DAY,
            timedelta(milliseconds=1),
            id="1 ms",
        ),
    ],
)
def test_deadline(declared, ttl, longest, span):
    """The shortest span that is said counts; what the deployment has for who says none, else."""
    expected = None if span is None else ASKED + span // timedelta(milliseconds=1)
    policies = chosen(declared, {})
    found = times(policies, defaults=Defaults(ttl=ttl, longest=longest), now=ASKED)
    assert found.deadline == expected


OFFICE = Calendar(zone=UTC)


@pytest.mark.parametrize(
    ("expires", "longest", "end"),
    [
        pytest.param("default", WEEK, ASKED + WEEK // MILLISECOND, id="the usual, and a limit"),
        pytest.param(MONTH, WEEK, ASKED + WEEK // MILLISECOND, id="more than the limit"),
        pytest.param(None, WEEK, ASKED + WEEK // MILLISECOND, id="never, and a limit"),
        pytest.param(HOUR, WEEK, later(ASKED, HOUR, OFFICE), id="an hour of work is less"),
        pytest.param(MONTH, None, later(ASKED, MONTH, OFFICE), id="no limit"),
    ],
)
def test_the_limit_is_plain_time(expires, longest, end: int):
    """Hours of work make a time longer, and never longer than a deployment lets anything wait."""
    declared = chosen([policy(expires=expires, working_hours=True, reminders=(0.5,))], {})
    defaults = Defaults(ttl=WEEK, longest=longest, calendar=OFFICE)
    found = times(declared, defaults=defaults, now=ASKED)
    assert found.deadline == end
    assert all(ASKED < at < end for at in found.reminders)
    assert len(found.reminders) == 1


ANYBODY = {
    "boss": person("UBOSS"),
    "cfo": person("UCFO"),
    "asker": person("UASK"),
    "other": person("UOTHER"),
    "bot": person("UBOSS", is_bot=True),
    "guest": person("UBOSS", is_guest=True),
    "guest who asked": person("UASK", is_guest=True),
    "gone": person("UBOSS", deleted=True),
    "stranger": person("UBOSS", is_stranger=True),
    "namesake": person("UBOSS", team="T2"),
}
CLOSED_BY = {"decided_by": "UBOSS", "decided_at": ASKED}
STATES = {
    "open": approval(),
    "never ends": approval(deadline=None),
    "self": approval(policy=may("UBOSS", "UASK", self_approval=True)),
    "self, not listed": approval(policy=may("UBOSS", self_approval=True)),
    "listed, no self": approval(policy=may("UBOSS", "UASK")),
    "past": approval(deadline=ASKED - 1),
    "at its end": approval(deadline=ASKED),
    "approved": approval(status="approved", **CLOSED_BY),
    "rejected": approval(status="rejected", **CLOSED_BY),
    "expired": approval(status="expired"),
    "withdrawn": approval(status="cancelled", why="withdrawn", decided_by="UASK"),
    "superseded": approval(status="cancelled", why="superseded"),
    "nobody": approval(status="cancelled", why="nobody", policy=may()),
    "cancelled": approval(status="cancelled", why="run_cancelled"),
    "left open": approval(status="cancelled", decided_by="UCFO"),
    "void": approval(status="void", **CLOSED_BY),
    "started": approval(status="started", **CLOSED_BY),
    "done": approval(status="done", **CLOSED_BY),
    "failed": approval(status="failed", **CLOSED_BY),
    "unknown": approval(status="unknown", **CLOSED_BY),
    "1 of 2": approval(
        policy=may("UBOSS", "UCFO", quorum=2),
        votes=(Vote(person="UBOSS", confirmed=True, at=ASKED),),
    ),
}
SAME, OVER, LATE = None, "already", "late"
TABLE = {
    # who      approve, reject, withdraw
    "open": {
        "boss": (None, None, "not_requester"),
        "cfo": (None, None, "not_requester"),
        "asker": ("own_request", None, None),
        "other": ("not_approver", "not_approver", "not_requester"),
        "bot": ("bot", "bot", "bot"),
        "guest": ("guest", "guest", "guest"),
        "guest who asked": ("guest", "guest", None),
        "gone": ("deactivated", "deactivated", "deactivated"),
        "stranger": ("outsider", "outsider", "outsider"),
        "namesake": ("outsider", "outsider", "outsider"),
    },
    "never ends": {"boss": (None, None, "not_requester"), "asker": ("own_request", None, None)},
    "self": {
        "asker": (None, None, None),
        "boss": (None, None, "not_requester"),
        "cfo": ("not_approver", "not_approver", "not_requester"),
    },
    "self, not listed": {"asker": ("own_request", None, None)},
    "listed, no self": {"asker": ("own_request", None, None)},
    "past": {
        "boss": (LATE, LATE, LATE),
        "asker": (LATE, LATE, LATE),
        "other": (LATE, LATE, LATE),
        "namesake": ("outsider", "outsider", "outsider"),
    },
    "at its end": {"boss": (LATE, LATE, LATE)},
    "approved": {
        "boss": (OVER, OVER, OVER),
        "cfo": (OVER, OVER, OVER),
        "asker": (OVER, OVER, OVER),
        "other": (OVER, OVER, OVER),
        "bot": ("bot", "bot", "bot"),
        "namesake": ("outsider", "outsider", "outsider"),
    },
    "rejected": {"boss": (OVER,) * 3, "cfo": (OVER,) * 3, "asker": (OVER,) * 3},
    "expired": {"boss": (LATE,) * 3, "asker": (LATE,) * 3, "guest": ("guest",) * 3},
    "withdrawn": {"boss": (OVER,) * 3, "asker": (OVER,) * 3},
    "superseded": {"boss": (OVER,) * 3, "asker": (OVER,) * 3},
    "nobody": {"boss": (OVER,) * 3, "asker": (OVER,) * 3},
    "cancelled": {"boss": (OVER,) * 3},
    "left open": {"boss": (OVER,) * 3},
    "void": {"boss": (OVER,) * 3},
    "started": {"boss": (OVER,) * 3, "asker": (OVER,) * 3},
    "done": {"boss": (OVER,) * 3, "cfo": (OVER,) * 3},
    "failed": {"boss": (OVER,) * 3},
    "unknown": {"boss": (OVER,) * 3},
    "1 of 2": {
        "boss": ("already_voted", None, "not_requester"),
        "cfo": (None, None, "not_requester"),
        "asker": ("own_request", None, None),
        "gone": ("deactivated",) * 3,
    },
}
ROWS = [
    pytest.param(state, who, act, code, id=f"{state}: {who} {act}")
    for state, people in TABLE.items()
    for who, codes in people.items()
    for act, code in zip(("approve", "reject", "withdraw"), codes, strict=True)
]


@pytest.mark.parametrize(("state", "who", "act", "code"), ROWS)
def test_refusal(state, who, act, code):
    """Who may do what in which state, and why not."""
    found = refusal(STATES[state], ANYBODY[who], act, now=ASKED)
    assert (found and found.code) == code
    assert found is None or (found.sentence and "<@" not in found.sentence)


@pytest.mark.parametrize(
    ("state", "who", "act", "people"),
    [
        pytest.param("approved", "cfo", "reject", ("UBOSS",), id="who was faster"),
        pytest.param("rejected", "asker", "withdraw", ("UBOSS",), id="who rejected"),
        pytest.param("approved", "boss", "approve", (), id="it was you"),
        pytest.param("open", "other", "approve", ("UBOSS", "UCFO"), id="who may"),
        pytest.param("open", "boss", "withdraw", ("UASK",), id="whose request it is"),
        pytest.param("open", "namesake", "approve", (), id="an outsider learns no names"),
        pytest.param("expired", "boss", "approve", (), id="nobody was it"),
    ],
)
def test_a_refusal_names_people(state, who, act, people):
    """A refusal names whom it is about by their ids."""
    found = refusal(STATES[state], ANYBODY[who], act, now=ASKED)
    assert found is not None
    assert found.people == people


@pytest.mark.parametrize(
    ("state", "who", "words"),
    [
        pytest.param("approved", "boss", "You already approved", id="my own approval"),
        pytest.param("rejected", "boss", "You already rejected", id="my own rejection"),
        pytest.param("approved", "cfo", "already approved by", id="somebody's approval"),
        pytest.param("rejected", "cfo", "already rejected by", id="somebody's rejection"),
        pytest.param("done", "cfo", "already approved by", id="it ran meanwhile"),
        pytest.param("void", "cfo", "This did not run, and its buttons", id="it did not run"),
        pytest.param("void", "boss", "This did not run, and its buttons", id="nor on one's own"),
        pytest.param("expired", "boss", "expired", id="a timeout is no rejection"),
        pytest.param("withdrawn", "asker", "You withdrew", id="my own withdrawal"),
        pytest.param("withdrawn", "boss", "withdrawn by the person who asked", id="withdrawn"),
        pytest.param("superseded", "boss", "newer request", id="asked again"),
        pytest.param("nobody", "boss", "Too few could decide", id="nobody could"),
        pytest.param("cancelled", "boss", "cancelled", id="cancelled"),
        pytest.param("left open", "boss", "already approved by", id="it was interrupted"),
        pytest.param("1 of 2", "boss", "1 of 2", id="how far it is"),
    ],
)
def test_a_refusal_tells_what_happened(state, who, words):
    """A refusal says in plain words what became of the request."""
    found = refusal(STATES[state], ANYBODY[who], "approve", now=ASKED)
    assert found is not None
    assert words in found.sentence


@pytest.mark.parametrize(
    ("now", "code"),
    [
        pytest.param(DEADLINE - 1, None, id="a millisecond before"),
        pytest.param(DEADLINE, "late", id="at the deadline"),
        pytest.param(DEADLINE + 1, "late", id="a millisecond after"),
    ],
)
def test_the_deadline_is_exact(now, code):
    """Nothing is decided at the deadline or after it."""
    found = refusal(approval(), person(), "approve", now=now)
    assert (found and found.code) == code


def test_other_values_are_no_repetition():
    """Who approved with one value may approve with another one; the same value is counted once."""
    voted = approval(
        policy=may("UBOSS", "UCFO", quorum=2),
        votes=(Vote(person="UBOSS", confirmed=True, at=ASKED, payload={"days": 3}),),
    )
    other = refusal(voted, person(), "approve", now=ASKED, payload={"days": 4})
    same = refusal(voted, person(), "approve", now=ASKED, payload={"days": 3})
    assert other is None
    assert same is not None
    assert same.code == "already_voted"


def test_an_approval_that_became_enough_may_be_given_again():
    """Who voted before others left and the rules were widened is not stopped by that vote."""
    vote = Vote(person="UBOSS", confirmed=True, at=ASKED, names=("finance",))
    rule = (Quota(names=("cfo",), count=1), Quota(names=("finance", "UBOSS"), count=2))
    before = approval(policy=Policy(approvers=("UBOSS",), rules=(rule,)), votes=(vote,))
    after = inherited(before, ("UBOSS",), ("UBOSS",), gone=frozenset(), rules=(0,))
    found = refusal(before, person(), "approve", now=ASKED)
    assert found is not None
    assert found.code == "already_voted"
    assert refusal(after, person(), "approve", now=ASKED) is None
    again = vote.model_copy(update={"at": ASKED + 1})
    assert voted(after, again, run_for=None).status == "approved"


def test_the_table_is_big():
    """Every state of an approval is in the table of who may do what."""
    assert set(TABLE) == set(STATES)
    assert len(ROWS) >= 120
