"""How many other servers must have a change before anything is built on it."""

from dataclasses import dataclass

from agents.runtime.slot.port import Command

MARK = """#!lua flags=allow-oom
return redis.call('SET', KEYS[1], 1, 'PX', 1)
"""
"""MARK{slot}(): a write to wait for. Replication is in order: who has it has all that came before;
without a write of its own a connection is told that everybody has everything."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many replicas must have what is stored, and in how many milliseconds they must say so."""

    count: int = 0
    wait: int = 500

    @property
    def awaited(self) -> Command:
        """The command whose answer is how many have it."""
        return ("WAIT", self.count, self.wait)


NONE = Replicas()
