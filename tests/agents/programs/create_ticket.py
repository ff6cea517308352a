"""A ticket in three turns: opened, still being worked on, solved."""

from google.genai import types

from agents import Agent, InMemorySessionService, LongRunningFunctionTool, Model, Runner


def create_ticket(urgency: str) -> None:
    """Create a support ticket; people answer it later."""


async def main(model: Model) -> list[list[str]]:
    """What was said in each turn."""
    agent = Agent(name="ticket_agent", tools=[LongRunningFunctionTool(create_ticket)])
    service = InMemorySessionService()
    runner = Runner(agent=agent, session_service=service, models=model)
    await service.create_session(app_name="ticket_agent", user_id="ann", session_id="s")
    call = types.FunctionCall()
    turns: list[list[str]] = []

    async def turn(part: types.Part) -> None:
        message = types.Content(role="user", parts=[part])
        texts: list[str] = []
        async for event in runner.run_async(user_id="ann", session_id="s", new_message=message):
            texts += event.texts()
            for made in event.get_function_calls():
                call.id, call.name = made.id, made.name
        turns.append(texts)

    await turn(types.Part(text="Create a high urgency ticket for me."))
    for answer in ({"ticket_id": "T-1", "status": "open"}, {"ticket_id": "T-1", "status": "done"}):
        response = types.FunctionResponse(id=call.id, name=call.name, response=answer)
        await turn(types.Part(function_response=response))
    return turns
