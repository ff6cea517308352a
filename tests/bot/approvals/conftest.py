"""A slot in memory and on a real server, and approvals put into it."""

import uuid
from collections.abc import AsyncIterator

import pytest

from agents import Companions, Slot
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Begun, Commit
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.request import Approval
from tests.bot.approvals.samples import KEY, approval


@pytest.fixture(params=["memory", "redis"])
async def slot(request: pytest.FixtureRequest) -> AsyncIterator[Slot]:
    """Each kind of store."""
    if request.param == "memory":
        yield MemorySlot()
        return
    async with connect(request.getfixturevalue("store_server")) as client:
        yield RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")


async def put(slot: Slot, *, left: int | None = 60_000, count: int = 1, **changes) -> Approval:
    """Put pending approvals that have `left` milliseconds into the session KEY; return the last."""
    await slot.apply(KEY, state={}, create=True)
    begun = await slot.begin(KEY, owner="test", lease=5000)
    assert isinstance(begun, Begun)
    times = {"asked_at": begun.now, "deadline": None if left is None else begun.now + left}
    names = [f"{n:03}-0" for n in range(count)] if count > 1 else [changes.pop("id", "3-0")]
    opened = [approval(**{"id": name, **times, **changes}) for name in names]
    records = [each.record() for each in opened]
    commit = Commit(
        id=uuid.uuid4().hex,
        fence=begun.fence,
        version=begun.version,
        companions=Companions(approvals=records),
    )
    await slot.commit(KEY, commit)
    await slot.release(KEY, begun.fence)
    return opened[-1]
