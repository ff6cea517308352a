"""What is wrong with one session, whatever Slack shows of it. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from agents.runtime.slot.port import Record
from agents.runtime.slot.wire import link, text
from agents.runtime.story import USER, Call
from tests.faults.case import AGREED, FINAL, Case, Found, gated, groups
from tests.faults.plan import SETTLE
from tests.faults.props import NESTED

CLICK = 2_500
"""Milliseconds that a click takes at the most: rights are looked up when it begins."""


def log_is_whole(case: Case) -> Found:
    """Versions without a gap, each response behind its call, no call open that is not known."""
    for number, event in enumerate(case.view.events, start=1):
        if event.version != number:
            yield 17, f"event {number} says it is {event.version}"
    if case.view.version != len(case.view.events):
        yield 17, f"{len(case.view.events)} events at version {case.view.version}"
    open_calls, known = set(case.story.open), set(case.view.open)
    if open_calls != known:
        yield 14, f"open are {sorted(open_calls)}, known as open {sorted(known)}"


def one_answer(case: Case) -> Found:
    """A call has one answer, and one that nobody is asked about has it."""
    for call in case.story.calls.values():
        told = [a for a in call.responses if not a.placeholder and not a.response.will_continue]
        if len(told) > 1 + call.long_running:
            yield 4, f"call {call.id} has {len(told)} answers"
        waits = any(r.status in ("pending", "unknown") for r in case.records(call.id))
        if not told and not waits and not case.view.open.get(call.id, None):
            yield 16, f"call {call.id} has no answer and nobody is asked"
    for number, event in enumerate(case.view.events):
        if event.author == USER and any(event.texts()):
            later = case.view.events[number + 1 :]
            if not any(each.author != USER and each.branch == event.branch for each in later):
                yield 16, f"nobody answered {''.join(event.texts())!r}"


def nested_calls_return(case: Case) -> Found:
    """A nested agent's call is answered once its own calls are, and tells what came of them."""
    for call in case.story.calls.values():
        if call.name not in NESTED:
            continue
        inner = [each for each in case.story.calls.values() if each.branch == call.inner]
        told = [answer for answer in call.responses if not answer.placeholder]
        if told and any(_first(each) > told[0].version for each in inner):
            yield 14, f"{call.name} {call.id} was answered before its own calls"
        if not told and inner and not any(each.id in case.story.unsettled for each in inner):
            yield 16, f"{call.name} {call.id} waits for nothing"
        words = str(told[0].response.response) if told else ""
        done = [each for each in inner if _status(each) == "done"]
        if told and "error" not in words and not all(each.name in words for each in done):
            yield 16, f"{call.name} {call.id} does not tell what came of its calls: {words}"


def models_wait(case: Case) -> Found:
    """A model is asked when somebody speaks, or when nothing of a batch is open any more: once."""
    reasons: dict[str | None, int] = {}
    unsettled: dict[int, set[str]] = {}
    for event in case.view.events:
        if event.error_code or event.actions.compaction:
            continue
        if event.author == USER and event.said:
            reasons[event.branch] = reasons.get(event.branch, 0) + 1
        for response in event.get_function_responses():
            call = case.story.calls.get(response.id or "")
            asks = call and call.id in event.actions.requested_tool_confirmations
            if call is None or asks or response.will_continue:
                continue
            batch = unsettled.setdefault(call.version, set())
            batch.discard(call.id)
            if not batch:
                reasons[call.branch] = reasons.get(call.branch, 0) + 1
        if event.author == USER or event.questions or event.get_function_responses():
            continue
        if event.content and not reasons.pop(event.branch, 0):
            yield 14, f"event {event.version} is the model's, and nothing was new to it"
        unsettled[event.version] = {call.id or "" for call in event.get_function_calls()}


def gate_holds(case: Case) -> Found:
    """Nothing gated happens without a yes, nothing at all after a no, and nothing too often."""
    for call in case.story.calls.values():
        acts = case.acts(call.id)
        effects = sum(act["effect"] for act in acts)
        records = case.records(call.id)
        agreed = [record for record in records if case.agreed(record)]
        if acts and gated(call) and not agreed:
            told = [record.status for record in records] or "never asked"
            yield (2 if records else 1), f"{call.name} {call.id} happened, though {told}"
        if effects - _late(call, acts) > 1 + case.reruns(call.id):
            yield 4, f"{call.name} {call.id} happened {effects} times"
        if _status(call) == "done" and not effects and call.name not in NESTED:
            yield 19, f"{call.name} {call.id} is said to be done and never happened"
        yield from _as_agreed(case, call, agreed)


def _as_agreed(case: Case, call: Call, agreed: list[Record]) -> Found:
    """What ran is what people saw, with what they entered."""
    shown = [record.body["args"] for record in agreed]
    entered = [record.body["payload"] for record in agreed]
    for act in case.acts(call.id):
        args = {name: value for name, value in act["args"].items() if name != "days"}
        if args != {"n": call.args["n"], "mark": call.args["mark"]}:
            yield 5, f"{call.name} {call.id} ran with {args}"
        if gated(call) and shown and args not in shown:
            yield 5, f"{call.name} {call.id} ran with {args}, people saw {shown}"
        if call.name == "grant" and {"days": act["args"]["days"]} not in entered:
            yield 13, f"{call.name} {call.id} ran with {act['args']}, people entered {entered}"
    for record in case.records(call.id):
        payload = record.body["payload"]
        if call.name == "grant" and record.status in AGREED and not record.body["unknown"]:
            days = payload.get("days") if isinstance(payload, dict) else None
            if not isinstance(days, int) or isinstance(days, bool):
                yield 13, f"{record.id} was approved with {payload}"


def outcomes_stand(case: Case) -> Found:
    """One outcome, by people who may, enough of them, in time."""
    for record in case.view.approvals.values():
        body, votes = record.body, record.body["votes"]
        voters = [vote["person"] for vote in votes]
        if len(set(voters)) != len(voters):
            yield 11, f"{record.id} counts somebody twice: {voters}"
        if body["requester"] in [v["person"] for v in votes if v["confirmed"]]:
            yield 10, f"{record.id} was approved by its requester"
        if record.status in AGREED:
            yes = len({vote["person"] for vote in votes if vote["confirmed"]})
            if yes < body["policy"]["quorum"]:
                yield 11, f"{record.id} is {record.status} with {yes} of {body['policy']['quorum']}"
            if record.deadline and any(v["at"] >= record.deadline for v in votes):
                yield 12, f"{record.id} was approved after its deadline"
        if record.status in ("approved", "started"):
            yield 16, f"{record.id} is {record.status} and goes no further"


def _late(call: Call, acts: list[Mapping[str, Any]]) -> int:
    """How often it happened after all, later than its trace is looked for.

    A process may stand still with its request unsent; nobody but the world outside can tell then.
    """
    waits = call.name == "book"
    return sum(waits and act["effect"] and act["came"] - act["at"] > SETTLE for act in acts)


def people_decide(case: Case) -> Found:
    """Every vote is a click that somebody made who had a right to it then."""
    names = {number: name for name, number in case.evidence.people.items()}
    clicks = {
        (click.approval, click.who, click.act == "approve")
        for click in case.evidence.clicks
        if click.session == case.tag
    }
    for record in case.view.approvals.values():
        for vote in record.body["votes"]:
            who = names.get(vote["person"], "")
            if (record.id, who, vote["confirmed"]) not in clicks:
                yield 7, f"{record.id} has a vote that {who or vote['person']} did not give"
            gone = case.evidence.left.get(who) if groups(record) else None
            if gone is not None and vote["at"] > gone + CLICK:
                yield 9, f"{record.id} has a vote of {who}, who was gone"


def deletions_withdraw(case: Case) -> Found:
    """Nobody is asked any more for who deleted the message that began it, once the bot knows."""
    runs = {e.invocation_id for e in case.view.events if e.entry in case.evidence.deleted}
    for record in case.view.approvals.values():
        if record.body["run"] in runs and record.status == "pending" and not record.body["unknown"]:
            yield 15, f"{record.id} is pending, though its message is deleted"


def outcomes_are_told(case: Case) -> Found:
    """The model reads what became of a question: no refusal is called another, no yes a no."""
    for call in case.story.calls.values():
        record = case.view.approvals.get(call.request or "")
        told = [a for a in call.responses if not a.placeholder and not a.response.will_continue]
        if record is None or not told or record.body["unknown"]:
            continue
        outcome = (told[0].response.response or {}).get("outcome")
        if outcome and outcome != record.status:
            yield 19, f"{call.name} {call.id} is told {outcome}, its question is {record.status}"
        if record.status in ("rejected", "expired", "cancelled") and not outcome:
            yield 19, f"{call.name} {call.id} does not hear that its question is {record.status}"
        why = (told[0].response.response or {}).get("reason")
        if record.status == "rejected" and why not in _reasons(case, record):
            yield 19, f"{call.name} {call.id} hears that somebody said no because of {why!r}"


def nothing_is_doubted(case: Case) -> Found:
    """A model hears that nobody knows what came of a call only where its body was entered."""
    for call in case.story.calls.values():
        records = case.records(call.id)
        begun = any(each.body["unknown"] or each.body["begun"] for each in records)
        started = any(case.audit(each, "approval.started") for each in records)
        told = [str(a.response.response) for a in call.responses if not a.placeholder]
        if records and not (begun or started) and any("not known" in words for words in told):
            yield 19, f"{call.name} {call.id} was never started, and its model hears {told}"


def audit_tells_all(case: Case) -> Found:
    """Each entry carries the hash of all before it, and together they tell what is stored."""
    previous = ""
    for number, (entry, hashed) in enumerate(case.view.audit, start=1):
        previous = link(previous, text(entry))
        if previous != hashed:
            yield 18, f"audit entry {number} does not fit the chain"
    for record in case.view.approvals.values():
        ends = case.audit(record, "approval.decided")
        if len(ends) > 1:
            yield 3, f"{record.id} was decided {len(ends)} times"
        if len(case.audit(record, "approval.opened")) != 1:
            yield 18, f"{record.id} was not opened once in the audit"
        told = ends[-1]["status"] if ends else "pending"
        looked = any(each.body["unknown"] for each in case.records(str(record.body["call_id"])))
        left = (*AGREED, "cancelled") if looked else AGREED  # interrupted, and then let be
        if record.status not in (left if told == "approved" else (told,)):
            yield 18, f"{record.id} is {record.status}, and {told} in the audit"
        votes = case.audit(record, "approval.voted")
        known = [(vote["person"], vote["confirmed"]) for vote in record.body["votes"]]
        if [(vote["person"], vote["confirmed"]) for vote in votes] != known:
            yield 18, f"{record.id} has votes {known}, and {votes} in the audit"
        if ends and ends[-1]["by"] != record.body["decided_by"]:
            yield 18, f"{record.id} was decided by {ends[-1]['by']} in the audit"
        if record.status in FINAL and any(v["at"] > e["at"] for v in votes for e in ends):
            yield 3, f"{record.id} has votes after its end"


def _reasons(case: Case, record: Record) -> set[str]:
    """Why people said no to something."""
    return {
        click.reason
        for click in case.evidence.clicks
        if (click.session, click.approval) == (case.tag, record.id) and click.reason
    }


def _first(call: Call) -> float:
    """The version at which a call was answered first."""
    told = [answer.version for answer in call.responses if not answer.placeholder]
    return told[0] if told else float("inf")


def _status(call: Call) -> object:
    """The status in the first answer to a call."""
    told = (answer.response.response or {} for answer in call.responses if not answer.placeholder)
    return next(told, {}).get("status")


OF_SESSION: tuple[Callable[[Case], Found], ...] = (
    log_is_whole,
    one_answer,
    nested_calls_return,
    models_wait,
    gate_holds,
    outcomes_stand,
    people_decide,
    deletions_withdraw,
    outcomes_are_told,
    nothing_is_doubted,
    audit_tells_all,
)
