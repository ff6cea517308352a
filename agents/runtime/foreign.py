"""Around code that is not ours: whatever it raises is a failure like any other.

A tool, a hook or a model that calls `sys.exit()`, or waits for something that was cancelled, stops
itself and nobody else: not the turn, and not the process.
"""

import asyncio
import contextlib
from collections.abc import Generator


@contextlib.contextmanager
def contained() -> Generator[None]:
    """Turn what is no Exception into a RuntimeError that names it, from inside a task.

    Only Ctrl-C and the cancellation of this very task go through as they are.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError(named(error)) from error
    except BaseException as error:
        raise RuntimeError(named(error)) from error


def named(error: BaseException) -> str:
    """An exception's kind, and its text if it has one."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may raise anything
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
