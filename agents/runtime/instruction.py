"""What an agent is told: its instruction with the session's state filled in, and who it is."""

import re
from collections.abc import Mapping
from typing import Any

from agents.runtime.agent import Agent

FIELD = re.compile(r"\{\{([^{}]*)\}\}|(?<!\$)\{((?:[a-z]+:)?[A-Za-z_]\w*)(\?)?\}")


def instruction(agent: Agent, state: Mapping[str, Any]) -> str:
    """The system instruction; a name that is not in the state stays as it is written."""
    told = agent.instruction
    text = fill(told, state) if isinstance(told, str) else told(state)
    name = f'You are an agent. Your internal name is "{agent.name}".'
    if agent.description:
        name += f' The description about you is "{agent.description}".'
    return f"{text}\n\n{name}" if text else name


def fill(template: str, state: Mapping[str, Any]) -> str:
    """`{name}` becomes the value in the state, `{name?}` empty when missing, `{{name}}` `{name}`.

    Other braces, as in JSON or `${name}`, are left alone.
    """

    def value(match: re.Match[str]) -> str:
        text, literal, name, optional = match.group(0, 1, 2, 3)
        if name is None:
            return f"{{{literal}}}"
        if state.get(name) is None:
            return "" if optional else text
        return str(state[name])

    return FIELD.sub(value, template) if "{" in template else template
