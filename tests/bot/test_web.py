"""The HTTP side, by what it answers."""

from collections.abc import AsyncIterator, Callable
from urllib.parse import quote, quote_plus

import aiohttp
import pytest

from agents.runtime.slot.memory import MemorySlot
from bot import web
from bot.errors import SettingsError
from bot.playground import LocalSlack
from bot.playground.people import TEAM_ID
from tests.bot.slack.office import Office, open_office


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    """The bot in a workspace of its own."""
    async with (
        LocalSlack(retry_after=()) as slack,
        open_office(slack, MemorySlot()) as office,
    ):
        yield office


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(b"{}", {}, 401, id="no signature"),
        pytest.param(b"x" * 1_000_001, {}, 413, id="more than a megabyte"),
        pytest.param(b"\xff", {}, 400, id="not UTF-8"),
        pytest.param(b"{", {"Content-Type": "application/json"}, 400, id="not JSON"),
        *(
            pytest.param(wrong, {"Content-Type": "application/json"}, 400, id=f"JSON of {wrong!r}")
            for wrong in (b"5", b"[1]", b"null", b'"x"', b'{"user":5}', b'{"authorizations":5}')
        ),
        pytest.param(
            b"[" * 200_000, {"Content-Type": "application/json"}, 400, id="JSON without a bottom"
        ),
        pytest.param(
            b"payload=" + b'{"a":' * 100_000,
            {"Content-Type": "application/x-www-form-urlencoded"},
            400,
            id="a form without a bottom",
        ),
        pytest.param(
            b"payload={",
            {"Content-Type": "application/x-www-form-urlencoded"},
            400,
            id="half a form",
        ),
        *(
            pytest.param(
                b"payload={" + wrong + b"}",
                {"Content-Type": "application/x-www-form-urlencoded"},
                400,
                id=f"a form with {wrong!r}",
            )
            for wrong in (b"%", b"%7", b"%zz", b"%%7B", b"%\n", b"%\r%7B\n", "é".encode(), b"%ff")
        ),
    ],
)
async def test_strangers(
    office: Office, body: bytes, headers: dict[str, str], status: int, caplog
) -> None:
    """What Slack did not sign, or cannot have sent, changes nothing and is logged without it."""
    async with aiohttp.ClientSession() as session:
        url = f"{office.url}{web.EVENTS}"
        async with session.post(url, data=body, headers=headers) as response:
            assert response.status == status
    refused = [each.fields["why"] for each in caplog.records if each.msg == "slack.request_refused"]
    assert refused == {401: ["signature"], 400: ["unreadable"]}.get(status, [])


@pytest.mark.parametrize("written", [quote_plus, quote], ids=["a blank is a plus", "all escaped"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/100% of a+b = c & d", id="the marks of a form"),
        pytest.param("/=3D %3D =\n%\n\\x41 \\n _", id="the marks of other codes"),
        pytest.param("/£ é 🎉 \u202e\x00 end ", id="characters of all lengths"),
        pytest.param("/payload", id="the word payload"),
    ],
)
async def test_forms(
    office: Office, text: str, written: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    """A form says what was put into it, whatever characters those are."""
    told = written(text)
    body = f"command={told}&user_id=U1&team_id={TEAM_ID}"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    headers |= office.slack.delivery.signed(body)
    assert (await office.slack.deliver_raw(body, headers)).status == 200
    (unknown,) = [vars(each)["fields"] for each in caplog.records if each.msg == "click.unknown"]
    assert unknown["action"] == text


@pytest.mark.parametrize("age", [-301, 301])
async def test_old_signatures(office: Office, age: int) -> None:
    """A true signature is good for five minutes, either way."""
    body = '{"type": "url_verification", "challenge": "c"}'
    headers = office.slack.delivery.signed(body, now=office.slack.now - age)
    headers |= {"Content-Type": "application/json"}
    assert (await office.slack.deliver_raw(body, headers)).status == 401
    fresh = office.slack.delivery.signed(body) | {"Content-Type": "application/json"}
    delivered = await office.slack.deliver_raw(body, fresh)
    assert (delivered.status, "c" in delivered.answer.body) == (200, True)


@pytest.mark.parametrize(
    ("path", "ready", "status"),
    [
        ("/healthz", False, 200),
        ("/readyz", True, 200),
        ("/readyz", False, 503),
        ("/slack/events", True, 405),
        ("/", True, 404),
    ],
)
async def test_looking_in(path: str, ready: bool, status: int) -> None:
    """Alive is one thing, ready for work another."""

    async def told() -> bool:
        return ready

    made = web.application(slack=None, ready=told)
    async with (
        web.serve(made, port=0, host="127.0.0.1") as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}{path}") as response,
    ):
        assert response.status == status


async def test_without_a_signing_secret_nobody_is_let_in() -> None:
    """In Socket Mode there is no proof over HTTP, so nothing is taken from there."""

    async def told() -> bool:
        return True

    made = web.application(slack=None, ready=told)
    async with (
        web.serve(made, port=0, host="127.0.0.1") as port,
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}{web.EVENTS}", data="{}") as response,
    ):
        assert response.status == 404


async def test_socket_mode() -> None:
    """Without a public address the same messages and clicks arrive over a websocket."""
    async with (
        LocalSlack(retry_after=()) as slack,
        open_office(slack, MemorySlot(), socket=True) as office,
    ):
        record, card = await office.asked()
        assert (await slack.click("max", card, "approve")).ok
        assert (await office.stored(record)).status == "approved"
        assert (await slack.command("ana", "general", "/nothing")).ok
        await office.note("ana", "do not know that command")


async def test_a_port_that_is_taken() -> None:
    """Somebody else listens there already: one sentence names the setting, and what is wrong."""

    async def told() -> bool:
        return True

    made = [web.application(slack=None, ready=told) for _ in range(2)]
    async with web.serve(made[0], port=0, host="127.0.0.1") as port:
        wrong = rf"^PORT .* 127.0.0.1:{port} cannot be listened on \(address already in use\)\.$"
        with pytest.raises(SettingsError, match=wrong):
            async with web.serve(made[1], port=port, host="127.0.0.1"):
                pass
