"""A server that gives the same Gemini answers to every question, in a process of its own.

`python -m tests.benchmarks.canned` prints its port and serves until it is stopped: as little as an
answer can cost, for what is measured is the client.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

ARGS = {"service": "billing", "version": "4.2.0", "replicas": 3, "dry_run": False, "why": "release"}
CALL = {"functionCall": {"name": "deploy", "args": ARGS}, "thoughtSignature": "+vv8/wA="}
CHUNKS = 20
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def answer(part: dict[str, Any], *, last: bool = True) -> bytes:
    """A response body with one part."""
    end = {"finishReason": "STOP"} if last else {}
    candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **end}
    counted = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    told = {"candidates": [candidate], "usageMetadata": counted, "modelVersion": "gemini-test"}
    return json.dumps(told).encode()


def response(body: bytes, kind: str) -> bytes:
    """A whole HTTP response."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


WHOLE = response(answer(CALL), "application/json")
STREAM = response(
    b"".join(
        b"data: %s\r\n\r\n" % answer({"text": "Version 4.2.0 is out. "}, last=n == CHUNKS - 1)
        for n in range(CHUNKS)
    ),
    "text/event-stream",
)


class Canned(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: Any) -> None:
        """Keep it."""
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self.read += data
        head, found, rest = self.read.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if found and length and len(rest) >= int(length[1]):
            self.read = rest[int(length[1]) :]
            self.transport.write(STREAM if b":streamGenerateContent" in head else WHOLE)


@contextmanager
def serving() -> Generator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.canned"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            port = int(process.stdout.readline())
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def serve() -> None:
    """Listen on a free port and say which."""
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - whoever started it reads
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
