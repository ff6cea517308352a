"""What an agent is told: its instruction with the session's state filled in, and who it is."""

import copy
import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from agents.runtime.agent import Agent
from agents.runtime.context import ReadonlyContext
from agents.runtime.foreign import contained

FIELD = re.compile(r"\{\{([^{}]*)\}\}|(?<!\$)\{((?:[a-z]+:)?[A-Za-z_]\w*)(\?)?\}")


async def instruction(agent: Agent, context: ReadonlyContext) -> str:
    """The system instruction; a name that is not in the state stays as it is written.

    A function that makes it, sync or async, is given copies. Raises what it raises.
    """
    told = agent.instruction
    if isinstance(told, str):
        text = fill(told, context.state)
    else:
        state = MappingProxyType(copy.deepcopy(dict(context.state)))
        with contained():
            made = told(replace(context, state=state))
            text = str(await made if inspect.isawaitable(made) else made)
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
