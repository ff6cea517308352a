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
    """So many replicas have to have what is stored, and are given `wait` milliseconds to say so."""

    count: int = 0
    wait: int = 500

    @property
    def awaited(self) -> Command:
        """The command that answers how many have it."""
        return ("WAIT", self.count, self.wait)


NONE = Replicas()
