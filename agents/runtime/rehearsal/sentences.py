"""What calls came to, told as a person would: no braces, no keys, the reasons word for word."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from agents.runtime.rehearsal.conversation import Answered
from agents.runtime.rehearsal.facts import clause, joined, listed
from agents.runtime.rehearsal.words import name_words, plain

_FINE = frozenset({"ok", "success", "succeeded", "done", "complete", "completed", "true"})
_BAD = frozenset({"error", "failed", "failure", "refused", "denied"})
_TELLING = ("message", "report", "summary", "answer", "text", "detail", "details", "description")
_ADDED = ("note", "notes", "hint", "truncated")
_HIDDEN = frozenset(
    {"status", "outcome", "error", "reason", "asked", "waiting_for", "until", *_ADDED}
)
_GETTERS = frozenset({"get", "fetch", "find", "read", "retrieve", "show", "list", "check"})


def told(answers: Sequence[Answered]) -> str:
    """One sentence or two for each answer; a line each when there are several."""
    return "\n".join(dict.fromkeys(sentence(answer) for answer in answers))


def sentence(answer: Answered) -> str:
    """What one call came to, in a sentence or two."""
    response = _unwrapped(answer.response)
    if answer.pending:
        return _waiting(answer, response)
    if "outcome" in response and "error" in response:
        return _refused(answer, response)
    if response.get("error"):
        return f"That did not work: {_closed(words(response['error']))}"
    if set(response) == {"result"}:
        return _result(answer, response["result"])
    return _fields(answer, response)


def _unwrapped(response: Mapping[str, Any]) -> dict[str, Any]:
    inner = response.get("result")
    if set(response) == {"result"}:
        inner = _parsed(inner)
        if isinstance(inner, dict):
            return cast("dict[str, Any]", inner)
    return dict(response)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _waiting(answer: Answered, response: Mapping[str, Any]) -> str:
    asked = words(response.get("asked"))
    what = words(response.get("waiting_for"))
    what = what or ("a person's approval" if response.get("error") and not asked else "")
    waits = f"is waiting for {what or asked}" if what or asked else "is under way, not finished yet"
    by = f" by {asked}" if what and asked else ""
    until = f" They have until {_moment(response['until'])}." if response.get("until") else ""
    said = next((words(response[k]) for k in _TELLING if response.get(k)), "")
    rest = listed({k: words(v) for k, v in response.items() if k not in _HIDDEN | {*_TELLING}})
    extra = f" {_closed(_capital(said or rest))}" if said or rest else ""
    return f"{about(answer)} {waits}{by}.{until}{extra}"


def _refused(answer: Answered, response: Mapping[str, Any]) -> str:
    how = {
        "expired": "expired: nobody answered in time, so nothing was done.",
        "cancelled": "was called off, so nothing was done.",
    }.get(str(response["outcome"]), "was rejected, so nothing was done.")
    told = f"{about(answer)} {how}"
    reason = response.get("reason")
    if reason and response["outcome"] == "cancelled":
        return f"{told} {reason}"  # nobody's own words
    return f"{told} The reason: “{reason}”" if reason else told


def _result(answer: Answered, value: Any) -> str:
    if value is None:
        return f"{about(answer)} is done; there is nothing more to tell."
    if isinstance(value, bool):
        return f"{about(answer)} is done." if value else f"{about(answer)}: no."
    if isinstance(value, (int, float)):
        given = ", ".join(words(v) for v in answer.args.values() if _short(v))
        return f"{_capital(_noun(answer.name))}{f' of {given}' if given else ''}: {words(value)}."
    if isinstance(value, list):
        listed = words(cast("list[Any]", value))
        return (
            f"{_capital(_noun(answer.name))}: {listed}." if listed else "There is nothing to list."
        )
    return _closed(_capital(words(value)))


def _fields(answer: Answered, response: Mapping[str, Any]) -> str:
    status = str(response.get("status", "")).strip()
    acted = bool(status) and status.lower() not in _FINE
    lead = _capital(plain(status)) if acted else _done(answer)
    bad = status.lower() in _BAD
    told = next((words(response[k]) for k in _TELLING if response.get(k)), "")
    added = " ".join(_closed(_capital(words(response[k]))) for k in _ADDED if response.get(k))
    if bad:
        why = told or words(response.get("reason")) or added or f"{about(answer)} failed"
        return f"That did not work: {_closed(why)}"
    facts = {name: v for name, v in response.items() if name not in _HIDDEN or name == "until"}
    shown = {name: words(value) for name, value in facts.items()}
    if len(name_words(status)) > 3:
        return " ".join(filter(None, (_closed(_capital(status)), added)))
    if told:
        return " ".join(filter(None, (_closed(_capital(told)), added)))
    said = clause(lead, facts, shown, acted=acted)
    return " ".join(filter(None, (_closed(said), added)))


def about(answer: Answered) -> str:
    """The request a call made, as a subject: `The request “open ticket” (printer, high)`."""
    given = ", ".join(words(value) for value in answer.args.values() if _short(value))
    name = plain(answer.name).removesuffix(" long running")
    return f"The request “{name}”" + (f" ({given})" if given else "")


def words(value: Any) -> str:
    """Any JSON value in words; numbers with at most two decimals and thousands separated."""
    value = _parsed(value)
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _number(value)
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return ", ".join(f"{plain(k)} {words(v)}" for k, v in pairs if words(v))
        case list():
            return joined([text for item in cast("list[Any]", value) if (text := words(item))])
        case _:
            return str(value).strip()


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "no number"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 0.01 else f"{value:g}"


def _short(value: Any) -> bool:
    text = words(value) if not isinstance(value, (dict, list)) else ""
    return bool(text) and len(text) <= 60 and "\n" not in text


def _done(answer: Answered) -> str:
    """What a tool brought about that says no more of itself."""
    first = (name_words(answer.name) or [""])[0]
    return _capital(_noun(answer.name)) if first in _GETTERS else "Done"


def _noun(name: str) -> str:
    first, *rest = name_words(name) or [""]
    return " ".join(rest) if first in _GETTERS and rest else " ".join((first, *rest))


def _moment(value: Any) -> str:
    try:
        at = datetime.fromtimestamp(value, UTC) if isinstance(value, (int, float)) else None
        at = at or datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return words(value)
    zone = f" {at.tzname()}" if at.tzname() else ""
    return f"{at.day} {at:%B %Y}, {at:%H:%M}{zone}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _closed(text: str) -> str:
    text = text.strip()
    return text if re.search(r"[.!?…”\"]$", text) else f"{text}."
