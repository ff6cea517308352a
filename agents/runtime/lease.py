"""A lease on a session: taken, renewed for as long as the session is in hand, and given back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator

from agents.runtime.errors import ModelUnavailable, SessionBusy, SessionConflict, StoreUnavailable
from agents.runtime.held import Companion, Held, Permit, nothing
from agents.runtime.shelf import Shelf
from agents.runtime.slot.port import SIZE, Busy, SessionKey, Slot


@contextlib.asynccontextmanager
async def hold(
    slot: Slot,
    key: SessionKey,
    *,
    owner: str,
    lease: int,
    companion: Companion = nothing,
    permit: Permit | None = None,
    shelf: Shelf | None = None,
    size: int = SIZE,
) -> AsyncGenerator[Held]:
    """Take a session in hand for as long as the block lasts; raises SessionBusy.

    `lease` is in milliseconds and renewed three times in its length. `shelf` has the stories of
    sessions that were in hand before; of others at most `size` bytes of events are read. Where
    anything but the model failed, it was no attempt.
    """
    shelf = shelf or Shelf()
    asked = time.monotonic()
    begun, story = await shelf.begin(slot, key, owner=owner, lease=lease, size=size)
    if isinstance(begun, Busy):
        raise SessionBusy(begun.until)
    held = Held(slot, key, begun, story=story, companion=companion, permit=permit)
    held.until = asked + lease / 1000
    heartbeat = _Heartbeat(held, lease)
    try:
        yield held
        if not held.unstored and not held.lost:
            shelf.put(key, held.story, created=begun.created)
    except ModelUnavailable:
        raise
    except BaseException:
        held.is_put_off = True
        raise
    finally:
        heartbeat.stop()
        with contextlib.suppress(SessionConflict, StoreUnavailable):
            await held.release()


class _Heartbeat:
    """Renews a lease three times in its length; costs nothing while there is nothing to renew."""

    def __init__(self, held: Held, lease: int) -> None:
        self.held = held
        self.lease = lease
        self.task: asyncio.Task[None] | None = None
        self.timer = self._later()

    def stop(self) -> None:
        self.timer.cancel()
        if self.task is not None:
            self.task.cancel()

    def _later(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self.lease / 3000, self._beat)

    def _beat(self) -> None:
        self.task = asyncio.create_task(self._renew())  # no longer than the block: see stop
        self.timer = self._later()

    async def _renew(self) -> None:
        held, asked = self.held, time.monotonic()
        if held.released:
            return
        with contextlib.suppress(StoreUnavailable):
            if await held.slot.renew(held.key, held.fence, lease=self.lease):
                held.until = asked + self.lease / 1000
            else:
                held.lost = True
