"""A session's events and what they say about each call: a fold, built event by event.

What is open, what a person answered and whether the model has something new to read is computed
here and nowhere stored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from google.genai import types

from agents.runtime.confirmation import (
    REQUEST_CONFIRMATION,
    Question,
    ToolConfirmation,
    read_answer,
)
from agents.runtime.errors import RequestRefused
from agents.runtime.events import Compaction, Event
from agents.runtime.model import PROMPT_BLOCKED
from agents.runtime.results import Fate, fate

USER = "user"

CallStatus = Literal["new", "entered", "asked", "decided", "waiting", "answered"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One response to a call: where it stands, who gave it, and the parts that go with it."""

    version: int
    response: types.FunctionResponse
    invocation: str
    author: str
    placeholder: bool = False
    beside: Sequence[types.Part] = ()


@dataclass(slots=True, kw_only=True)
class Call:
    """A call and how far it got.

    `new` (its body did not run), `entered` (a nested agent works on it), `asked` (a person has to
    answer `question`), `decided` (they did: `answer`), `waiting` (its body ran, results come
    later), `answered`. `version` and `decided_at` are versions of events: of the one that made it
    and the one that decided.
    """

    id: str
    name: str
    args: dict[str, object]
    agent: str
    invocation: str
    branch: str | None
    version: int
    long_running: bool
    status: CallStatus = "new"
    request: str | None = None
    question: Question | None = None
    answer: ToolConfirmation | None = None
    decided_by: str | None = None
    decided_at: int = 0
    responses: list[Answer] = field(default_factory=list[Answer])

    @property
    def inner(self) -> str:
        """The branch of the events of a nested agent working on this call."""
        path = f"{self.name}@{self.id}"
        return f"{self.branch}/{path}" if self.branch else path

    def fate(self, version: int) -> Fate:
        """What the response in an event says became of it; raises ValueError without one."""
        [said] = [each.response for each in self.responses if each.version == version]
        return fate(said.response or {})


@dataclass(slots=True)
class Branch:
    """One strand of events: the conversation itself (None), or a nested agent's.

    `floor` is the agent that speaks next. `spoken_to`, `touched` and `progress` are what the model
    has not read yet: a person's words, answered calls, and calls with intermediate news.
    `invocation` is the one those belong to. `compaction` is the newest one; `blocked` are the
    invocations that a model refused to read, `refused` those that it reads in words alone, for it
    refused a request with their parts; `again` says that it refused the last one. `talk` are the
    versions at which somebody spoke to it, `told` those at which an agent said something. `read` is
    what an agent was shown of so many events from the first on, where nothing can change any more.
    """

    events: list[Event] = field(default_factory=list[Event])
    floor: str | None = None
    spoken_to: bool = False
    touched: list[str] = field(default_factory=list[str])
    progress: list[str] = field(default_factory=list[str])
    invocation: str = ""
    compaction: Compaction | None = None
    blocked: set[str] = field(default_factory=set[str])
    refused: set[str] = field(default_factory=set[str])
    again: bool = False
    talk: list[int] = field(default_factory=list[int])
    told: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    read: dict[str, tuple[int, list[types.Content]]] = field(
        default_factory=dict[str, tuple[int, list[types.Content]]]
    )


class Story:
    """The events of a session in hand, folded.

    `calls` are all there are, by id; `unsettled` those without an answer, `open` those without
    their last one. `requesters` maps an invocation to the person whose words began it: whoever
    answers a question in between is not. `heard_at` is the version at which a person last spoke,
    `size` about how many bytes the events say. `lasting` are the invocations with long-running
    calls. `shown` is what agents were shown of events that read the same for ever, by agent and
    version.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Fold `events`, oldest first."""
        self.events: list[Event] = []
        self.calls: dict[str, Call] = {}
        self.unsettled: dict[str, Call] = {}
        self.open: dict[str, Call] = {}
        self.branches: dict[str | None, Branch] = {None: Branch()}
        self.requesters: dict[str, str] = {}
        self.heard_at = 0
        self.size = 0
        self.lasting: set[str] = set()
        self.shown: dict[tuple[str, int], list[types.Content]] = {}
        self._requests: dict[str, str] = {}
        for event in events:
            self.add(event)

    def branch(self, name: str | None) -> Branch:
        """A strand; an empty one if nothing happened there."""
        return self.branches.get(name) or Branch()

    def add(self, event: Event) -> None:
        """Fold in the next event."""
        self.events.append(event)
        self.size += event.size
        branch = self.branches.get(event.branch)
        if branch is None:
            branch = self.branches[event.branch] = Branch()
        branch.events.append(event)
        branch.compaction = event.actions.compaction or branch.compaction
        if event.error_code == PROMPT_BLOCKED:
            branch.blocked.add(event.invocation_id)
        if event.author == USER:
            self._heard(event, branch)
        elif event.questions:
            self._asked(event)
        elif event.get_function_responses() or event.pending:
            self._answered(event, branch)
        elif event.content or event.error_code:
            self._spoke(event, branch)

    def asked_by(self, request_id: str) -> Call | None:
        """The call that a request for confirmation is about."""
        return self.calls.get(self._requests.get(request_id, ""))

    def find(self, call_id: str) -> Call | None:
        """A call by our id, or by the id the model gave it (the newest of that id)."""
        if call_id in self.calls:
            return self.calls[call_id]
        for event in reversed(self.events):
            for ours, theirs in event.model_ids.items():
                if theirs == call_id:
                    return self.calls.get(ours)
        return None

    def batch(self, call: Call) -> list[Call]:
        """The calls made together with this one, itself included."""
        return [c for c in self.calls.values() if c.version == call.version]

    def settled(self, call: Call) -> bool:
        """Whether every call made together with this one has its answer."""
        return not any(c.version == call.version for c in self.unsettled.values())

    def wakes(self, name: str | None) -> bool:
        """Whether the model of a strand has something new to read and nothing to wait for."""
        branch = self.branch(name)
        return branch.spoken_to or any(self.settled(self.calls[c]) for c in branch.touched)

    def waits(self, name: str | None) -> bool:
        """Whether a strand can do nothing before somebody answers one of its calls."""
        calls = [call for call in self.unsettled.values() if call.branch == name]
        return bool(calls) and not self.wakes(name) and all(map(self._is_waiting, calls))

    def _is_waiting(self, call: Call) -> bool:
        if call.status == "entered":
            return self.waits(call.inner)
        return call.status not in ("new", "decided")

    def _refused(self, event: Event, branch: Branch) -> None:
        """Have a turn read in words alone; the second one in a row, and all before it."""
        before = branch.events if branch.again else (event,)
        branch.refused.update(each.invocation_id for each in before)

    def _spoke(self, event: Event, branch: Branch) -> None:
        refused = event.error_code == RequestRefused.__name__
        if refused:
            self._refused(event, branch)
        branch.again = refused
        branch.spoken_to, branch.touched, branch.progress = False, [], []
        branch.floor, branch.invocation = event.author, event.invocation_id
        if any(event.texts()):
            branch.told.setdefault(event.author, []).append(event.version)
        long_running = event.long_running_tool_ids or set()
        if long_running:
            self.lasting.add(event.invocation_id)
        for function_call in event.get_function_calls():
            call = Call(
                id=function_call.id or "",
                name=function_call.name or "",
                args=dict(function_call.args or {}),
                agent=event.author,
                invocation=event.invocation_id,
                branch=event.branch,
                version=event.version,
                long_running=function_call.id in long_running,
            )
            self.calls[call.id] = self.unsettled[call.id] = self.open[call.id] = call

    def _asked(self, event: Event) -> None:
        for request_id, question in event.questions.items():
            call = self.calls.get(question.call_id)
            if call is not None:
                call.status, call.request, call.question = "asked", request_id, question
                call.answer = call.decided_by = None
                self._requests[request_id] = call.id

    def _answered(self, event: Event, branch: Branch) -> None:
        for call_id in event.pending:
            self._mark_waiting(call_id)
        for response in event.get_function_responses():
            call = self.calls.get(response.id or "")
            if call is None:
                continue
            placeholder = call.id in event.actions.requested_tool_confirmations
            self._keep(call, event, response, placeholder=placeholder)
            if response.will_continue:
                branch.progress.append(call.id)
            elif not placeholder:
                self._settle(call, branch, wake=not event.actions.skip_summarization)
                if not call.long_running or _failed(response):
                    self._close(call)
        branch.floor = event.actions.transfer_to_agent or event.author
        branch.invocation = event.invocation_id

    def _mark_waiting(self, call_id: str) -> None:
        call = self.calls.get(call_id)
        if call is not None and call.status != "answered":
            call.status = "waiting"

    def _heard(self, event: Event, branch: Branch) -> None:
        for response in event.get_function_responses():
            if response.name == REQUEST_CONFIRMATION:
                self._decided(event, response)
            else:
                self._news(event, response, branch)
        if event.said:
            branch.talk.append(event.version)
            branch.spoken_to, branch.invocation = True, event.invocation_id
            self.heard_at = self.heard_at if event.branch else event.version
            if event.user_id and event.branch is None:
                self.requesters.setdefault(event.invocation_id, event.user_id)
            parent = event.branch and self.calls.get(event.branch.rsplit("@", 1)[-1])
            if parent and parent.status in ("new", "decided"):
                parent.status = "entered"

    def _decided(self, event: Event, response: types.FunctionResponse) -> None:
        call = self.asked_by(response.id or "")
        if call is None or call.request != response.id or call.status != "asked":
            return
        call.status, call.answer = "decided", read_answer(response.response)
        call.decided_by, call.decided_at = event.user_id, event.version

    def _news(self, event: Event, response: types.FunctionResponse, branch: Branch) -> None:
        call = self.find(response.id or "")
        if call is None:
            return
        self._keep(call, event, response, placeholder=False)
        if response.will_continue:
            if not event.actions.skip_summarization:
                branch.progress.append(call.id)
                branch.invocation = call.invocation
            return
        self._settle(call, branch, wake=not event.actions.skip_summarization)
        self._close(call)
        branch.floor, branch.invocation = call.agent, call.invocation

    def _keep(
        self, call: Call, event: Event, response: types.FunctionResponse, *, placeholder: bool
    ) -> None:
        call.responses.append(
            Answer(
                event.version,
                response,
                event.invocation_id,
                event.author,
                placeholder,
                _beside(event, response),
            )
        )

    def _close(self, call: Call) -> None:
        """Expect no more news of a call, though it would still be accepted."""
        self.open.pop(call.id, None)

    def _settle(self, call: Call, branch: Branch, *, wake: bool) -> None:
        call.status = "answered"
        self.unsettled.pop(call.id, None)
        if wake:
            branch.touched.append(call.id)


def _beside(event: Event, response: types.FunctionResponse) -> list[types.Part]:
    """The parts between a response and the next one: media, or an answer meant for a person."""
    place = next(i for i, part in enumerate(event.parts) if part.function_response is response)
    rest = event.parts[place + 1 :]
    return list(takewhile(lambda part: part.function_response is None, rest))


def _failed(response: types.FunctionResponse) -> bool:
    answer = response.response or {}
    status = answer.get("status")
    return (
        status == "error"
        or (set(answer) == {"error"} and bool(answer["error"]))
        or (status == "unknown" and fate(answer) == "unknown")
    )
