"""What programs are given of a session is theirs: changes in it change nothing else."""

import pytest
from google.genai import types

from agents import (
    Agent,
    Event,
    FunctionTool,
    InMemorySessionService,
    SessionService,
    ToolConfirmation,
)
from agents.runtime.testing import call
from tests.agents.desk import Desk


def pay(amount: int, tags: list[str]) -> dict[str, object]:
    """Pay."""
    return {"paid": [amount], "tags": tags}


async def paid(service: SessionService) -> Desk:
    """A session with every kind of event: words, a call, a question, an answer, a result."""
    tool = FunctionTool(pay, require_confirmation=True)
    script = [call("pay", amount=1, tags=["a"]), "paid", "more"]
    desk = await Desk(Agent(name="root", tools=[tool]), script, service=service).open()
    await desk.say("pay 1")
    await desk.answer()
    mixed = [types.Part(text="a"), types.Part.from_bytes(data=b"a", mime_type="image/png")]
    session = await desk.session()
    said = Event(author="root", content=types.Content(role="model", parts=mixed), timestamp=1.0)
    said.actions.state_delta["list"] = [1]
    await service.append_event(session, said)
    return desk


CHANGES = {
    "the text of a part": lambda event: [setattr(part, "text", "x") for part in event.said],
    "the bytes of a part": lambda event: [
        setattr(part.inline_data, "data", b"x") for part in event.said if part.inline_data
    ],
    "one more part": lambda event: event.parts.append(types.Part(text="x")),
    "the role": lambda event: setattr(event.content, "role", "x") if event.content else None,
    "the arguments of a call": lambda event: [
        call.args.update(amount=2) or call.args.setdefault("tags", []).append("x")
        for call in event.get_function_calls()
    ],
    "the name of a call": lambda event: [
        setattr(call, "name", "x") for call in event.get_function_calls()
    ],
    "a response": lambda event: [
        response.response.update(x=1) or response.response.setdefault("paid", []).append(2)
        for response in event.get_function_responses()
    ],
    "state": lambda event: (
        event.actions.state_delta.setdefault("list", []).append(2),
        event.actions.state_delta.update(x=1),
    ),
    "what is done besides": lambda event: (
        setattr(event.actions, "skip_summarization", True),
        [setattr(it, "hint", "x") for it in event.actions.requested_tool_confirmations.values()],
        event.actions.requested_tool_confirmations.update(x=ToolConfirmation()),
    ),
    "a question": lambda event: [
        question.args.update(amount=2) or question.args["tags"].append("x")
        for question in event.questions.values()
    ],
    "lists of its own": lambda event: (
        event.usage.update({"in": 2}),
        event.model_ids.update(x="y"),
        event.pending.append("x"),
        event.questions.clear(),
        (event.long_running_tool_ids or set()).add("x"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_copy_is_a_copy(service: SessionService, change):
    """What a program changes in the events it got is not stored, and read by no model."""
    desk = await paid(service)
    before = await desk.session()
    kept = [event.model_dump_json() for event in before.events]
    for event in before.events:
        change(event)
    assert [event.model_dump_json() for event in before.events] != kept
    assert [event.model_dump_json() for event in (await desk.session()).events] == kept
    other = await paid(InMemorySessionService())
    for each in (desk, other):
        await each.say("go on")
    assert desk.model.requests[-1].contents == other.model.requests[-1].contents


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_an_event_is_stored_as_it_was(service: SessionService, change):
    """What a program changes later in an event that it stored, or got back, is not stored."""
    found = await (await paid(InMemorySessionService())).session()
    given = [e.model_copy(update={"version": 0}) for e in found.events if not e.questions]
    where = {"app_name": "root", "user_id": "ann", "session_id": "other"}
    session = await service.create_session(**where)
    told = [await service.append_event(session, e) for e in given if e.author != "user"]
    kept = [e.model_dump_json() for e in (await service.get_session(**where)).events]
    for event in (*given, *told):
        change(event)
    again = [e.model_dump_json() for e in (await service.get_session(**where)).events]
    assert (again, len(again)) == (kept, len(told))
