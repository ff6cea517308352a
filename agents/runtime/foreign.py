"""Around code that is not ours: whatever it raises is a failure like any other.

A tool, a hook or a model that calls `sys.exit()`, or waits for something that was cancelled, stops
itself and nobody else: not the turn, and not the process. When our own code fails in between, the
failure is not counted as theirs.
"""

import asyncio
import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType

from agents.runtime.errors import SessionConflict, StoreUnavailable, TurnFailed


class contained:  # noqa: N801 - a context manager reads like a word
    """Turn what is not an Exception into a RuntimeError that names it, from inside a task.

    Only Ctrl-C and the cancellation of this very task go through as they are.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Raise the RuntimeError, if there is to be one."""
        if error is None or isinstance(error, (Exception, KeyboardInterrupt)):
            return
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            return
        raise RuntimeError(named(error)) from error


@contextmanager
def watched(tell: Callable[[], None], *, after: float) -> Generator[None]:
    """Tell once, if what goes on inside is still going on after so many seconds."""
    timer = asyncio.get_running_loop().call_later(after, tell)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def ours() -> Generator[None]:
    """Raise TurnFailed for what goes wrong inside, so that nobody takes it for a tool's failure."""
    try:
        yield
    except (SessionConflict, StoreUnavailable):
        raise
    except Exception as error:
        raise TurnFailed(named(error)) from error


def fits(func: object, *args: object, **kwargs: object) -> bool:
    """Whether something can be called with these arguments, as far as its signature can be read."""
    if not callable(func):
        return False
    try:
        inspect.signature(func).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # written in C, and tells nothing
        return True
    return True


def named(error: BaseException) -> str:
    """An exception's kind, and its text if it has one."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may raise anything
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
