"""Where money is paid: a service on the network, or a file on this machine. Never twice per key."""

import asyncio
import fcntl
import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import aiohttp
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from agents import ToolError

TIMEOUT_S = 10.0
ATTEMPTS = 3
_UNKNOWN = (
    "The payment service did not answer clearly: whether the money was paid is not known. Do "
    "not pay again; a person has to look for the payment with the key {key}."
)

_MEND = "mend or remove the line; it may be a payment"

log = logging.getLogger(__name__)


class Ledger(Protocol):
    """Pays, once for each key however often it is asked."""

    async def pay(self, *, amount: float, purpose: str, key: str, requester: str) -> dict[str, Any]:
        """Pay, or find that this key was paid before; `reference` names the payment.

        Raises ToolError with a sentence for the model.
        """
        ...


class FileLedger:
    """Payments as lines of JSON in a file that several processes may share.

    A line is on the disk before `pay` returns. A last line that was cut off by a crash was never
    paid, and is removed before the next one is written. Any other line that is no payment stops
    all payments.
    """

    def __init__(
        self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._path = path
        self._clock = clock

    async def pay(self, *, amount: float, purpose: str, key: str, requester: str) -> dict[str, Any]:
        """Append a payment unless its key is there already.

        Raises ToolError when the key belongs to another payment, or a line cannot be read.
        """
        entry: dict[str, Any] = {
            "key": key,
            "amount": amount,
            "purpose": purpose,
            "requester": requester,
            "reference": hashlib.sha256(key.encode()).hexdigest()[:12],
            "at": self._clock().isoformat(timespec="seconds"),
        }
        return await asyncio.to_thread(self._append, entry)

    def _append(self, entry: dict[str, Any]) -> dict[str, Any]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            earlier = self._paid(file, entry["key"])
            if earlier is None:
                file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
                _sync(self._path.parent)
        paid = earlier or entry
        if (paid["amount"], paid["purpose"]) != (entry["amount"], entry["purpose"]):
            raise ToolError("This payment was made before, for another amount or purpose.")
        return {"reference": paid["reference"]}

    def _paid(self, file: BinaryIO, key: str) -> dict[str, Any] | None:
        """The payment with this key; leaves the file behind its last whole line."""
        file.seek(0)
        whole = 0
        found: dict[str, Any] | None = None
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                file.truncate(whole)
                break
            whole += len(line)
            entry = self._entry(line, number)
            found = entry if entry["key"] == key else found
        return found

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        """The payment in a line; raises ToolError for one that is none.

        It may have been any payment, also the one that is asked for now: until somebody has looked
        nothing is paid.
        """
        read = _object(line.decode(errors="replace"))
        if {"key", "amount", "purpose", "reference"} <= read.keys():
            return read
        log.error("ledger.damaged", extra={"file": str(self._path), "line": number, "todo": _MEND})
        raise ToolError(
            f"Line {number} of the ledger {self._path} is damaged, so nothing was paid."
            " Whoever runs this bot has to mend it first."
        )


def _sync(folder: Path) -> None:
    """Make sure that the name of a new file is on the disk as well."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class HttpLedger:
    """Payments by POST to a service that knows the header `Idempotency-Key`.

    The body is `{amount, purpose, requester}`. It is paid when the answer is 204, or another 2xx,
    or 409 (paid before under this key), with the payment's `reference`, `payment` or `id` in a JSON
    object. An object with an `error`, or `ok: false`, refuses. Whatever else is said, whether it is
    paid is not known. When nobody answers, or another request with the key is still under way, it
    is asked again under the same key, three times in all. The caller owns the session.
    """

    def __init__(
        self, url: str, *, session: aiohttp.ClientSession, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._url = url
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def pay(self, *, amount: float, purpose: str, key: str, requester: str) -> dict[str, Any]:
        """Ask the service to pay; raises ToolError when it refuses or cannot be reached."""
        body = {"amount": amount, "purpose": purpose, "requester": requester}
        failures: list[BaseException | None] = []
        attempts = AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=0.1, max=2),
            retry=retry_if_exception_type((aiohttp.ClientConnectionError, TimeoutError, _Busy)),
            before_sleep=lambda state: failures.append(state.outcome and state.outcome.exception()),
            reraise=True,
        )
        try:
            return await attempts(self._post, body, key)
        except _Refused as refused:
            raise ToolError(_refusal(refused, [*failures], key)) from None
        except (aiohttp.ClientError, TimeoutError, _Busy, _Unclear) as error:
            raise ToolError(_unpaid([*failures, error], key)) from error

    async def _post(self, body: Mapping[str, Any], key: str) -> dict[str, Any]:
        request = self._session.post(
            self._url,
            json=body,
            headers={"Idempotency-Key": key},
            timeout=self._timeout,
            allow_redirects=False,
        )
        async with request as response:
            said = _object(await response.text(errors="replace"))
        found = said.get("reference") or said.get("payment") or said.get("id")
        refuses = bool(said.get("error")) or said.get("ok") is False
        match response.status:
            case 204:
                return {"reference": key}
            case status if (200 <= status < 300 or status == 409) and found and not refuses:
                return {"reference": str(found)}
            case status if status in (408, 409, 425, 429) or status >= 500:
                raise _Busy
            case status if 200 <= status < 300 and not refuses:
                raise _Unclear
            case status:
                why = said.get("error") or said.get("message") or f"status {status}"
                raise _Refused(str(why)[:300])


class _Refused(Exception):
    """The service will not make this payment now; the message is its reason."""


class _Busy(Exception):
    """The service has trouble of its own, or is still working on a payment with this key."""


class _Unclear(Exception):
    """Whatever answered named no payment: a login page, a queue, another service."""


def _refusal(refused: _Refused, failures: Sequence[BaseException | None], key: str) -> str:
    """What to say about a refusal: it is about the last attempt; an earlier one may have paid."""
    if _surely_unpaid(failures):
        return f"The payment service refused, so nothing was paid: {refused}"
    return f"{_UNKNOWN.format(key=key)} Asked again, the service refused: {refused}"


def _unpaid(failures: Sequence[BaseException | None], key: str) -> str:
    """What to say after the last attempt without an answer."""
    if _surely_unpaid(failures):
        return "The payment service cannot be reached, so nothing was paid. Try again later."
    return _UNKNOWN.format(key=key)


def _surely_unpaid(failures: Sequence[BaseException | None]) -> bool:
    """Whether nothing was paid for sure: only if the request never left this machine."""
    return all(isinstance(failure, aiohttp.ClientConnectorError) for failure in failures)


def _object(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}
