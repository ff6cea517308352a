"""Stories kept between runs: trusted only as far as they are stored."""

import asyncio

import pytest
from google.genai import types

from agents import Agent, FunctionTool, Runner, SessionKey, SessionService
from agents.runtime import shelf as shelves
from agents.runtime.lease import hold
from agents.runtime.shelf import Shelf
from agents.runtime.slot.port import Busy
from agents.runtime.slot.redis import RedisSlot, connect
from agents.runtime.testing import ScriptedModel, call
from tests.agents.samples import spoke

KEY = SessionKey("app", "ann", "s")


async def write(service: SessionService, shelf: Shelf, *texts: str) -> list[str]:
    """Say something in a session in hand; what its story has then."""
    async with hold(service.slot, KEY, owner="me", lease=9000, shelf=shelf) as held:
        for text in texts:
            event = spoke(text=text)
            await held.commit([event.model_copy(update={"version": held.next_version})])
        return ["".join(event.texts()) for event in held.story.events]


async def opened(service: SessionService) -> None:
    """Create the session."""
    await service.create_session(app_name="app", user_id="ann", session_id="s")


async def test_only_news_is_read(service: SessionService):
    """A story goes on with what others stored since, whoever they are."""
    here, there = Shelf(), Shelf()
    await opened(service)
    assert await write(service, here, "1") == ["1"]
    assert await write(service, there, "2", "3") == ["1", "2", "3"]
    assert await write(service, here, "4") == ["1", "2", "3", "4"]


async def test_another_session_of_the_same_name(service: SessionService):
    """A story whose end is not what is stored is read anew."""
    shelf = Shelf()
    await opened(service)
    await write(service, shelf, "old 1", "old 2")
    await service.delete_session(app_name="app", user_id="ann", session_id="s")
    await opened(service)
    assert await write(service, Shelf(), "new 1", "new 2", "new 3") == ["new 1", "new 2", "new 3"]
    assert await write(service, shelf) == ["new 1", "new 2", "new 3"]


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_a_store_that_lost_the_end(store_url: str, lost: int):
    """What is not stored any more is not known any more: what is left is read anew at once."""
    texts = ["1", "2", "3", "4"]
    async with connect(store_url) as client:
        service, shelf = SessionService(RedisSlot(client)), Shelf()
        await opened(service)
        await write(service, shelf, *texts)
        [events] = await client.keys("*:e")
        await client.rpop(events, lost)
        assert await write(service, shelf) == texts[:-lost]


async def test_a_session_that_looks_the_same(service: SessionService):
    """A story of another session of that name is not trusted, though the newest event is alike."""
    shelf, same = Shelf(), spoke(text="same").model_copy(update={"version": 2})
    for text in ("old", "new"):
        await opened(service)
        async with hold(service.slot, KEY, owner="me", lease=9000, shelf=shelf) as held:
            await held.commit([spoke(text=text).model_copy(update={"version": 1})])
            await held.commit([same])
        if text == "old":
            await asyncio.sleep(0.002)
            await service.delete_session(app_name="app", user_id="ann", session_id="s")
            kept = shelf._stories.pop(KEY)
    shelf._stories[KEY] = kept
    assert await write(service, shelf) == ["new", "same"]


async def test_what_failed_is_not_kept(service: SessionService):
    """A story with something that was not stored is thrown away."""
    shelf = Shelf()
    await opened(service)
    await write(service, shelf, "1")

    async def fail() -> None:
        async with hold(service.slot, KEY, owner="me", lease=9000, shelf=shelf) as held:
            held.story.add(spoke(text="never stored"))
            raise OSError("power cut")

    with pytest.raises(OSError, match="power cut"):
        await fail()
    assert await write(service, shelf) == ["1"]


async def test_in_other_hands(service: SessionService):
    """A story is kept for when its session is free again."""
    shelf = Shelf()
    await opened(service)
    await write(service, shelf, "1")
    async with hold(service.slot, KEY, owner="other", lease=9000):
        begun, story = await shelf.begin(service.slot, KEY, owner="me", lease=9000)
        assert (isinstance(begun, Busy), story) == (True, None)
    assert await write(service, shelf, "2") == ["1", "2"]


@pytest.mark.parametrize(("limit", "most"), [("EVENTS", 2), ("BYTES", 2)])
async def test_the_shelf_is_short(
    service: SessionService, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
):
    """Long stories, and the oldest of many, are read from the store again."""
    monkeypatch.setattr(shelves, limit, most)
    monkeypatch.setattr(shelves, "SESSIONS", 1)
    shelf = Shelf()
    await opened(service)
    await write(service, shelf, "1", "2", "3")
    assert await write(service, shelf) == ["1", "2", "3"]
    await service.create_session(app_name="app", user_id="ann", session_id="t")
    other = SessionKey("app", "ann", "t")
    for key in (other, KEY):
        async with hold(service.slot, key, owner="me", lease=9000, shelf=shelf) as held:
            if key == other:
                await held.commit([spoke(text="1")])
    assert len(shelf._stories) == 1


async def test_news_with_a_gap(service: SessionService):
    """What was answered and paid elsewhere, in more news than is read at once, stays so here.

    The newest event this process knows waits for an answer, and so is read with the newest ones.
    """
    paid: list[str] = []

    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return "paid"

    def runner(*script: str | types.Part) -> Runner:
        tools = [FunctionTool(pay, require_confirmation=True)]
        agent = Agent(name="app", model=ScriptedModel(list(script)), tools=tools)
        return Runner(agent=agent, session_service=service)

    async def told(by: Runner, part: types.Part) -> list[str]:
        message = types.Content(role="user", parts=[part])
        run = by.run_async(user_id="ann", session_id="s", new_message=message)
        calls = [call async for event in run for call in event.get_function_calls()]
        return [str(each.id) for each in calls if each.name == "adk_request_confirmation"]

    await opened(service)
    here = runner(call("pay", to="X"), call("pay", to="Y"), "here")
    there = runner("paid", *["z" * 9000] * 10)
    [first] = await told(here, types.Part(text="pay X"))
    [second] = await told(here, types.Part(text="pay Y"))
    response = types.FunctionResponse(
        id=first, name="adk_request_confirmation", response={"confirmed": True}
    )
    await told(there, types.Part(function_response=response))
    for n in range(10):
        await told(there, types.Part(text=f"talk {n}"))
    await told(here, types.Part(text="hello"))
    view = await service.slot.read(KEY)
    assert view is not None
    assert second in {each.request for each in view.open.values()}
    assert len(view.open) == 1
    await told(here, types.Part(function_response=response))
    assert paid == ["X"]
