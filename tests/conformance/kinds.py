"""Kinds of places where the peer differs from us on purpose, told in our words before comparing."""

import json
import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"[A-Za-z_]\w*\Z")
PENDING = {"status": "pending"}


def told_by_kind(case: dict[str, Any], outcome: dict[str, Any]) -> None:
    """Change an outcome, the record or ours, so that no kind listed here shows.

    A name no model could call is refused when the tool is built. A generator has no event of its
    own. What asks whether to ask is asked once. Bodies that run at the same time begin in any
    order, so those of one turn are compared as a set. Events keep their order in every store, and a
    run does not depend on its reader. A call without a response is shown to the model as pending.
    """
    for one in outcome.get("declarations", ()):
        if not NAME.match(one.get("declaration", {}).get("name", "_")):
            del one["declaration"]
            one["raised"] = {}
    for turn in outcome.get("turns", ()):
        for run in turn.get("concurrent", [turn]):
            run["events"] = [e for e in run.get("events", ()) if not _of_generator(e)]
    if "agent" in case:
        tools = set(_tools(case["agent"]))
        asked = _asked_once(outcome.get("tool_executions", ()), tools)
        outcome["tool_executions"] = sorted(asked, key=_in_any_order)
    history = outcome.get("persisted_history", {})
    if case.get("service") == "sqlite":
        outcome["persisted_history"] = {key: sorted(lines) for key, lines in history.items()}
    if any("client_stops_after" in turn for turn in case.get("turns", ())):
        outcome["persisted_history"] = {}
    for request in outcome.get("model_requests", ()):
        request["contents"] = list(_well_formed(request["contents"]))


def _in_any_order(execution: dict[str, Any]) -> str:
    """The same place for the same execution, whichever thread was first."""
    return json.dumps([execution["turn"], execution], sort_keys=True, default=str)


def _of_generator(event: dict[str, Any]) -> bool:
    return "output" in event and "@" in event.get("branch", "") and "parts" not in event


def _tools(agent: dict[str, Any]) -> Iterator[str]:
    for tool in agent.get("tools", ()):
        yield tool.get("func", "")
        yield from _tools(tool.get("agent", {}))
    for child in agent.get("sub_agents", ()):
        yield from _tools(child)


def _asked_once(executions: list[dict[str, Any]], tools: set[str]) -> Iterator[dict[str, Any]]:
    seen: list[Any] = []
    for one in executions:
        asked = (one["tool"], one["args"])
        if one["tool"] in tools or asked not in seen:
            yield one
        seen.append(asked)


def _well_formed(contents: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Contents in which every call has a response directly after it."""
    rest = list(contents)
    while rest:
        content = rest.pop(0)
        yield content
        calls = [p["function_call"] for p in content["parts"] if "function_call" in p]
        if not calls:
            continue
        answers = [p for p in (rest[0]["parts"] if rest else ()) if "function_response" in p]
        if not answers:
            yield {"role": "user", "parts": [_pending(call) for call in calls]}
        elif len(answers) < len(calls):
            rest[0]["parts"] = list(_filled(calls, rest[0]["parts"]))


def _filled(calls: list[dict[str, Any]], parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    given = list(parts)
    for call in calls:
        names = [part.get("function_response", {}).get("name") for part in given]
        yield given.pop(names.index(call["name"])) if call["name"] in names else _pending(call)
    yield from given


def _pending(call: dict[str, Any]) -> dict[str, Any]:
    wire_id = {"id": call["id"]} if "id" in call else {}
    return {"function_response": {**wire_id, "name": call["name"], "response": dict(PENDING)}}
