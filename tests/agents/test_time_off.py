"""The time-off agent: what it asks a person, and what it makes of the answer."""

from typing import Any

import pytest
from google.genai import types

from agents import (
    Event,
    InMemorySessionService,
    PayloadError,
    Runner,
    ToolConfirmation,
    ToolContext,
    ToolError,
)
from agents.runtime.rehearsal import RehearsalModel
from agents.time_off import request_time_off, time_off_agent


def _context(days: int | None = None) -> ToolContext:
    answer = ToolConfirmation(confirmed=True, payload={"approved_days": days}) if days else None
    return ToolContext(tool_confirmation=answer)


@pytest.mark.parametrize("days", [-3, 0, 61])
def test_days_have_bounds(days: int) -> None:
    """Fewer than one or more than sixty days are refused before anybody is asked."""
    context = _context()
    with pytest.raises(ToolError, match="Between 1 and 60"):
        request_time_off(days, context)
    assert context.request is None


@pytest.mark.parametrize(
    ("asked", "approved", "expected"),
    [
        pytest.param(5, 5, {"status": "ok", "approved_days": 5, "requested_days": 5}, id="all"),
        pytest.param(5, 3, {"status": "ok", "approved_days": 3, "requested_days": 5}, id="fewer"),
    ],
)
def test_the_answer_counts(asked: int, approved: int, expected: dict[str, Any]) -> None:
    """As many days are granted as the person entered, beside those that were asked for."""
    assert request_time_off(asked, _context(approved)) == expected


class Office:
    """The agent in a session, with the rehearsal model."""

    def __init__(self) -> None:
        self.runner = Runner(
            agent=time_off_agent(),
            session_service=InMemorySessionService(),
            models=RehearsalModel(),
            auto_create_session=True,
        )

    async def hears(self, part: types.Part) -> list[Event]:
        """The events a message brings about."""
        message = types.Content(role="user", parts=[part])
        events = self.runner.run_async(user_id="U1", session_id="s", new_message=message)
        return [event async for event in events]

    async def asked(self, text: str) -> Event:
        """The event that asks a person after a sentence."""
        events = await self.hears(types.Part(text=text))
        return next(event for event in events if event.questions)

    async def decides(self, request: str, **answer: Any) -> str:
        """The last text after the answer to a request for confirmation."""
        response = types.FunctionResponse(
            id=request, name="adk_request_confirmation", response=answer
        )
        events = await self.hears(types.Part(function_response=response))
        return [text for event in events for text in event.texts()][-1]


async def test_a_person_is_asked_for_a_number() -> None:
    """The question says what is asked for, and takes a number between one and the days asked."""
    event = await Office().asked("I'd like to take five days off from 2026-12-24")
    [question] = event.questions.values()
    schema = question.payload_schema or {}
    assert question.args == {"days": 5, "start": "2026-12-24"}
    assert "5 days off are asked for from 24 December 2026." in question.hint
    assert schema["required"] == ["approved_days"]
    assert schema["properties"] == {
        "approved_days": {
            "title": "Approved days",
            "description": "From 1 to 5.",
            "type": "integer",
            "minimum": 1,
            "maximum": 5,
        }
    }


@pytest.mark.parametrize("entered", [None, 0, 6, "some", 2.5])
async def test_other_numbers_are_refused(entered: object) -> None:
    """What is no whole number between one and the days asked is not taken for an answer."""
    office = Office()
    [request] = (await office.asked("I need 5 days off")).questions
    with pytest.raises(PayloadError, match="approved_days"):
        await office.decides(request, confirmed=True, payload={"approved_days": entered})
    answer = await office.decides(request, confirmed=True, payload={"approved_days": 5})
    assert "5 days are approved" in answer


async def test_fewer_days_may_be_approved() -> None:
    """The person who asked hears once that they got fewer days."""
    office = Office()
    [request] = (await office.asked("I need 5 days off")).questions
    answer = await office.decides(request, confirmed=True, payload={"approved_days": 2})
    assert answer.count("2 of 5") == 1


async def test_a_rejection_is_told_with_its_reason() -> None:
    """The reason reaches the person who asked, word for word."""
    office = Office()
    [request] = (await office.asked("I need a day off")).questions
    answer = await office.decides(request, confirmed=False, reason="Too much to do, sorry!")
    assert "rejected" in answer
    assert "“Too much to do, sorry!”" in answer
