"""How far each call got, folded from the events."""

import pytest

from agents import Story
from tests.agents.samples import answered, answers, asks, news, response, said, spoke, story

GO = said()
PAY = (GO, spoke("2-0 pay"))
ASKED = (*PAY, asks("3-0", "2-0 pay"), answered(response("2-0 pay"), asked=("2-0",)))
LASTING = (GO, spoke("2-0 ticket", lasting=("2-0",)))


@pytest.mark.parametrize(
    ("events", "status", "is_open"),
    [
        pytest.param(PAY, "new", True, id="made"),
        pytest.param(ASKED, "asked", True, id="asked about"),
        pytest.param((*ASKED, answers("3-0", confirmed=True)), "decided", True, id="agreed to"),
        pytest.param((*ASKED, answers("3-0")), "decided", True, id="an empty answer"),
        pytest.param((*PAY, answered(response("2-0 pay"))), "answered", False, id="answered"),
        pytest.param((*LASTING, answered(pending=("2-0",))), "waiting", True, id="begun"),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", status="open"))),
            "answered",
            True,
            id="answered for now",
        ),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", status="error"))),
            "answered",
            False,
            id="failed at once",
        ),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", error="kaput"))),
            "answered",
            False,
            id="raised",
        ),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", status="unknown", error="given up"))),
            "answered",
            False,
            id="given up",
        ),
        pytest.param(
            (*LASTING, answered(pending=("2-0",)), news(response("2-0 ticket", status="done"))),
            "answered",
            False,
            id="its last news",
        ),
        pytest.param(
            (*LASTING, news(response("2-0 ticket", status="done")), answered(pending=("2-0",))),
            "answered",
            False,
            id="news before its body returned",
        ),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", True, p=1), pending=("2-0",))),
            "waiting",
            True,
            id="intermediate news",
        ),
        pytest.param(
            (GO, spoke("2-0 helper"), said(branch="helper@2-0")), "entered", True, id="in"
        ),
    ],
)
def test_a_call(events, status, is_open):
    """Each event moves a call on."""
    found = story(*events)
    assert (found.calls["2-0"].status, "2-0" in found.open) == (status, is_open)


def test_who_decided():
    """The person, and when, are kept with the call; a later answer changes nothing."""
    found = story(*ASKED, answers("3-0", confirmed=True), answers("3-0", confirmed=False))
    call = found.calls["2-0"]
    assert (call.decided_by, call.decided_at, call.answer.confirmed) == ("boss", 5, True)


def test_strangers():
    """Responses, questions and answers that belong to no call are nobody's."""
    found = story(
        GO,
        answered(response("9-0 pay"), pending=("9-1",)),
        asks("4-0", "9-0 pay"),
        answers("7-7", confirmed=True),
        news(response("9-0 pay", x=1)),
    )
    assert (found.calls, found.open, found.find("9-0"), found.asked_by("4-0")) == (
        {},
        {},
        None,
        None,
    )


def test_find():
    """A call is found by our id, or by the id the model gave; of that the newest."""
    first, second = spoke("2-0 pay"), spoke("3-0 pay")
    found = story(
        GO,
        first.model_copy(update={"model_ids": {"2-0": "m"}}),
        second.model_copy(update={"model_ids": {"3-0": "m"}}),
    )
    assert [found.find(name).id for name in ("2-0", "m")] == ["2-0", "3-0"]
    assert found.find("x") is None


def test_people():
    """Who began an invocation is not who answers in it; a nested agent's caller is nobody."""
    found = story(said(user="ann"), said(user="bo", inv="i2"), said(branch="helper@2-0", user=""))
    assert (found.requesters, found.heard_at) == ({"i1": "ann", "i2": "bo"}, 2)


def test_an_empty_story():
    """Nothing happened in a strand nobody spoke in."""
    assert Story().branch("x").events == []
