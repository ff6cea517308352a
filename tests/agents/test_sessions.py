"""Sessions as programs of Google ADK use them, in memory and on a real server."""

import asyncio

import pytest
from google.genai import types

from agents import (
    Agent,
    AnswerError,
    Event,
    FunctionTool,
    SessionConflict,
    SessionNotFoundError,
    SessionService,
)
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.errors import AlreadyExistsError, StaleSessionError
from agents.runtime.events import EventActions
from agents.runtime.lease import hold
from agents.runtime.sessions import GetSessionConfig
from agents.runtime.slot.port import SessionKey
from agents.runtime.testing import call
from tests.agents.desk import Desk, results
from tests.agents.samples import content

MINE = {"app_name": "app", "user_id": "ann"}
STATE = {"a": 1, "app:limit": 5, "user:lang": "it", "temp:x": 1}


def event(text: str = "hi", *, at: float = 1.0, **delta: object) -> Event:
    """An event an agent might have made."""
    actions = EventActions(state_delta=delta)
    return Event(author="root", timestamp=at, content=content(text, role="model"), actions=actions)


async def test_create(service: SessionService):
    """State goes where its prefix says; an id is stripped, made, and taken only once."""
    named = await service.create_session(**MINE, session_id=" s ", state=STATE)
    assert (named.id, named.state) == ("s", {"a": 1, "app:limit": 5, "user:lang": "it"})
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**MINE, session_id="s")
    other = await service.create_session(app_name="app", user_id="bo")
    assert (other.state, len(other.id)) == ({"app:limit": 5}, 32)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(None, ["1", "2", "3"], id="all"),
        pytest.param(GetSessionConfig(num_recent_events=2), ["2", "3"], id="the newest"),
        pytest.param(GetSessionConfig(num_recent_events=0), [], id="none"),
        pytest.param(GetSessionConfig(after_timestamp=2.0), ["2", "3"], id="from a time on"),
        pytest.param(
            GetSessionConfig(num_recent_events=1, after_timestamp=9.0), [], id="both rules hold"
        ),
    ],
)
async def test_get(service: SessionService, config, expected):
    """A copy, with as many events as wanted, in the order in which they were stored."""
    session = await service.create_session(**MINE, session_id="s")
    for number in (1, 2, 3):
        await service.append_event(session, event(str(number), at=float(number)))
    found = await service.get_session(**MINE, session_id="s", config=config)
    assert ["".join(e.texts()) for e in found.events] == expected
    found.state["a"] = 2
    assert (await service.get_session(**MINE, session_id="s")).state == {}


async def test_nobody_there(service: SessionService):
    """A session that is not there is None; forgetting it twice is fine; user state stays."""
    await service.create_session(**MINE, session_id="s", state=STATE)
    for _ in range(2):
        await service.delete_session(**MINE, session_id="s")
    assert await service.get_session(**MINE, session_id="s") is None
    assert await service.get_user_state(**MINE) == {"lang": "it"}
    assert await service.get_user_state(app_name="app", user_id="bo") == {}


async def test_list(service: SessionService):
    """Sessions come without events, oldest change first, of a user or of all."""
    for user, name in (("ann", "a"), ("bo", "b"), ("ann", "c")):
        await service.create_session(app_name="app", user_id=user, session_id=name)
        await asyncio.sleep(0.002)  # a store's clock counts milliseconds
    session = await service.get_session(**MINE, session_id="a")
    await service.append_event(session, event(k=1))
    mine = (await service.list_sessions(**MINE)).sessions
    assert [(s.id, s.state, s.events) for s in mine] == [("c", {}, []), ("a", {"k": 1}, [])]
    everybody = (await service.list_sessions(app_name="app")).sessions
    assert [s.id for s in everybody] == ["b", "c", "a"]


async def test_append(service: SessionService):
    """An event is stored once with its state; the copy in hand moves on with it."""
    session = await service.create_session(**MINE, session_id="s")
    piece = await service.append_event(session, event().model_copy(update={"partial": True}))
    assert (piece.version, session.events) == (0, [])
    stored = await service.append_event(session, event(**{"k": 1, "temp:t": 2, "app:x": 3}))
    assert (stored.version, stored.actions.state_delta) == (1, {"k": 1, "app:x": 3})
    assert session.state == {"k": 1, "temp:t": 2, "app:x": 3}
    assert await service.append_event(session, stored) is stored
    found = await service.get_session(**MINE, session_id="s")
    assert (len(found.events), found.state) == (1, {"k": 1, "app:x": 3})


def answer(request: str, **told: object) -> types.Part:
    """A person's answer to a question."""
    return types.Part(
        function_response=types.FunctionResponse(
            id=request, name=REQUEST_CONFIRMATION, response=told
        )
    )


@pytest.mark.parametrize(
    ("part", "error"),
    [
        pytest.param(answer("9-0", confirmed=True), "no call", id="to no question"),
        pytest.param(
            answer("3-0", confirmed=True, outcome="rejected"), "not both", id="yes and no"
        ),
        pytest.param(answer("3-0", confirmed=True, payload={"n": 1}), "yes or no", id="a payload"),
        pytest.param(answer("2-0", confirmed=True), "nothing but an answer", id="to the call"),
        pytest.param(
            types.Part(
                function_response=types.FunctionResponse(id="2-0", name="pay", response={"ok": 1})
            ),
            "nothing but an answer",
            id="a result",
        ),
    ],
)
async def test_an_appended_answer_that_does_not_fit(service: SessionService, part, error):
    """A person's answer is checked on its way in, wherever it comes from."""
    at = await asking(service)
    session = await at.session()
    told = Event(author="user", user_id="ann", content=types.Content(role="user", parts=[part]))
    with pytest.raises(AnswerError, match=error):
        await service.append_event(session, told)
    assert len((await at.session()).events) == 4


@pytest.mark.parametrize("confirmed", [True, False])
async def test_an_appended_answer(service: SessionService, confirmed: bool):
    """One that fits is an answer like any other."""
    at = await asking(service)
    parts = [answer("3-0", confirmed=confirmed)]
    told = Event(author="user", user_id="ann", content=types.Content(role="user", parts=parts))
    await service.append_event(await at.session(), told)
    assert ("paid" in results(await at.send())[0]) is confirmed


async def test_an_appended_question(service: SessionService):
    """Only a Runner asks."""
    at = await asking(service)
    session = await at.session()
    question = next(event for event in session.events if event.questions)
    with pytest.raises(AnswerError, match="only a Runner"):
        await service.append_event(session, question.model_copy(update={"version": 0}))


async def asking(service: SessionService) -> Desk:
    """A session in which a person is asked about call 2-0 by request 3-0."""

    def pay() -> dict[str, int]:
        """Pay."""
        return {"paid": 1}

    tools = [FunctionTool(pay, require_confirmation=True)]
    at = await Desk(Agent(name="root", tools=tools), [call("pay"), "Well."], service=service).open()
    await at.say()
    return at


async def test_append_in_vain(service: SessionService):
    """A session that is missing, has moved on, or is in other hands takes no event."""
    session = await service.create_session(**MINE, session_id="s")
    older = await service.get_session(**MINE, session_id="s")
    await service.append_event(session, event())
    with pytest.raises(StaleSessionError):
        await service.append_event(older, event())
    async with hold(service.slot, SessionKey("app", "ann", "s"), owner="other", lease=9000):
        with pytest.raises(SessionConflict):
            await service.append_event(session, event())
    await service.delete_session(**MINE, session_id="s")
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, event())
