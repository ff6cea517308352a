"""What stands between a call and its body."""

import pytest

from agents import Question, ToolConfirmation
from agents.runtime import gate
from tests.agents.samples import answered, answers, asks, response, said, spoke, story

ASKED = (
    said(),
    spoke("2-0 pay"),
    asks("3-0", "2-0 pay", digest="d"),
    answered(response("2-0 pay"), asked=("2-0",)),
)
LOST = (*ASKED[:2], asks("3-0", "2-0 pay", digest="d", unknown=True))
AGAIN = (*ASKED, said(inv="i2"), spoke("6-0 pay", inv="i2"))
OTHERS = (*ASKED, said(inv="i2", user="max"), spoke("6-0 pay", inv="i2"))
NO = (*ASKED, answers("3-0", confirmed=False), answered(response("2-0 pay", error="no")))


def question(**changes: object) -> Question:
    """What is asked about the call of these stories."""
    return Question(**{"call_id": "6-0", "tool": "pay", "agent": "root", "digest": "d"} | changes)


@pytest.mark.parametrize(
    ("events", "call", "asked", "expected"),
    [
        pytest.param(AGAIN, "6-0", question(), ["2-0"], id="asked in a later turn"),
        pytest.param(OTHERS, "6-0", question(), [], id="asked by somebody else"),
        pytest.param(AGAIN, "6-0", question(digest="e"), [], id="about something else"),
        pytest.param(
            (*LOST, said(inv="i2"), spoke("5-0 pay", inv="i2")),
            "5-0",
            question(),
            [],
            id="whether it happened",
        ),
        pytest.param(ASKED, "2-0", question(), [], id="by itself"),
        pytest.param(
            (*ASKED, answers("3-0", confirmed=True), said(), spoke("7-0 pay")),
            "7-0",
            question(),
            [],
            id="decided already",
        ),
    ],
)
def test_superseded(events, call, asked, expected):
    """Only an open question of an earlier turn about the very same is superseded."""
    found = story(*events)
    assert [older.id for older in gate.superseded(found, found.calls[call], asked)] == expected


@pytest.mark.parametrize(
    ("events", "asked", "expected"),
    [
        pytest.param(OTHERS, question(), True, id="for somebody else"),
        pytest.param(AGAIN, question(), False, id="for the same person"),
        pytest.param(OTHERS, question(digest="e"), False, id="about something else"),
        pytest.param(
            (*ASKED, answers("3-0", confirmed=True), *OTHERS[-2:]), question(), False, id="decided"
        ),
        pytest.param((*LOST, *OTHERS[-2:]), question(), False, id="whether it happened"),
    ],
)
def test_asked_already(events, asked, expected):
    """What others want who say a word leaves an open request with those who decide about it."""
    found = story(*events)
    (*_, call) = found.calls.values()
    assert bool(gate.asked_already(found, call, asked)) == expected


@pytest.mark.parametrize(
    ("events", "call", "asked", "expected"),
    [
        pytest.param((*NO, spoke("7-0 pay")), "7-0", question(), True, id="at once"),
        pytest.param(
            (*NO, spoke("7-0 pay")), "7-0", question(digest="e", args={"n": 6}), False, id="another"
        ),
        pytest.param(
            (*LOST, answers("3-0", confirmed=False), spoke("5-0 pay")),
            "5-0",
            question(),
            False,
            id="looked after",
        ),
        pytest.param(
            (*NO, said(inv="i2"), spoke("8-0 pay", inv="i2")), "8-0", question(), False, id="asked"
        ),
        pytest.param(
            (*ASKED, answers("3-0", outcome="expired"), spoke("6-0 pay")),
            "6-0",
            question(),
            True,
            id="expired",
        ),
        pytest.param(
            (*ASKED, answers("3-0", outcome="cancelled"), spoke("6-0 pay")),
            "6-0",
            question(),
            True,
            id="withdrawn",
        ),
        pytest.param(
            (*ASKED, answers("3-0", outcome="cancelled"), said(inv="i2"), spoke("7-0 pay")),
            "7-0",
            question(),
            False,
            id="withdrawn, and asked for again",
        ),
        pytest.param(
            (*ASKED, answers("3-0", confirmed=True), spoke("6-0 pay")),
            "6-0",
            question(),
            False,
            id="approved",
        ),
    ],
)
def test_closed_before(events, call, asked, expected):
    """What was just rejected, withdrawn or not answered is not asked again, until one speaks."""
    found = story(*events)
    assert bool(gate.closed_before(found, found.calls[call], asked)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"to": "Bo"}, {"to": "bo"}, True, id="letter case"),
        pytest.param({"to": "Bo"}, {"to": " Bo \n"}, True, id="blanks"),
        pytest.param({"to": "B  o"}, {"to": "B o"}, True, id="blanks inside"),
        pytest.param({"to": "Bo"}, {"to": "B\u200bo"}, True, id="nothing to see"),
        pytest.param({"to": "Bo"}, {"to": "\uff22o"}, True, id="another form of a letter"),
        pytest.param({"n": 5}, {"n": 5.0}, True, id="the same number"),
        pytest.param({"n": [{"a": "x"}]}, {"n": [{"a": "X"}]}, True, id="inside"),
        pytest.param({"to": "Bo"}, {"to": "Bob"}, False, id="another word"),
        pytest.param({"n": 5}, {"n": 6}, False, id="another number"),
        pytest.param({"n": 1}, {"n": True}, False, id="no number"),
        pytest.param({"n": None}, {"n": "none"}, False, id="nothing at all"),
        pytest.param({"n": 5}, {"m": 5}, False, id="another argument"),
        pytest.param({}, {"tool": "wire"}, False, id="another tool"),
        pytest.param({}, {"contract": "v2"}, False, id="a changed tool"),
        pytest.param({}, {"precondition": {"price": 2}}, False, id="another price"),
    ],
)
@pytest.mark.parametrize("outcome", ["expired", "cancelled", "rejected"])
def test_what_nearly_is_the_same_is_the_same(before, after, expected, *, outcome):
    """People who said no, or nothing, are not asked once more for a blank or a capital."""
    fields = {"tool": "pay", "contract": "", "precondition": {}}
    changed = {name: after[name] for name in after if name in fields}
    asked = question(digest="e", **{"args": {} if changed else after, **changed})
    first = asks("3-0", "2-0 pay", digest="d", args=before)
    told = answers("3-0", **({} if outcome == "rejected" else {"outcome": outcome}))
    found = story(*ASKED[:2], first, ASKED[3], told, spoke("6-0 pay"))
    assert bool(gate.closed_before(found, found.calls["6-0"], asked)) == expected


def test_a_reason_may_want_exactly_that():
    """Who rejects a call and says why is asked again about the call that follows from it."""
    first = asks("3-0", "2-0 pay", digest="d", args={"to": "bo"})
    told = answers("3-0", confirmed=False, reason="in capitals, please")
    found = story(*ASKED[:2], first, ASKED[3], told, spoke("6-0 pay"))
    call = found.calls["6-0"]
    assert not gate.closed_before(found, call, question(digest="e", args={"to": "BO"}))
    assert gate.closed_before(found, call, question(args={"to": "bo"}))


def test_the_digest():
    """It is the same for the same thing, also in another run of a nested agent."""
    asked = question(args={"amount": 5})

    def digest(branch: str | None, **changes: object) -> str:
        return gate.digest_of(asked.model_copy(update=changes), branch=branch, tenant="t")

    assert digest("a@1-0/b@2-0") == digest("a@7-0/b@9-1")
    different = [
        digest(None),
        digest("a@1-0"),
        digest(None, args={"amount": 6}),
        digest(None, agent="other"),
        digest(None, contract="v2"),
        digest(None, payload_schema={}),
    ]
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        pytest.param(gate.waits("pay"), "waits for a person", id="waits"),
        pytest.param(gate.gone("pay"), "no longer available", id="gone"),
        pytest.param(gate.changed("pay"), "has changed", id="changed"),
        *(
            pytest.param(gate.not_again("pay", ToolConfirmation(outcome=told)), words, id=told)
            for told, words in (
                ("rejected", "just rejected"),
                ("expired", "nobody answered in time"),
                ("cancelled", "withdrawn or closed"),
            )
        ),
        pytest.param(gate.refused("pay", why="late"), "is over", id="late"),
        pytest.param(gate.refused("pay", why="digest"), "not what a person agreed", id="digest"),
        pytest.param(gate.refused("pay", why="void"), "its approval is void", id="void"),
        pytest.param(gate.unknown("pay"), "not known", id="unknown"),
    ],
)
def test_what_the_model_reads(told, words):
    """Each is an error that says what did not happen, and why."""
    assert words in told["error"]
    assert "pay" in told["error"]


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(gate.gone("pay", unsure=True), id="gone"),
        pytest.param(gate.changed("pay", unsure=True), id="changed"),
        *(pytest.param(gate.refused("pay", why=w, unsure=True), id=w) for w in gate.REFUSALS),
        pytest.param(gate.refused("pay", why="void", unsure=True), id="void"),
    ],
)
def test_of_an_interrupted_call_no_more_is_denied_than_its_second_run(told):
    """That it does not run now says nothing about the run that was interrupted."""
    assert "run again, and whether it took effect before is not known" in told["error"]


INNER = "helper@2-0"
NESTED = (
    said(),
    spoke("2-0 helper"),
    said(branch=INNER),
    spoke("4-0 pay", "4-1 ask", branch=INNER, agent="helper"),
    asks("5-0", "4-0 pay", digest="d"),
)


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        pytest.param((), {"4-0": "did not run", "4-1": "did not run"}, id="none had begun"),
        pytest.param(("4-1",), {"4-0": "did not run", "4-1": "not known"}, id="one had begun"),
        pytest.param(
            ("4-0:ask", "2-0"), {"4-0": "not known", "4-1": "did not run"}, id="one while it asked"
        ),
    ],
)
def test_inside(started, expected):
    """What a nested agent called is told no more than what is known of it."""
    found = story(*NESTED)
    told = {
        each.id: answer for each, answer in gate.inside(found, found.calls["2-0"], started=started)
    }
    assert told.keys() == expected.keys()
    assert all(expected[name] in str(answer["error"]) for name, answer in told.items())
    assert gate.inside(found, found.calls["4-0"], started=started) == []
