"""Which turns that were given up may be tried again, and what is put once more."""

import pytest

from agents import Event
from bot.graves import GO_ON, graves

CALL = {"function_call": {"id": "2-0", "name": "pay", "args": {}}}
YES = {"function_response": {"id": "3-0", "name": "ask", "response": {"confirmed": True}}}
SAID = {"60": ({"text": "60"},), "70": ({"text": "70"},), "go on": ({"text": GO_ON},)}


def told(*lines: str) -> list[Event]:
    """Events, a line for each: `<invocation> <who> <what>`, an `@` before an entry's id."""
    return [event(n, *line.split(" ")) for n, line in enumerate(lines, start=1)]


def event(version: int, invocation: str, who: str, what: str, entry: str = "@") -> Event:
    """One event: words, `call`, `yes`, or `END` for a turn that is given up."""
    code = "GIVEN_UP" if what == "END" else None
    part = {"call": CALL, "yes": YES}.get(what, {"text": what})
    return Event(
        version=version,
        invocation_id=invocation,
        author="agent" if who == "agent" else "user",
        user_id=who,
        entry=entry[1:],
        error_code=code,
        content=None if code else {"role": "user", "parts": [part]},
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(["a ana 60", "a agent hello"], [], id="nothing was given up"),
        pytest.param(["a ana 60", "a agent END"], [(1, "ana", "60")], id="the last turn"),
        pytest.param(
            ["a ana 60", "a agent END", "b ana 70", "b agent END"],
            [(1, "ana", "60"), (3, "ana", "70")],
            id="both",
        ),
        pytest.param(
            ["a ana 60", "a agent END", "b ana 60", "b agent paid"], [], id="said again, and paid"
        ),
        pytest.param(
            ["a ana 60", "a agent END", "b ana 60"], [], id="said again, and being worked on"
        ),
        pytest.param(
            ["a ana 60", "a agent hello", "b ana 70", "b agent END"],
            [(3, "ana", "70")],
            id="an earlier one went well",
        ),
        pytest.param(
            ["a ana 60", "a agent call", "a agent END"], [(1, "ana", "go on")], id="it had called"
        ),
        pytest.param(
            ["a ana 60", "a agent call", "a max yes", "a agent END"],
            [(1, "ana", "go on")],
            id="a decision was last: it is still Ana's",
        ),
        pytest.param(
            ["a ana 60", "a agent call", "b ana 70", "b agent hello", "a max yes", "a agent END"],
            [(1, "ana", "go on")],
            id="others wrote before it was given up",
        ),
        pytest.param(
            ["a ana 60", "a agent END", "b ana 60 @retry:2", "b agent paid"], [], id="tried again"
        ),
        pytest.param(
            ["a ana 60", "a agent END", "b ana 60 @retry:2", "b agent END"],
            [(3, "ana", "60")],
            id="tried again in vain",
        ),
        pytest.param(
            [
                "a ana 60",
                "a agent END",
                "b ana 70",
                "b agent END",
                "c ana 70 @retry:4",
                "c agent ok",
            ],
            [(1, "ana", "60")],
            id="one of two was tried again",
        ),
    ],
)
def test_what_may_be_tried_again(lines: list[str], expected: list[tuple[int, str, str]]) -> None:
    """The message that was given up, as whoever wrote it, unless somebody wrote again since."""
    found = [(grave.message, grave.person, grave.parts) for grave in graves(told(*lines))]
    assert found == [(message, person, SAID[said]) for message, person, said in expected]


def test_what_nobody_could_read_is_found_and_not_put_again() -> None:
    """An entry whose words cannot be stored leaves only its end: there is nothing to say again."""
    [grave] = graves(told("a agent END"))
    assert (grave.message, grave.person, grave.parts) == (1, "agent", ())
