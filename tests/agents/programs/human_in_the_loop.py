"""A client that waits for a manager: a long-running call, its updates, and the final answer."""

from typing import Any

from google.genai import types

from agents import Agent, Event, InMemorySessionService, LongRunningFunctionTool, Model, Runner

APP_NAME, USER_ID, SESSION_ID = "human_in_the_loop", "1234", "session1234"


def ask_for_approval(purpose: str, amount: float) -> dict[str, Any]:
    """Ask a manager to approve a reimbursement."""
    ticket = {"approver": "Sean Zhou", "purpose": purpose, "amount": amount}
    return {"status": "pending", "ticket_id": "approval-ticket-1", **ticket}


def reimburse(purpose: str, amount: float) -> dict[str, str]:
    """Pay money back to the employee."""
    return {"status": "ok"}


reimbursement_agent = Agent(
    name="reimbursement_agent",
    model="gemini-flash-latest",
    instruction=(
        "Reimburse up to 100 dollars at once. Above that ask a manager for approval; reimburse "
        "when it is approved, and tell the employee when it is rejected."
    ),
    tools=[reimburse, LongRunningFunctionTool(ask_for_approval)],
)


def long_running_call(event: Event) -> types.FunctionCall | None:
    """The long-running call in an event."""
    ids = event.long_running_tool_ids or set()
    return next((call for call in event.get_function_calls() if call.id in ids), None)


async def main(model: Model, query: str, *updates: dict[str, Any]) -> list[str]:
    """What the agent said: to the query, and to each update of the manager's ticket."""
    service = InMemorySessionService()
    await service.create_session(app_name=APP_NAME, user_id=USER_ID, session_id=SESSION_ID)
    runner = Runner(
        agent=reimbursement_agent, app_name=APP_NAME, session_service=service, models=model
    )
    said: list[str] = []
    waiting: types.FunctionCall | None = None
    message = types.Content(role="user", parts=[types.Part(text=query)])
    for update in (*updates, None):
        async for event in runner.run_async(
            user_id=USER_ID, session_id=SESSION_ID, new_message=message
        ):
            waiting = waiting or long_running_call(event)
            said += event.texts()
        if update is None or waiting is None:
            break
        answer = types.FunctionResponse(id=waiting.id, name=waiting.name, response=update)
        message = types.Content(role="user", parts=[types.Part(function_response=answer)])
    return said
