"""Bare redis-py doing the least that a turn, a click, and a question with its answer could do.

`BareStore` is the least code that keeps the shape: events of google.genai's types with ids and
times, dumped as JSON and validated when they are read, arguments that are validated before a
function runs, the last 40 events of a session read, an approval that is taken once. It has no
leases, checks, journal, audit, errors or hooks. `ThinStore` lets go of the shape too and keeps the
words alone: what the store's own traffic costs.
"""

import json
import time
import uuid
from typing import Any

from google.genai import types
from pydantic import BaseModel, Field, TypeAdapter, validate_call
from redis.asyncio import Redis

LAST = 40
APPROVAL_SECONDS = 86_400
TAKE = """
if redis.call('HGET', KEYS[1], 'status') ~= 'pending' then return nil end
redis.call('HSET', KEYS[1], 'status', 'approved', 'by', ARGV[1])
return {
  redis.call('HGET', KEYS[1], 'call'), redis.call('LRANGE', KEYS[2], -ARGV[2], -1),
  redis.call('LINDEX', KEYS[3], 0),
}
"""
"""Takes an approval once: the call it was about, the session's last events, the inbox's head."""


class StoredEvent(BaseModel):
    """An event in the shape that clients of Google ADK know."""

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    author: str
    invocation_id: str
    timestamp: float = Field(default_factory=time.time)
    content: types.Content | None = None
    state_delta: dict[str, Any] = Field(default_factory=dict[str, Any])
    long_running_tool_ids: set[str] | None = None


EVENTS = TypeAdapter(list[StoredEvent])


@validate_call
async def pay(amount: int) -> dict[str, str]:
    """Pay."""
    return {"status": "paid"}


class BareStore:
    """Sessions as lists of events, inboxes as lists of messages, approvals as hashes."""

    def __init__(self, redis: Redis, text: str) -> None:
        """People and the model always say `text`."""
        self._redis = redis
        self._text = text
        self._take = redis.register_script(TAKE)

    async def turn(self, number: int) -> None:
        """A message put, read with its session, answered, and stored."""
        name = f"s{{{number}}}"
        said, heard = await self._heard(name)
        answer = _event("model", said.invocation_id, self._answered(heard))
        await self._stored(name, said, answer)

    async def pause(self, number: int) -> None:
        """A message, a call that a person is asked about, their answer, the call, the reply."""
        name = f"s{{{number}}}"
        said, heard = await self._heard(name)
        content = self._answered(heard, ask=True)
        call = _call(content)
        call.id = uuid.uuid4().hex
        asked = _event("model", said.invocation_id, content, long_running_tool_ids={call.id})
        approval = {"status": "pending", "call": call.model_dump_json(exclude_none=True)}
        await self._stored(name, said, asked, approval=approval)
        await _put(self._redis, name, json.dumps({"id": call.id, "confirmed": True}))
        taken, kept, found = await self._take(
            keys=[f"{name}a", f"{name}e", f"{name}i"], args=["UBOSS", LAST]
        )
        assert json.loads(found)["confirmed"]
        events = _parsed(kept)
        call = types.FunctionCall.model_validate_json(taken)
        result = await pay(**call.args or {})
        response = types.FunctionResponse(id=call.id, name=call.name, response=result)
        content = types.Content(role="user", parts=[types.Part(function_response=response)])
        ran = _event("model", events[-1].invocation_id, content)
        reply = self._answered([*events, ran])
        told = _event("model", ran.invocation_id, reply)
        await self._stored(name, ran, told)

    async def _heard(self, name: str) -> tuple[StoredEvent, list[StoredEvent]]:
        """A message put and taken up: as an event, and the last ones with it."""
        content = types.Content(role="user", parts=[types.Part(text=self._text)])
        await _put(self._redis, name, content.model_dump_json(exclude_none=True))
        found, kept = await _read(self._redis, name, LAST)
        said = _event("user", uuid.uuid4().hex, types.Content.model_validate_json(found[0]))
        return said, [*_parsed(kept), said]

    def _answered(self, events: list[StoredEvent], *, ask: bool = False) -> types.Content:
        """What a model says to a conversation that costs next to nothing."""
        contents = [event.content for event in events]
        assert contents[-1] is not None
        part = types.Part(text=self._text)
        if ask:
            part = types.Part(function_call=types.FunctionCall(name="pay", args={"amount": 200}))
        return types.Content(role="model", parts=[part])

    async def _stored(
        self, name: str, *events: StoredEvent, approval: dict[str, str] | None = None
    ) -> None:
        async with self._redis.pipeline() as pipe:
            pipe.rpush(f"{name}e", *map(_dumped, events)).lpop(f"{name}i")
            if approval:
                pipe.hset(f"{name}a", mapping=approval).expire(f"{name}a", APPROVAL_SECONDS)
            await pipe.execute()


class ThinStore:
    """The same without events: the words alone, in JSON."""

    def __init__(self, redis: Redis, text: str) -> None:
        """People and the model always say `text`."""
        self._redis = redis
        self._text = text

    async def turn(self, number: int) -> None:
        """A message put, read and answered."""
        name, event = f"t{{{number}}}", json.dumps({"text": self._text})
        await _put(self._redis, name, event)
        found, _ = await _read(self._redis, name, LAST)
        json.loads(found[0])
        async with self._redis.pipeline() as pipe:
            await pipe.rpush(f"{name}e", event, event).lpop(f"{name}i").execute()

    async def click(self, number: int) -> None:
        """An approval put, read and decided: what follows from it is put into the inbox."""
        redis, name = self._redis, f"a{{{number}}}"
        body = json.dumps({"args": self._text})
        await redis.hset(name, mapping={"status": "pending", "body": body})
        json.loads((await redis.hgetall(name))["body"])
        async with redis.pipeline() as pipe:
            await pipe.hset(name, "status", "approved").rpush(f"{name}i", self._text).execute()

    async def pause(self, number: int) -> None:
        """Two turns with a click between them."""
        await self.turn(number)
        await self.click(number)
        await self.turn(number)


async def _put(redis: Redis, name: str, message: str) -> None:
    async with redis.pipeline(transaction=False) as pipe:
        await pipe.rpush(f"{name}i", message).zadd("ready", {name: 0}).execute()


async def _read(redis: Redis, name: str, last: int) -> list[Any]:
    async with redis.pipeline(transaction=False) as pipe:
        return await pipe.lrange(f"{name}i", 0, 0).lrange(f"{name}e", -last, -1).execute()


def _event(author: str, invocation: str, content: types.Content, **more: Any) -> StoredEvent:
    return StoredEvent(author=author, invocation_id=invocation, content=content, **more)


def _dumped(event: StoredEvent) -> str:
    return event.model_dump_json(exclude_none=True)


def _parsed(kept: list[str]) -> list[StoredEvent]:
    return EVENTS.validate_json(f"[{','.join(kept)}]")


def _call(content: types.Content) -> types.FunctionCall:
    call = content.parts[0].function_call if content.parts else None
    assert call is not None
    return call
