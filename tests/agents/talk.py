"""Saying something to an agent and hearing what it says last."""

from google.genai import types

from agents import Event, Runner


async def says(runner: Runner, text: str, *, user: str = "U1") -> str:
    """The last text of an agent after a person's sentence; empty when it says nothing."""
    return last(await hears(runner, types.Part(text=text), user=user))


async def hears(runner: Runner, part: types.Part, *, user: str = "U1") -> list[Event]:
    """The events that a message brings about."""
    message = types.Content(role="user", parts=[part])
    events = runner.run_async(user_id=user, session_id="s", new_message=message)
    return [event async for event in events]


def last(events: list[Event]) -> str:
    """The last text of events."""
    return next((text for event in reversed(events) for text in event.texts()), "")
