"""The one judge: evidence of a run -> every promise that was broken. Pure.

Numbers are those of the invariants: 1 no decision, no run; 2 no means no; 3 one outcome; 4 one
start; 5 what is shown is what runs; 10 separation; 11 quorum; 12 deadlines; 14 independence;
15 acknowledged is durable; 16 no lost wake-up; 17 one writer; 18 audit; 19 truth in Slack.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.runtime.slot.port import Record, View
from agents.runtime.slot.wire import link, text
from agents.runtime.story import Story
from tests.faults.evidence import Evidence, Sent

FINAL = ("rejected", "expired", "cancelled", "void", "done", "failed")
LIMIT = 100


@dataclass(frozen=True)
class Violation:
    """A promise that was broken: its number (0: the ground the others stand on), where, and how."""

    invariant: int
    where: str
    what: str


def check(evidence: Evidence) -> list[Violation]:
    """Everything that is wrong with a run."""
    found = [violation for judge in JUDGES for violation in judge(evidence)]
    for tag, view in evidence.sessions.items():
        case = Case(tag, view, Story(view.events), evidence)
        found += [Violation(n, tag, what) for judge in OF_SESSION for n, what in judge(case)]
    return found


@dataclass(frozen=True)
class Case:
    """One session, its events folded, and all the rest."""

    tag: str
    view: View
    story: Story
    evidence: Evidence

    def acts(self, call_id: str) -> list[Mapping[str, Any]]:
        """What a call did outside."""
        key = f"{self.tag}:{call_id}"
        return [act for act in self.evidence.acts if act["key"] == key]

    def records(self, call_id: str) -> list[Record]:
        """The questions about a call."""
        return [r for r in self.view.approvals.values() if r.body["call_id"] == call_id]

    def reruns(self, call_id: str) -> int:
        """How often a person said that a call of unknown fate did not happen and may run."""
        return sum(r.body["unknown"] and self.agreed(r) for r in self.records(call_id))

    def agreed(self, record: Record) -> bool:
        """Whether people agreed that the call of a record may run, whatever became of it."""
        told = [e for e, _ in self.view.audit if e.get("approval") == record.id]
        return any(_is(e, "approval.decided") and e["status"] == "approved" for e in told)


def rests(evidence: Evidence) -> Iterator[Violation]:
    """Everything came to rest, no lease runs on, nothing is due, SIGTERM ends a process soon.

    A lease whose end was said into a cut line has run out by itself, which is as good.
    """
    if evidence.restless:
        yield Violation(16, "all", f"never came to rest: {evidence.restless}")
    for tag, owner in evidence.owners.items():
        if owner:
            yield Violation(17, tag, f"is still held by {owner}")
    for seconds in evidence.drained:
        if seconds > 8:
            yield Violation(0, "all", f"SIGTERM took {seconds:.1f} s")


def hears(evidence: Evidence) -> Iterator[Violation]:
    """A message answered 200 is one event; whatever was answered, it is at most one."""
    heard = Counter(
        (tag, "".join(event.texts()))
        for tag, view in evidence.sessions.items()
        for event in view.events
        if event.author == "user" and event.texts()
    )
    for sent in evidence.sent:
        count = heard[sent.session, sent.text]
        if count > 1:
            yield Violation(4, sent.id, f"was heard {count} times")
        if not count and sent.acked is not None and _asked_for(sent, evidence):
            yield Violation(15, sent.id, "was acknowledged and is lost")


def keeps_order(evidence: Evidence) -> Iterator[Violation]:
    """Who was acknowledged before another one spoke stands before them."""
    for tag, view in evidence.sessions.items():
        places = {
            "".join(event.texts()): number
            for number, event in enumerate(view.events)
            if event.author == "user" and event.texts()
        }
        mine = [sent for sent in evidence.sent if sent.session == tag and sent.text in places]
        for first in mine:
            for second in mine:
                before = first.acked is not None and first.acked < second.posted
                if (
                    before
                    and _asked_for(first, evidence)
                    and places[first.text] > places[second.text]
                ):
                    yield Violation(17, tag, f"{second.text!r} overtook {first.text!r}")


def decides(evidence: Evidence) -> Iterator[Violation]:
    """A click answered 200 by somebody entitled is in the record, or somebody was faster."""
    for click in evidence.clicks:
        view = evidence.sessions.get(click.session)
        record = view and view.approvals.get(click.approval)
        if record is None:
            yield Violation(15, click.session, f"approval {click.approval} is lost")
            continue
        entitled = click.who in ("max", "mia") and click.act in ("approve", "reject")
        voters = {vote["person"] for vote in record.body["votes"]}
        counted = any(click.who in voter.lower() for voter in voters)
        if click.ok and entitled and record.status == "pending" and not counted:
            yield Violation(15, click.session, f"{click.who}'s click on {click.approval} is lost")


def keys_are_mortal(evidence: Evidence) -> Iterator[Violation]:
    """A key lives for ever only while somebody is waited for, or when it is on the short list."""
    for name in evidence.immortal:
        tag = name.partition("{")[2].partition("}")[0]
        view = evidence.sessions.get(tag)
        waits = view and (view.open or any(r.status == "pending" for r in view.approvals.values()))
        if not tag.startswith("due") and not waits and not name.endswith((":as", ":us")):
            yield Violation(0, name, "lives for ever")


def index_is_right(evidence: Evidence) -> Iterator[Violation]:
    """What is pending with a deadline is in the index."""
    for tag, view in evidence.sessions.items():
        for record in view.approvals.values():
            due = f"{tag}|{record.id}" in evidence.due
            if record.status == "pending" and record.deadline is not None and not due:
                yield Violation(16, tag, f"{record.id} is pending and will never expire")


def effects_are_known(evidence: Evidence) -> Iterator[Violation]:
    """Whatever happened outside belongs to a call of a session."""
    for act in evidence.acts:
        tag, _, call = act["key"].rpartition(":")
        view = evidence.sessions.get(tag)
        if view is None or call not in Story(view.events).calls:
            yield Violation(1, act["key"], "happened without a call")


def log_is_whole(case: Case) -> Iterator[tuple[int, str]]:
    """Versions without a gap, each response behind its call, no call open that is not known."""
    for number, event in enumerate(case.view.events, start=1):
        if event.version != number:
            yield 17, f"event {number} says it is {event.version}"
    if case.view.version != len(case.view.events):
        yield 17, f"{len(case.view.events)} events at version {case.view.version}"
    open_calls, known = set(case.story.open), set(case.view.open)
    if open_calls != known:
        yield 14, f"open are {sorted(open_calls)}, known as open {sorted(known)}"


def one_answer(case: Case) -> Iterator[tuple[int, str]]:
    """A call has one answer, and one that nobody is asked about has it."""
    for call in case.story.calls.values():
        answers = [a for a in call.responses if not a.placeholder]
        if len(answers) > 1:
            yield 4, f"call {call.id} has {len(answers)} answers"
        waits = any(r.status in ("pending", "unknown") for r in case.records(call.id))
        if not answers and not waits and not case.view.open.get(call.id, None):
            yield 16, f"call {call.id} has no answer and nobody is asked"
    for number, event in enumerate(case.view.events):
        if event.author == "user" and event.texts():
            later = case.view.events[number + 1 :]
            if not any(each.author != "user" for each in later):
                yield 16, f"nobody answered {''.join(event.texts())!r}"


def gate_holds(case: Case) -> Iterator[tuple[int, str]]:
    """Nothing gated happens without a yes, nothing at all after a no, and nothing too often."""
    for call in case.story.calls.values():
        acts = case.acts(call.id)
        effects = sum(act["effect"] for act in acts)
        records = case.records(call.id)
        gated = call.name in ("share", "brief", "offer") or float(str(call.args["n"])) > LIMIT
        agreed = [r for r in records if case.agreed(r)]
        if acts and gated and not agreed:
            told = [record.status for record in records] or "never asked"
            yield (2 if records else 1), f"{call.name} {call.id} happened, though {told}"
        if effects > 1 + case.reruns(call.id):
            yield 4, f"{call.name} {call.id} happened {effects} times"
        answer = next((a.response.response or {} for a in call.responses if not a.placeholder), {})
        if answer.get("status") == "done" and call.name != "look" and not effects:
            yield 19, f"{call.name} {call.id} is said to be done and never happened"
        for act in acts:
            shown = [r.body["args"] for r in agreed]
            if act["args"] != {"n": call.args["n"], "mark": call.args["mark"]}:
                yield 5, f"{call.name} {call.id} ran with {act['args']}"
            if gated and shown and act["args"] not in shown:
                yield 5, f"{call.name} {call.id} ran with {act['args']}, people saw {shown}"


def outcomes_stand(case: Case) -> Iterator[tuple[int, str]]:
    """One outcome, by people who may, enough of them, in time, and in the audit once."""
    ends = Counter(e.get("approval") for e, _ in case.view.audit if _is(e, "approval.decided"))
    for record in case.view.approvals.values():
        body, voters = record.body, [vote["person"] for vote in record.body["votes"]]
        if len(set(voters)) != len(voters):
            yield 11, f"{record.id} counts somebody twice: {voters}"
        if body["requester"] in [v["person"] for v in body["votes"] if v["confirmed"]]:
            yield 10, f"{record.id} was approved by its requester"
        yes = sum(vote["confirmed"] for vote in body["votes"])
        if record.status in ("approved", "started", "done", "failed", "unknown"):
            if yes < body["policy"]["quorum"]:
                yield 11, f"{record.id} is {record.status} with {yes} of {body['policy']['quorum']}"
            if record.deadline and any(v["at"] >= record.deadline for v in body["votes"]):
                yield 12, f"{record.id} was approved after its deadline"
        if record.status != "pending" and ends[record.id] != 1:
            yield (
                18,
                f"{record.id} is {record.status}, its end is in the audit {ends[record.id]} times",
            )
        if record.status in ("approved", "started"):
            yield 16, f"{record.id} is {record.status} and goes no further"


def audit_is_a_chain(case: Case) -> Iterator[tuple[int, str]]:
    """Each entry carries the hash of all before it."""
    previous = ""
    for number, (entry, hashed) in enumerate(case.view.audit, start=1):
        previous = link(previous, text(entry))
        if previous != hashed:
            yield 18, f"audit entry {number} does not fit the chain"


def slack_tells_the_truth(case: Case) -> Iterator[tuple[int, str]]:
    """Every post is there once, in order, and cards show what is stored."""
    _, channel, ts = case.tag.split(":")[0], *_thread(case.tag)
    mine = [m for m in case.evidence.shown if (m.channel, m.thread) == (channel, ts)]
    counts = Counter(message.post for message in mine if message.post)
    for post, count in counts.items():
        if count > 1:
            yield 19, f"{post} was posted {count} times"
    if case.view.posts:
        yield 19, f"{[post.id for post in case.view.posts]} are still owed"
    said = [(e.version, f"o:{e.version}:0") for e in case.view.events if _speaks(e)]
    missing = [post for _, post in said if post not in counts]
    if missing and not case.evidence.restless:
        yield 19, f"{missing} never came to the thread"
    order = [message.post for message in mine if message.post.startswith("o:")]
    if order != sorted(order, key=lambda post: int(post.split(":")[1])):
        yield 19, f"the thread has them as {order}"


def cards_tell_the_truth(case: Case) -> Iterator[tuple[int, str]]:
    """An open request has buttons, a closed one has none."""
    shown = Counter(message.post for message in case.evidence.shown)
    del shown
    for record in case.view.approvals.values():
        places = [case.view.places.get(copy["post"]) for copy in record.body["copies"]]
        cards = [m for m in case.evidence.shown if f"{m.channel}|{m.ts}" in places]
        for card in cards:
            if record.status == "pending" and "approve" not in card.buttons:
                yield (
                    19,
                    f"{record.id} is pending and its card has only {card.buttons}: {card.text}",
                )
            if record.status in FINAL and card.buttons:
                yield 19, f"{record.id} is {record.status} and its card has {card.buttons}"
        if record.body["copies"] and not cards:
            yield 19, f"{record.id} has no card"


def _asked_for(sent: Sent, evidence: Evidence) -> bool:
    """Whether the bot knew that it was meant: by a mention, or in a thread that began with one."""
    began = next(each for each in evidence.sent if each.session == sent.session)
    return began is sent or (began.acked is not None and began.acked < sent.posted)


def _speaks(event: Any) -> bool:
    return event.author != "user" and event.branch is None and bool("".join(event.texts()).strip())


def _thread(tag: str) -> tuple[str, str]:
    channel, _, ts = tag.rpartition(":")[2].replace("%3A", ":").partition(":")
    return channel, ts


def _is(entry: Mapping[str, Any], kind: str) -> bool:
    return kind in entry.values()


JUDGES: tuple[Callable[[Evidence], Iterator[Violation]], ...] = (
    rests,
    hears,
    keeps_order,
    decides,
    keys_are_mortal,
    index_is_right,
    effects_are_known,
)
OF_SESSION: tuple[Callable[[Case], Iterator[tuple[int, str]]], ...] = (
    log_is_whole,
    one_answer,
    gate_holds,
    outcomes_stand,
    audit_is_a_chain,
    slack_tells_the_truth,
    cards_tell_the_truth,
)
