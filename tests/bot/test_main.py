"""How the process ends: with its status, whatever its threads are still doing."""

import subprocess
import sys
import textwrap

import pytest

STUCK = """
    import threading
    threading.Thread(target=threading.Event().wait).start()
"""
LEAVE = """
    from bot.__main__ import leave
    print("the last line")
    leave(3)
"""


@pytest.mark.parametrize(
    "before", [pytest.param("", id="alone"), pytest.param(STUCK, id="with a thread that hangs")]
)
def test_the_process_ends(before: str):
    """The status is told and what was printed is kept, though a tool's thread never ends."""
    program = textwrap.dedent(before) + textwrap.dedent(LEAVE)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout) == (3, "the last line\n")
