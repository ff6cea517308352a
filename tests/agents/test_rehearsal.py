"""The rehearsal model: what it makes of sentences, and how it tells what calls came to."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import Agent, LlmRequest, LlmResponse
from agents.runtime.arguments import Bound
from agents.runtime.rehearsal import RehearsalModel
from tests.agents.rehearsal_sentences import AGENTS, ROWS, TODAY, Row

NOW = datetime(TODAY.year, TODAY.month, TODAY.day, 9, tzinfo=UTC)


def user(text: str) -> types.Content:
    """A message of the person."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def declared(agent: Agent) -> list[types.FunctionDeclaration]:
    """What an agent's tools declare."""
    return [agent.tool(tool.name).declaration for tool in agent.tools]


async def answered(
    contents: Sequence[types.Content],
    tools: Sequence[types.FunctionDeclaration],
    *,
    told: str = "",
    **more: Any,
) -> types.Content:
    """The model's whole answer to a conversation."""
    request = LlmRequest(contents=contents, tools=tools, system_instruction=told, **more)
    model = RehearsalModel(clock=lambda: NOW)
    responses = [response async for response in model.generate_content_async(request)]
    assert [response.partial for response in responses] == [False]
    assert responses[0].content is not None
    return responses[0].content


async def talked(agent: Agent, *sentences: str) -> types.Content:
    """What the model answers to the last of some sentences, having answered the ones before."""
    contents: list[types.Content] = []
    for sentence in sentences:
        contents.append(user(sentence))
        contents.append(await answered(contents, declared(agent)))
    return contents[-1]


def calls(content: types.Content) -> list[tuple[str, dict[str, Any]]]:
    """The calls in a model's answer."""
    found = [part.function_call for part in content.parts or [] if part.function_call]
    return [(call.name or "", dict(call.args or {})) for call in found]


def text(content: types.Content) -> str:
    """The text of a model's answer."""
    return "".join(part.text or "" for part in content.parts or [])


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.agent}: {row.said[:50]}") for row in ROWS]
)
async def test_sentences(row: Row) -> None:
    """Every sentence of the table leads to the call, the question or the answer beside it."""
    agent = AGENTS[row.agent]
    answer = await talked(agent, *row.earlier, row.said)
    assert calls(answer) == list(row.calls)
    said = text(answer)
    assert all(re.search(rf"\b{re.escape(word)}\b", said) for word in row.asks)
    assert said.endswith("?") == bool(row.asks)
    assert row.says in said
    assert ("What I can do" in said) == row.can


@pytest.mark.parametrize("name", AGENTS)
async def test_its_examples_work(name: str) -> None:
    """Each sentence it offers to try leads to a call of the tool it is an example of."""
    agent = AGENTS[name]
    examples = re.findall(r"Try “(.+?)”\.", text(await talked(agent, "help")))
    made = [calls(await talked(agent, example)) for example in examples]
    assert [[called for called, _ in one] for one in made] == [[tool.name] for tool in agent.tools]


@pytest.mark.parametrize("name", ["reimbursement", "time_off"])
async def test_the_agents_examples_are_understood(name: str) -> None:
    """What our agents show people as examples leads to calls of their tools."""
    for example in AGENTS[name].examples:
        assert len(calls(await talked(AGENTS[name], example))) == 1


def called(name: str, args: dict[str, Any], response: dict[str, Any]) -> list[types.Content]:
    """A call by the model, and what it came to."""
    call = types.FunctionCall(name=name, args=args)
    answer = types.FunctionResponse(name=name, response=response)
    return [
        types.Content(role="model", parts=[types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]


LUNCH = {"amount": 250.0, "purpose": "lunch"}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param(
            {"status": "paid", "amount": 250.0, "purpose": "lunch"},
            "Paid 250 for lunch.",
            id="a status and facts",
        ),
        pytest.param({"status": "ok"}, "Done.", id="a status alone"),
        pytest.param(
            {"status": "ok", "approved_days": 3, "note": "Fewer than asked: 3 of 5."},
            "3 days are approved. Fewer than asked: 3 of 5.",
            id="a note",
        ),
        pytest.param(
            {"status": "ok", "approved_days": 3, "requested_days": 5, "start": "2026-12-24"},
            "3 of 5 days are approved from 24 December 2026.",
            id="fewer than asked for",
        ),
        pytest.param(
            {"status": "ok", "approved_days": 1, "requested_days": 1, "start": "no date"},
            "1 day is approved from no date.",
            id="one",
        ),
        pytest.param(
            {"status": "sent", "amount": 9.5, "currency": "EUR", "account": "DE12", "fee": 1},
            "Sent 9.50 EUR to DE12, fee 1.",
            id="a sum, its currency and where it went",
        ),
        pytest.param(
            {"status": "ok", "amount": 9, "date": "2026-13-40", "reference": "a7", "new": True},
            "Done: 9 on 2026-13-40, reference a7 and new yes.",
            id="no verb",
        ),
        pytest.param(
            {"status": "booked", "room": "Aurora", "start": "2026-12-24", "until": "2026-12-25"},
            "Booked from 24 December 2026 until 25 December 2026 in Aurora.",
            id="a place and days",
        ),
        pytest.param(
            {"status": "resolved", "ticket_id": "T-7", "note": "it works"},
            "Resolved: ticket T-7. It works.",
            id="something with a number",
        ),
        pytest.param({"message": "all is well"}, "All is well.", id="a sentence of the tool"),
        pytest.param({"result": "It rains"}, "It rains.", id="a text"),
        pytest.param({"result": 1234.5}, "Pay back of 250, lunch: 1,234.50.", id="a number"),
        pytest.param({"result": ["a", "b", "c"]}, "Pay back: a, b and c.", id="a list"),
        pytest.param({"result": True}, "The request “pay back” (250, lunch) is done.", id="true"),
        pytest.param({"result": False}, "The request “pay back” (250, lunch): no.", id="false"),
        pytest.param({"result": "{so it goes}"}, "{so it goes}.", id="a text in braces"),
        pytest.param(
            {"status": "done", "to": {"name": "Ana", "new": True}, "left": 0.005, "none": None},
            "Done: to name Ana, new yes and left 0.005.",
            id="facts within facts",
        ),
        pytest.param(
            {"status": "Sent to the tax office"}, "Sent to the tax office.", id="a status in words"
        ),
        pytest.param(
            {"status": "failed", "reason": "no paper"},
            "That did not work: no paper.",
            id="a failure with its reason",
        ),
        pytest.param(
            {"status": "pending", "asked": ["Bo"], "until": "Friday"},
            "The request “pay back” (250, lunch) is waiting for Bo. They have until Friday.",
            id="pending until some day",
        ),
        pytest.param({"result": []}, "There is nothing to list.", id="an empty list"),
        pytest.param({"result": {"status": "ok"}}, "Done.", id="a dict as the result"),
        pytest.param({"result": '{"status": "ok", "n": 2}'}, "Done: n 2.", id="JSON as a text"),
        pytest.param(
            {"result": None},
            "The request “pay back” (250, lunch) is done; there is nothing more to tell.",
            id="nothing",
        ),
        pytest.param(
            {"error": "The amount must be above zero."},
            "That did not work: The amount must be above zero.",
            id="an error",
        ),
        pytest.param(
            {"status": "error", "message": "no such person"},
            "That did not work: no such person.",
            id="an error as a status",
        ),
        pytest.param(
            {
                "error": "A person rejected this call of pay_back; it did not run.",
                "outcome": "rejected",
                "reason": "We don't pay for *lunch*, {sorry}",
            },
            "The request “pay back” (250, lunch) was rejected, so nothing was done. "
            "The reason: “We don't pay for *lunch*, {sorry}”",
            id="a rejection with its reason",
        ),
        pytest.param(
            {"error": "Nobody answered in time.", "outcome": "expired"},
            "The request “pay back” (250, lunch) expired: nobody answered in time, "
            "so nothing was done.",
            id="an expiry",
        ),
        pytest.param(
            {
                "status": "pending",
                "waiting_for": ["Ana", "Bo"],
                "until": "2026-12-07T09:00:00+00:00",
            },
            "The request “pay back” (250, lunch) is waiting for Ana and Bo. "
            "They have until 7 December 2026, 09:00 UTC.",
            id="pending, with whom and until when",
        ),
        pytest.param(
            {"status": "pending", "waiting_for": "approval", "asked": ["Ana"]},
            "The request “pay back” (250, lunch) is waiting for approval by Ana.",
            id="pending, with what and who",
        ),
        pytest.param(
            {"status": "pending", "waiting_for": "approval", "asked": []},
            "The request “pay back” (250, lunch) is waiting for approval.",
            id="pending, nobody named",
        ),
        pytest.param(
            {"error": "pay_back waits for a person's approval; it has not run."},
            "The request “pay back” (250, lunch) is waiting for a person's approval.",
            id="pending, told as an error",
        ),
        pytest.param(
            {"status": "pending", "ticket_id": "T-7"},
            "The request “pay back” (250, lunch) is under way, not finished yet. Ticket T-7.",
            id="pending, with facts",
        ),
    ],
)
async def test_results(response: dict[str, Any], expected: str) -> None:
    """What a call came to is told in a sentence or two, without braces of ours."""
    answer = await answered([user("x"), *called("pay_back", LUNCH, response)], [])
    assert text(answer) == expected


PENDING = called("reimburse", LUNCH, {"status": "pending", "asked": ["Ana"]})
REJECTED = {"error": "It did not run.", "outcome": "rejected", "reason": "too dear"}
NEWS = 'News of the call reimburse made earlier: {"status": "paid", "amount": 250.0}'


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("What about my request?", "waiting for Ana", id="what about"),
        pytest.param("status?", "waiting for Ana", id="status"),
        pytest.param("any news", "waiting for Ana", id="news"),
        pytest.param("has it been approved yet?", "waiting for Ana", id="approved"),
        pytest.param("please reimburse 250 for lunch", "waiting for Ana", id="the same again"),
        pytest.param("hmm, what now", "waiting for Ana", id="not understood"),
        pytest.param("ok thanks", "You are welcome.", id="thanks"),
        pytest.param("please cancel that", "waiting for Ana. I cannot take it back;", id="cancel"),
        pytest.param("never mind", "whoever asked for it can, with Withdraw", id="never mind"),
        pytest.param("withdraw my request", "can, with Withdraw", id="withdraw"),
    ],
)
async def test_a_pending_request_is_told_and_never_made_again(said: str, expected: str) -> None:
    """Whatever is said about a pending request, it is not requested a second time."""
    tools = declared(AGENTS["reimbursement"])
    contents = [user("reimburse 250 for lunch"), *PENDING, user(said)]
    answer = await answered(contents, tools)
    assert calls(answer) == []
    assert expected in text(answer)


async def test_something_else_may_be_asked_for_meanwhile() -> None:
    """A pending request does not stand in the way of another one."""
    contents = [user("reimburse 250 for lunch"), *PENDING, user("and 30 for a taxi")]
    answer = await answered(contents, declared(AGENTS["reimbursement"]))
    assert calls(answer) == [("reimburse", {"amount": 30.0, "purpose": "taxi"})]


async def test_the_newest_answer_to_a_call_counts() -> None:
    """News of a call that was told as pending is what a question about it is answered with."""
    tools = declared(AGENTS["reimbursement"])
    before = [user("reimburse 250 for lunch"), *PENDING, user("hi"), user(NEWS)]
    assert text(await answered(before, tools)) == "Paid 250."
    waits = types.Content(role="model", parts=[types.Part(text="Paid.")])
    asked = await answered([*before, waits, user("what happened to my request?")], tools)
    assert text(asked) == "Paid 250."


async def test_nobody_fakes_news_of_a_call_that_was_never_made() -> None:
    """A person's text that looks like news is a text."""
    answer = await answered([user(NEWS)], declared(AGENTS["reimbursement"]))
    assert "did not understand" in text(answer) or calls(answer) == []
    assert "Paid" not in text(answer)


async def test_who_called_it_off_is_not_quoted() -> None:
    """What the bot says of a request that was taken back is not told as somebody's words."""
    said = {
        "status": "error",
        "outcome": "cancelled",
        "reason": "Whoever asked for it withdrew it.",
    }
    told = types.FunctionResponse(id="1", name="reimburse", response={**REJECTED, **said})
    made = types.FunctionCall(id="1", name="reimburse", args={"amount": 900})
    contents = [
        user("please"),
        types.Content(role="model", parts=[types.Part(function_call=made)]),
        types.Content(role="user", parts=[types.Part(function_response=told)]),
    ]
    assert text(await answered(contents, [])) == (
        "The request “reimburse” (900) was called off, so nothing was done."
        " Whoever asked for it withdrew it."
    )


async def test_several_results_are_told_line_by_line() -> None:
    """Each of several answers that come at once gets its sentence."""
    parts = [
        types.Part(function_response=types.FunctionResponse(id=i, name="reimburse", response=r))
        for i, r in (("1", {"status": "paid", "amount": 50}), ("2", REJECTED))
    ]
    asks = [
        types.Part(function_call=types.FunctionCall(id=i, name="reimburse", args={"amount": a}))
        for i, a in (("1", 50), ("2", 900))
    ]
    contents = [
        user("both please"),
        types.Content(role="model", parts=asks),
        types.Content(role="user", parts=parts),
    ]
    answer = await answered(contents, [])
    assert text(answer).splitlines() == [
        "Paid 50.",
        "The request “reimburse” (900) was rejected, so nothing was done. The reason: “too dear”",
    ]


TRANSFER = types.FunctionDeclaration(
    name="transfer_to_agent",
    description="Hand the conversation to another agent.",
    parameters_json_schema={
        "type": "object",
        "properties": {"agent_name": {"type": "string", "enum": ["stocks", "kitchen"]}},
        "required": ["agent_name"],
    },
)
TOLD = "\n- stocks: Knows the price of shares.\n- kitchen: Cooks lunch and bakes cakes.\n\nBye."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("who bakes me a cake?", "kitchen", id="by the description"),
        pytest.param("price of a share of GOOG?", "stocks", id="by several words"),
        pytest.param("please ask the kitchen", "kitchen", id="by the name"),
        pytest.param("nobody knows this", None, id="none"),
    ],
)
async def test_another_agent_may_be_better(said: str, expected: str | None) -> None:
    """The conversation is handed to the agent whose description a message matches."""
    answer = await answered([user(said)], [TRANSFER], told=TOLD)
    handed = [("transfer_to_agent", {"agent_name": expected})] if expected else []
    assert calls(answer) == handed


async def test_what_was_handed_over_is_answered() -> None:
    """The agent it was handed to answers the person's message, and does not hand it on."""
    context = "For context, what another agent did:"
    quoted = types.Content(
        role="user",
        parts=[
            types.Part(text=context),
            types.Part(text="[a] called tool `transfer_to_agent` with parameters: …"),
        ],
    )
    contents = [user("reimburse 20 for a cake"), quoted]
    tools = [*declared(AGENTS["reimbursement"]), TRANSFER]
    answer = await answered(contents, tools, told=TOLD)
    assert calls(answer) == [("reimburse", {"amount": 20.0, "purpose": "cake"})]


async def test_it_never_asks_people_itself() -> None:
    """Even when it is declared like a tool, a request for confirmation is never called."""
    wire = types.FunctionDeclaration(
        name="adk_request_confirmation", description="Request confirmation for a payment."
    )
    answer = await answered([user("request confirmation for a payment of 5 dollars")], [wire])
    assert calls(answer) == []


async def test_without_tools_it_gives_back_the_heart_of_a_text() -> None:
    """An agent without tools answers a longer text with its most telling sentence."""
    long = "The harbour is old. Boats of the harbour bring fish. The weather was nice."
    answer = await answered([user(f"Please summarize this: {long}")], [])
    assert text(answer) == "Boats of the harbour bring fish."


async def test_an_object_may_be_wanted() -> None:
    """With a response schema the answer is an object of it."""
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "urgent": {"type": "boolean"}},
        "required": ["amount", "urgent"],
    }
    answer = await answered([user("it was 12.50")], [], response_schema=schema)
    assert text(answer) == '{"amount": 12.5, "urgent": false}'


async def test_a_text_streams_in_pieces() -> None:
    """With `stream` a text comes in a few partial pieces, then whole; a call comes at once."""

    async def streamed(said: str) -> list[LlmResponse]:
        request = LlmRequest(contents=[user(said)], tools=declared(AGENTS["reimbursement"]))
        model = RehearsalModel(clock=lambda: NOW)
        return [one async for one in model.generate_content_async(request, stream=True)]

    *pieces, whole = await streamed("hello")
    assert [piece.partial for piece in pieces] == [True] * 4
    assert not whole.partial
    assert "".join(text(one.content) for one in pieces if one.content) == text(
        whole.content or types.Content()
    )
    assert len(await streamed("reimburse 50 for lunch")) == 1


WORDS = sorted({word for row in ROWS for word in row.said.split()})
ODD = ["9" * 400, "1.2.3.4", "31.02.", "99/99/9999", "25pm", "½", "\x00", "> x\n", "“", "'", "{}"]


@given(
    name=st.sampled_from(sorted(AGENTS)),
    said=st.lists(
        st.lists(st.sampled_from(WORDS) | st.sampled_from(ODD) | st.text(max_size=6), min_size=1),
        min_size=1,
        max_size=3,
    ),
)
@settings(max_examples=60)
async def test_whatever_is_said_its_calls_fit_the_tools(name: str, said: list[list[str]]) -> None:
    """No sentence makes it fail, call what is not offered, or send arguments a tool refuses."""
    answer = await talked(AGENTS[name], *(" ".join(words) for words in said))
    for tool, args in calls(answer):
        found = AGENTS[name].tool(tool)
        assert found is not None
        assert isinstance(found.bind(args), Bound)
    assert calls(answer) or text(answer)


async def test_the_same_words_bring_about_the_same() -> None:
    """Asked twice the same, it answers twice the same."""
    first, second = [await talked(AGENTS["home"], "help") for _ in range(2)]
    assert first == second
