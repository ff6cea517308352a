"""A primary and its replica, whose link can be frozen and which can take over."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import redis

from tests.agents.slot.servers import free_port, server

PATIENCE = 20.0


@dataclass
class Pair:
    """Two stores: `url` is the primary's, `replica` the other one's address."""

    url: str
    replica: str
    process: int

    def freeze(self) -> None:
        """Let the replica hear nothing more for now; the primary goes on."""
        os.kill(self.process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it hear again."""
        os.kill(self.process, signal.SIGCONT)

    def part(self) -> None:
        """Have the replica take over with what it has, while the primary does not know of it."""
        with redis.Redis.from_url(self.replica) as replica:
            replica.execute_command("REPLICAOF", "NO", "ONE")

    def follow(self) -> None:
        """Have the primary hear of the one that took over, and forget what that never knew."""
        with redis.Redis.from_url(self.url) as former:
            port = self.replica.rpartition(":")[2]
            former.execute_command("REPLICAOF", "127.0.0.1", port)
            _wait(lambda: former.info("replication").get("master_link_status") == "up")


@contextlib.contextmanager
def pair(*, cluster: bool = False) -> Iterator[Pair]:
    """A primary with one replica that has all of it; on request they are a cluster of two."""
    options = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(server(*options, cluster=cluster))
        if cluster:
            options += ["--cluster-enabled", "yes", "--cluster-port", str(free_port())]
        second = stack.enter_context(server(*options))
        replica = stack.enter_context(redis.Redis.from_url(second))
        primary = stack.enter_context(redis.Redis.from_url(first))
        if cluster:
            _join(replica, primary)
        else:
            replica.execute_command("REPLICAOF", "127.0.0.1", first.rpartition(":")[2])
        _wait(lambda: replica.info("replication").get("master_link_status") == "up")
        linked = Pair(first, second, replica.info("server")["process_id"])
        stack.callback(linked.thaw)
        yield linked


def _join(replica: redis.Redis, primary: redis.Redis) -> None:
    """Make one node the replica of the other, which has all slots."""
    name = primary.execute_command("CLUSTER", "MYID")
    ports = [primary.config_get(port)[port] for port in ("port", "cluster-port")]
    replica.execute_command("CLUSTER", "MEET", "127.0.0.1", *ports)
    _wait(lambda: name in replica.execute_command("CLUSTER", "NODES"))
    _wait(lambda: _obeys(replica, name))


def _obeys(replica: redis.Redis, name: bytes) -> bool:
    with contextlib.suppress(redis.ResponseError):
        return bool(replica.execute_command("CLUSTER", "REPLICATE", name))
    return False


def _wait(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "the replica does not reach its primary"
        time.sleep(0.02)
