"""Clicks in any order, by anybody, at any time: what may never happen."""

from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.approvals.decision import Outcome, change, weigh
from bot.approvals.life import lapse
from bot.approvals.request import Approval
from bot.approvals.terms import Policy
from tests.bot.approvals.samples import ASKED, DEADLINE, SCHEMA, approval, click

PEOPLE = ("UP1", "UP2", "UP3", "UP4", "UASK", "UX9")
CLICKS = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from(["approve", "approve", "approve", "reject", "withdraw"]),
    st.sampled_from([None, {"days": "1"}, {"days": "2"}, {"days": "99"}]),
    st.integers(0, 20_000),
)


def played(quorum: int, clicks, *, schema: bool) -> list[Approval]:
    """Every record that the clicks, one after another, bring about."""
    policy = Policy(approvers=("UP1", "UP2", "UP3", "UP4"), quorum=quorum)
    records = [approval(policy=policy, payload_schema=SCHEMA if schema else None)]
    now = ASKED
    for who, act, values, later in clicks:
        now += later
        decision = click(records[-1], who, act, values=values)
        answer = weigh(records[-1], decision, now=now, run_for=timedelta(hours=1))
        if not isinstance(answer, Outcome):
            records.append(answer)
        elif lapsed := lapse(records[-1], now=now):
            records.append(lapsed)
    return records


@settings(max_examples=300)
@given(st.integers(1, 4), st.lists(CLICKS, max_size=15), st.booleans())
def test_one_outcome_and_an_exact_quorum(quorum, clicks, schema):
    """There is at most one outcome, never with fewer than N people, and nothing after it."""
    records = played(quorum, clicks, schema=schema)
    assert all(record.status == "pending" for record in records[:-1])
    assert [record.rev for record in records] == list(range(1, len(records) + 1))
    last = records[-1]
    agreeing = {v.person for v in last.votes if v.confirmed and v.payload == last.payload}
    if last.status == "approved":
        assert len(agreeing) == quorum
        assert last.decided_at < DEADLINE
    assert "UX9" not in {vote.person for vote in last.votes}
    assert "UASK" not in {vote.person for vote in last.votes if vote.confirmed}
    assert (last.status == "rejected") == any(not vote.confirmed for vote in last.votes)


@settings(max_examples=100)
@given(st.integers(1, 4), st.lists(CLICKS, max_size=15))
def test_only_an_outcome_reaches_the_inbox(quorum, clicks):
    """Exactly the record that closes an approval carries an answer and a decision in the audit."""
    records = played(quorum, clicks, schema=False)
    changes = [change(before, after, now=ASKED, head="") for before, after in pairwise(records)]
    closing = [record.status != "pending" for record in records[1:]]
    assert [each.entry is not None for each in changes] == closing
    assert ["approval.decided" in [e["type"] for e in each.audit] for each in changes] == closing
