"""Pure: the end of a turn that cannot be completed, so that the session can go on without it."""

from collections.abc import Collection

from agents.runtime import gate
from agents.runtime.agent import Agent
from agents.runtime.confirmation import rejection
from agents.runtime.events import GIVEN_UP, Event
from agents.runtime.outcome import Outcome, Report, recorded
from agents.runtime.steps import CallModel, Done, RunTools, Wait, next_step
from agents.runtime.story import Call, Story


def given_up(
    agent: Agent, story: Story, *, started: Collection[str], version: int, now: float
) -> list[Event]:
    """The events, from `version` on, that end whatever comes next; none when nothing does.

    Calls that are ready are answered with an error; then the agent says that it stopped. What
    people agreed to was not run unless its step is among the journal's `started` ones; what they
    did not agree to is told as always.
    """
    match next_step(agent, story):
        case Wait() | Done():
            return []
        case CallModel(agent=speaker, branch=branch, invocation=invocation):
            answers: list[Event] = []
        case RunTools(agent=speaker, calls=calls):
            branch, invocation = calls[0].branch, calls[0].invocation
            answers = recorded(
                [_unfinished(call, started) for call in calls], version=version, now=now
            )
    end = stopped(speaker, invocation, version=version + len(answers), now=now)
    return [*answers, end.model_copy(update={"branch": branch})]


def stopped(agent: Agent, invocation: str, *, version: int, now: float) -> Event:
    """The event in which an agent says that it stopped."""
    return Event(
        version=version,
        invocation_id=invocation,
        author=agent.name,
        error_code=GIVEN_UP,
        error_message="The turn failed again and again and was given up.",
        timestamp=now,
    )


def _unfinished(call: Call, started: Collection[str]) -> Outcome:
    unsure = call.question is None or call.id in started
    response = gate.given_up(call.name, unsure=unsure)
    if call.answer is not None and not call.answer.confirmed and not unsure:
        response = rejection(call.answer, tool=call.name)
    return Outcome(call=call, report=Report(response=response))
