"""The support agent: what becomes a ticket, and that one call never makes two."""

from dataclasses import dataclass, field

from google.genai import types

from agents import Event, InMemorySessionService, Runner, Ticket
from agents.runtime.rehearsal import RehearsalModel
from agents.runtime.testing import ScriptedModel, call
from agents.support import support_agent
from tests.agents.talk import hears, last, says


@dataclass
class Desk:
    """A ticket system in a dict, by the key a ticket was opened under."""

    opened: dict[str, Ticket] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    async def create(self, *, subject: str, urgency: str, requester: str, key: str) -> Ticket:
        """Open a ticket once for each key."""
        self.asked.append({"subject": subject, "urgency": urgency, "requester": requester})
        new = Ticket(id=f"T-{len(self.opened) + 1}", subject=subject, urgency=urgency)
        return self.opened.setdefault(key, new)

    async def get(self, ticket_id: str) -> Ticket | None:
        """The ticket of that id."""
        return next((each for each in self.opened.values() if each.id == ticket_id), None)


def runner(desk: Desk, model: RehearsalModel | ScriptedModel | None = None) -> Runner:
    """The agent in sessions of its own."""
    return Runner(
        agent=support_agent(desk),
        session_service=InMemorySessionService(),
        models=model or RehearsalModel(),
        auto_create_session=True,
    )


def news(events: list[Event], *, more: bool = False, **response: object) -> types.Part:
    """An answer to the call that these events made."""
    made = next(made for event in events for made in event.get_function_calls())
    return types.Part(
        function_response=types.FunctionResponse(
            id=made.id, name=made.name, response=dict(response), will_continue=more or None
        )
    )


async def test_a_problem_becomes_a_ticket() -> None:
    """Urgency and subject are taken from the sentence, the requester from who says it."""
    desk = Desk()
    told = await says(runner(desk), "Open a high urgency ticket: the printer is on fire", user="UA")
    assert desk.asked == [{"subject": "printer is on fire", "urgency": "high", "requester": "UA"}]
    assert "under way" in told
    assert "T-1" in told


async def test_what_is_missing_is_asked_for() -> None:
    """A problem without an urgency is not made a ticket before somebody says it."""
    desk = Desk()
    talk = runner(desk)
    assert "urgency" in await says(talk, "my laptop is broken")
    assert desk.asked == []
    await says(talk, "low")
    assert [each["urgency"] for each in desk.asked] == ["low"]


async def test_an_urgency_that_is_none_never_reaches_the_ticket_system() -> None:
    """The model hears which there are."""
    desk = Desk()
    model = ScriptedModel(
        [call("create_ticket_long_running", urgency="asap", subject="printer"), "Which urgency?"]
    )
    assert await says(runner(desk, model), "the printer is broken") == "Which urgency?"
    assert desk.asked == []
    answer = model.requests[-1].contents[-1].parts[0].function_response.response
    assert "urgency" in str(answer)


async def test_a_subject_of_nothing_is_refused() -> None:
    """Only spaces are no subject."""
    desk = Desk()
    model = ScriptedModel(
        [call("create_ticket_long_running", urgency="low", subject="  "), "What is wrong?"]
    )
    await says(runner(desk, model), "open a ticket")
    assert desk.asked == []


async def test_progress_is_kept_from_the_model_and_the_end_is_told() -> None:
    """News on the way wakes nobody; the last answer to the call does."""
    model = ScriptedModel(
        [
            call("create_ticket_long_running", urgency="low", subject="printer"),
            "T-1 is open.",
            "It prints again.",
        ]
    )
    talk = runner(Desk(), model)
    events = await hears(talk, types.Part(text="the printer is broken"))
    assert last(events) == "T-1 is open."
    half = news(events, more=True, status="in_progress", ticket_id="T-1", progress=50)
    assert await hears(talk, half) == []
    done = news(events, status="resolved", ticket_id="T-1", note="new toner")
    assert last(await hears(talk, done)) == "It prints again."
    shown = model.requests[-1].contents[-1].parts[0].function_response
    assert shown.response == {"status": "resolved", "ticket_id": "T-1", "note": "new toner"}
