"""What stands behind a thread: its stored events, what waits for people, the money that moved.

Read only. A section is {title, about, lines}, a line {label, text, detail}: all plain text.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agents import Event, SessionKey, Slot
from bot.approvals.request import Approval
from bot.playground.people import TEAM_ID
from bot.playground.workspace import Workspace
from bot.settings import REHEARSAL
from bot.slack.checks import JsonObject
from bot.turns import Thread, session_key, thread_of

EVENTS = 60
PAYMENTS = 8
SESSIONS = 40
"""The newest sessions of an agent that are searched for what waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Looks into the store and the ledger; `agents` are the names, `model` answers."""

    workspace: Workspace
    slot: Slot
    agents: Sequence[str]
    ledger: Path
    model: str

    async def look(self, thread: Thread) -> list[JsonObject]:
        """The sections for a thread, or for a channel whose thread has no ts."""
        return [
            *await self._stories(thread),
            await self._waiting(),
            section("Ledger", str(self.ledger), await asyncio.to_thread(self._payments)),
            section("Who answers", *self._model()),
        ]

    async def _stories(self, thread: Thread) -> list[JsonObject]:
        """What is stored of the thread, a section for each agent that spoke there."""
        found: list[JsonObject] = []
        for agent in self.agents:
            key = session_key(team=TEAM_ID, agent=agent, thread=thread)
            view = await self.slot.read(key, parts=("events", "audit"), window=EVENTS)
            if view is None:
                continue
            lines = [self._named(each) for event in view.events for each in event_lines(event)]
            about = f"{view.version} events are stored, and {len(view.audit)} entries of audit."
            found.append(section(f"Events of {agent}", about, lines))
        if found:
            return found
        return [section("Events", "Open a thread in which an agent spoke to see what is stored.")]

    async def _waiting(self) -> JsonObject:
        """The questions of this workspace that people have not decided."""
        lines: list[JsonObject] = []
        for agent in self.agents:
            keys = await self.slot.list(app=agent, tenant=TEAM_ID)
            ours = [key for key in keys if thread_of(key).channel in self.workspace.channels]
            for key in ours[-SESSIONS:]:
                lines += [self._named(each) for each in await self._open(key)]
        return section("Open approvals", "" if lines else "Nothing waits for a person.", lines)

    async def _open(self, key: SessionKey) -> list[JsonObject]:
        view = await self.slot.read(key, parts=("approvals",))
        records = view.approvals.values() if view else ()
        return [
            line(each.tool, f"asked by <@{each.requester}>", _pairs(each.args))
            for each in map(Approval.from_record, records)
            if each.status == "pending"
        ]

    def _payments(self) -> list[JsonObject]:
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        paid = [cast("dict[str, Any]", json.loads(each)) for each in lines[-PAYMENTS:]]
        return [
            self._named(line(f"{each['amount']:g}", f"{each['purpose']}, <@{each['requester']}>"))
            for each in reversed(paid)
        ]

    def _model(self) -> tuple[str, list[JsonObject]]:
        if self.model == REHEARSAL:
            why = "No LLM: it picks a tool by the words of a message. GEMINI_API_KEY brings one in."
            return why, [line("The rehearsal model", "")]
        return "", [line(self.model, "")]

    def _named(self, told: JsonObject) -> JsonObject:
        """A line with people's names in place of their mentions."""
        text: str = told["text"]
        for person in self.workspace.people.values():
            text = text.replace(f"<@{person.id}>", person.real_name)
        return told | {"text": text}


def section(title: str, about: str = "", lines: Sequence[JsonObject] = ()) -> JsonObject:
    """One part of the panel."""
    return {"title": title, "about": about, "lines": list(lines)}


def line(label: str, text: str, detail: str = "") -> JsonObject:
    """One line of a section; `detail` is JSON or another longer text."""
    return {"label": label, "text": text, "detail": detail}


def event_lines(event: Event) -> Iterator[JsonObject]:
    """An event as lines: what was said, called, asked, answered."""
    number = f"{event.version}."
    who = f"<@{event.user_id}>" if event.author == "user" and event.user_id else event.author
    for text in event.texts():
        yield line(number, f"{who} said", text)
    for question in event.questions.values():
        yield line(number, f"people are asked about {question.tool}", question.hint)
    for call in [] if event.questions else event.get_function_calls():
        yield line(number, f"{who} calls {call.name}", _pairs(call.args))
    for response in event.get_function_responses():
        told = f"{who} decides" if event.author == "user" else f"{response.name} answers"
        yield line(number, told, _pairs(response.response))
    if event.error_code:
        yield line(number, f"{who} failed", event.error_code)


def _pairs(values: Mapping[str, object] | None) -> str:
    """Arguments or a response, a line each."""
    return "\n".join(f"{name}: {_value(value)}" for name, value in (values or {}).items())


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
