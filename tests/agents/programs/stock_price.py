"""An agent that looks prices up, with a Runner and sessions in memory."""

from google.genai import types

from agents import Agent, InMemorySessionService, Model, Runner

APP_NAME, USER_ID, SESSION_ID = "stock_app", "1234", "session1234"
PRICES = {"GOOG": 123.0}


def get_stock_price(symbol: str) -> float | None:
    """Get the latest price of a stock.

    Args:
        symbol: The ticker symbol, such as "GOOG".
    """
    return PRICES.get(symbol)


stock_price_agent = Agent(
    name="stock_agent",
    model="gemini-flash-latest",
    instruction="Get the price of a stock by its ticker symbol; look the symbol up if you must.",
    description="Looks up stock prices.",
    tools=[get_stock_price],
)


async def main(model: Model, query: str) -> str:
    """The agent's answer."""
    service = InMemorySessionService()
    await service.create_session(app_name=APP_NAME, user_id=USER_ID, session_id=SESSION_ID)
    runner = Runner(
        agent=stock_price_agent, app_name=APP_NAME, session_service=service, models=model
    )
    message = types.Content(role="user", parts=[types.Part(text=query)])
    answer = ""
    async for event in runner.run_async(
        user_id=USER_ID, session_id=SESSION_ID, new_message=message
    ):
        if event.is_final_response():
            answer = "".join(event.texts())
    return answer
