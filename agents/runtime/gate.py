"""Pure: what stands between a call and its body, and what the model reads while it stays shut."""

import unicodedata
from collections.abc import Collection, Iterator
from decimal import Decimal

from pydantic import JsonValue

from agents.runtime.confirmation import BEFORE, Question, ToolConfirmation, rejection
from agents.runtime.digest import canonical, digest
from agents.runtime.story import Call, Story

Response = dict[str, JsonValue]

CLOSED = {
    "rejected": "A person has just rejected this very call of {tool}",
    "expired": "People were just asked about this very call of {tool}, and nobody answered in time",
    "cancelled": "The request for this very call of {tool} was just withdrawn or closed",
}
"""How a request may have been closed without a run, and what the model then reads."""
REFUSALS = {
    "late": "The time in which {tool} was allowed to run is over; it did not run{again}.",
    "digest": "{tool} is not what a person agreed to; it did not run{again}.",
    "missing": "No approval of {tool} is kept here; it did not run{again}.",
    "request": "A newer question about this call of {tool} is open; it did not run{again}.",
}


def digest_of(question: Question, *, branch: str | None, tenant: str) -> str:
    """The digest of what a person agrees to: the same whenever the same is asked again.

    Agents on the way to a nested one count by name, not by the calls that led there.
    """
    path = [part.split("@")[0] for part in (branch or "").split("/")]
    return digest(
        tenant=tenant,
        agent="/".join([*filter(None, path), question.agent]),
        tool=question.tool,
        contract=question.contract,
        args=question.args,
        payload_schema=question.payload_schema,
        precondition=question.precondition,
    )


def superseded(story: Story, call: Call, question: Question) -> list[Call]:
    """The open requests of the same person, in earlier turns, for just what `question` asks."""
    asker = _asker(story, call)
    return [each for each in _open(story, call, question) if _asker(story, each) == asker]


def inside(story: Story, call: Call, *, started: Collection[str]) -> list[tuple[Call, Response]]:
    """The open calls below an agent that is not there any more, at any depth, and their answers.

    `started` are the journal's steps without a result.
    """
    path = call.inner
    within = (each for each in story.unsettled.values() if f"{each.branch}/".startswith(f"{path}/"))
    return [(each, _left(each, started)) for each in within]


def _left(call: Call, started: Collection[str]) -> Response:
    if {call.id, f"{call.id}:ask"} & set(started):
        return lost(call.name)
    why = "The agent that made this call is not there any more."
    return rejection(ToolConfirmation(outcome="cancelled", reason=why), tool=call.name)


def asked_already(story: Story, call: Call, question: Question) -> Call | None:
    """The open request of somebody else for just what `question` asks; it is left alone.

    What others say in the conversation, an approver among them, takes no request out of the hands
    of those who decide about it.
    """
    asker = _asker(story, call)
    others = (each for each in _open(story, call, question) if _asker(story, each) != asker)
    return next(others, None)


def _open(story: Story, call: Call, question: Question) -> Iterator[Call]:
    """The open requests of earlier turns for just what `question` asks."""
    for older in story.unsettled.values():
        before = older.status == "asked" and older.version < call.version
        if before and older.question is not None and question.repeats(older.question):
            yield older


def _asker(story: Story, call: Call) -> str | None:
    """Whose words began the run of a call."""
    return story.requesters.get(call.invocation)


def closed_before(story: Story, call: Call, question: Question) -> Call | None:
    """The call whose request was just closed and is repeated; None once somebody has spoken since.

    Words of anybody in the conversation count as asking for it again. A call that is nearly the
    same counts as the same, unless somebody who rejected it said why: then it may be what they
    want.
    """
    return next(
        (
            older
            for older in story.calls.values()
            if older.version < call.version
            and older.answer is not None
            and older.answer.outcome in CLOSED
            and older.question is not None
            and older.decided_at > story.heard_at
            and (
                question.repeats(older.question)
                or (not _corrected(older.answer) and _resembles(question, older.question))
            )
        ),
        None,
    )


def _corrected(answer: ToolConfirmation) -> bool:
    """Whether a person said what should be otherwise."""
    return answer.outcome == "rejected" and bool(answer.reason)


def _resembles(question: Question, older: Question) -> bool:
    """Whether both look like the same call to people: letter case, blanks and the like aside."""
    return (
        not older.unknown
        and (question.tool, question.agent, question.contract)
        == (older.tool, older.agent, older.contract)
        and canonical([question.precondition, question.payload_schema])
        == canonical([older.precondition, older.payload_schema])
        and canonical(_plain(question.args)) == canonical(_plain(older.args))
    )


def _plain(value: JsonValue) -> JsonValue:
    """A value without what people do not see or do not mean, such as letter case."""
    match value:
        case str():
            seen = "".join(c for c in unicodedata.normalize("NFKC", value) if _is_seen(c))
            return " ".join(seen.casefold().split())
        case bool():
            return value
        case int() | float():
            return str(Decimal(str(value)).normalize())
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case _:
            return value


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) != "Cf"


def waits(tool: str) -> Response:
    """What the model reads while a person is being asked."""
    return {"error": f"{tool} waits for a person's approval; it has not run."}


def already(tool: str) -> Response:
    """When people are being asked about the very same call for somebody else."""
    error = (
        f"People are being asked about this very call of {tool} already, for somebody else in this"
        " conversation, for whom it runs once they agree; it has not run. Nothing was asked for who"
        " speaks now: if they want it for themselves as well, they can ask once that is decided, or"
        " say in what it differs. Do not call it again meanwhile."
    )
    return {"error": error}


def not_again(tool: str, answer: ToolConfirmation) -> Response:
    """When the model calls what people were just asked about: `answer` is what came of that."""
    outcome = answer.outcome or "rejected"
    error = (
        f"{CLOSED[outcome].format(tool=tool)}; it did not run and nobody was asked again."
        " Do not call it again unless a person asks for it."
    )
    reason = {"reason": answer.reason} if answer.reason else {}
    return {"error": error, "outcome": outcome, **reason}


def gone(tool: str, *, unsure: bool = False) -> Response:
    """When the tool was taken away after people were asked about a call of it."""
    return {"error": f"{tool} is no longer available, so it did not run{_again(unsure=unsure)}."}


def changed(tool: str, *, unsure: bool = False) -> Response:
    """When the tool is another one than people were asked about."""
    run = f"it did not run{_again(unsure=unsure)}"
    return {"error": f"{tool} has changed since a person was asked about it; {run}."}


def refused(tool: str, *, why: str, unsure: bool = False) -> Response:
    """When the store does not give leave; `unsure` whether it took effect in an earlier run."""
    sentence = REFUSALS.get(why, "{tool} may not run{again}: its approval is " + f"{why}.")
    return {"error": sentence.format(tool=tool, again=_again(unsure=unsure))}


def _again(*, unsure: bool) -> str:
    return BEFORE if unsure else ""


def given_up(tool: str, *, unsure: bool) -> Response:
    """When the turn of a call failed again and again; `unsure`: its body may have been entered."""
    if not unsure:
        error = f"{tool} was not run: its turn failed again and again and was given up."
        return {"status": "error", "error": error}
    error = f"{tool} failed again and again and was given up; whether it took effect is not known."
    return {"status": "unknown", "error": error}


def lost(tool: str) -> Response:
    """When a body was interrupted that cannot be run again: its tool is gone or changed."""
    error = (
        f"{tool} was started and interrupted; whether it took effect is not known, and it cannot "
        "run again."
    )
    return {"status": "unknown", "error": error}


def unknown(tool: str) -> Response:
    """When a body was interrupted and nobody can say whether it took effect."""
    error = (
        f"{tool} was started and interrupted; whether it took effect is not known. It will not run "
        "again by itself: a person has to look."
    )
    return {"status": "unknown", "error": error}


def looked(tool: str, answer: ToolConfirmation) -> Response:
    """What a person found about an interrupted body, or that nobody looked."""
    if answer.outcome == "happened":
        note = f"{tool} was interrupted; a person says that it happened. It does not run again."
        return {"status": "done", "note": note}
    said = {
        "rejected": "A person decided to leave it so.",
        "expired": "Nobody looked in time.",
    }.get(answer.outcome or "", "Nobody will look.")
    told = {"status": "unknown", "error": f"{unknown(tool)['error']} {said}"}
    return {**told, **({"reason": answer.reason} if answer.reason else {})}
