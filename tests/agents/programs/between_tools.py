"""Data handed from one tool to the next under `temp:`, gone when the invocation ends."""

from google.genai import types

from agents import Agent, InMemorySessionService, Model, Runner, ToolContext


def find_account(name: str, tool_context: ToolContext) -> dict[str, str]:
    """Find somebody's account."""
    tool_context.state["temp:account"] = f"account of {name}"
    return {"status": "found"}


def read_balance(tool_context: ToolContext) -> dict[str, object]:
    """Read the balance of the account that was found."""
    return {"account": tool_context.state.get("temp:account"), "balance": 12}


async def main(model: Model, *questions: str) -> tuple[list[object], dict[str, object]]:
    """The accounts that balances were read of, and the state that is left."""
    agent = Agent(name="bank", tools=[find_account, read_balance])
    service = InMemorySessionService()
    runner = Runner(agent=agent, session_service=service, models=model)
    where = {"app_name": "bank", "user_id": "ann", "session_id": "s"}
    await service.create_session(**where)
    seen: list[object] = []
    for question in questions:
        message = types.Content(role="user", parts=[types.Part(text=question)])
        async for event in runner.run_async(user_id="ann", session_id="s", new_message=message):
            answers = [dict(r.response or {}) for r in event.get_function_responses()]
            seen += [answer["account"] for answer in answers if "account" in answer]
    session = await service.get_session(**where)
    return seen, dict(session.state) if session else {}
