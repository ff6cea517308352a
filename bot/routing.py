"""Which agent answers a message, in which thread; pure.

A channel's route decides. In a DM the person's words decide: `agent name: text`, else the route
named `dm`, else the agent whose words fit best, else the one that spoke last, else the guide.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agents import Agent
from bot.errors import SettingsError
from bot.policies import Route

GUIDE = "guide"
"""The agent that says which agents there are."""
DM = "dm"
"""The name of the route for direct messages."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_ID = re.compile(r"[CDG][A-Z0-9]{2,}")
_NO_MATTER = frozenset(
    re.findall(
        r"\w+",
        """about after agent also and answer any are ask can could does each for from get give have
        how into its let may more need not one our person please say should some tell than that the
        their them then there this those time tool use was what when which who will with would you
        your""",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A person's post as routing needs it.

    `text` is what they typed, without the mention of the bot; `thread_ts` is empty at top level.
    `direct` is a DM, `mention` means they named the bot.
    """

    team: str
    channel: str
    ts: str
    author: str
    text: str
    thread_ts: str = ""
    mention: bool = False
    direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Who answers, what they are told, and in which thread (`ts` empty: a DM without a thread).

    `only_existing`: answered only if that agent has spoken in that thread already.
    """

    agent: str
    text: str
    ts: str
    only_existing: bool = False


def route(
    message: Message, *, routes: Mapping[str, Route], agents: Sequence[Agent], last: str | None
) -> Choice | None:
    """Who answers a message; None when nobody was asked.

    `routes` are those of `resolved`; `last` is the agent that spoke last in this DM.
    """
    if message.direct:
        return _in_dm(message, routes=routes, agents=agents, last=last)
    found = routes.get(message.channel)
    agent = found.agent if found else GUIDE
    start = message.thread_ts or message.ts
    if message.mention or (found and found.answer == "all"):
        return Choice(agent=agent, text=message.text, ts=start)
    if message.thread_ts:
        return Choice(agent=agent, text=message.text, ts=start, only_existing=True)
    return None


def resolved(
    routes: Mapping[str, Route], *, agents: Collection[str], channels: Mapping[str, str]
) -> dict[str, Route]:
    """The routes by channel id; `channels` maps the names of the workspace's channels to ids.

    A route of a channel that is not there is left out, and one that names such a channel for
    approvals keeps the name: channels may be archived or renamed. Raises SettingsError for an agent
    that is not there.
    """
    require_agents(routes, agents)
    found: dict[str, Route] = {}
    for place, entry in routes.items():
        asked = entry.approvers_channel
        if is_id(channel := _channel(place, channels)):
            found[channel] = entry.model_copy(
                update={"approvers_channel": asked and _channel(asked, channels)}
            )
    return found


def require_agents(routes: Mapping[str, Route], agents: Collection[str]) -> None:
    """Check what can be checked without Slack; raises SettingsError for an agent that is not there.

    `agents` are names, each of one agent only.
    """
    twice = [name for name, times in Counter(agents).items() if times > 1]
    if GUIDE in twice:
        raise SettingsError(f"{GUIDE!r} is the bot's own agent: give yours another name.")
    if twice:
        raise SettingsError(f"Two agents are named {twice[0]!r}; rename one of them.")
    for place, entry in routes.items():
        if entry.agent not in agents:
            there = ", ".join(sorted(agents)) or "none"
            raise SettingsError(
                f"The route of {place} names the agent {entry.agent!r}; there are: {there}."
            )


def best_match(text: str, agents: Sequence[Agent]) -> str | None:
    """The agent whose name, description, tools and examples share most words with the text.

    None when nobody shares any, or when two share equally many.
    """
    wanted = _words(text)
    scores = sorted((len(wanted & _words(_about(agent))), agent.name) for agent in agents)
    if not scores or not scores[-1][0]:
        return None
    if len(scores) > 1 and scores[-1][0] == scores[-2][0]:
        return None
    return scores[-1][1]


def _in_dm(
    message: Message, *, routes: Mapping[str, Route], agents: Sequence[Agent], last: str | None
) -> Choice:
    named, text = _addressed(message.text, agents)
    routed = routes.get(DM)
    known = {agent.name for agent in agents}
    agent = (
        named
        or (routed and routed.agent)
        or best_match(message.text, agents)
        or (last if last in known else None)
        or GUIDE
    )
    return Choice(agent=agent, text=text, ts=message.thread_ts)


def _addressed(text: str, agents: Sequence[Agent]) -> tuple[str | None, str]:
    """The agent somebody spoke to by name (`time off: 3 days`), and what they said."""
    before, colon, after = text.partition(":")
    spoken = _plain(before)
    for agent in agents:
        if colon and after.strip() and _plain(agent.name) == spoken:
            return agent.name, after.strip()
    return None, text


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().lower()


def is_id(channel: str) -> bool:
    """Whether this is the id of a channel, or the route for direct messages, and no name."""
    return channel == DM or _ID.fullmatch(channel) is not None


def _channel(name: str, channels: Mapping[str, str]) -> str:
    """The id of a channel given by id or `#name`; the name where there is no such channel."""
    return name if is_id(name) else channels.get(name.removeprefix("#"), name)


def _about(agent: Agent) -> str:
    tools = [tool for tool in map(agent.tool, agent.tool_names()) if tool]
    told = [f"{tool.name} {tool.declaration.description or ''}" for tool in tools]
    return " ".join([agent.name, agent.description, *told, *agent.examples])


def _words(text: str) -> set[str]:
    """The words that matter, in lower case and without the s of a plural."""
    words = (word.lower() for word in _WORD.findall(text.replace("_", " ")))
    return {word.removesuffix("s") for word in words if word not in _NO_MATTER}
