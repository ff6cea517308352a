"""A client that catches the question about a call and sends a person's answer.

Above 1,000 a reimbursement asks for yes or no; days off ask how many are granted.
"""

from google.genai import types

from agents import (
    Agent,
    FunctionTool,
    InMemorySessionService,
    Model,
    Runner,
    ToolConfirmation,
    ToolContext,
)


async def confirmation_threshold(amount: int, tool_context: ToolContext) -> bool:
    """Whether an amount is so high that a person is asked."""
    return amount > 1000


def reimburse(amount: int) -> dict[str, object]:
    """Pay money back to the employee."""
    return {"status": "ok", "reimbursed": amount}


def request_time_off(days: int, tool_context: ToolContext) -> dict[str, object]:
    """Ask for days off for the employee."""
    answer = tool_context.tool_confirmation
    if answer is None:
        tool_context.request_confirmation(
            hint="Please approve or reject the time off.", payload={"approved_days": 0}
        )
        return {"status": "A manager has to approve."}
    payload = answer.payload
    return {"status": "ok", "approved": payload if isinstance(payload, dict) else {}}


root_agent = Agent(
    name="time_off_agent",
    instruction="Help employees with reimbursements and days off.",
    tools=[
        FunctionTool(reimburse, require_confirmation=confirmation_threshold),
        request_time_off,
    ],
)


async def main(
    model: Model, query: str, answer: ToolConfirmation
) -> tuple[list[str], list[dict[str, object]]]:
    """The hints of the questions that were asked, and what the tools answered in the end."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="hr", user_id="ann")
    runner = Runner(agent=root_agent, app_name="hr", session_service=service, models=model)
    where = {"user_id": "ann", "session_id": session.id}
    hints: list[str] = []
    results: list[dict[str, object]] = []
    message = types.Content(role="user", parts=[types.Part(text=query)])
    while message is not None:
        events = [event async for event in runner.run_async(**where, new_message=message)]
        calls = [call for event in events for call in event.get_function_calls()]
        asked = [call for call in calls if call.name == "adk_request_confirmation"]
        hints += [call.args["toolConfirmation"]["hint"] for call in asked if call.args]
        results = [dict(r.response or {}) for e in events for r in e.get_function_responses()]
        parts = [answer.response(call.id or "") for call in asked]
        message = types.Content(role="user", parts=parts) if parts else None
    return hints, results
