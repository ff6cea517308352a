"""A Model without an LLM: the same words always bring about the same call or sentence."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from google.genai import types
from pydantic import JsonValue

from agents.runtime.history import PREAMBLE
from agents.runtime.model import LlmRequest, LlmResponse
from agents.runtime.rehearsal import talk
from agents.runtime.rehearsal.choice import Candidate, Tools, choose, colleague, filled, several
from agents.runtime.rehearsal.conversation import (
    Item,
    Said,
    fresh,
    heard,
    newest,
    remember,
)
from agents.runtime.rehearsal.filling import LIKELY, Source
from agents.runtime.rehearsal.parameters import own_words, schema_parameters
from agents.runtime.rehearsal.sentences import sentence, told
from agents.runtime.rehearsal.topics import Topic, topic_of
from agents.runtime.rehearsal.words import stem
from agents.runtime.transfer import TRANSFER

_PIECES = 4


class RehearsalModel:
    """Chooses a tool by the words of a message, and tells in a sentence what came of it.

    Knows no agent: everything follows from the declarations in the request. `clock` says what
    today is, for words like "tomorrow".
    """

    def __init__(self, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer once; with `stream` a text comes in a few pieces first."""
        content = rehearsed(request, today=self._clock().date())
        if stream:
            for piece in _pieces(content):
                yield LlmResponse(content=piece, partial=True)
        yield LlmResponse(content=content, finish_reason="STOP")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says next: calls, or a text; `candidate` when the text asks for more."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, JsonValue]], ...] = ()
    candidate: Candidate | None = None


def rehearsed(request: LlmRequest, *, today: date) -> types.Content:
    """The model's turn as content: function calls, or one text."""
    items = remember(request.contents)
    tools = Tools(request.tools, told=request.system_instruction, today=today)
    reply = _reply(items, tools, may_hand_over=not _handed_over(request.contents))
    if reply.calls:
        parts = [
            types.Part(function_call=types.FunctionCall(name=name, args=dict(args)))
            for name, args in reply.calls
        ]
        return types.Content(role="model", parts=parts)
    text = reply.text
    if request.response_schema:
        text = _structured(request, heard(items)[1] or text, today)
    return types.Content(role="model", parts=[types.Part(text=text)])


def _reply(items: Sequence[Item], tools: Tools, *, may_hand_over: bool) -> Reply:
    before, text = heard(items)
    if not text:
        answers = fresh(items)
        return Reply(told(answers) if answers else _help(tools))
    about = topic_of(text)
    if about and not _concerns_tool(about, text, tools):
        return _small_talk(about, before, tools)
    return _requested(before, text, tools=tools, may_hand_over=may_hand_over)


def _requested(before: Sequence[Item], text: str, *, tools: Tools, may_hand_over: bool) -> Reply:
    chosen = choose(tools, text)
    asked = _asked_before(before, tools)
    if asked and not (chosen and chosen.complete and _named(chosen, text)):
        answer = _completed(asked, text, tools)
        if answer:
            return answer
    if may_hand_over and (other := colleague(tools, text, than=chosen)):
        return Reply(calls=((TRANSFER, {"agent_name": other}),))
    if not tools.offered and not tools.others:
        return Reply(talk.extract(text))
    if chosen is None:
        return _lost(before, tools)
    return _proposed(chosen, text, before, tools=tools)


def _proposed(chosen: Candidate, text: str, before: Sequence[Item], *, tools: Tools) -> Reply:
    candidates = several(tools, text, first=chosen)
    if len(candidates) == 1 and not chosen.complete:
        return Reply(talk.question(chosen.missing, chosen.filling.doubts), candidate=chosen)
    waiting = [answer for answer in newest(before) if answer.pending]
    calls = [(one.tool.name or "", one.filling.args) for one in candidates]
    again = [a for a in waiting if (a.name, a.args) in calls]
    new = [call for call in calls if call not in [(a.name, a.args) for a in again]]
    return Reply(calls=tuple(new)) if new else Reply(told(again))


def _asked_before(before: Sequence[Item], tools: Tools) -> Candidate | None:
    """What our last words asked for, found by going through the conversation up to them again."""
    if not before or not isinstance(said := before[-1], Said) or not said.text.endswith("?"):
        return None
    reply = _reply(before[:-1], tools, may_hand_over=False)
    return reply.candidate if reply.text == said.text else None


def _completed(asked: Candidate, text: str, tools: Tools) -> Reply | None:
    """The call with what an answer adds; None when it adds nothing and asks for something else."""
    name = asked.tool.name or ""
    left = [p for p in asked.wanted if p.name not in asked.filling.args]
    more = filled(left, tools.source(name, text, answering=True))
    if not more.args and choose(tools, text):
        return None
    filling = replace(asked.filling, args={**asked.filling.args, **more.args})
    candidate = replace(asked, filling=filling)
    if candidate.complete:
        return Reply(calls=((name, filling.args),))
    return Reply(talk.question(candidate.missing, candidate.filling.doubts), candidate=candidate)


def _named(chosen: Candidate, text: str) -> bool:
    """Whether a message names the tool, or is certain enough about it to be a new request."""
    spoken = {stem(word) for word in text.lower().split()}
    sure = [s for s in chosen.filling.evidence.values() if s >= LIKELY]
    return bool(spoken & own_words(chosen.tool)) and bool(sure)


def _concerns_tool(about: Topic, text: str, tools: Tools) -> bool:
    """Whether words like "status" are what a tool of this agent is called after."""
    named = {word for tool in tools.offered.values() for word in own_words(tool)}
    own = {"status": {"status", "news", "updat", "progress"}, "help": {"help"}}.get(
        about, set[str]()
    )
    return bool(named & own & {stem(word.strip("?!.,")) for word in text.lower().split()})


def _small_talk(about: Topic, before: Sequence[Item], tools: Tools) -> Reply:
    match about:
        case "thanks":
            return Reply(talk.WELCOME)
        case "cancel":
            asked = [answer for answer in newest(before) if answer.pending and answer.asks]
            return Reply(f"{sentence(asked[-1])} {talk.WITHDRAW}" if asked else talk.LEFT)
        case "identity":
            return Reply(f"{talk.WHO_I_AM} {_help(tools)}")
        case "status":
            answers = newest(before)
            nothing = f"Nothing is open in this conversation. {_help(tools)}"
            return Reply(told(answers) if answers else nothing)
        case "greeting":
            return Reply(f"Hello! {_help(tools)}")
        case "help":
            return Reply(_help(tools))


def _lost(before: Sequence[Item], tools: Tools) -> Reply:
    waiting = [answer for answer in newest(before) if answer.pending]
    still = f" {sentence(waiting[-1])}" if waiting else ""
    return Reply(f"{talk.NOT_UNDERSTOOD}{still} {_help(tools)}")


def _help(tools: Tools) -> str:
    return talk.abilities(list(tools.offered.values()), today=tools.today)


def _handed_over(contents: Sequence[types.Content]) -> bool:
    """Whether another agent handed this very message over."""
    for content in reversed(contents):
        parts = content.parts or []
        if parts and parts[0].text == PREAMBLE:
            if any(TRANSFER in (part.text or "") for part in parts):
                return True
        elif any(part.text for part in parts):
            return False
    return False


def _structured(request: LlmRequest, text: str, today: date) -> str:
    """An object of the wanted schema: what the text says, and empty values for the rest."""
    wanted = schema_parameters(request.response_schema or {})
    found = filled(wanted, Source(text=text, today=today)).args
    empty: dict[str, Any] = {"number": 0.0, "integer": 0, "boolean": False, "list": []}
    for parameter in wanted:
        if parameter.required and parameter.name not in found:
            first = parameter.choices[0] if parameter.choices else ""
            found[parameter.name] = empty.get(parameter.kind, first)
    return json.dumps(found, ensure_ascii=False)


def _pieces(content: types.Content) -> Iterator[types.Content]:
    text = "".join(part.text or "" for part in content.parts or [])
    size = max(1, -(-len(text) // _PIECES))
    for start in range(0, len(text), size):
        part = types.Part(text=text[start : start + size])
        yield types.Content(role="model", parts=[part])
