"""An agent as another's tool, whose answer is the final one."""

from google.genai import types

from agents import Agent, AgentTool, InMemorySessionService, Model, Runner

APP_NAME, USER_ID, SESSION_ID = "summary_agent", "user1234", "1234"

summary_agent = Agent(
    name="summary_agent",
    instruction="You are an expert summariser: sum up in two sentences what you are given.",
    description="Sums up a text.",
)
root_agent = Agent(
    name="root_agent",
    model="gemini-flash-latest",
    instruction="Forward a text, exactly as it came, to `summary_agent`.",
    tools=[AgentTool(summary_agent, skip_summarization=True)],
)


async def main(model: Model, text: str) -> str:
    """The summary."""
    service = InMemorySessionService()
    await service.create_session(app_name=APP_NAME, user_id=USER_ID, session_id=SESSION_ID)
    runner = Runner(agent=root_agent, app_name=APP_NAME, session_service=service, models=model)
    message = types.Content(role="user", parts=[types.Part(text=text)])
    answer = ""
    async for event in runner.run_async(
        user_id=USER_ID, session_id=SESSION_ID, new_message=message
    ):
        if event.is_final_response():
            answer = "".join(event.texts())
    return answer
