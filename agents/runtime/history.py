"""What a model is shown: the events of a strand, as contents that a strict provider accepts.

As many responses as calls, in order, directly after them; our ids taken off, the model's own ids
and thought signatures untouched; no part of a confirmation. A result that arrived after the
person had talked on is told where it arrived.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from google.genai import types
from pydantic import JsonValue

from agents.runtime.agent import Agent
from agents.runtime.compaction import SO_FAR, readable, transcript
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.events import Event
from agents.runtime.parts import content, response_part, text_part
from agents.runtime.story import USER, Answer, Branch, Call, Story

IN_WORDS = "What was said and done then, in words:"
PREAMBLE = "For context, what another agent did:"
NEWS = "News of the call {name} made earlier: "

Notes = Mapping[str, Mapping[str, JsonValue]]


def contents(
    agent: Agent,
    story: Story,
    *,
    branch: str | None = None,
    notes: Notes | None = None,
    window: int = 0,
) -> list[types.Content]:
    """The conversation as `agent` reads it, in about `window` tokens (0: all of it).

    `notes` tell more about open calls, by id.
    """
    strand = story.branch(branch)
    reader = _Reader(agent, story, strand, notes=notes or {})
    if agent.include_contents == "none":
        since = strand.talk[-1] if strand.talk else 0
        return reader.read_all([event for event in strand.events if event.version >= since])
    if branch is not None:
        return reader.read_all(strand.events)
    return [*_before(strand), *_read(reader, readable(story, strand, window=window))]


def contents_until(agent: Agent, story: Story, until: int) -> list[types.Content]:
    """What there is to sum up: the last summary, and what was said from there to a version."""
    strand = story.branch(None)
    first = strand.compaction.until if strand.compaction else 0
    between = [event for event in strand.events if first <= event.version < until]
    return [*_before(strand), *_Reader(agent, story, strand, notes={}).read_all(between)]


def _read(reader: "_Reader", events: Sequence[Event]) -> list[types.Content]:
    """The contents of events; in words alone where a model refused a request with their parts."""
    refused = reader.strand.refused
    if not refused:
        return reader.read_all(events)
    found: list[types.Content] = []
    for in_words, some in groupby(events, lambda event: event.invocation_id in refused):
        told = reader.read_all(list(some))
        found += [content("user", [text_part(_in_words(told))])] if in_words and told else told
    return found


def _in_words(contents: Sequence[types.Content]) -> str:
    return f"{IN_WORDS}\n<quote>\n{transcript(contents)}\n</quote>"


def _before(strand: Branch) -> list[types.Content]:
    """The summary that stands for what is no longer read."""
    if strand.compaction is None:
        return []
    return [content("user", [text_part(SO_FAR + strand.compaction.summary)])]


class _Reader:
    """One reading of a strand by one agent."""

    def __init__(self, agent: Agent, story: Story, strand: Branch, *, notes: Notes) -> None:
        self.agent = agent
        self.story = story
        self.strand = strand
        self.talk = strand.talk
        self.told = strand.told.get(agent.name, [])
        self.notes = notes
        self.last = strand.events[-1].version if strand.events else 0
        calls = (call for call in story.calls.values() if call.responses)
        self.lasting = [c for c in calls if c.responses[-1].version > c.version + 1]

    def read_all(self, events: Sequence[Event]) -> list[types.Content]:
        """The contents of events; where nothing can change any more, as they were read before."""
        name, strand, shown = self.agent.name, self.strand, self.story.shown
        changing = self.story.lasting | {call.invocation for call in self.story.open.values()}
        whole = events is strand.events
        count, settled = strand.read.get(name, (0, [])) if whole else (0, [])
        found, settled = list(settled), list(settled)
        for at, event in enumerate(events[count:], start=count):
            if event.invocation_id in changing:
                found += self.read(event)
                continue
            place = (name, event.version)
            if place not in shown:
                shown[place] = self.read(event)
            found += shown[place]
            if whole and at == count:
                count += 1
                settled += shown[place]
        if whole:
            strand.read[name] = (count, settled)
        return found

    def read(self, event: Event) -> list[types.Content]:
        """The contents one event becomes: none, one, or a call with its responses."""
        if event.author == USER:
            return self._heard(event)
        if event.questions or event.content is None:
            return []
        if event.author != self.agent.name:
            return self._quoted(event)
        if event.get_function_responses():
            return self._late(event)
        return [] if self._overtaken(event) else self._spoken(event)

    def _heard(self, event: Event) -> list[types.Content]:
        return self._late(event) + ([content("user", event.said)] if event.said else [])

    def _spoken(self, event: Event) -> list[types.Content]:
        made = event.get_function_calls()
        if not made:
            return [content("model", event.parts)] if event.parts else []
        parts = [_wire_call(part, event) for part in event.parts if not _forged(part)]
        calls = [self.story.calls[call.id] for call in made if call.id]
        forged = [call for call in calls if call.name == REQUEST_CONFIRMATION]
        answers = [
            part
            for call in calls
            if call.name != REQUEST_CONFIRMATION
            for part in self._response(call, event)
        ]
        shown = [("model", parts), ("user", answers), ("user", _forgeries(forged))]
        return [content(role, told) for role, told in shown if told]

    def _response(self, call: Call, event: Event) -> list[types.Part]:
        shown = [a for a in call.responses if not self._apart(call, a.version)]
        real = [a for a in shown if not a.placeholder]
        newest = (real or shown)[-1] if shown else None
        response = dict(newest.response.response or {}) if newest else {}
        if not real:
            response = {**(response or {"status": "pending"}), **self.notes.get(call.id, {})}
        wire_id = event.model_ids.get(call.id)
        answer = response_part(wire_id, call.name, response)
        return [answer, *(newest.beside if newest else ())]

    def _late(self, event: Event) -> list[types.Content]:
        """News of calls that stand apart from them: told as what was heard then."""
        parts: list[types.Part] = []
        for response in event.get_function_responses():
            call = self.story.find(response.id or "")
            if call is None or call.agent != self.agent.name or not self._newest(call, event):
                continue
            if self._apart(call, event.version):
                text = NEWS.format(name=call.name) + json.dumps(
                    response.response or {}, ensure_ascii=False, default=str
                )
                parts.append(text_part(text))
        return [content("user", parts)] if parts else []

    def _newest(self, call: Call, event: Event) -> bool:
        real = [a.version for a in call.responses if not a.placeholder]
        return bool(real) and real[-1] == event.version

    def _apart(self, call: Call, version: int) -> bool:
        """Whether a response is read where it arrived and not with its call.

        So it is when the person had talked on, or the agent had told of something else; later on
        also when the agent had told of an earlier one. What closes a question that nobody decided
        stands in its place, unless the agent had told of something else.
        """
        if self._told_of_others(call, version):
            return True
        if call.question is not None and call.answer is None:
            return False
        if _between(self.talk, call.version, version):
            return True
        talked_since = bool(self.talk) and self.talk[-1] > version
        return talked_since and _between(self.told, call.version, version)

    def _told_of_others(self, call: Call, version: int) -> bool:
        """Whether the agent told of something else between a call and a response.

        No model may find its own words at the end of what it reads.
        """
        events, told = self.strand.events, self.told
        between = told[bisect_right(told, call.version) : bisect_left(told, version)]
        places = (bisect_left(events, each, key=lambda event: event.version) for each in between)
        return any(events[place].invocation_id != call.invocation for place in places)

    def _overtaken(self, event: Event) -> bool:
        """Whether a text only told of an earlier response to a call that has a newer one now."""
        if event.get_function_calls():
            return False
        return any(
            self._overtakes(event, call) for call in self.lasting if call.version < event.version
        )

    def _overtakes(self, event: Event, call: Call) -> bool:
        before = [a for a in call.responses if a.version < event.version]
        after = [a for a in call.responses if a.version > event.version]
        if not after or call.invocation != event.invocation_id:
            return False
        newest = after[-1].version
        if _between(self.talk, call.version, newest) or self._told_of_others(call, newest):
            return False
        return after[-1].version == self.last or _same_voice(before, after)

    def _quoted(self, event: Event) -> list[types.Content]:
        texts = [text for part in event.parts if (text := _quote(event.author, part))]
        parts = [text_part(text) for text in (PREAMBLE, *texts)]
        return [content("user", parts)] if texts else []


def _forgeries(calls: Sequence[Call]) -> list[types.Part]:
    """What became of calls that only the runtime may make; in words, for no such part is shown."""
    return [
        text_part(
            NEWS.format(name=call.name) + json.dumps(answer.response.response, ensure_ascii=False)
        )
        for call in calls
        for answer in call.responses[-1:]
    ]


def _between(versions: list[int], after: int, before: int) -> bool:
    """Whether one of these versions, which are in order, lies between two others."""
    place = bisect_right(versions, after)
    return place < len(versions) and versions[place] < before


def _forged(part: types.Part) -> bool:
    """A call only the runtime may make, made by a model."""
    return part.function_call is not None and part.function_call.name == REQUEST_CONFIRMATION


def _same_voice(before: list[Answer], after: list[Answer]) -> bool:
    return any(
        old.author == new.author and old.invocation == new.invocation
        for old in before
        for new in after
    )


def _quote(author: str, part: types.Part) -> str | None:
    """What another agent did, as words; fenced, so that nobody takes it for an instruction."""
    call, response = part.function_call, part.function_response
    if call is not None:
        return f"[{author}] called tool `{call.name}` with parameters:\n{_fenced(call.args or {})}"
    if response is not None:
        value = _fenced(response.response or {})
        return f"[{author}] `{response.name}` tool returned result:\n{value}"
    if part.text and not part.thought:
        return f"[{author}] said:\n<quote>\n{part.text}\n</quote>"
    return None


def _fenced(value: Mapping[str, Any]) -> str:
    return f"<quote>\n{json.dumps(value, ensure_ascii=False, default=str)}\n</quote>"


def _wire_call(part: types.Part, event: Event) -> types.Part:
    """A part as the model sent it: a call gets its own id back, or none."""
    call = part.function_call
    if call is None:
        return part
    wire = call.model_copy(update={"id": event.model_ids.get(call.id or "")})
    return part.model_copy(update={"function_call": wire})
