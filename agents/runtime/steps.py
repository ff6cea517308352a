"""What comes next: a pure function of an agent and the events of its session.

The same few kinds serve a new message, a decision three weeks later, news of a ticket, and the
process that takes over after a crash.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.runtime.agent import Agent
from agents.runtime.story import Branch, Call, Story


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model of `agent`, a member of the tree of `root`."""

    root: Agent
    agent: Agent
    branch: str | None
    invocation: str


@dataclass(frozen=True, slots=True)
class RunTools:
    """Go on with these calls of one batch: ask, refuse or run each, enter or leave its agent."""

    root: Agent
    agent: Agent
    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until somebody answers one of these calls."""

    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to do until somebody speaks."""


Step = CallModel | RunTools | Wait | Done


def next_step(agent: Agent, story: Story, branch: str | None = None) -> Step:
    """The next step in a strand of a session: its calls, then its model, or else waiting."""
    open_calls = [call for call in story.unsettled.values() if call.branch == branch]
    ready: list[Call] = []
    for call in open_calls:
        match _step_of_call(agent, story, call):
            case CallModel() | RunTools() as step:
                return step
            case None:
                ready.append(call)
            case Wait() | Done():
                pass
    if ready:
        batch = [call for call in ready if call.version == ready[0].version]
        return RunTools(agent, speaker(agent, batch[0].agent), batch)
    strand = story.branch(branch)
    if story.wakes(branch) or _heard_of_progress(agent, strand, story):
        told = floor if strand.spoken_to else speaker
        return CallModel(agent, told(agent, strand.floor), branch, strand.invocation)
    return Wait(open_calls) if open_calls else Done()


def _heard_of_progress(agent: Agent, strand: Branch, story: Story) -> bool:
    """Whether there is intermediate news that the model is woken to read."""
    if not strand.progress:
        return False
    news = (story.calls[call_id] for call_id in strand.progress)
    tools = (speaker(agent, call.agent).tool(call.name) for call in news)
    return any(tool is not None and tool.wake_on_progress for tool in tools)


def _step_of_call(agent: Agent, story: Story, call: Call) -> Step | None:
    """The step of the nested agent that works on a call; None when the call itself is ready."""
    if call.status in ("new", "decided"):
        return None
    if call.status != "entered":
        return Wait((call,))
    nested = speaker(agent, call.agent).nested(call.name)
    if nested is None:
        return None
    match next_step(nested, story, call.inner):
        case Done():
            return None
        case step:
            return step


def floor(agent: Agent, name: str | None) -> Agent:
    """Who answers a new message: the agent that spoke last, if it may hand back to its parents."""
    last = speaker(agent, name)
    if last is agent:
        return agent
    path = [m for m in agent.family() if m is not agent and m.find_agent(last.name)]
    return agent if any(member.disallow_transfer_to_parent for member in path) else last


def speaker(agent: Agent, name: str | None) -> Agent:
    """The agent of that name in the tree; the root when there is none any more."""
    return agent.find_agent(name or "") or agent
