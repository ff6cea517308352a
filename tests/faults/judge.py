"""The one judge: evidence of a run -> every promise that was broken. Pure.

A violation has the number of the promise it breaks, 0 where the ground breaks on which the others
stand (a key that lives for ever or outlives its reason, a process that does not end). How each of
the twenty is judged:

 1 no decision, no run: a gated call that left a trace has a question with a yes; no trace is
   without a call
 2 no means no: a call whose questions all ended otherwise left no trace
 3 one outcome: a question is decided once in the audit, and nobody votes after its end
 4 one start: as many effects as starts that people allowed, one answer, a message heard once
 5 what is shown is what runs: a trace has the arguments of the call and of the card, in its words
 6 drift stops: not here, for all processes of a run are one build; tests/bot/approvals/test_again
 7 only people decide: every vote is a click that somebody made, whatever was written or forged
 8 a click is authentic: what is forged is refused (401), and a guessed button moves nothing (7)
 9 authority now: nobody's vote counts once the bot knows that they have left the group of those who
   may; the second look at the start is in tests/bot/approvals/test_terms
10 separation: nobody approves what they asked for
11 quorum: so many different people, nobody twice
12 deadlines: no yes at or after the deadline, and no end before it, though a process's clock is an
   hour off
13 payload: what people entered fits, and is what the call ran with
14 independence: a model is asked once for each batch, when nothing of it is open or somebody spoke;
   a nested call is answered behind its own calls; what is open is what is known as open; a question
   is closed for its own reasons
15 acknowledged is durable: a message, a click or a deletion that was answered 200 is stored
16 no lost wake-up: everything comes to rest with nothing due, decided and not done, unanswered,
   or never looked at again; a ticket is heard of to its end, and operators of who gave up
17 one writer: no gap in a log, no lease that runs on, nobody overtakes who was heard before
18 the audit: a chain without a break that tells what is stored, who decided and what started,
   anchored once a day, whole
19 surfaces: each post once and in order, each card and line as the record stands, no button on
   what is closed, no expiry called a rejection, nothing said to be done that was not, nothing
   doubted that never began, no note that is not so
20 walls: not here, for a run has one workspace; tests/bot/test_index and approvals/test_policy
"""

from collections import Counter
from collections.abc import Callable, Iterator

from agents.runtime.story import USER, Story
from tests.faults.case import Case, Violation, groups
from tests.faults.ends import OF_ENDS
from tests.faults.evidence import Evidence, Sent
from tests.faults.kept import OF_CALLS
from tests.faults.manners import MANNERS
from tests.faults.surfaces import OF_SURFACE
from tests.faults.verdicts import OF_SESSION

FORGED = {"old": 401, "signature": 401, "nonce": 200}
"""The status that a forged click is answered with, where the bot can be reached at all."""
UNREACHED = (0, 503)


def check(evidence: Evidence) -> list[Violation]:
    """Everything that is wrong with a run."""
    found = [violation for judge in JUDGES for violation in judge(evidence)]
    for tag, view in evidence.sessions.items():
        case = Case(tag, view, Story(view.events), evidence)
        judges = (*OF_SESSION, *OF_ENDS, *OF_CALLS, *OF_SURFACE)
        found += [Violation(n, tag, what) for judge in judges for n, what in judge(case)]
    return found


def rests(evidence: Evidence) -> Iterator[Violation]:
    """Everything came to rest, no lease runs on, nothing is due, SIGTERM ends a process soon.

    A lease whose end was said into a cut line has run out by itself, which is as good.
    """
    if evidence.restless:
        yield Violation(16, "all", f"never came to rest: {evidence.restless}")
    if evidence.sent and all(sent.acked is None for sent in evidence.sent):
        yield Violation(0, "all", "nobody ever listened")
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
        if event.author == USER and event.branch is None and any(event.texts())
    )
    for sent in evidence.sent:
        count = heard[sent.session, sent.text]
        if count > 1:
            yield Violation(4, sent.id, f"was heard {count} times")
        if not count and sent.acked is not None and _asked_for(sent, evidence):
            yield Violation(15, sent.id, "was acknowledged and is lost")


def keeps_order(evidence: Evidence) -> Iterator[Violation]:
    """Who was acknowledged before another one spoke stands before them.

    Who spoke before the bot knew that it was meant follows the mention when that has come.
    """
    for tag, view in evidence.sessions.items():
        places = {
            "".join(event.texts()): number
            for number, event in enumerate(view.events)
            if event.author == USER and event.branch is None and any(event.texts())
        }
        mine = [sent for sent in evidence.sent if sent.session == tag and sent.text in places]
        for first in mine:
            for second in mine:
                before = first.acked is not None and first.acked < second.posted
                known = before and _known_by(first, evidence)
                if known and places[first.text] > places[second.text]:
                    yield Violation(17, tag, f"{second.text!r} overtook {first.text!r}")


def decides(evidence: Evidence) -> Iterator[Violation]:
    """A click answered 200 by somebody entitled is in the record, or somebody was faster.

    While Slack does not say who somebody is, nothing is decided.
    """
    if "token" in evidence.faults:
        return
    for click in evidence.clicks:
        view = evidence.sessions.get(click.session)
        record = view and view.approvals.get(click.approval)
        if record is None:
            yield Violation(15, click.session, f"approval {click.approval} is lost")
            continue
        who = evidence.people.get(click.who, "")
        entitled = who in record.body["policy"]["approvers"] and who != record.body["requester"]
        left = click.who in evidence.left and groups(record)
        decided = click.act in ("approve", "reject") and not left
        voters = {vote["person"] for vote in record.body["votes"]}
        asks = record.body["payload_schema"] is not None
        waits = record.status == "pending" and who not in voters
        if click.ok and entitled and decided and waits and not asks:
            yield Violation(15, click.session, f"{click.who}'s click on {click.approval} is lost")


def forgeries_fail(evidence: Evidence) -> Iterator[Violation]:
    """What does not bear Slack's signature of these minutes is refused."""
    for forged in evidence.forged:
        if forged.status not in (FORGED[forged.kind], *UNREACHED):
            what = f"a forged click ({forged.kind}) was answered {forged.status}"
            yield Violation(8, "all", what)


def keys_are_mortal(evidence: Evidence) -> Iterator[Violation]:
    """A key lives for ever only while somebody is waited for, or when it is on the short list."""
    for name in evidence.immortal:
        tag = name.partition("{")[2].partition("}")[0]
        view = evidence.sessions.get(tag)
        waits = view and (view.open or any(r.status == "pending" for r in view.approvals.values()))
        if not tag.startswith(("due", "boot")) and not waits and not name.endswith((":as", ":us")):
            yield Violation(0, name, "lives for ever")


def index_is_right(evidence: Evidence) -> Iterator[Violation]:
    """What is pending with a deadline is in the index, and nobody waits for what is over."""
    for tag, view in evidence.sessions.items():
        for record in view.approvals.values():
            due = f"{tag}|{record.id}" in evidence.due
            if record.status == "pending" and record.deadline is not None and not due:
                yield Violation(16, tag, f"{record.id} is pending and will never expire")


def anchors_hold(evidence: Evidence) -> Iterator[Violation]:
    """The anchor of a day is posted once, as it is kept; what it names is in the audit."""
    for day, kept in evidence.anchors.items():
        told = [shown.text for shown in evidence.shown if shown.post == f"anchor:{day}"]
        if len(told) > 1 or not all(str(kept["root"]) in text for text in told):
            yield Violation(18, day, f"the anchor {kept['root']} is told as {told}")
        for tag, head in kept["heads"].items():
            view = evidence.sessions.get(tag)
            if view is None or head not in [hashed for _, hashed in view.audit]:
                yield Violation(18, tag, f"the audit has no entry with the hash {head}")


def anchors_name_all(evidence: Evidence) -> Iterator[Violation]:
    """What had an audit before the day was anchored is in its anchor."""
    for day, kept in evidence.anchors.items():
        if missing := evidence.audited - kept["heads"].keys():
            yield Violation(18, day, f"the anchor leaves out {sorted(missing)}")


def who_gave_up_is_known(evidence: Evidence) -> Iterator[Violation]:
    """Operators find each session in which a turn was given up."""
    for tag, view in evidence.sessions.items():
        ends = [event.version for event in view.events if event.given_up]
        if ends and tag not in evidence.dead:
            yield Violation(16, tag, f"events {ends} gave up, and no operator knows of it")


def effects_are_known(evidence: Evidence) -> Iterator[Violation]:
    """Whatever happened outside belongs to a call of a session."""
    for act in evidence.acts:
        tag, _, call = act["key"].rpartition(":")
        view = evidence.sessions.get(tag)
        if view is None or call not in Story(view.events).calls:
            yield Violation(1, act["key"], "happened without a call")


def _began(sent: Sent, evidence: Evidence) -> Sent:
    """The first message of a conversation."""
    return next(each for each in evidence.sent if each.session == sent.session)


def _asked_for(sent: Sent, evidence: Evidence) -> bool:
    """Whether the bot knows that it is meant: by a mention, or in a thread that began with one."""
    began = _began(sent, evidence)
    return began is sent or began.acked is not None


def _known_by(sent: Sent, evidence: Evidence) -> bool:
    """Whether the bot knew so when it heard a message."""
    began = _began(sent, evidence)
    heard = began.acked is not None and sent.acked is not None
    return heard and (began is sent or began.acked <= sent.posted)


JUDGES: tuple[Callable[[Evidence], Iterator[Violation]], ...] = (
    rests,
    hears,
    keeps_order,
    decides,
    forgeries_fail,
    keys_are_mortal,
    index_is_right,
    anchors_hold,
    anchors_name_all,
    who_gave_up_is_known,
    effects_are_known,
    *MANNERS,
)
