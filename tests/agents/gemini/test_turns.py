"""Turns on bad days: what is tried again, what is put off, what is bounded."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
import pytest_asyncio
from google.genai import types

from agents import (
    Agent,
    Event,
    InMemorySessionService,
    ModelError,
    ModelUnavailable,
    RunConfig,
    Runner,
)
from agents.runtime.gemini import Gemini, GeminiOptions
from agents.runtime.sessions import SessionService
from agents.runtime.slot.redis import RedisSlot, connect
from tests.agents.gemini.server import (
    KEY,
    GeminiServer,
    Hangup,
    Item,
    Raw,
    Reply,
    call,
    fault,
    retry_info,
    says,
)
from tests.conftest import unused_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOON = RunConfig(retry_pause=0.001)
CUT = Reply(parts=[{"text": "One moment. "}, call("pay", amount=50)], cut_at=0.8)


class Desk:
    """An agent that pays, on Gemini; `paid` is what its tool did."""

    def __init__(self, model: Any, *, service: SessionService | None = None, **runner: Any) -> None:
        """Open the desk."""
        self.paid: list[int] = []
        self.agent = Agent(name="payer", model=model, tools=[self.pay])
        self.service = service or InMemorySessionService()
        self.runner = Runner(
            agent=self.agent, session_service=self.service, auto_create_session=True, **runner
        )

    async def pay(self, amount: int) -> dict[str, Any]:
        """Pay.

        Args:
            amount: How much.
        """
        self.paid.append(amount)
        return {"status": "ok"}

    async def ask(self, text: str = "Pay 50.", config: RunConfig = SOON) -> list[Event]:
        """What a person hears of a turn."""
        message = types.Content(role="user", parts=[types.Part(text=text)])
        run = self.runner.run_async(
            user_id="ana", session_id="s", new_message=message, run_config=config
        )
        return [event async for event in run]

    async def stored(self) -> Any:
        """The session."""
        return await self.service.get_session(app_name="payer", user_id="ana", session_id="s")


def texts(events: Sequence[Event]) -> list[str]:
    """What whole events say."""
    return [text for event in events if not event.partial for text in event.texts()]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
async def test_a_turn_gets_through_a_bad_day(scripted, streaming: bool):
    """A 429, a reply cut in the middle of a call and a 503: one answer, every tool once."""
    pays = Reply(parts=[{"text": "One moment. "}, call("pay", amount=50)])
    server, gemini = scripted(
        [fault(429), pays, CUT, Reply(parts=[call("pay", amount=7)]), fault(503), says("Paid.")]
    )
    desk = Desk(gemini)
    config = RunConfig(retry_pause=0.001, streaming=streaming)
    assert texts(await desk.ask(config=config)) == ["One moment. ", "Paid."]
    assert desk.paid == [50, 7]
    assert len(server.requests) == 6
    assert server.refused == []


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(Raw(body=b"<html>"), id="a page"),
        pytest.param(Hangup(), id="a reset"),
        pytest.param(fault(500), id="500"),
        pytest.param(fault(429, details=[retry_info("0.01s")]), id="429 with a short wait"),
    ],
)
async def test_a_short_fault_is_not_noticed(scripted, item: Item):
    """The turn waits by itself, and asks again."""
    server, gemini = scripted([item, item, says("Hello.")])
    assert texts(await Desk(gemini).ask("Hi")) == ["Hello."]
    assert len(server.requests) == 3


async def test_a_turn_has_so_many_tries(scripted):
    """All its questions share them; what was stored before stays, and is not done again."""
    pays = Reply(parts=[call("pay", amount=50)])
    server, gemini = scripted([fault(503), pays, fault(503), fault(503)])
    desk = Desk(gemini)
    with pytest.raises(ModelUnavailable):
        await desk.ask(config=RunConfig(max_retries=2, retry_pause=0.001))
    assert (desk.paid, len(server.requests)) == ([50], 4)
    server.begin([says("Paid.")])
    events = [e async for e in desk.runner.run_async(user_id="ana", session_id="s")]
    assert (texts(events), desk.paid) == (["Paid."], [50])


async def test_a_long_wait_is_not_waited_here(scripted):
    """Whoever works on the turn is free at once, and hears when to come back."""
    server, gemini = scripted([fault(429, details=[retry_info("37s")])])
    with pytest.raises(ModelUnavailable) as raised:
        await Desk(gemini).ask()
    assert raised.value.retry_after == 37
    assert len(server.requests) == 1


async def test_what_does_not_help_is_not_tried(scripted):
    """A refused request ends the turn, with an event that says why and no second try."""
    server, gemini = scripted([fault(403)])
    desk = Desk(gemini)
    with pytest.raises(ModelError):
        await desk.ask()
    [_, failure] = (await desk.stored()).events
    assert failure.error_code == "ModelError"
    assert len(server.requests) == 1


async def test_another_model_is_asked_in_its_place(opened):
    """A fallback answers when the first model does not; nobody falls back from a refusal."""
    models = ("gemini-test", "gemini-old")
    server, gemini = await opened(
        [fault(503), says("Hello."), fault(403)], models=models, fallbacks=("gemini-old",)
    )
    assert texts(await Desk(gemini).ask("Hi")) == ["Hello."]
    with pytest.raises(ModelError, match="403"):
        await Desk(gemini).ask("Hi")
    asked = [path.rsplit("/")[-1].partition(":")[0] for path in server.paths]
    assert asked == ["gemini-test", "gemini-old", "gemini-test"]


async def test_the_soonest_of_all_models_says_when(opened):
    """When none answers the shortest wait counts."""
    models = ("gemini-test", "gemini-old")
    waits = [fault(429, details=[retry_info(delay)]) for delay in ("90s", "60s")]
    _, gemini = await opened(waits, models=models, fallbacks=("gemini-old",))
    with pytest.raises(ModelUnavailable) as raised:
        await Desk(gemini).ask("Hi")
    assert raised.value.retry_after == 60


async def test_agents_share_one_client(opened):
    """Each asks under its own model's name, on the same connections."""
    server, gemini = await opened([says("Hello.")] * 2, models=("gemini-test", "gemini-pro"))
    for model in ("", "gemini-pro"):
        runner = Runner(
            agent=Agent(name="greeter", model=model),
            models=gemini.named,
            auto_create_session=True,
        )
        hi = types.Content(role="user", parts=[types.Part(text="Hi")])
        run = runner.run_async(user_id="ana", session_id="s", new_message=hi)
        assert texts([e async for e in run]) == ["Hello."]
    assert [path.partition(":")[0][-10:] for path in server.paths] == ["emini-test", "gemini-pro"]


@pytest_asyncio.fixture(loop_scope="module")
async def redis_service(store_url: str) -> AsyncIterator[Callable[[], SessionService]]:
    """Session services on a real store, each as another process would have it."""
    client = connect(store_url)
    yield lambda: SessionService(RedisSlot(client))
    await client.aclose()


async def test_signatures_survive_the_store(scripted, redis_service):
    """A signed call comes back to the model as it was, from a process that never saw it."""
    script = [Reply(parts=[call("pay", "c1", amount=50), call("pay", amount=7)]), says("Paid.")]
    server, gemini = scripted([*script, says("Welcome.")])
    await Desk(gemini, service=redis_service()).ask()
    assert texts(await Desk(gemini, service=redis_service()).ask("Thanks")) == ["Welcome."]
    signature = [*server.signed][-1]
    [model_turn] = [c for c in server.requests[-1]["contents"] if c["role"] == "model"][:1]
    assert [
        ("thoughtSignature" in p, p["functionCall"].get("id")) for p in model_turn["parts"]
    ] == [
        (True, "c1"),
        (False, None),
    ]
    assert signature[:4] == bytes([0xFB, 0xEF, 0xFF, 0x00])
    assert server.refused == []


async def test_tokens_are_counted(scripted):
    """Every event knows what it cost; a session and a turn are their sums."""
    _, gemini = scripted([Reply(parts=[call("pay", amount=50)]), says("Paid."), says("Hi.")])
    desk = Desk(gemini)
    await desk.ask()
    await desk.ask("Hi")
    session = await desk.stored()
    one = {"in": 100, "out": 20, "cached": 30, "thoughts": 7}
    assert [event.usage for event in session.events if event.usage] == [one] * 3
    assert session.usage() == {name: 3 * count for name, count in one.items()}
    first = session.events[0].invocation_id
    assert session.usage(first) == {name: 2 * count for name, count in one.items()}
    assert sum(event.tokens for event in session.events) == 381


async def test_a_wasted_reply_is_counted_too(scripted):
    """A reply that had to be asked for again cost as much as any."""
    _, gemini = scripted([Reply(parts=None), says("Hi.")])
    [event] = await Desk(gemini).ask("Hi")
    assert event.usage["in"] == 200


async def test_a_turn_may_cost_so_much(scripted):
    """Past its tokens a turn ends with an event, and the model is not asked any more."""
    server, gemini = scripted([Reply(parts=[call("pay", amount=n)]) for n in (1, 2, 3)])
    desk = Desk(gemini)
    with pytest.raises(Exception, match="tokens in a turn"):
        await desk.ask(config=RunConfig(turn_tokens=250))
    assert (desk.paid, len(server.requests)) == ([1, 2], 2)
    assert (await desk.stored()).events[-1].error_code == "TokensSpentError"


async def test_a_person_may_cost_so_much_a_day(scripted):
    """Whoever used up the day's tokens begins no turn; one that runs is brought to its end."""
    server, gemini = scripted([Reply(parts=[call("pay", amount=1)]), says("Paid.")])
    account = {"ana": 0}

    async def spent(person: str) -> int:
        return account[person] + 127 * len(server.requests)

    desk = Desk(gemini, spent=spent)
    config = RunConfig(daily_tokens=100)
    assert texts(await desk.ask(config=config)) == ["Paid."]
    with pytest.raises(Exception, match="tokens in a day"):
        await desk.ask("Again.", config=config)
    assert (await desk.stored()).events[-1].error_code == "DailyTokensSpentError"
    assert len(server.requests) == 2


BAD = [
    pytest.param([Reply(parts=[call("fly", to="Rome")]), says("Sorry.")], "Sorry.", id="no tool"),
    pytest.param(
        [Reply(parts=[call("pay", amount="lots")]), says("Sorry.")], "Sorry.", id="no number"
    ),
    pytest.param([Reply(parts=[call("pay")]), says("Sorry.")], "Sorry.", id="no argument"),
    pytest.param([says("a" * 2_000_000)], "a" * 100_000, id="2 MB of text"),
]


@pytest.mark.parametrize(("script", "said"), BAD)
async def test_a_bad_reply_ends_well(scripted, script: Sequence[Item], said: str):
    """The model hears what was wrong with its call; a person hears an answer."""
    server, gemini = scripted(script)
    desk = Desk(gemini)
    assert texts(await desk.ask()) == [said]
    assert desk.paid == []
    assert server.refused == []


async def test_fifty_calls_at_once_run_once_each(scripted):
    """All run, and the model gets fifty responses in the order of its calls."""
    calls = [call("pay", amount=n) for n in range(50)]
    server, gemini = scripted([Reply(parts=calls), says("Paid.")])
    desk = Desk(gemini)
    assert texts(await desk.ask()) == ["Paid."]
    assert sorted(desk.paid) == list(range(50))
    assert len(server.requests[-1]["contents"][-1]["parts"]) == 50
    assert server.refused == []


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        pytest.param({"api_key": "wrong"}, "GEMINI_API_KEY", id="a wrong key"),
        pytest.param({"model": "gemini-0"}, "check MODEL", id="a wrong model"),
    ],
)
async def test_a_wrong_setting_is_named(caplog, options: dict[str, str], advice: str):
    """The operator's line says what to change; it has no key in it."""
    async with GeminiServer([]) as server:
        told = {"api_key": KEY, "base_url": server.url, **options}
        model = told.pop("model", "gemini-test")
        async with Gemini(model, GeminiOptions(**told)) as gemini:
            with pytest.raises(ModelError, match=advice):
                await Desk(gemini).ask()
    [record] = [r for r in caplog.records if r.levelname == "ERROR"]
    assert record.message == "model.failed"
    assert advice in record.why
    assert "wrong" not in record.why


async def test_no_network_is_no_answer():
    """A refused connection is unavailable, tried again and then put off."""
    options = GeminiOptions(api_key=KEY, base_url=f"http://127.0.0.1:{unused_port()}")
    async with Gemini("gemini-test", options) as gemini:
        with pytest.raises(ModelUnavailable, match="ClientConnector"):
            await Desk(gemini).ask()
