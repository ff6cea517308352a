"""A crash point kills the process where it was told, and is not there otherwise."""

import os
import signal

from bot.crash import CrashPoint


class Port:
    """Something awaited."""

    size = 3

    async def fetch(self, name: str) -> str:
        """A call."""
        return name


async def test_without_a_place_the_port_is_itself():
    """Nothing stands between a port and its caller unless a test asks for it."""
    port = Port()
    assert CrashPoint("").watched(port, "port") is port


async def test_the_process_dies_at_the_nth_passing(monkeypatch):
    """The second time the place is passed is the last thing that happens."""
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *told: killed.append(told))
    port = CrashPoint("port.fetch.after:2").watched(Port(), "port")
    assert await port.fetch("a") == "a"
    assert killed == []
    await port.fetch("b")
    assert killed == [(os.getpid(), signal.SIGKILL)]
    assert port.size == 3


async def test_a_star_is_any_place(monkeypatch):
    """`*:3` is the third place of all."""
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *told: killed.append(told))
    port = CrashPoint("*:3").watched(Port(), "port")
    await port.fetch("a")
    assert killed == []
    await port.fetch("b")
    assert len(killed) == 1
