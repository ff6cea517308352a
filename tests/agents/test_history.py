"""What a model is shown of a session, as a table."""

import pytest
from google.genai import types

from agents import Agent, Event
from agents.runtime.history import contents
from tests.agents.desk import told
from tests.agents.provider import faults
from tests.agents.samples import answered, answers, asks, news, response, said, spoke, story

root = Agent(name="root")
GO = said("go")
PAY = (GO, spoke("2-0 pay"))
ASKED = (*PAY, asks("3-0", "2-0 pay"), answered(response("2-0 pay", wait=1), asked=("2-0",)))
YES = answers("3-0", confirmed=True)
LASTING = (GO, spoke("2-0 work", lasting=("2-0",)))
OPEN = (*LASTING, answered(pending=("2-0",)))
PENDING = (*LASTING, answered(response("2-0 work", s="pending")), spoke(text="Pending."))
THOUGHT = types.Part(text="hm", thought=True, thought_signature=b"s")


def wired(*, asked: tuple[str, ...] = (), **value: object) -> Event:
    """What came of a call of the second turn."""
    return answered(response("6-0 wire", **value), asked=asked, inv="i2")


PAID_FIRST = (
    *(*ASKED, said("so?", inv="i2"), spoke("6-0 wire", inv="i2"), asks("7-0", "6-0 wire")),
    *(wired(asked=("6-0",), wait=2), YES, answered(response("2-0 pay", ok=1)), spoke(text="Paid.")),
)
OF_PAID_FIRST = [
    *("user: go", "model: pay()", "user: pay -> {'wait': 1}"),
    *("user: so?", "model: wire()", "user: wire -> {'wait': 2}"),
    *('user: News of the call pay made earlier: {"ok": 1}', "model: Paid."),
]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param((GO,), ["user: go"], id="words"),
        pytest.param(
            (*PAY, answered(response("2-0 pay", ok=1))),
            ["user: go", "model: pay()", "user: pay -> {'ok': 1}"],
            id="a call and its response",
        ),
        pytest.param(
            (*ASKED, said("so?")),
            ["user: go", "model: pay()", "user: pay -> {'wait': 1}", "user: so?"],
            id="a placeholder",
        ),
        pytest.param(
            (*ASKED, YES, answered(response("2-0 pay", ok=1))),
            ["user: go", "model: pay()", "user: pay -> {'ok': 1}"],
            id="its result takes its place",
        ),
        pytest.param(
            (*ASKED, said("so?"), spoke(text="Wait."), YES, answered(response("2-0 pay", ok=1))),
            [
                "user: go",
                "model: pay()",
                "user: pay -> {'wait': 1}",
                "user: so?",
                "model: Wait.",
                'user: News of the call pay made earlier: {"ok": 1}',
            ],
            id="unless the person had talked on",
        ),
        pytest.param(
            (*PAID_FIRST, answers("7-0", confirmed=True, inv="i2"), wired(ok=2)),
            [*OF_PAID_FIRST, 'user: News of the call wire made earlier: {"ok": 2}'],
            id="unless the agent had told of something else",
        ),
        pytest.param(
            (*PAID_FIRST, wired(outcome="expired")),
            [*OF_PAID_FIRST, 'user: News of the call wire made earlier: {"outcome": "expired"}'],
            id="which goes for a question that nobody decided, too",
        ),
        pytest.param(
            (*OPEN, said("so?")),
            ["user: go", "model: work()", "user: work -> {'status': 'pending'}", "user: so?"],
            id="an open call",
        ),
        pytest.param(
            (*PENDING, news(response("2-0 work", s="done"))),
            ["user: go", "model: work()", "user: work -> {'s': 'done'}"],
            id="news: what was told of the older result is gone",
        ),
        pytest.param(
            (*PENDING, news(response("2-0 work", s="done")), spoke(text="Done."), said("hi")),
            [
                "user: go",
                "model: work()",
                "user: work -> {'s': 'pending'}",
                "model: Pending.",
                'user: News of the call work made earlier: {"s": "done"}',
                "model: Done.",
                "user: hi",
            ],
            id="a turn later it is read where it arrived",
        ),
        pytest.param(
            (
                *PENDING,
                news(response("2-0 work", s="half")),
                spoke(text="Half."),
                news(response("2-0 work", s="done")),
            ),
            ["user: go", "model: work()", "user: work -> {'s': 'done'}"],
            id="the newest counts",
        ),
        pytest.param(
            (GO, spoke("2-0 pay", "2-1 wire"), answered(response("2-1 wire", ok=1)), said("so?")),
            [
                "user: go",
                "model: pay() | wire()",
                "user: pay -> {'status': 'pending'} | wire -> {'ok': 1}",
                "user: so?",
            ],
            id="as many responses as calls, in their order",
        ),
        pytest.param(
            (GO, spoke("2-0 adk_request_confirmation")), ["user: go"], id="a forged question"
        ),
        pytest.param((GO, spoke()), ["user: go"], id="an empty reply"),
        pytest.param(
            (GO, spoke("2-0 pay", agent="other", text="Hi."), said("so?")),
            [
                "user: go",
                "user: For context, what another agent did: | [other] said:\n<quote>\nHi.\n</quote>"
                " | [other] called tool `pay` with parameters:\n<quote>\n{}\n</quote>",
                "user: so?",
            ],
            id="another agent",
        ),
        pytest.param(
            (GO, said("inner", branch="helper@9-9"), said("so?")),
            ["user: go", "user: so?"],
            id="another strand",
        ),
        pytest.param((GO, answered(response("9-9 pay", ok=1))), ["user: go"], id="an orphan"),
    ],
)
def test_contents(events, expected):
    """The conversation is kept, in order, in a form a strict provider takes."""
    found = contents(root, story(*events))
    assert [told(content) for content in found] == expected
    assert found[-1].role == "model" or faults(found, ids=set(), signed=set()) == []


def test_notes():
    """What is known about the waiting stands with the placeholder, until there is a result."""
    notes = {"2-0": {"asked": ["boss"]}}
    asked = contents(root, story(*ASKED, said("so?")), notes=notes)
    assert told(asked[2]) == "user: pay -> {'wait': 1, 'asked': ['boss']}"
    done = contents(root, story(*ASKED, YES, answered(response("2-0 pay", ok=1))), notes=notes)
    assert told(done[2]) == "user: pay -> {'ok': 1}"


def test_the_current_turn():
    """An agent that includes no contents reads from the newest words on."""
    alone = Agent(name="root", include_contents="none")
    events = (GO, spoke(text="Hi."), said("and?", inv="i2"), spoke("4-0 pay", inv="i2"))
    found = contents(alone, story(*events, answered(response("4-0 pay"), inv="i2")))
    assert [told(content) for content in found] == ["user: and?", "model: pay()", "user: pay -> {}"]
    assert contents(alone, story()) == []


def test_what_the_model_gave():
    """Its ids and signatures go back untouched, ours do not; media stay with their response."""
    picture = types.Part(inline_data=types.Blob(data=b"p", mime_type="image/png"))
    made = spoke("2-0 pay", "2-1 pay")
    made.content.parts[0].thought_signature = b"s"
    made.content.parts.insert(0, THOUGHT)
    made = made.model_copy(update={"model_ids": {"2-0": "m1"}})
    done = answered(response("2-0 pay", ok=1), picture, response("2-1 pay"))
    found = contents(root, story(GO, made, done))
    first, second = found[1].parts[1], found[1].parts[2]
    assert (first.function_call.id, first.thought_signature) == ("m1", b"s")
    assert (second.function_call.id, found[1].parts[0]) == (None, THOUGHT)
    assert [p.function_response.id for p in found[2].parts if p.function_response] == ["m1", None]
    assert found[2].parts[1] == picture
