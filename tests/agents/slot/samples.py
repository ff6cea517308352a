"""What slot tests put into sessions."""

from google.genai import types

from agents.runtime.events import Event
from agents.runtime.slot.port import (
    Begun,
    Commit,
    Companions,
    Entry,
    OpenCall,
    Record,
    SessionKey,
    Slot,
)

LONG = 60_000
"""A lease no test outlives, in milliseconds."""


def said(text: str = "hello", *, invocation: str = "", user: str = "ann") -> Event:
    """A person's words."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(author="user", user_id=user, invocation_id=invocation, content=content)


def replied(text: str = "hi", *, invocation: str = "") -> Event:
    """A model's words, signed."""
    part = types.Part(text=text, thought_signature=b"\xff\x00")
    content = types.Content(role="model", parts=[part])
    return Event(author="helper", invocation_id=invocation, content=content)


def called(cid: str, *, invocation: str = "") -> Event:
    """A model's call of a tool."""
    call = types.FunctionCall(id=cid, name="pay", args={"amount": 5})
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return Event(author="helper", invocation_id=invocation, content=content)


def answered(cid: str, *, invocation: str = "") -> Event:
    """A call's response."""
    response = types.FunctionResponse(id=cid, name="pay", response={"status": "ok", "none": None})
    content = types.Content(role="user", parts=[types.Part(function_response=response)])
    return Event(author="user", invocation_id=invocation, content=content)


def approval(name: str = "q", **changed: object) -> Record:
    """A pending approval with digest `d`; `rev` 1."""
    fields: dict[str, object] = {
        "id": name,
        "status": "pending",
        "rev": 1,
        "digest": "d",
        "deadline": None,
        "run_by": None,
        "body": {"who": ["boss"], "votes": []},
    }
    return Record(**{**fields, **changed})  # pyright: ignore[reportArgumentType]


async def begin(slot: Slot, key: SessionKey, **how: int | str) -> Begun:
    """Take a free session in hand."""
    given: dict[str, object] = {"owner": "worker", "lease": LONG, **how}
    begun = await slot.begin(key, **given)  # pyright: ignore[reportArgumentType]
    assert isinstance(begun, Begun)
    return begun


async def open_session(slot: Slot, key: SessionKey) -> Begun:
    """A new session in hand, with one entry in its inbox."""
    assert await slot.ingest(key, Entry(id="m1", body={"text": "hello"})) == "queued"
    return await begin(slot, key)


async def write(slot: Slot, key: SessionKey, *events: Event, name: str = "") -> int:
    """Append events in a commit of their own; the new version."""
    begun = await begin(slot, key)
    commit = Commit(
        id=name or f"w{begun.version}", fence=begun.fence, version=begun.version, events=events
    )
    return (await slot.commit(key, commit)).version


async def ask(slot: Slot, key: SessionKey, *records: Record, kind: str = "approval") -> Begun:
    """A session in hand whose call 1-0 waits for the first of these approvals."""
    begun = await open_session(slot, key)
    call = OpenCall(
        name="pay",
        kind=kind,
        version=1,
        request=records[0].id if records else None,  # pyright: ignore[reportArgumentType]
    )
    await slot.commit(
        key,
        Commit(
            id="ask",
            fence=begun.fence,
            version=0,
            pop="m1",
            events=[called("1-0")],
            opened={"1-0": call},
            companions=Companions(approvals=records, audit=[{"what": "asked"}]),
        ),
    )
    return begun
