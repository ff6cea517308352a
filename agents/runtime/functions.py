"""Calling a Python function of any kind: a tool's body, or one beside it that takes its arguments.

An async function runs here, a plain one in a thread; a generator runs to its end.
"""

import asyncio
import contextvars
import copy
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agents.runtime.context import ToolContext
from agents.runtime.declarations import REQUIRED, VARIADIC, Signature, parameters_of
from agents.runtime.errors import UsageError
from agents.runtime.foreign import contained, named
from agents.runtime.results import Yielded

THREADS = ThreadPoolExecutor(max_workers=256, thread_name_prefix="tool")
"""Where plain functions run: apart from the loop's own threads, which look up hosts' addresses.

As many as sixteen sessions have calls under way at once (see calling.AT_ONCE); only those that are
needed are started.
"""


class Beside:
    """A function beside a tool's own: it takes any of the tool's parameters, and a ToolContext.

    What takes `**kwargs` gets all that nothing else of it takes, as in Google ADK.
    """

    def __init__(
        self, func: Callable[..., Any], signature: Signature, *, role: str, within: float
    ) -> None:
        """Read which parameters it takes; `role` is what errors call it, `within` as for `called`.

        Raises UsageError when it is no function, or wants what the tool has not.
        """
        if not callable(func):
            raise UsageError(f"{signature.name}: {role} must be a function")
        name = getattr(func, "__name__", "")
        self.name = name if name.isidentifier() else role
        self._func = func
        self._within = within
        what = f"{signature.name}: its {role}"
        wanted, context = parameters_of(func, what=what)
        self._offered = _offered(wanted, signature, context=context)
        if why := _blind(func, wanted, signature, offered=self._offered):
            raise UsageError(f"{what} {why}")

    async def __call__(self, values: Mapping[str, Any], tool_context: ToolContext) -> Any:
        """What it says about a call, of whose arguments it gets copies; raises what it raises."""
        copies = copy.deepcopy(dict(values))
        offered = {
            name: tool_context if value is None else copies[value]
            for name, value in self._offered.items()
        }
        return await called(functools.partial(self._func, **offered), within=self._within)


def _offered(
    wanted: Mapping[str, inspect.Parameter], signature: Signature, *, context: str | None
) -> dict[str, str | None]:
    """By name, which of the tool's arguments a function gets; None for the context."""
    there: dict[str, str | None] = {each.name: each.name for each in signature.parameters}
    if signature.context:
        there[signature.context] = None
    if not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in wanted.values()):
        there = {name: value for name, value in there.items() if name in wanted}
    return there | ({context: None} if context else {})


def _blind(
    func: Callable[..., Any],
    wanted: Mapping[str, inspect.Parameter],
    signature: Signature,
    *,
    offered: Mapping[str, str | None],
) -> str:
    """Why a function would not see what it is to look at; empty when it does."""
    by_place = [each.name for each in wanted.values() if each.kind is each.POSITIONAL_ONLY]
    left = [each for each in wanted.values() if each.name not in offered]
    named = [each for each in left if each.kind not in VARIADIC]
    if required := [each.name for each in named if each.default is REQUIRED]:
        return f"takes {', '.join(required)}, which it has not"
    if by_place:
        return f"must take {', '.join(by_place)} by name: leave out the /"
    if any(offered.values()) or not signature.parameters:
        return ""
    bound: Collection[str] = func.keywords if isinstance(func, functools.partial) else ()
    if unknown := [each.name for each in named if each.name not in bound]:
        return f"takes {', '.join(unknown)}, which it has not, and sees none of its arguments"
    if any(each.kind is each.VAR_POSITIONAL for each in left):
        return "takes arguments by name: name those that it looks at, or take **kwargs"
    return ""


async def called(call: functools.partial[Any], *, within: float | None = None) -> Any:
    """What a function of any kind returns; of a generator's yields, a Yielded.

    Raises TimeoutError when it takes longer than so many seconds: what runs in a thread goes on
    there, and nobody hears of it.
    """
    limit = asyncio.timeout(within)
    try:
        async with limit:
            return await _called(call)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(f"there was no answer within {within:g} seconds") from error


async def _called(call: functools.partial[Any]) -> Any:
    with contained():
        value = call() if _is_async(call.func) else await _in_thread(call)
        if inspect.isasyncgen(value):
            return await _drain_async(value)
        return await value if inspect.isawaitable(value) else value


async def _in_thread(call: Callable[[], Any]) -> Any:
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(THREADS, lambda: context.run(_whole, call))


def _is_async(func: Callable[..., Any]) -> bool:
    if inspect.iscoroutinefunction(func):
        return True
    body = func if inspect.isroutine(func) else type(func).__call__
    return inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body)


def _whole(call: Callable[[], Any]) -> Any:
    """Call a plain function, to the end when it is a generator."""
    try:
        value = call()
        return _drain(value) if inspect.isgenerator(value) else value
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        # The others mean something else to a task that they are handed to.
        raise RuntimeError(named(error)) from error


def _drain(generator: Generator[Any, Any, Any]) -> Yielded:
    yields: list[Any] = []
    while True:
        try:
            yields.append(next(generator))
        except StopIteration as end:
            return _yielded(yields, returned=end.value)


async def _drain_async(generator: AsyncGenerator[Any, Any]) -> Yielded:
    return _yielded([item async for item in generator], returned=None)


def _yielded(yields: list[Any], *, returned: object) -> Yielded:
    if returned is not None or not yields:
        return Yielded(intermediate=yields, result=returned)
    return Yielded(intermediate=yields[:-1], result=yields[-1])
