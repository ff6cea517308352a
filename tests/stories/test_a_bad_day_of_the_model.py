"""What people notice when the model has a bad day: nothing, or one sentence."""

import asyncio
import time

import pytest
import redis.asyncio

from tests.agents.gemini.server import (
    KEY,
    GeminiServer,
    Item,
    Reply,
    call,
    fault,
    retry_info,
    says,
)
from tests.stories.conftest import Opening
from tests.stories.office import Office


async def opened(opening: Opening, server: GeminiServer, **given: object) -> Office:
    """The office on Gemini."""
    told = {"gemini_api_key": KEY, "gemini_base_url": server.url, "model": "gemini-test"}
    return await opening(**told, **given)


def heard(office: Office, thread: str) -> list[str]:
    """All that the bot said in a thread."""
    said = office.slack.thread("expenses", thread)
    return [message["text"] for message in said if message.get("bot_id")]


async def test_a_bad_day_is_not_noticed(open_office: Opening):
    """A 429, a reply cut in the middle of a call and a 503: paid twice as asked, one message."""
    lunch = Reply(parts=[call("reimburse", amount=20, purpose="lunch")])
    taxi = Reply(parts=[call("reimburse", amount=30, purpose="taxi")])
    cut = Reply(parts=taxi.parts, cut_at=0.6)
    script = [fault(429), lunch, cut, taxi, fault(503), says("Both are paid.")]
    async with GeminiServer(script) as server:
        office = await opened(open_office, server)
        thread = await office.ask("please pay 20 for lunch and 30 for the taxi")
        await office.answer(thread, "Both are paid.")
        assert heard(office, thread) == ["Both are paid."]
        assert office.amounts() == [20, 30]
        assert (len(server.requests), server.refused) == (6, [])


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        pytest.param(fault(403), "The team that runs me has been told.", id="not set up right"),
        pytest.param(
            Reply(parts=None, finish="SAFETY"), "The model would not answer this.", id="refused"
        ),
        pytest.param(
            Reply(parts=[{"text": "And so"}], finish="MAX_TOKENS"), "was cut off.", id="cut off"
        ),
    ],
)
async def test_a_failure_is_one_sentence(open_office: Opening, item: Item, sentence: str):
    """Whoever asked hears in plain words what is the matter, once."""
    async with GeminiServer([item]) as server:
        office = await opened(open_office, server)
        thread = await office.ask("hello")
        await office.answer(thread, sentence)
        assert sum(sentence in text for text in heard(office, thread)) == 1
        assert len(server.requests) == 1


@pytest.mark.parametrize("seconds", [pytest.param(300, id="minutes"), pytest.param(20, id="few")])
async def test_a_wait_leaves_the_worker_free(open_office: Opening, store_url: str, seconds: int):
    """Such a wait is the index's: others are served, and the turn is due when it is over."""
    script = [fault(429, details=[retry_info(f"{seconds}s")]), says("Hello, Ben.")]
    async with GeminiServer(script) as server, redis.asyncio.Redis.from_url(store_url) as store:
        office = await opened(open_office, server)
        await office.ask("hello")
        await server.asked.wait()
        thread = await office.ask("hello", who="ben")
        await office.answer(thread, "Hello, Ben.")
        ready = "b:{due:T0LOCALWORK}:ready"
        while await store.zcard(ready) > 1:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)
        [(_, due)] = await store.zrange(ready, -1, -1, withscores=True)
        assert seconds - 10 < due / 1000 - time.time() < seconds + 10


async def test_another_model_steps_in(open_office: Opening):
    """Where the settings name one it answers at once, and nobody waits."""
    models = ("gemini-test", "gemini-old")
    script = [fault(429, details=[retry_info("300s")]), says("Hello.")]
    async with GeminiServer(script, models=models) as server:
        office = await opened(open_office, server, model_fallbacks=("gemini-old",))
        await office.answer(await office.ask("hello"), "Hello.")
        assert [path.rpartition("/")[-1] for path in server.paths] == [
            f"{model}:generateContent" for model in models
        ]


async def test_a_day_has_so_many_tokens(open_office: Opening):
    """Who used up theirs is told so and the model is not asked; others go on."""
    async with GeminiServer([says("One."), says("Two.")]) as server:
        office = await opened(open_office, server, daily_tokens=100)
        for who, answer in (
            ("ana", "One."),
            ("ana", "what one person may ask of me in a day"),
            ("ben", "Two."),
        ):
            await office.answer(await office.ask("hello", who=who), answer)
        assert len(server.requests) == 2
