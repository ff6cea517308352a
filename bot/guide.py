"""The agent that says which agents there are, for whoever asked nobody in particular."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from google.genai import types

from agents import Agent, LlmRequest, LlmResponse
from bot.policies import Route
from bot.routing import GUIDE

NOWHERE: Mapping[str, Route] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fixed:
    """A Model that always says the same."""

    text: str

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer with the text, whatever is asked."""
        del request, stream
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=self.text)]))


def guide(agents: Sequence[Agent], routes: Mapping[str, Route] = NOWHERE) -> Agent:
    """The guide to these agents; its answer goes the same way as any agent's.

    `routes` are by channel, those that have a `#name` are told.
    """
    return Agent(
        name=GUIDE,
        model=Fixed(sentence(agents, routes)),
        description="Says which agents there are and how to talk to them.",
    )


def sentence(agents: Sequence[Agent], routes: Mapping[str, Route] = NOWHERE) -> str:
    """Which agents there are, their channels, and an example each where they have one."""
    if not agents:
        return "There is no agent here yet."
    lines = [_line(agent, _rooms(agent, routes)) for agent in agents]
    here = "Mention me in an agent's channel, or write to me directly."
    first = here if routes else "Write to me directly."
    return "\n".join([f"{first} There are:", *lines])


def _rooms(agent: Agent, routes: Mapping[str, Route]) -> list[str]:
    """The channels that an agent answers in, as far as their names are known."""
    return [at for at, route in routes.items() if at.startswith("#") and route.agent == agent.name]


def _line(agent: Agent, rooms: Sequence[str]) -> str:
    about = agent.description.strip().rstrip(".")
    where = f" (in {', '.join(rooms)})" if rooms else ""
    line = f"• {agent.name}{where}" + (f": {about}" if about else "")
    if not agent.examples:
        return line
    return f"{line}. Say “{agent.name}: {agent.examples[0]}”"
