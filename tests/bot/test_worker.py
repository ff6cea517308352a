"""The worker: whatever happens to a turn, it is tried again, handed on, or told."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from agents import (
    Agent,
    Companions,
    Entry,
    FunctionTool,
    ModelUnavailable,
    Post,
    SessionConflict,
    SessionKey,
    StoreUnavailable,
    ToolContext,
)
from agents.runtime import calling
from agents.runtime.lease import hold
from agents.runtime.runner import MAX_DEATHS
from agents.runtime.slot.port import Begun, Busy, Commit, Released
from agents.runtime.slot.redis import Client, RedisSlot
from agents.runtime.testing import ScriptedModel, call
from bot import worker as worker_module
from bot.detour import NOT_SHOWN
from bot.index import Index
from bot.index.lua import CLAIM
from bot.playground import ANA
from bot.turns import Command, Turn, session_key
from bot.worker import GONE
from tests.bot.river import TEAM, River
from tests.trips import trips


async def test_messages_are_answered_in_order(river: River):
    """Three messages at once bring three answers, in the order of the messages."""
    for text in ("one", "two", "three"):
        await river.ask(text)
    async with river.worker(ScriptedModel(["1", "2", "3"])):
        await river.hears("1", "2", "3")


async def test_a_message_during_a_turn_is_answered_after_it(river: River):
    """What comes in while a session is worked on waits for its turn, and is not forgotten."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def look_up() -> str:
        """Look something up."""
        begun.set()
        await go_on.wait()
        return "found"

    model = ScriptedModel([call("look_up"), "first", "second"])
    async with river.worker(model, tools=[look_up]):
        await river.ask("one")
        await begun.wait()
        await river.ask("two")
        go_on.set()
        await river.hears("first", "second")


async def test_a_turn_is_three_round_trips(river: River, monkeypatch):
    """Begun, stored, and given back with what was posted, while the next one is claimed."""
    monkeypatch.setattr(worker_module, "AWAY", 0.0)

    async def served(turns: int) -> None:
        for n in range(turns):
            key = session_key(team=TEAM, agent=f"agent {turns} {n}", thread=river.thread)
            turn = Turn(id=f"m:{n}", session=key, author=ANA.id, text="hello")
            await river.slot.ingest(key, turn.entry(), index=river.index.ring(key))
        heard = len(river.said()) + turns
        async with river.worker(ScriptedModel([]), concurrency=1):
            await river.slack.wait_for(lambda: len(river.said()) == heard)

    await served(1)
    few, many = [await trips(partial(served, turns)) for turns in (2, 7)]
    assert many - few == (7 - 2) * (1 + 3)


async def test_a_model_that_is_away_is_asked_later(river: River, caplog):
    """The turn is put off for as long as the model says, and then answered once."""
    await river.ask()
    away = ModelUnavailable("busy", retry_after=30)
    with caplog.at_level(logging.INFO, logger="countersign"):
        async with river.worker(ScriptedModel([away])):
            while "model.failed" not in caplog.messages:  # noqa: ASYNC110 - logs tell nobody
                await asyncio.sleep(0.01)
    assert await river.index.claim(1, lease=1000) == []
    async with river.worker(ScriptedModel(["here I am"])):
        await river.index.send(river.index.ring(river.key))
        await river.hears("here I am")


async def test_a_turn_is_logged_from_its_start_to_its_end(river: River, caplog):
    """A turn is two lines, with what it came to; a look that finds nothing to do is none."""

    def look_up() -> str:
        """Look up."""
        return "42"

    await river.ask()
    with caplog.at_level(logging.INFO, logger="countersign"):
        async with river.worker(ScriptedModel([call("look_up"), "done"]), tools=[look_up]):
            await river.hears("done")
            await river.index.send(river.index.ring(river.key))
    lines = [record for record in caplog.records if record.msg.startswith("turn.")]
    assert [line.msg for line in lines] == ["turn.started", "turn.finished"]
    told = lines[1].fields
    assert (told["agent"], told["events"], told["calls"]) == ("helper", 3, 1)
    assert told["took_s"] >= 0
    assert {line.fields["session"] for line in lines} == {str(river.key)}


async def test_what_nobody_expected_is_logged_and_tried_again(river: River, caplog):
    """An error of ours stops neither the worker nor the session."""
    await river.ask()
    with caplog.at_level(logging.INFO, logger="countersign"):
        async with river.worker(ScriptedModel(["ok", "ok"]), failing=[RuntimeError("a bug")]):
            await river.hears("ok")
    assert "turn.failed" in caplog.messages


async def test_the_session_of_an_agent_that_is_gone_is_told_so(river: River, monkeypatch):
    """After a deploy without the agent its threads hear that, and nothing loops."""
    monkeypatch.setattr(worker_module, "AWAY", 0.3)
    monkeypatch.setattr(worker_module, "AWAY_AGAIN", 0.1)
    await river.ask()
    async with river.worker(ScriptedModel([]), name="another"):
        await river.hears(GONE)
    view = await river.slot.read(river.key)
    assert view
    assert view.inbox == 0
    assert await river.index.claim(1, lease=1000) == []


async def test_what_was_left_to_others_is_no_try_of_a_model(river: River, monkeypatch, caplog):
    """However often a release without the agent looked, a model that is away is asked again."""
    monkeypatch.setattr(worker_module, "AWAY_AGAIN", 0.01)
    await river.ask()
    with caplog.at_level(logging.INFO, logger="countersign"):
        async with river.worker(ScriptedModel([]), name="another"):
            while caplog.messages.count("turn.left") < 5:  # noqa: ASYNC110 - logs tell nobody
                await asyncio.sleep(0.01)
        async with river.worker(ScriptedModel([ModelUnavailable("busy", retry_after=30)])):
            await river.index.send(river.index.ring(river.key))
            while "model.failed" not in caplog.messages:  # noqa: ASYNC110 - logs tell nobody
                await asyncio.sleep(0.01)
    assert river.said() == []
    async with river.worker(ScriptedModel(["here I am"])):
        await river.index.send(river.index.ring(river.key))
        await river.hears("here I am")


@pytest.mark.parametrize(
    ("raised", "asked"),
    [
        pytest.param(ModelUnavailable("busy", retry_after=30), 1, id="a model that is away"),
        pytest.param(ValueError("a bug"), 0, id="a turn that failed"),
        pytest.param(SessionConflict("lost"), 0, id="a lease that was lost"),
    ],
)
async def test_who_rings_during_a_pause_changes_nothing(
    river: River, store: Client, monkeypatch, caplog, *, raised: Exception, asked: int
):
    """Messages that come meanwhile are no tries of the first one: neither the model's nor ours."""
    monkeypatch.setattr(worker_module, "RETRIES", (30.0,))
    ready, later = "b:{due:local}:ready", await river.index.now() + 10_000
    model = ScriptedModel(["hello"])
    with caplog.at_level(logging.INFO, logger="countersign"):
        async with river.worker(model, failing=[raised]):
            for _ in range(worker_module.GIVE_UP + 1):
                await river.ask()
                while (await store.zscore(ready, str(river.key)) or 0) < later:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
    assert sum(map(caplog.messages.count, ("model.failed", "turn.failed", "lease.lost"))) == 1
    assert (len(model.requests), river.said()) == (1, [])
    assert await river.index.dead() == []
    assert (await river.slot.begin(river.key, owner="test", lease=1)).attempt == asked + 1


async def test_failures_count_for_the_turn_that_failed(river: River, caplog):
    """What another process got done is forgotten: the next message begins with no failures."""
    bugs, heard = [ValueError("an older release")] * 1_000, worker_module.GIVE_UP + 1
    caplog.set_level(logging.INFO, logger="countersign")
    async with river.worker(ScriptedModel(["never"] * 1_000), failing=bugs) as failing:
        pass
    for n in range(heard):
        await river.ask()
        stopping, before = asyncio.Event(), caplog.messages.count("turn.failed")
        task = asyncio.create_task(failing.run(stopping))
        while caplog.messages.count("turn.failed") == before:  # noqa: ASYNC110 - logs tell nobody
            await asyncio.sleep(0.01)
        stopping.set()
        await task
        async with river.worker(ScriptedModel([f"answer {n}"])):
            await river.index.send(river.index.ring(river.key))
            await river.slack.wait_for(lambda n=n: len(river.said()) > n)
    assert river.said() == [f"answer {n}" for n in range(heard)]
    assert await river.index.dead() == []


class FlakySlot(RedisSlot):
    """A slot that fails when a session is taken in hand, as often as it is told to."""

    failing = 0

    async def begin(self, *given: Any, **options: Any) -> Begun | Busy | None:
        """Take a session in hand, or fail."""
        if self.failing:
            self.failing -= 1
            raise ValueError("a hiccup")
        return await super().begin(*given, **options)


async def test_failures_before_a_turn_are_forgotten_with_it(
    river: River, store: Client, monkeypatch
):
    """However often a session could not be taken in hand: what was answered since counts."""
    monkeypatch.setattr(worker_module, "RETRIES", (0.0,))
    flaky, heard = FlakySlot(store), 2 * worker_module.GIVE_UP
    river = replace(river, slot=flaky)
    answers = [f"answer {n}" for n in range(heard)]
    async with river.worker(ScriptedModel(answers)):
        for n in range(heard):
            flaky.failing = worker_module.GIVE_UP - 1
            await river.ask()
            await river.hears(*answers[: n + 1])
    assert await river.index.dead() == []


@pytest.mark.parametrize(
    "passing", [SessionConflict("lost"), ModelUnavailable("busy")], ids=["a lease", "a model"]
)
async def test_what_passes_is_no_failure(river: River, monkeypatch, passing):
    """However often a lease was lost or a model away, one failure gives no turn up."""
    monkeypatch.setattr(worker_module, "RETRIES", (0.0,))
    await river.ask()
    failing = [passing] * worker_module.GIVE_UP + [ValueError("a bug")]
    async with river.worker(ScriptedModel(["fine"] * 9), failing=failing):
        await river.hears("fine")
    assert await river.index.dead() == []


async def owe(river: River, **body: Any) -> None:
    """Have the session owe a post in its thread."""
    place = {"channel": river.thread.channel, "thread_ts": river.thread.ts}
    await river.slot.apply(river.key, state={}, create=True)
    begun = await river.slot.begin(river.key, owner="test", lease=1000)
    owed = Companions(posts=[Post(id="owed", body={**place, **body})])
    commit = Commit(id="c", fence=begun.fence, version=begun.version, companions=owed)
    await river.slot.commit(river.key, commit)
    await river.slot.release(river.key, begun.fence)


async def test_what_is_owed_in_the_session_of_another_release_is_posted(river: River):
    """A process without the agent says what was to be said, and leaves what is asked to others."""
    await owe(river, kind="answer", text="said before")
    await river.ask()
    async with river.worker(ScriptedModel([]), name="another"):
        await river.hears("said before")
    view = await river.slot.read(river.key)
    assert view
    assert view.inbox == 1
    async with river.worker(ScriptedModel(["here I am"])):
        await river.index.send(river.index.ring(river.key))
        await river.hears("said before", "here I am")


async def test_a_session_in_other_hands_waits(river: River):
    """Somebody else has the session: it is left to them, and worked on once they let go."""
    await river.ask()
    async with (
        hold(river.slot, river.key, owner="somebody", lease=5000),
        river.worker(ScriptedModel(["mine now"])),
    ):
        await asyncio.sleep(0.3)
        assert river.said() == []
    async with river.worker(ScriptedModel(["mine now"])):
        await river.hears("mine now")


async def test_a_turn_in_hand_ends_before_the_worker_does(river: River):
    """Told to stop, the worker lets a turn end; its answer is there."""
    begun = asyncio.Event()

    async def look_up() -> str:
        """Look something up."""
        begun.set()
        await asyncio.sleep(0.2)
        return "found"

    await river.ask()
    async with river.worker(ScriptedModel([call("look_up"), "found"]), tools=[look_up]):
        await begun.wait()
    assert river.said() == ["found"]


async def test_a_turn_that_lasts_too_long_is_handed_on(river: River):
    """Cancelled in the middle, a turn is due at once, and another worker goes on with it."""
    begun = asyncio.Event()

    async def hang() -> str:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    await river.ask()
    async with river.worker(ScriptedModel([call("hang"), "never"]), tools=[hang], grace=0.1):
        await begun.wait()
    assert river.said() == []
    claims = await river.index.claim(1, lease=1)
    assert [claim.key for claim in claims] == [river.key]


async def test_a_store_that_is_away_does_not_end_the_worker(river: River, store: Client, caplog):
    """Without its store the worker waits; what is due then is worked on when it is back."""
    async with river.worker(ScriptedModel(["back"])):
        with caplog.at_level(logging.WARNING, logger="countersign"):
            await store.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            await river.ask()
        await river.hears("back")


@pytest.mark.parametrize(
    "body", [{"kind": "ticket", "ticket": {"status": "?"}}, {"kind": "answer"}]
)
async def test_a_post_that_cannot_be_shown_ends_no_session(river: River, monkeypatch, body):
    """It is said that there was more to say, and what is asked next is answered as ever."""
    monkeypatch.setattr("bot.outbox.NEWER", 0.0)
    monkeypatch.setattr("bot.outbox.MENDED_AGAIN", 0.05)
    await owe(river, **body)
    await river.ask()
    async with river.worker(ScriptedModel(["hello"])):
        await river.slack.wait_for(lambda: sorted(river.said()) == sorted([NOT_SHOWN, "hello"]))


@pytest.mark.parametrize(
    "bug", [RuntimeError("a bug"), asyncio.CancelledError()], ids=["a bug", "nobody cancelled it"]
)
async def test_a_turn_that_fails_for_ever_is_given_up(river: River, monkeypatch, bug):
    """After some tries people hear of it, operators find it, and what waits behind it is done."""
    monkeypatch.setattr(worker_module, "RETRIES", (0.01,))
    monkeypatch.setattr(worker_module, "GIVE_UP", 2)
    await river.ask("poison")
    bugs = [bug] * worker_module.GIVE_UP
    async with river.worker(ScriptedModel([*["never"] * len(bugs), "better"]), failing=bugs):
        await river.slack.wait_for(lambda: bool(river.said()))
        await river.ask("again")
        await river.slack.wait_for(lambda: len(river.said()) == 2)
    assert river.said()[1] == "better"
    assert "Something went wrong" in river.said()[0]
    assert [key for key, _ in await river.index.dead()] == [river.key]


class Overtaken(Index):
    """An index that tells when a turn is about to be given up, and waits until somebody came."""

    def __init__(self, store: Client) -> None:
        super().__init__(store)
        self.burying, self.came = asyncio.Event(), asyncio.Event()

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """What the store answers, as ever."""
        told = await super().send(commands)
        if self.burying.is_set():
            await self.came.wait()
        return told

    def buried(self, key: SessionKey):
        """The commands, as ever."""
        self.burying.set()
        return super().buried(key)


async def test_only_the_turn_that_failed_is_given_up(river: River, store: Client, monkeypatch):
    """Got done by another process at the last moment, it makes no victim of what is asked next."""
    monkeypatch.setattr(worker_module, "RETRIES", (0.01,))
    monkeypatch.setattr(worker_module, "GIVE_UP", 2)
    index = Overtaken(store)
    bugs = [ValueError("an older release")] * worker_module.GIVE_UP
    newer = river.runner(Agent(name="helper", model=ScriptedModel(["answered"])))
    await river.ask("poison")
    older = ScriptedModel([*["never"] * len(bugs), "good"])
    async with replace(river, index=index).worker(older, failing=bugs):
        await index.burying.wait()
        async for _ in newer.serve(river.key, owner="newer"):
            pass
        await river.ask("a good question")
        index.came.set()
        await river.hears("good")


async def test_a_turn_that_takes_its_process_with_it_is_found_by_operators(river: River):
    """What is given up because worker after worker died of it is in the dead index, too."""
    await river.ask("poison")
    for _ in range(MAX_DEATHS):
        await river.slot.begin(river.key, owner="dead", lease=-1)
    async with river.worker(ScriptedModel(["never"])):
        await river.slack.wait_for(lambda: bool(river.said()))
    assert "Something went wrong" in river.said()[0]
    assert [key for key, _ in await river.index.dead()] == [river.key]


async def test_operators_know_before_a_turn_is_given_up(river: River, monkeypatch):
    """Whoever dies right after giving it up has told them already."""
    committing, known = river.slot.commit, asyncio.Queue()

    async def commit(key, told):
        if any(event.given_up for event in told.events):
            known.put_nowait([key for key, _ in await river.index.dead()])
        return await committing(key, told)

    monkeypatch.setattr(river.slot, "commit", commit)
    await river.ask("poison")
    for _ in range(MAX_DEATHS):
        await river.slot.begin(river.key, owner="dead", lease=-1)
    async with river.worker(ScriptedModel(["never"])):
        assert await known.get() == [river.key]


async def test_a_message_that_comes_while_another_worker_posts(river: River):
    """Who finds a session busy looks again soon, not when the lease of 30 s is over."""
    river.slack.fail("chat.postMessage", "slow", seconds=1)
    async with river.worker(ScriptedModel(["1", "2"]), concurrency=1):
        await river.ask("one")
        await river.slack.wait_for(lambda: river.slack.calls("chat.postMessage"))
        async with river.worker(ScriptedModel(["1", "2"]), concurrency=1):
            await asyncio.sleep(0.1)
            await river.ask("two")
            await river.slack.wait_for(lambda: len(river.said()) == 2)


async def test_a_claim_taken_with_a_turns_end_outlives_forgotten_scripts(store: Client):
    """A store that knows no script any more, as after a failover, loses no claim."""
    slot, index = RedisSlot(store), Index(store)
    ended, due = SessionKey("a", "u", "1"), SessionKey("a", "u", "2")
    await slot.ingest(ended, Entry(id="m", body={}), index=index.ring(ended))
    [claim] = await index.claim(1, lease=30_000)
    begun = await slot.begin(ended, owner="w", lease=30_000)
    await index.send(index.ring(due))
    await store.execute_command("SCRIPT", "FLUSH")
    over = index.over(claim)
    together = [*over, *index.claiming(1, lease=30_000)]
    released = await slot.release(ended, begun.fence, index=together)
    taken = await index.claimed(released.told[len(over) :], lease=30_000)
    assert (released.ours, [each.key for each in taken]) == (True, [due])


class DeafIndex(Index):
    """An index that loses the first answer which says that something was claimed."""

    lost = False

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """What the store answers; it has done it all."""
        told = await super().send(commands)
        if not self.lost and told and commands[0][1] == CLAIM and told[0][1]:
            self.lost = True
            raise StoreUnavailable
        return told


class DeafSlot(RedisSlot):
    """A slot that loses the first answer which says that something was claimed."""

    lost = False

    async def release(self, *given: Any, **options: Any) -> Released:
        """Give back a session; the store has done it."""
        done = await super().release(*given, **options)
        if not self.lost and len(done.told) > 1 and done.told[-2][1]:
            self.lost = True
            raise StoreUnavailable
        return done


@pytest.mark.parametrize("at", ["a claim", "a turn's end"])
async def test_a_claim_that_was_not_heard_waits_for_no_lease(river: River, store: Client, at: str):
    """Whoever lost the store's answer finds at once what it has taken."""
    deaf = DeafIndex(store) if at == "a claim" else DeafSlot(store)
    part = {"index": deaf} if at == "a claim" else {"slot": deaf}
    second = await river.beside()
    for each in (river, second):
        await each.ask()
    model = ScriptedModel(["one", "two"])
    async with replace(river, **part).worker(model, concurrency=1):
        await river.slack.wait_for(lambda: river.said() and second.said())
    assert deaf.lost


@pytest.mark.parametrize("plain", [False, True], ids=["a request", "a thread"])
async def test_what_was_on_its_way_when_a_worker_stopped_is_not_done_again(
    river: River, monkeypatch, plain: bool
):
    """It arrives after another worker has looked for it in vain, which therefore looks again."""
    monkeypatch.setattr(calling, "SETTLE", 0.5)
    arrived, begun, looked = [], asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def arrive(key: str) -> None:
        loop.call_later(0.1, arrived.append, key)

    async def send(tool_context: ToolContext) -> str:
        """Send something whose arrival nobody waits for."""
        begun.set()
        if looked.is_set():
            arrived.append(tool_context.idempotency_key)
            return "sent again"
        await asyncio.gather(looked.wait(), asyncio.Event().wait())
        return "never"

    def send_in_a_thread(tool_context: ToolContext) -> str:
        """The same, where nobody can stop it."""
        again = looked.is_set()
        loop.call_soon_threadsafe(begun.set)
        if not again:
            asyncio.run_coroutine_threadsafe(looked.wait(), loop).result()
        loop.call_soon_threadsafe(arrived.append, tool_context.idempotency_key)
        return "sent"

    def look(key: str) -> dict[str, str] | None:
        found = {"status": "there"} if key in arrived else None
        if not looked.is_set() and not plain:
            loop.call_soon_threadsafe(arrive, key)
        loop.call_soon_threadsafe(looked.set)
        return found

    send_it = FunctionTool(send_in_a_thread if plain else send, name="send", reconcile=look)
    await river.ask()
    async with river.worker(ScriptedModel([call("send")]), tools=[send_it], grace=0.1):
        await begun.wait()
    async with river.worker(ScriptedModel(["done"]), tools=[send_it]):
        await river.hears("done")
    assert len(arrived) == 1


async def test_what_may_still_arrive_is_waited_for_in_nobodys_place(river: River):
    """Of an interrupted call without a trace the worker knows when to look again, and is free."""
    begun, looked = asyncio.Event(), asyncio.Event()

    async def pay() -> str:
        """Pay."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    async def look(key: str) -> None:
        looked.set()

    tools = [FunctionTool(pay, reconcile=look)]
    await river.ask()
    async with river.worker(ScriptedModel([call("pay")]), tools=tools, grace=0.1):
        await begun.wait()
    other = await river.beside()
    async with river.worker(ScriptedModel(["hello"]), tools=tools, concurrency=1):
        await looked.wait()
        await other.ask()
        await other.hears("hello")
    due = await river.index.send([("ZSCORE", "b:{due:local}:ready", str(river.key))])
    left = (float(due[0]) - await river.index.now()) / 1000
    assert calling.SETTLE - 10 < left < calling.SETTLE
