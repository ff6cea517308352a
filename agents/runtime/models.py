"""Which model speaks for an agent: its own, its parent's, or the Runner's default."""

from collections.abc import Callable, Iterator

from agents.runtime.agent import Agent
from agents.runtime.gemini import Gemini, GeminiOptions
from agents.runtime.model import Model

Models = Callable[[str], Model]
DEFAULT_MODEL = "gemini-flash-latest"


def resolved(agent: Agent, models: Models | Model | None) -> dict[int, Model]:
    """The model of every agent in the tree, nested ones included, by the agent's identity."""
    named: dict[str, Model] = {}
    found: dict[int, Model] = {}
    for member, model in _members(agent, ""):
        if not isinstance(model, str):
            found[id(member)] = model
            continue
        if models is None:
            models = Gemini(DEFAULT_MODEL, GeminiOptions()).named
        if model not in named:
            named[model] = models(model) if callable(models) else models
        found[id(member)] = named[model]
    return found


def _members(agent: Agent, inherited: str | Model) -> Iterator[tuple[Agent, str | Model]]:
    """Everybody below an agent with what was said about their model, the parent's by default."""
    model = agent.model or inherited
    yield agent, model
    nested = (agent.nested(tool) for tool in agent.tool_names())
    for member in (*agent.sub_agents, *filter(None, nested)):
        yield from _members(member, model)
