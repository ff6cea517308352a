"""Each planted bug with the promise it breaks and the run in which that must come out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.faults import bugs, gaps, lapses
from tests.faults.plan import LEASE, LIMITED, Plan, Said, Trouble

HOLD = Trouble(0.3, "stop", "actor", LEASE * 1.8)
KILL = Trouble(0.3, "kill", "actor")
SLOW = Trouble(0.0, "ledger", "slow", 0.9)
LONG = Trouble(0.0, "ledger", "slow", 2.2)
LOST = Trouble(0, "slack", "chat.postMessage lost")
HELD = Trouble(0, "held", "a1", 1.5)
AT_POST = {"main": "slack.post.before:1", "side": "slack.post.before:1"}
AT_COMMIT = {"main": "slot.commit.before:1", "side": "slot.commit.before:1"}
AT_ACT = dict.fromkeys(("main", "side"), "ledger.act.after:1")
BEFORE_ACT = dict.fromkeys(("main", "side"), "ledger.act.before:1")
AT_SECOND_ACT = dict.fromkeys(("main", "side"), "ledger.act.after:2")
AHEAD = dict.fromkeys(("main", "side"), 3600.0)
AT_INGEST = {"main": "slot.ingest.before:1"}
AT_DECIDE = {"main": "slot.decide.after:1"}


@dataclass(frozen=True)
class Planted:
    """A bug, the promise it breaks, and the run in which that must come out."""

    bug: Callable[[], None]
    breaks: int
    plan: Plan


def _run(*texts: str, troubles: Sequence[Trouble] = (), answer: str = "yes", **more: Any) -> Plan:
    """Somebody says these things in one conversation, and people say yes."""
    said = tuple(Said(0.3 + 0.2 * n, 0, "ana", text) for n, text in enumerate(texts))
    return Plan(0, said, tuple(troubles), answer=answer, **more)


def _two_offers() -> Plan:
    """Somebody who has decided once leaves the group of those who may, and goes on pressing."""
    said = (Said(0.3, 0, "ana", "offer 200 a1"), Said(5.5, 0, "ana", "offer 200 a2"))
    return Plan(0, said, (Trouble(2.0, "leaves", "mia"),), answer="mia")


TABLE = (
    Planted(bugs.no_fence, 4, _run("pay 50 a1", troubles=(SLOW, HOLD))),
    Planted(bugs.no_journal, 4, _run("wire 50 a1", troubles=(SLOW, KILL))),
    Planted(bugs.no_unknown, 4, _run("wire 50 a1", troubles=(SLOW, KILL))),
    Planted(bugs.no_dedupe, 4, _run("pay 50 a1")),
    Planted(bugs.no_reconciliation, 19, _run("hi a1", troubles=(LOST,))),
    Planted(bugs.no_gate, 1, _run("pay 200 a1")),
    Planted(bugs.no_means_yes, 2, _run("pay 200 a1", answer="no")),
    Planted(bugs.no_digest, 5, _run("pay 200 a1")),
    Planted(bugs.ack_before_store, 15, _run("pay 50 a1", crash=AT_INGEST)),
    Planted(bugs.no_compare, 15, _run("share 1 a1; share 2 a2; share 3 a3")),
    Planted(bugs.decided_in_two_steps, 16, _run("pay 200 a1", crash=AT_DECIDE)),
    Planted(bugs.forgotten_when_claimed, 16, _run("pay 50 a1", troubles=(SLOW, KILL))),
    Planted(bugs.paid_before_posted, 19, _run("hi a1", crash=AT_POST)),
    Planted(bugs.own_approval, 10, _run("pay 200 a1", answer="own")),
    Planted(bugs.no_quorum, 11, _run("share 1 a1")),
    Planted(bugs.popped_at_begin, 15, _run("pay 50 a1", crash=AT_COMMIT)),
    Planted(bugs.no_chain, 18, _run("pay 200 a1")),
    Planted(bugs.card_stays, 19, _run("pay 200 a1")),
    Planted(bugs.no_lifetime, 0, _run("pay 50 a1")),
    Planted(bugs.news_twice, 4, _run("order 1 a1; order 2 a2; order 3 a3; order 4 a4")),
    Planted(bugs.news_lost, 16, _run("order 1 a1")),
    Planted(
        bugs.news_go_back,
        17,
        _run("; ".join(f"order {n} a{n}" for n in range(1, 9))),
    ),
    Planted(bugs.inner_lost, 16, _run("boss 200 a1")),
    Planted(bugs.outer_early, 14, _run("boss 200 a1")),
    Planted(bugs.expired_is_rejected, 19, _run("brief 5 a1")),
    Planted(bugs.one_counts_twice, 11, _run("share 1 a1", answer="twice")),
    Planted(
        bugs.update_lost,
        19,
        _run("pay 200 a1", troubles=(Trouble(0, "slack", "chat.update error"),) * 5),
    ),
    Planted(bugs.line_stays, 19, _run("pay 200 a1")),
    Planted(bugs.batch_wakes_twice, 14, _run("pay 50 a1; share 1 a1")),
    Planted(bugs.payload_unchecked, 13, _run("grant 5 a1")),
    Planted(bugs.deadline_ignored, 12, _run("brief 5 a1", answer="late")),
    Planted(bugs.past_forgotten, 16, _run("pay 200 a1", history=500)),
    Planted(bugs.answer_dropped, 15, _run("hi a1", "pay 50 a2", troubles=(HELD,))),
    Planted(bugs.posts_when_late, 19, _run("hi a1", frozen=AT_POST)),
    Planted(
        bugs.any_button,
        7,
        _run("pay 200 a1", troubles=(Trouble(0.5, "forged"),), answer="nobody"),
    ),
    Planted(bugs.rights_live_on, 9, _two_offers()),
    Planted(bugs.denied, 19, _run("wire 200 a1", crash=AT_ACT, answer="leave")),
    Planted(bugs.said_done, 19, _run("wire 200 a1", crash=BEFORE_ACT, answer="leave")),
    Planted(bugs.denied_again, 19, _run("wire 50 a1", crash=AT_ACT, answer="leave")),
    Planted(
        lapses.retry_after_ignored,
        19,
        _run("hi a1", troubles=(Trouble(0, "slack", "chat.postMessage ratelimited", LIMITED),) * 3),
    ),
    Planted(
        lapses.results_thrown_away,
        14,
        _run("wire 50 a1; wire 60 a2", troubles=(LONG, SLOW), crash=AT_SECOND_ACT),
    ),
    Planted(lapses.notes_lost, 19, _run("pay 200 a1")),
    Planted(lapses.history_malformed, 14, _run("pay 200 a1", "hi a2", answer="nobody")),
    Planted(lapses.reason_lost, 19, _run("pay 200 a1", answer="no")),
    Planted(lapses.no_heartbeat, 17, _run("wire 50 a1", troubles=(LONG,))),
    Planted(lapses.audit_without_person, 18, _run("pay 200 a1")),
    Planted(lapses.shared_state_lost, 15, _run("pay 50 a1")),
    Planted(lapses.own_state_lost, 15, _run("pay 50 a1")),
    Planted(
        lapses.started_too_late,
        12,
        _run("pay 200 a1", "wire 50 a2", troubles=(LONG,), answer="late", run_for=0.8),
    ),
    Planted(
        lapses.token_is_final, 19, _run("hi a1", troubles=(Trouble(0.1, "token", seconds=1.0),))
    ),
    Planted(
        lapses.refused_is_let_be,
        19,
        _run("pay 200 a1", troubles=(Trouble(0, "archived"),), answer="nobody"),
    ),
    Planted(
        lapses.stays_with_replica,
        16,
        _run(*(f"pay {n}00 a{n}" for n in range(1, 6)), troubles=(Trouble(0.4, "failover"),)),
    ),
    Planted(lapses.places_pass, 19, _run("pay 200 a1", history=500)),
    Planted(
        lapses.deletions_ignored,
        15,
        _run("hi a1", "pay 200 a2", troubles=(Trouble(1.2, "deleted", "a2"),), answer="nobody"),
    ),
    Planted(lapses.anchored_twice, 18, _run("pay 200 a1", besides="anchored", answer="nobody")),
    Planted(gaps.not_buried, 16, _run("die 1 a1")),
    Planted(gaps.wrong_note, 19, _run("pay 200 a1")),
    Planted(gaps.card_shows_other, 5, _run("pay 200 a1")),
    Planted(gaps.expires_early, 12, _run("pay 200 a1", answer="nobody")),
    Planted(gaps.siblings_closed, 14, _run("share 1 a1; share 2 a2; share 3 a3")),
    Planted(gaps.rejection_doubted, 19, _run("pay 200 a1", answer="no")),
    Planted(gaps.starts_unaudited, 18, _run("pay 200 a1")),
    Planted(gaps.anchor_leaves_out, 18, _run("hi a1", besides="audited")),
    Planted(gaps.journal_stays, 0, _run("pay 200 a1")),
    Planted(gaps.runs_stay, 0, _run("pay 50 a1")),
    Planted(gaps.decided_by_other, 18, _run("pay 200 a1")),
    Planted(gaps.local_clock, 12, _run("brief 5 a1", skew=AHEAD)),
    Planted(gaps.no_ring, 16, _run("hi a1")),
    Planted(gaps.changed_again, 19, _run("pay 200 a1", answer="mia")),
)
BUGS = {
    planted.bug.__name__: replace(
        planted, plan=replace(planted.plan, seed=number, plant=planted.bug.__name__)
    )
    for number, planted in enumerate(TABLE, start=1)
}
"""Every bug by its name."""


def plant(name: str) -> None:
    """Have this process have a bug; none without a name."""
    if name:
        BUGS[name].bug()
