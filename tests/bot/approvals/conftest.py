"""Approvals put into a slot, and looked at there."""

import uuid

from agents import Companions, SessionKey, Slot
from agents.runtime.slot.port import Begun, Commit
from bot.approvals.request import Approval
from tests.bot.approvals.samples import KEY, approval, waiting


async def put(
    slot: Slot, *, key: SessionKey = KEY, left: int | None = 60_000, **changes
) -> Approval:
    """Put a pending approval that has `left` milliseconds into a session."""
    await slot.apply(key, state={}, create=True)
    begun = await slot.begin(key, owner="test", lease=5000)
    assert isinstance(begun, Begun)
    times = {"asked_at": begun.now, "deadline": None if left is None else begun.now + left}
    opened = approval(**{"session": str(key), **times, **changes})
    await write(slot, key, begun, opened=waiting(opened), approvals=[opened.record()])
    return opened


async def stored(slot: Slot, name: str = "3-0") -> Approval:
    """An approval as it is stored."""
    view = await slot.read(KEY, parts=("approvals",))
    assert view is not None
    return Approval.from_record(view.approvals[name])


async def answer(slot: Slot, *calls: str, key: SessionKey = KEY) -> None:
    """Close these calls as if they had got their answers."""
    begun = await slot.begin(key, owner="test", lease=5000)
    assert isinstance(begun, Begun)
    await write(slot, key, begun, closed=calls)


async def write(slot: Slot, key: SessionKey, begun: Begun, *, approvals=(), **changes) -> None:
    """Write into a session that is in hand, and give it back."""
    commit = Commit(
        id=uuid.uuid4().hex,
        fence=begun.fence,
        version=begun.version,
        companions=Companions(approvals=approvals),
        **changes,
    )
    await slot.commit(key, commit)
    await slot.release(key, begun.fence)
