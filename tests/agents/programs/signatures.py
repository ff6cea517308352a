"""Three functions as tools: a required parameter, one with a default, an optional one."""

from google.genai import types

from agents import Agent, InMemorySessionService, Model, Runner


def get_weather(city: str, unit: str) -> dict[str, str]:
    """Look up the weather of a city.

    Args:
        city: The city's name.
        unit: "Celsius" or "Fahrenheit".
    """
    return {"status": "success", "report": f"The weather in {city} is sunny, in {unit}."}


def search_flights(destination: str, departure_date: str, flexible_days: int = 0) -> dict[str, str]:
    """Search for flights.

    Args:
        destination: Where to.
        departure_date: When, as YYYY-MM-DD.
        flexible_days: How many days earlier or later would do.
    """
    days = f" give or take {flexible_days} days" if flexible_days else ""
    return {"status": "success", "report": f"Flights to {destination} on {departure_date}{days}."}


def create_user_profile(username: str, bio: str | None = None) -> dict[str, str]:
    """Create a profile.

    Args:
        username: A name nobody else has.
        bio: A few words about the person.
    """
    kind = "with" if bio else "without"
    return {"status": "success", "message": f"Profile of {username} created {kind} a bio."}


async def main(model: Model, question: str) -> list[dict[str, object]]:
    """What the tools answered."""
    agent = Agent(name="helpdesk", tools=[get_weather, search_flights, create_user_profile])
    service = InMemorySessionService()
    runner = Runner(agent=agent, session_service=service, models=model)
    session = await service.create_session(app_name="helpdesk", user_id="ann")
    message = types.Content(role="user", parts=[types.Part(text=question)])
    run = runner.run_async(user_id="ann", session_id=session.id, new_message=message)
    return [dict(r.response or {}) async for event in run for r in event.get_function_responses()]
