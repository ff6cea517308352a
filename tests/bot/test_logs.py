"""Lines of the log: their form, what rides on them, and what never gets into them."""

import ast
import asyncio
import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import logs
from bot.lines import VALUE_LIMIT, set_up

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log from `info` upwards, written into memory."""
    root = logging.getLogger()
    before = root.handlers, root.level
    stream = io.StringIO()
    set_up("INFO", stream=stream)
    yield stream
    root.handlers, level = before
    root.setLevel(level)


def test_a_line_is_the_event_and_its_fields(lines: io.StringIO):
    """A line names its event and its data, quoted only where it must be."""
    logs.info("turn.started", agent="support", waited_s=1.5, note='say "hi"\nthere', empty="")
    assert lines.getvalue() == (
        'level=info at=turn.started agent=support waited_s=1.5 note="say \\"hi\\" there" empty=""\n'
    )


@pytest.mark.parametrize(
    ("write", "level"),
    [
        pytest.param(logs.info, "info", id="what somebody did"),
        pytest.param(logs.warning, "warning", id="what is tried again"),
        pytest.param(logs.error, "error", id="what was given up"),
    ],
)
def test_levels(lines: io.StringIO, write, level):
    """Each function writes at the level of its name."""
    write("lease.lost")
    assert lines.getvalue() == f"level={level} at=lease.lost\n"


def test_an_unknown_event_is_refused(lines: io.StringIO):
    """An event that is not in the closed list is a mistake in the code."""
    with pytest.raises(ValueError, match=r"'turn\.strated' is not an event"):
        logs.info("turn.strated")  # pyright: ignore[reportArgumentType]
    assert lines.getvalue() == ""


def test_lines_below_the_level_are_left_out(lines: io.StringIO):
    """The level of the settings holds for our own lines."""
    set_up("ERROR", stream=lines)
    logs.warning("outbox.retried")
    logs.error("outbox.refused")
    assert lines.getvalue() == "level=error at=outbox.refused\n"


async def test_ids_are_bound_once(lines: io.StringIO):
    """Bound fields stand on each line of the block, also on those of tasks started in it."""

    async def work(name: str) -> None:
        with logs.bound(tool=name):
            await asyncio.sleep(0)
            logs.info("tool.started")

    with logs.bound(session="s1"):
        await asyncio.gather(work("a"), work("b"))
    logs.info("turn.finished")
    assert lines.getvalue().splitlines() == [
        "level=info at=tool.started session=s1 tool=a",
        "level=info at=tool.started session=s1 tool=b",
        "level=info at=turn.finished",
    ]


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param("xoxb-" + "12345-abcDEF", id="a bot token"),
        pytest.param("xapp-" + "1-A0-12-beef", id="an app token"),
        pytest.param("xoxe.xoxp-" + "1-Mi0yLTEx", id="a rotated token"),
        pytest.param("AIza" + "SyA1234567890abcdefghij", id="a Gemini key"),
        pytest.param("ghp_" + "0123456789abcdefABCDEF", id="a GitHub token"),
        pytest.param("hunter2:s3cret", id="the password of an address"),
    ],
)
def test_secrets_are_masked(lines: io.StringIO, secret):
    """What looks like a token, a key or a password is never written, ours or a library's."""
    logs.warning("store.unavailable", error=OSError(f"rediss://{secret}@host:1 is down"))
    logging.getLogger("library").warning("calling https://%s@host/", secret)
    text = lines.getvalue()
    assert text.count("***") == 2
    assert "host" in text
    assert secret.split(":")[-1].split(".")[-1] not in text


def test_a_field_is_masked_by_its_name(lines: io.StringIO):
    """What a field is called says as much of its value as what it looks like."""
    logs.warning("store.unavailable", password="hunter2", tokens=1200, token="a1b2c3d4e5")
    assert lines.getvalue().endswith(" password=*** tokens=1200 token=***\n")


def test_a_library_speaks_from_warning_upwards(lines: io.StringIO):
    """The finer lines of libraries hold messages of people and stay out, at any level of ours."""
    set_up("DEBUG", stream=lines)
    logging.getLogger("slack_bolt").info("somebody wrote something")
    logging.getLogger("slack_bolt").warning("one\ntwo")
    assert lines.getvalue() == "level=warning logger=slack_bolt message=one\n"


def test_the_runtime_speaks_in_the_same_form(lines: io.StringIO):
    """The runtime, which knows no log of ours, names its event and hands its data in as `extra`."""
    with logs.bound(session="s1"):
        logging.getLogger("agents.runtime.tools").warning("tool.failed", extra={"tool": "pay"})
    assert lines.getvalue() == "level=warning at=tool.failed session=s1 tool=pay\n"


def test_an_exception_is_one_line(lines: io.StringIO):
    """An exception is its type, the first line of its message and its way through our files."""
    try:
        logs.info("no.event")  # pyright: ignore[reportArgumentType]
    except ValueError:
        logging.getLogger("library").exception("failed")
    text = lines.getvalue()
    assert text.count("\n") == 1
    assert "error=\"ValueError: 'no.event' is not an event" in text
    assert "logs.py:" in text


def test_only_the_first_line_of_a_message_is_written(lines: io.StringIO):
    """Validation errors put what a person typed into their later lines, which stay out."""
    logs.error("turn.failed", error=ValueError("1 error\nsomebody's words"))
    assert lines.getvalue() == 'level=error at=turn.failed error="ValueError: 1 error"\n'


def test_a_long_value_is_cut(lines: io.StringIO):
    """A value is cut, so that a log drain never cuts the line."""
    logs.info("ticket.news", subject="x" * 10_000)
    assert len(lines.getvalue()) < VALUE_LIMIT + 60
    assert lines.getvalue().endswith("x…\n")


def sources() -> dict[Path, ast.Module]:
    """Every module of this project but the one with the list."""
    found = [path for name in ("agents", "bot") for path in (ROOT / name).rglob("*.py")]
    return {path: ast.parse(path.read_text()) for path in found if path.name != "logs.py"}


def named(module: ast.Module) -> set[str]:
    """The names of events that a module writes out where it logs."""
    return {
        str(call.args[0].value)
        for call in ast.walk(module)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in ("log", "logs")
        and call.func.attr in ("debug", "info", "warning", "error", "exception", "critical")
        and isinstance(call.args[0], ast.Constant)
    }


def test_whatever_is_logged_is_in_the_list():
    """The runtime's loggers and ours write no event that the list does not have."""
    written = {(path.name, event) for path, module in sources().items() for event in named(module)}
    assert ("calling.py", "tool.started") in written
    assert {(name, event) for name, event in written if event not in logs.EVENTS} == set()


def test_whatever_is_in_the_list_is_logged():
    """No event is listed that no module writes: an alert on it would never be raised."""
    texts = {
        each.value
        for module in sources().values()
        for each in ast.walk(module)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    assert logs.EVENTS - texts == set()
