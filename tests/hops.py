"""How many functions of ours stand between a start and a mark, and which: the way is printed.

```python
with Hops("/agents/", "/bot/", marks=[ingest]) as hops:
    await slack.message("50 dollars for lunch")  # the tool's first line calls hops.mark()
functions, files = hops.at_mark
assert functions <= 45, hops.way()
```

`at_mark` counts distinct functions on the stack paths that lead to the marks; `entered` counts
every function that ran until the last mark, those that had returned by then included. A path goes
on from a task to whoever created it and from a thread to whoever submitted its work; it ends at
the event loop, so that each side of a process border needs a mark of its own.
"""

import asyncio
import sys
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[1].as_posix()
CREATE_TASK = asyncio.BaseEventLoop.create_task.__code__
SUBMIT = ThreadPoolExecutor.submit.__code__
LOOP_STEP = asyncio.Handle._run.__code__

Hop = tuple[str, str]
"""File from the project's root, and the function's qualified name."""


class Hops:
    """Traces what is under the roots (`/agents/`) while the block runs, in all its tasks."""

    def __init__(self, *roots: str, marks: Collection[Callable[..., Any]] = ()) -> None:
        """Note the roots, and functions whose every call is a mark."""
        self._roots = tuple(ROOT + root for root in roots)
        self._marks = frozenset(mark.__code__ for mark in marks)
        self._names: dict[CodeType, Hop | None] = {}
        self._tasks: dict[FrameType, list[Hop]] = {}
        self._work: dict[int, tuple[object, list[Hop]]] = {}
        self._paths: list[list[Hop]] = []
        self._ran: set[Hop] = set()
        self._ran_at_mark: frozenset[Hop] = frozenset()
        self._before: Any = None

    def __enter__(self) -> Self:
        """Trace from here on."""
        self._before = sys.getprofile()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Trace no more; what was counted stays."""
        sys.setprofile(self._before)
        threading.setprofile(None)
        self._tasks.clear()
        self._work.clear()

    def mark(self) -> None:
        """The caller is where the way leads to."""
        self._reached(sys._getframe(1))

    @property
    def at_mark(self) -> tuple[int, int]:
        """Distinct functions and files of ours on the ways to all marks.

        Raises AssertionError when no mark was reached, since nothing was counted then.
        """
        return self._count({hop for path in self._paths for hop in path})

    @property
    def entered(self) -> tuple[int, int]:
        """Distinct functions and files of ours that ran until the last mark.

        Raises AssertionError when no mark was reached.
        """
        return self._count(self._ran_at_mark)

    def way(self) -> str:
        """The ways to the marks, outermost first, for a reader."""
        functions, files = self.at_mark
        lines = [f"{functions} functions in {files} files"]
        for number, path in enumerate(self._paths, start=1):
            lines.append(f"way {number}")
            lines += [f"  {file}  {name}" for file, name in path]
        return "\n".join(lines)

    def _count(self, hops: Collection[Hop]) -> tuple[int, int]:
        assert self._paths, "no mark was reached: who calls hops.mark()?"
        return len(hops), len({file for file, _ in hops})

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code is CREATE_TASK:
            born = getattr(frame.f_locals["coro"], "cr_frame", None)
            if born is not None:
                self._tasks[born] = self._path(frame)
        elif code is SUBMIT:
            work = frame.f_locals["fn"]
            self._work[id(work)] = work, self._path(frame)
        elif hop := self._hop(code):
            self._ran.add(hop)
            if code in self._marks:
                self._reached(frame)

    def _reached(self, frame: FrameType) -> None:
        self._ran_at_mark = frozenset(self._ran)
        path = self._path(frame)
        if path not in self._paths:
            self._paths.append(path)

    def _path(self, frame: FrameType | None) -> list[Hop]:
        """Functions of ours from where the path begins to this frame, each once."""
        inner: list[Hop] = []
        while frame is not None and frame.f_code is not LOOP_STEP:
            if hop := self._hop(frame.f_code):
                inner.append(hop)
            if (created := self._created(frame)) is not None:
                return list(dict.fromkeys([*created, *reversed(inner)]))
            frame = frame.f_back
        return list(dict.fromkeys(reversed(inner)))

    def _created(self, frame: FrameType) -> list[Hop] | None:
        """The path of whoever created the task or the work whose outermost frame this is."""
        if (path := self._tasks.get(frame)) is not None:
            return path
        work = getattr(frame.f_locals.get("self"), "fn", None) if _is_work(frame) else None
        return self._work[id(work)][1] if id(work) in self._work else None

    def _hop(self, code: CodeType) -> Hop | None:
        """File and function, or None for what is not ours or has no name."""
        if code not in self._names:
            ours = code.co_filename.startswith(self._roots) and not code.co_name.startswith("<")
            file = code.co_filename.removeprefix(f"{ROOT}/")
            self._names[code] = (file, code.co_qualname) if ours else None
        return self._names[code]


def _is_work(frame: FrameType) -> bool:
    """Whether this is the frame in which a pool's thread runs what was submitted."""
    return frame.f_code.co_qualname == "_WorkItem.run"
