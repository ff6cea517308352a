"""The reimbursement agent: what is paid at once, what is asked, and that nothing is paid twice."""

import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from google.genai import types

from agents import Event, InMemorySessionService, Runner, ToolError
from agents.ledger import FileLedger, HttpLedger, Ledger
from agents.reimbursement import over_limit, reimbursement_agent, unpayable
from agents.runtime.rehearsal import RehearsalModel

LUNCH = {"amount": 50.0, "purpose": "lunch", "requester": "U1"}


@pytest.mark.parametrize(
    ("amount", "asked"),
    [
        pytest.param(0.01, False, id="a cent"),
        pytest.param(100.0, False, id="the limit"),
        pytest.param(100.01, True, id="a cent above"),
        pytest.param(5000.0, True, id="much"),
        pytest.param(math.nan, False, id="not a number"),
        pytest.param(math.inf, False, id="without end"),
        pytest.param(-500.0, False, id="below zero"),
        pytest.param(200.001, False, id="three decimals"),
    ],
)
def test_above_the_limit_a_person_is_asked(amount: float, asked: bool) -> None:
    """A hundred is paid at once, a cent more is asked; what cannot be paid is asked of nobody."""
    assert over_limit(amount, "lunch") is asked


@pytest.mark.parametrize(
    ("amount", "purpose", "word"),
    [
        pytest.param(0.0, "lunch", "above zero", id="zero"),
        pytest.param(-1.0, "lunch", "above zero", id="negative"),
        pytest.param(math.nan, "lunch", "above zero", id="nan"),
        pytest.param(math.inf, "lunch", "above zero", id="infinite"),
        pytest.param(1.005, "lunch", "two decimals", id="fractions of a cent"),
        pytest.param(5.0, " ", "spent on", id="no purpose"),
        pytest.param(0.1 + 0.2, "lunch", "", id="a float's own error"),
        pytest.param(1_000_000.01, "a yacht", "", id="a large sum"),
    ],
)
def test_what_cannot_be_paid(amount: float, purpose: str, word: str) -> None:
    """Amounts that are no money, and payments without a purpose, get a sentence that says so."""
    problem = unpayable(amount, purpose)
    assert problem is None if not word else word in (problem or "")


class Bot:
    """The agent in a session, with the rehearsal model."""

    def __init__(self, ledger: Ledger) -> None:
        sessions = InMemorySessionService()
        self.runner = Runner(
            agent=reimbursement_agent(ledger),
            session_service=sessions,
            models=RehearsalModel(),
            auto_create_session=True,
        )

    async def hears(self, part: types.Part) -> list[Event]:
        """The events a message brings about."""
        message = types.Content(role="user", parts=[part])
        events = self.runner.run_async(user_id="U1", session_id="s", new_message=message)
        return [event async for event in events]

    async def says(self, text: str) -> str:
        """The last text after a sentence."""
        return _text(await self.hears(types.Part(text=text)))

    async def decides(self, request: str, **answer: Any) -> str:
        """The last text after the answer to a request for confirmation."""
        response = types.FunctionResponse(
            id=request, name="adk_request_confirmation", response=answer
        )
        return _text(await self.hears(types.Part(function_response=response)))


def _text(events: list[Event]) -> str:
    return [text for event in events for text in event.texts()][-1]


def _request(events: list[Event]) -> str:
    calls = [call for event in events for call in event.get_function_calls()]
    return next(call.id or "" for call in calls if call.name == "adk_request_confirmation")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_small_sums_are_paid_at_once(tmp_path: Path) -> None:
    """Fifty for lunch is in the ledger when the answer is there."""
    path = tmp_path / "ledger.jsonl"
    answer = await Bot(FileLedger(path)).says("Please reimburse 50 dollars for lunch")
    assert answer.startswith("Paid 50 for lunch, reference ")
    [entry] = _lines(path)
    assert (entry["amount"], entry["purpose"], entry["requester"]) == (50.0, "lunch", "U1")


async def test_what_cannot_be_paid_reaches_no_ledger(tmp_path: Path) -> None:
    """The tool refuses with the sentence, and nothing is written."""
    path = tmp_path / "ledger.jsonl"
    answer = await Bot(FileLedger(path)).says("reimburse -5 dollars for fun")
    assert answer == "That did not work: The amount must be a number above zero."
    assert not path.exists()


@pytest.mark.parametrize("confirmed", [True, False])
async def test_large_sums_wait_for_a_person(tmp_path: Path, confirmed: bool) -> None:
    """Two hundred and fifty is paid after a yes, and never after a no; the reason is passed on."""
    path = tmp_path / "ledger.jsonl"
    bot = Bot(FileLedger(path))
    events = await bot.hears(types.Part(text="Can I get 250 dollars back for the hotel?"))
    assert _lines(path) == []
    answer = await bot.decides(_request(events), confirmed=confirmed, reason="Within budget?")
    assert [entry["amount"] for entry in _lines(path)] == ([250.0] if confirmed else [])
    assert ("Paid" in answer) is confirmed
    assert ("“Within budget?”" in answer) is not confirmed


async def test_a_file_pays_once_for_a_key(tmp_path: Path) -> None:
    """The same key again pays nothing and names the same payment; another key pays again."""
    ledger = FileLedger(tmp_path / "new" / "ledger.jsonl")
    first, again, other = [await ledger.pay(**LUNCH, key=key) for key in ("a", "a", "b")]
    assert first == again
    assert first != other
    assert [entry["key"] for entry in _lines(tmp_path / "new" / "ledger.jsonl")] == ["a", "b"]


async def test_a_key_is_for_one_payment(tmp_path: Path) -> None:
    """A key that paid something else is refused."""
    ledger = FileLedger(tmp_path / "ledger.jsonl")
    await ledger.pay(**LUNCH, key="a")
    with pytest.raises(ToolError, match="another amount"):
        await ledger.pay(amount=51.0, purpose="lunch", requester="U1", key="a")


async def test_a_line_cut_off_by_a_crash_was_never_paid(tmp_path: Path) -> None:
    """Half a line at the end is removed, and its payment can be made."""
    path = tmp_path / "ledger.jsonl"
    ledger = FileLedger(path)
    await ledger.pay(**LUNCH, key="a")
    path.write_bytes(path.read_bytes() + b'{"key": "b", "amou')
    await ledger.pay(**LUNCH, key="b")
    assert [entry["key"] for entry in _lines(path)] == ["a", "b"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"oops", id="no JSON"),
        pytest.param(b"", id="an empty line"),
        pytest.param(b"[1]", id="no object"),
        pytest.param(b'{"key": "b"}', id="half a payment"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
async def test_a_damaged_line_stops_all_payments(tmp_path: Path, caplog, damage: bytes) -> None:
    """A line that may be any payment is named to the model and to the operator; nothing is paid."""
    path = tmp_path / "ledger.jsonl"
    ledger = FileLedger(path)
    await ledger.pay(**LUNCH, key="a")
    path.write_bytes(before := path.read_bytes() + damage + b"\n")
    with pytest.raises(ToolError, match=r"Line 2 of the ledger .*ledger\.jsonl is damaged"):
        await ledger.pay(**LUNCH, key="b")
    assert path.read_bytes() == before
    [line] = caplog.records
    assert (line.msg, line.file, line.line) == ("ledger.damaged", str(path), 2)
    answer = await Bot(ledger).says("Please reimburse 50 dollars for lunch")
    assert "Line 2 of the ledger" in answer


PAYER = """
import asyncio, sys
from pathlib import Path
from agents.ledger import FileLedger

async def main():
    ledger = FileLedger(Path(sys.argv[1]))
    pay = lambda n: ledger.pay(amount=5.0, purpose="tea", requester=sys.argv[2], key=f"k{n}")
    await asyncio.gather(*(pay(n) for n in range(40)))

asyncio.run(main())
"""


async def test_two_processes_share_a_file(tmp_path: Path) -> None:
    """Two processes that pay the same forty keys at once pay each of them once."""
    path = tmp_path / "ledger.jsonl"
    command = (sys.executable, "-c", PAYER, str(path))
    root = Path(__file__).parents[2]
    payers = [await asyncio.create_subprocess_exec(*command, who, cwd=root) for who in ("U1", "U2")]
    assert [await payer.wait() for payer in payers] == [0, 0]
    assert sorted(entry["key"] for entry in _lines(path)) == sorted(f"k{n}" for n in range(40))


class PaymentService:
    """A payment service that answers from a list of (status, body), or not at all for None."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, Any] | None] = []
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.ledger: HttpLedger | None = None

    def begin(self, *replies: tuple[int, Any] | None) -> None:
        """Answer so; the ledger waits for as long as it takes, but not for None."""
        self.replies = list(replies)
        silent = self.replies[:1] == [None]
        self.ledger._timeout = aiohttp.ClientTimeout(total=0.3 if silent else 30)

    async def pay(self, request: web.Request) -> web.Response:
        """Note the key and the body, and answer the next reply."""
        self.heard.append((request.headers["Idempotency-Key"], await request.json()))
        reply, *others = self.replies
        self.begin(*others)
        if reply is None:
            await asyncio.sleep(30)
        status, body = reply or (504, {})
        return web.json_response(body, status=status)


@pytest.fixture
async def service() -> PaymentService:
    """The service's side."""
    return PaymentService()


@pytest.fixture
async def ledger(service: PaymentService) -> AsyncIterator[HttpLedger]:
    """A ledger that pays through a real server."""
    app = web.Application()
    app.router.add_post("/payments", service.pay)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        service.ledger = HttpLedger(str(server.make_url("/payments")), session=session)
        yield service.ledger


@pytest.mark.parametrize(
    ("replies", "reference"),
    [
        pytest.param([(200, {"reference": "p-1"})], "p-1", id="paid"),
        pytest.param([(201, {"id": 7})], "7", id="created, with an id"),
        pytest.param([(204, None)], "k", id="paid, nothing said"),
        pytest.param([(409, {"payment": "p-1"})], "p-1", id="paid before"),
        pytest.param([(503, {}), (429, {}), (200, {"id": "p"})], "p", id="busy twice"),
        pytest.param([None, (409, {"id": "p"})], "p", id="silent, then paid before"),
        pytest.param([None, (409, {}), (200, {"id": "p"})], "p", id="silent, then still at it"),
        pytest.param([(200, {"id": "p", "error": None, "ok": True})], "p", id="with no error"),
    ],
)
async def test_a_service_pays(
    service: PaymentService, ledger: HttpLedger, replies: list[Any], reference: str
) -> None:
    """A payment is posted with its key, again and again with the same one, until it is answered."""
    service.begin(*replies)
    assert await ledger.pay(**LUNCH, key="k") == {"reference": reference}
    assert service.heard == [("k", LUNCH)] * len(replies)


@pytest.mark.parametrize(
    ("replies", "sentence"),
    [
        pytest.param([(422, {"error": "no such account"})], "no such account", id="refused"),
        pytest.param([(400, ["?"])], "nothing was paid: status 400", id="refused without a word"),
        pytest.param([(302, {})], "nothing was paid: status 302", id="sent elsewhere"),
        pytest.param([(500, {})] * 3, "not known. Do not pay again", id="broken"),
        pytest.param([None] * 3, "not known. Do not pay again", id="silent"),
        pytest.param([(200, {"error": "declined"})], "nothing was paid: declined", id="declined"),
        pytest.param(
            [(200, {"ok": False, "message": "no", "id": "p"})], "nothing was paid: no", id="not ok"
        ),
        pytest.param([(202, {"status": "queued"})], "not known. Do not pay again", id="queued"),
        pytest.param([(200, "Please log in")], "not known. Do not pay again", id="a page"),
        pytest.param([(200, None)], "not known. Do not pay again", id="nothing"),
        pytest.param([(409, {"error": "busy"})] * 3, "not known. Do not pay again", id="at it"),
        pytest.param([(425, {})] * 3, "not known. Do not pay again", id="too early"),
    ],
)
async def test_a_service_does_not_pay(
    service: PaymentService, ledger: HttpLedger, replies: list[Any], sentence: str
) -> None:
    """A refusal is told with its reason; where nobody knows, the model hears not to pay again."""
    service.begin(*replies)
    with pytest.raises(ToolError, match=sentence):
        await ledger.pay(**LUNCH, key="k")
    assert service.heard == [("k", LUNCH)] * len(replies)


@pytest.mark.parametrize(
    "unclear", [pytest.param(None, id="silent"), pytest.param((502, {}), id="broken")]
)
async def test_a_refusal_after_silence_proves_nothing(
    service: PaymentService, ledger: HttpLedger, unclear: Any
) -> None:
    """An attempt nobody answered may have paid, whatever the service says to the next one."""
    service.begin(unclear, (422, {"error": "duplicate request"}))
    with pytest.raises(ToolError, match=r"not known\. Do not pay again.*duplicate") as raised:
        await ledger.pay(**LUNCH, key="k")
    assert "nothing was paid" not in str(raised.value)


async def test_a_service_that_is_not_there_paid_nothing() -> None:
    """Where no connection was ever made, it is certain that nothing was paid."""
    async with aiohttp.ClientSession() as session:
        ledger = HttpLedger(f"http://127.0.0.1:{unused_port()}/", session=session)
        with pytest.raises(ToolError, match="cannot be reached, so nothing was paid"):
            await ledger.pay(**LUNCH, key="k")


async def test_the_agent_pays_through_a_service(
    service: PaymentService, ledger: HttpLedger
) -> None:
    """The agent posts its call's own key, and tells the service's reference."""
    service.begin((200, {"reference": "p-1"}))
    answer = await Bot(ledger).says("50 dollars for lunch, please reimburse")
    assert "reference p-1" in answer
    [(key, body)] = service.heard
    assert key
    assert body == LUNCH
