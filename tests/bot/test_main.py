"""How the process ends: with its status, whatever its threads are still doing."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

STUCK = """
    import threading
    threading.Thread(target=threading.Event().wait).start()
"""
LEAVE = """
    from bot.__main__ import leave
    print("the last line")
    leave(3)
"""


STUBBORN = """
    import asyncio
    from bot.cli import leave_tasks

    async def stubborn():
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass

    async def ending():
        kept = asyncio.create_task({body})
        await asyncio.sleep(0)
        print("the last line")
        return await leave_tasks(3)

    raise SystemExit(asyncio.run(ending()))
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("asyncio.sleep(60)", id="that stops"),
        pytest.param("stubborn()", id="that swallows every cancellation"),
    ],
)
def test_the_process_ends_with_a_body_at_work(body: str):
    """What a tool's coroutine does with a cancellation keeps no process from ending."""
    program = textwrap.dedent(STUBBORN).format(body=body)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=False
    )
    assert (ended.returncode, ended.stdout) == (3, "the last line\n")


@pytest.mark.parametrize(
    "before", [pytest.param("", id="alone"), pytest.param(STUCK, id="with a thread that hangs")]
)
def test_the_process_ends(before: str):
    """The status is told and what was printed is kept, though a tool's thread never ends."""
    program = textwrap.dedent(before) + textwrap.dedent(LEAVE)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=False
    )
    assert (ended.returncode, ended.stdout) == (3, "the last line\n")


def test_a_playground_that_waits_for_its_store(free_port: int, tmp_path: Path):
    """It says what it waits for, and ends well at Ctrl-C, not with what it waited for in vain."""
    given = {"REDIS_URL": f"redis://127.0.0.1:{free_port}/0", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "playground"],
        cwd=tmp_path,
        env=os.environ | given,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        assert waiting.stderr is not None
        assert "Still waiting for the store" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        assert (waiting.wait(40), waiting.stderr.read()) == (0, "")
