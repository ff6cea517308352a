"""The agent that says which agents there are, for whoever asked nobody in particular."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from google.genai import types

from agents import Agent, LlmRequest, LlmResponse
from bot.routing import GUIDE


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


def guide(agents: Sequence[Agent]) -> Agent:
    """The guide to these agents; its answer goes the same way as any agent's."""
    return Agent(
        name=GUIDE,
        model=Fixed(sentence(agents)),
        description="Says which agents there are and how to talk to them.",
    )


def sentence(agents: Sequence[Agent]) -> str:
    """Which agents there are, with an example each where they have one."""
    if not agents:
        return "There is no agent here yet."
    lines = [_line(agent) for agent in agents]
    return "\n".join(
        ["Mention me in an agent's channel, or write to me directly. There are:", *lines]
    )


def _line(agent: Agent) -> str:
    about = agent.description.strip().rstrip(".")
    line = f"• {agent.name}" + (f": {about}" if about else "")
    if not agent.examples:
        return line
    return f"{line}. Say “{agent.name}: {agent.examples[0]}”"
