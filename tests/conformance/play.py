"""Plays one recorded case on our runtime and says where it differs."""

import asyncio
import contextlib
import copy
import difflib
import json
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from agents import InMemorySessionService, RunConfig, Runner, UsageError
from agents.runtime.errors import AgentsError
from agents.runtime.testing import ScriptedModel
from tests.conformance import build, shape
from tests.conformance.kinds import told_by_kind

APP, USER, SESSION = "app", "u1", "s1"


@dataclass
class Play:
    """One case on its way: what was named, what happened."""

    case: dict[str, Any]
    calls: shape.Names = field(default_factory=lambda: shape.Names("call"))
    invocations: shape.Names = field(default_factory=lambda: shape.Names("inv"))
    executions: list[dict[str, Any]] = field(default_factory=list)
    turn: int = 0

    def log(self, tool: str, **args: Any) -> None:
        """What the tools of a case report."""
        told = {key: shape.python(value) for key, value in args.items()}
        self.executions.append({"turn": self.turn, "tool": tool, "args": told})

    async def run(self) -> dict[str, Any]:
        """Play every turn; give back what `expect` has."""
        names = build.namespace(self.case, self.log)
        self.model = self._model()
        self.service = InMemorySessionService()
        self.sessions: set[tuple[str, str]] = set()
        app = self.case.get("app") or {}
        self.plugins = [eval(p, names) for p in app.get("plugins", ())]
        self.create = bool(app.get("auto_create_session"))
        root = build.agent(self.case["agent"], names)
        turns = []
        for told in self.case["turns"]:
            self.turn += 1
            if "agent" in told:
                root = build.agent(told["agent"], names)
            turns.append(await self._turn(root, told))
        return {
            "turns": turns,
            "tool_executions": self.executions,
            "model_requests": self.model.seen,
            "persisted_history": await self._history(),
        }

    def _model(self) -> Any:
        """The model of all agents, with the script of the case."""
        return Recorder(self, [build.reply(r) for r in self.case["model_script"]])

    def _runner(self, root: Any) -> Runner:
        return Runner(
            agent=root,
            app_name=APP,
            session_service=self.service,
            models=self.model,
            plugins=self.plugins,
            auto_create_session=self.create,
        )

    async def _turn(self, root: Any, told: dict[str, Any]) -> dict[str, Any]:
        user, session = told.get("user_id", USER), told.get("session", SESSION)
        if (user, session) not in self.sessions and not self.case.get("no_session"):
            with contextlib.suppress(AgentsError):
                state = self.case.get("initial_state") if session == SESSION else None
                await self.service.create_session(
                    app_name=APP, user_id=user, session_id=session, state=state
                )
        self.sessions.add((user, session))
        runner = self._runner(root)
        where = {"user_id": user, "session_id": session}
        if "concurrent" in told:
            runs = [self._run(runner, told, where, parts) for parts in told["concurrent"]]
            return {"concurrent": list(await asyncio.gather(*runs))}
        parts = told.get("send") or [{"text": told[word]} for word in ("user",) if word in told]
        seen = await self._run(runner, told, where, parts)
        await runner.join()
        found = await self.service.get_session(app_name=APP, user_id=user, session_id=session)
        return {**seen, "state_after": found.state} if found else seen

    async def _run(
        self, runner: Runner, told: dict[str, Any], where: dict[str, str], parts: list[Any]
    ) -> dict[str, Any]:
        events: list[dict[str, Any]] = []
        raised: dict[str, Any] = {}
        stop = told.get("client_stops_after")
        stream = runner.run_async(
            **where,
            new_message=self._message(parts),
            state_delta=told.get("state_delta"),
            run_config=_config(told.get("run_config", {})),
            invocation_id=told.get("resume_invocation"),
        )
        place = "/".join(where.values())
        try:
            async for event in stream:
                invocation = f"{place}/{event.invocation_id}"
                shown = event.model_copy(update={"invocation_id": invocation})
                events.append(shape.event(shown, self.calls, self.invocations))
                if stop and len(events) >= stop:
                    break
        except Exception as error:  # noqa: BLE001 - what a run raises is part of the outcome
            raised = {"raised": {"type": [k.__name__ for k in type(error).__mro__]}}
        return {"events": events, **raised}

    def _message(self, parts: list[Any]) -> types.Content | None:
        if not parts:
            return None
        return types.Content(role="user", parts=[self._part(p) for p in parts])

    def _part(self, told: dict[str, Any]) -> types.Part:
        told = copy.deepcopy(told)
        for kind in ("function_response", "function_call"):
            if "id" in told.get(kind, {}):
                told[kind]["id"] = self.calls.real(told[kind]["id"])
        return types.Part.model_validate(told)

    async def _history(self) -> dict[str, list[str]]:
        lines = {}
        for user, session in sorted(self.sessions if not self.case.get("no_session") else ()):
            found = await self.service.get_session(app_name=APP, user_id=user, session_id=session)
            if found:
                lines[f"{user}/{session}"] = shape.history(found.events, self.calls)
        return lines


def _config(told: dict[str, Any]) -> RunConfig:
    """What of a case's configuration of a run there is here."""
    known = RunConfig.__dataclass_fields__
    return RunConfig(**{key: value for key, value in told.items() if key in known})


class Recorder(ScriptedModel):
    """A scripted model that notes what each agent sent it, as the cases write it."""

    def __init__(self, play: Play, replies: Any) -> None:
        """Note requests by turn."""
        super().__init__(replies)
        self.play = play
        self.seen: list[dict[str, Any]] = []

    async def generate_content_async(self, request: Any, *, stream: bool = False) -> Any:
        """Note the request and go on as scripted."""
        told = shape.request("", request.system_instruction, request.contents, request.tools)
        self.seen.append({"turn": self.play.turn, **told})
        async for response in super().generate_content_async(request, stream=stream):
            yield response


async def play(case: dict[str, Any]) -> dict[str, Any]:
    """Play a conversation."""
    try:
        return await Play(case).run()
    except UsageError as error:
        return {"refused": type(error).__name__}


def differences(case: dict[str, Any], want: dict[str, Any], got: dict[str, Any]) -> str:
    """A diff a person can read; empty when the shapes agree."""
    if want.get("refused") or got.get("refused"):
        return "" if want.get("refused") == got.get("refused") else f"{want} != {got}"
    left, right = comparable(want), comparable(got)
    for side in (left, right):
        told_by_kind(case, side)
    _agree_on_descriptions(left, right)
    for turn, mine in zip(left["turns"], right["turns"], strict=False):
        _agree_on_errors(turn, mine)
    if left == right:
        return ""
    lines = difflib.unified_diff(_lines(left), _lines(right), "expected", "got", n=4, lineterm="")
    return "\n".join(lines)


def comparable(told: dict[str, Any]) -> dict[str, Any]:
    """The part of an outcome that is compared, without wording."""
    told = copy.deepcopy(told)
    told.pop("generated_with", None)
    told.setdefault("turns", [])
    for one in (*told.get("declarations", ()), *told.get("results", ())):
        one.pop("mandatory", None)
        if "raised" in one:
            one["raised"] = {"type": one["raised"].get("type")} if "op" in one else {}
    for turn in told["turns"]:
        for run in turn.get("concurrent", [turn]):
            run["events"] = [e for e in run.get("events", []) if set(e) - EMPTY or e.get("error")]
            run["events"] = [e for e in run["events"] if e.get("actions") != {"end_of_agent": True}]
    requests = told.pop("model_requests", [])
    last: dict[str, Any] = {}
    for request in requests:
        name = request.pop("agent", None) or _agent(request)
        request["agent"] = name
        if request["tools"] == "unchanged":
            request["tools"] = last[name]
        last[name] = request["tools"]
    told["model_requests"] = shape.plain(requests)
    told["turns"] = shape.plain(told["turns"])
    told.pop("model_script_note", None)
    told["persisted_history"] = {
        key: [_history_line(line) for line in lines if not line.endswith(": (empty)")]
        for key, lines in told.get("persisted_history", {}).items()
    }
    return shape.masked(told)


EMPTY = {"author", "invocation", "final", "branch"}


def _agent(request: dict[str, Any]) -> str:
    text = request["system_instruction"]
    return text.split("<identity name=")[-1].split(">")[0].split(" ")[0] if "<id" in text else ""


def _history_line(line: str) -> str:
    author, _, rest = line.partition(": ")
    kept = [part for part in rest.split("; ") if not part.startswith("state")]
    return f"{author}: {'; '.join('error' if p.startswith('error') else p for p in kept)}"


def _agree_on_errors(want: dict[str, Any], got: dict[str, Any]) -> None:
    mine, theirs = got.get("raised"), want.get("raised")
    if mine and theirs and theirs["type"] in mine["type"]:
        got["raised"] = theirs


def _agree_on_descriptions(want: Any, got: Any) -> None:
    """Take from our schemas the descriptions of parameters that the peer does not give."""
    if isinstance(want, list) and isinstance(got, list):
        for mine, theirs in zip(want, got, strict=False):
            _agree_on_descriptions(mine, theirs)
    if not isinstance(want, dict) or not isinstance(got, dict):
        return
    for key, mine in want.items():
        _agree_on_descriptions(mine, got.get(key))
        if key == "properties" and isinstance(got.get(key), dict):
            for name, schema in got[key].items():
                if isinstance(schema, dict) and "description" not in mine.get(name, {}):
                    schema.pop("description", None)


def _lines(value: Any) -> list[str]:
    return json.dumps(
        value, indent=1, sort_keys=True, ensure_ascii=False, default=repr
    ).splitlines()
