"""Events, requests and histories in the words of the recorded cases; wording is masked."""

import ast
import dataclasses
import datetime  # noqa: F401 - named by recorded values
import json
import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from agents import Event
from agents.runtime.history import PREAMBLE

TEXT = "<text>"
HINTS = re.compile(r"^(Please approve or reject the tool call|May \w+ run with these arguments)")
IDENTITY = re.compile(
    r'You are an agent\. Your internal name is "([^"]*)"\.'
    r'(?: The description about you is "([^"]*)"\.)?'
)
TRANSFER = re.compile(
    r"Other agents you can hand the conversation to:\n(.*?)\n\nIf one.*", re.DOTALL
)
QUOTE = re.compile(r"<quote>\n(.*?)\n</quote>", re.DOTALL)
NOTES = ("NOTE: This is a long-running operation", "This starts work that takes a long time")


class Names:
    """Ids in order of first appearance: `call-1`, `inv-1`."""

    def __init__(self, prefix: str) -> None:
        """Count from 1."""
        self.prefix = prefix
        self.known: dict[str, str] = {}

    def of(self, real: str) -> str:
        """The name of a real id."""
        return self.known.setdefault(real, f"{self.prefix}-{len(self.known) + 1}")

    def real(self, name: str) -> str:
        """The real id behind a name; the name itself when nobody has it."""
        return next((real for real, known in self.known.items() if known == name), name)


def event(e: Event, calls: Names, invocations: Names) -> dict[str, Any]:
    """An event as the cases write it."""
    calls.known.update(e.model_ids)
    shape: dict[str, Any] = {"author": e.author, "invocation": invocations.of(e.invocation_id)}
    if e.content is not None:
        shape["role"] = e.content.role
        parts = [p.model_dump(mode="json", exclude_none=True) for p in e.parts]
        shape["parts"] = [part(p, calls, asking=bool(e.questions)) for p in parts]
    if e.long_running_tool_ids:
        shape["long_running"] = sorted(calls.of(i) for i in e.long_running_tool_ids)
    shape["final"] = e.is_final_response()
    actions = e.actions.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    asked = actions.pop("requested_tool_confirmations", None)
    if asked:
        actions["requested_tool_confirmations"] = {
            calls.of(i): {"confirmed": False, "payload": None, **q} for i, q in asked.items()
        }
    if actions:
        shape["actions"] = actions
    if e.error_code:
        shape["error"] = {"code": e.error_code}
    return shape


def part(p: dict[str, Any], calls: Names, *, asking: bool = False) -> dict[str, Any]:
    """A part with its ids named."""
    for kind in ("function_call", "function_response"):
        if kind in p:
            body = {k: v for k, v in p[kind].items() if k in ("id", "name", "args", "response")}
            body["id"] = calls.of(body["id"])
            if asking:
                original = dict(body["args"]["originalFunctionCall"])
                original["id"] = calls.of(original["id"])
                body["args"] = {**body["args"], "originalFunctionCall": original}
            return {kind: body}
    return p


def python(value: Any) -> Any:
    """A Python value a tool was given, as the cases write it."""
    if isinstance(value, BaseModel):
        return {"$pydantic": type(value).__name__, "value": value.model_dump(mode="json")}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"$dataclass": type(value).__name__, "value": dataclasses.asdict(value)}
    if isinstance(value, tuple):
        return {"$tuple": [python(v) for v in value]}
    if isinstance(value, (list, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        told = {key: python(item) for key, item in items}
        return told if isinstance(value, dict) else list(told.values())
    plain = value is None or type(value) in (str, int, float, bool)
    return value if plain else {"$py": type(value).__name__, "repr": repr(value)}


def request(
    agent: str, instruction: str, contents: Iterable[Any], tools: Iterable[Any]
) -> dict[str, Any]:
    """A request to a model as the cases write it."""
    return {
        "agent": agent,
        "system_instruction": _instruction(instruction),
        "contents": [
            {
                "role": c.role,
                "parts": [_wire(p.model_dump(mode="json", exclude_none=True)) for p in c.parts],
            }
            for c in contents
        ],
        "tools": [t.model_dump(mode="json", exclude_none=True) for t in tools],
    }


def _wire(p: dict[str, Any]) -> dict[str, Any]:
    if p.get("text") == PREAMBLE:
        return {"text": "<other-agent-preamble>"}
    for kind in ("function_call", "function_response"):
        if kind in p:
            p[kind].setdefault("args" if kind == "function_call" else "response", {})
            return {kind: p[kind]}
    return p


def _instruction(text: str) -> str:
    def identity(match: re.Match[str]) -> str:
        told = f" description={match[2]}" if match[2] else ""
        return f"<identity name={match[1]}{told}>"

    def targets(match: re.Match[str]) -> str:
        names = [line[2:].split(":")[0] for line in match[1].splitlines()]
        return f"<transfer-instructions targets={','.join(names)}>"

    return TRANSFER.sub(targets, IDENTITY.sub(identity, text)).strip()


def plain(value: Any) -> Any:
    """A recorded Python value as JSON: what an event of ours holds from the start."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$tuple" in value:
        return plain(value["$tuple"])
    if "$pydantic" in value or "$dataclass" in value:
        return plain(value["value"])
    if value.get("$py") == "datetime":
        return eval(value["repr"]).isoformat()
    return {k: plain(v) for k, v in value.items()}


def masked(value: Any) -> Any:
    """The same on both sides of a comparison, without what is only wording."""
    if isinstance(value, list):
        return [masked(v) for v in value]
    if isinstance(value, str):
        return _masked_text(value)
    if not isinstance(value, dict):
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    out = {k: masked(v) for k, v in value.items() if k not in ("end_of_agent", "message")}
    if isinstance(out.get("error"), str):
        out = {"error": TEXT}
    if isinstance(out.get("parts"), list) and any("function_call" in p for p in out["parts"]):
        out["parts"] = [p for p in out["parts"] if p]
    if out.get("name") == "transfer_to_agent" and "description" in out:
        out["description"] = TEXT
        schema = out.get("parameters_json_schema", {}).get("properties", {}).get("agent_name", {})
        schema.pop("description", None)
    if out.get("name") == "transfer_to_agent":
        out.pop("response", None)
    return out


def _masked_text(text: str) -> str:
    if HINTS.match(text):
        return TEXT
    for note in NOTES:
        if note in text:
            return text[: text.index(note)].strip() + TEXT
    text = re.sub(r"<transfer-instructions targets=(\S+?)(?: parent=\S+)?>", r"<transfer \1>", text)
    return QUOTE.sub(lambda m: f"<quote>{_plain(m[1])}</quote>", text)


def _plain(quoted: str) -> str:
    for read in (json.loads, ast.literal_eval):
        try:
            return json.dumps(read(quoted), sort_keys=True)
        except (ValueError, SyntaxError):
            continue
    return quoted


def history(events: Iterable[Event], calls: Names) -> list[str]:
    """What is stored, a line an event."""
    lines: list[str] = []
    for e in events:
        if e.branch is not None:
            continue
        told = [_line(p, calls) for p in e.parts]
        if e.error_code:
            told.append("error")
        if told:
            lines.append(f"{e.author}: {'; '.join(told)}")
    return lines


def _line(p: Any, calls: Names) -> str:
    if p.function_call:
        return f"call {p.function_call.name}#{calls.of(p.function_call.id)}"
    if p.function_response:
        return f"response {p.function_response.name}#{calls.of(p.function_response.id)}"
    return "text"
