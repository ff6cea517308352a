"""Asks a person for days off, who answers with the number of days they approve."""

from datetime import date
from typing import Any, cast

from pydantic import BaseModel, Field, create_model

from agents import Agent, FunctionTool, ToolContext, ToolError

MOST_DAYS = 60
INSTRUCTION = """\
You ask for days off on behalf of people. Call `request_time_off` with the number of days, and with
the first day when the person names one; when the number is missing, ask for it. A person decides
and may approve fewer days: until then say that it is waiting, afterwards say how many days were
approved. Tell a rejection with its reason, in its own words.
"""


def time_off_agent() -> Agent:
    """The agent that asks for days off."""
    return Agent(
        name="time_off",
        description="Asks for days off, such as a holiday or a free Friday.",
        instruction=INSTRUCTION,
        tools=[FunctionTool(request_time_off, effects="none")],
        examples=(
            "I'd like to take five days off from 2026-12-24",
            "Can I have Friday off? Just one day.",
        ),
    )


def request_time_off(
    days: int, tool_context: ToolContext, start: date | None = None
) -> dict[str, Any]:
    """Ask for days off work, such as a holiday or vacation.

    Args:
        days: How many working days.
        start: The first day off.
    """
    if not 1 <= days <= MOST_DAYS:
        raise ToolError(f"Between 1 and {MOST_DAYS} days off can be asked for, not {days}.")
    answer = tool_context.tool_confirmation
    if answer is None:
        tool_context.request_confirmation(hint=_hint(days, start), payload=_approval(days))
        return {"status": "pending"}
    approved = int(cast("dict[str, Any]", answer.payload)["approved_days"])
    result: dict[str, Any] = {"status": "ok", "approved_days": approved, "requested_days": days}
    if start is not None:
        result["start"] = start.isoformat()
    return result


def _hint(days: int, start: date | None) -> str:
    asked = "One day off is" if days == 1 else f"{days} days off are"
    first = "" if start is None else f" from {start.day} {start:%B %Y}"
    return f"{asked} asked for{first}. How many days do you approve?"


def _approval(days: int) -> type[BaseModel]:
    """What the person fills in: a number between one and the days asked for."""
    approved = Field(ge=1, le=days, title="Approved days", description=f"From 1 to {days}.")
    return create_model("TimeOffApproval", approved_days=(int, approved))
