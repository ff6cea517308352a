"""What people report about function tools elsewhere: each report and the test that holds it off."""

from pathlib import Path

import pytest
from google.genai import types
from pydantic import BaseModel

from agents import (
    Agent,
    AnswerError,
    FunctionTool,
    LongRunningFunctionTool,
    SessionKey,
    SessionService,
    ToolConfirmation,
    ToolContext,
)
from agents.runtime.outcome import request_part
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts
from tests.agents.samples import spoke

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "conformance"
ADK, JAVA, GO, JS = "google/adk-python", "google/adk-java", "google/adk-go", "google/adk-js"

REPORTS = {
    f"{ADK}#7010 a predicate without an answer": "109",
    f"{ADK}#7148 declining is not enforced": "test_reports.py::test_a_tool_of_its_own_kind",
    f"{JAVA}#1389 a forged request": "test_reports.py::test_a_forged_question",
    "assistant-ui#5901 answering the gated call itself": "125",
    "pydantic-ai#6968 people see the raw arguments": "test_reports.py::test_what_people_see",
    f"{ADK}#4327 the predicate's arguments": "106",
    f"{GO}#1538 a second question": "126",
    f"{GO}#1120 the same approval twice": "test_runner.py::test_the_same_answer_twice_at_once",
    f"{ADK}#5049 invalid arguments are put before people": "129",
    "langchain4j-demo#265 approved after a rejection": "122",
    f"{ADK}#6099 who approved": "test_story.py::test_who_decided",
    f"{ADK}#7076 a call that a caller wrote": "test_reports.py::test_a_call_nobody_made",
    f"{ADK}#640 what is open": "test_reports.py::test_what_is_open",
    f"{ADK}#6732 siblings across a pause": "119",
    "mastra#19435 only the first can be answered": "118",
    f"{GO}#1181 a late result reads as old": "087",
    f"{JAVA}#632 several updates of one call": "079",
    "vercel/ai#12709 the text yes": "153",
    "assistant-ui#5046 after a reload": "test_runner.py::test_runners_in_two_places",
    f"{ADK}#7245 a pause in an AgentTool": "test_agent_tool.py::test_a_question_from_any_depth",
    f"{ADK}#3649 the answer for a sub-agent": "204",
    f"{ADK}#5349 a second long-running call": "094",
    f"{ADK}#5064 ids while streaming": "test_runner.py::test_ids_while_streaming",
    f"{ADK}#3567 an invocation id": "091",
    f"{ADK}#7108 the rest of a batch after a crash": "test_steps.py::test_next_step",
    "kagent#2751 a client that stops reading": "201",
    f"{ADK}#1050 going on without a message": "test_interrupted.py::test_interrupted",
    f"{ADK}#4700 an answer that wants no reply": "test_runner.py::test_quiet_news",
    f"{ADK}#6914 unanswered calls": "076",
    "google/adk-docs#881 captured once": "test_programs.py::test_human_in_the_loop",
    f"{ADK}#1733 two runs at once": "test_runner.py::test_two_runs_at_once",
    f"{ADK}#3717 a long-running call in a store": "test_reports.py::test_news_in_a_store",
    f"{ADK}#453 events out of order": "test_sessions.py::test_get",
    f"{ADK}#2457 a result without a JSON form": "045",
    "AP2#129 a model in the state": "test_reports.py::test_a_model_in_the_state",
    f"{ADK}#5763 state_delta": "056",
    f"{ADK}#1153 the state of parallel calls": "171",
    f"{ADK}#5590 output_key and the text before a call": "058",
    f"{ADK}#3758 output_key and who answered": "test_reports.py::test_output_key_is_ones_own",
    f"{ADK}#4606 braces": "test_instruction.py::test_fill",
    "python-sdk#226 descriptions of parameters": (
        "test_declarations.py::test_args_section_describes_parameters"
    ),
    f"{ADK}#4798 required beside complex types": "005",
    f"{ADK}#55 unions": "002",
    f"{ADK}#551 a description beside the context": "007",
    f"{ADK}#1066 defaults, lists, models": "004",
    "openai-agents-python#4107 odd signatures": "009",
    f"{ADK}#408 a missing argument": "022",
    f"{ADK}#4777 an invalid argument": "031",
    f"{ADK}#5799 unions of models": "030",
    "openai-agents-python#4674 keys named like the variadic": "027",
    f"{ADK}#1014 invented arguments": "026",
    f"{ADK}#4005 an unknown tool": "036",
    f"{ADK}#3736 a transfer to nobody": "182",
    f"{ADK}#3504 an interrupted call": "test_properties.py::test_a_cut_changes_nothing",
    f"{GO}#760 an orphan": "test_history.py::test_contents",
    "a dynamic question alone, or beside another call": "110",
    "one message with both kinds of answers": "144",
    "a question in a long-running tool": "127",
    "results that are false": "074",
    "a renamed agent": "137",
    "a removed tool": "136",
    "a malformed answer": "113",
    "an answer without an id": "083",
    "a Field as default": "033",
    "two tools of one name": "197",
    "a schema that an AgentTool breaks": "165",
    "a hook that changes what was approved": "147",
    "temp: across a pause": "133",
    "history before and after a restart": "037",
}
"""Not here: who may approve is the bot's (tests/bot/approvals/test_policy.py), and there are no
sequential or self-written agents whose flow could lose a pause."""


@pytest.mark.parametrize("test", REPORTS.values(), ids=REPORTS)
def test_a_report_is_held_off(test: str):
    """The recorded case, or the test, that a report is held off by is there."""
    if test.isdigit():
        assert [*CASES.glob(f"cases/{test}-*.json"), *CASES.glob(f"more/{test}-*.json")]
        return
    file, name = test.split("::")
    assert f"def {name}(" in (ROOT / "tests" / "agents" / file).read_text()


def pay(amount: int, currency: str = "USD") -> dict[str, object]:
    """Pay."""
    return {"paid": amount, "in": currency}


GATED = FunctionTool(pay, require_confirmation=True)


async def opened(*tools: object, replies=(), **options: object) -> Desk:
    """A session of an agent with these tools."""
    return await Desk(Agent(name="root", tools=tools), replies, **options).open()


async def test_a_tool_of_its_own_kind():
    """A tool whose own check changes its mind does not run what was declined."""

    class Fickle(FunctionTool):
        """Asks once."""

        asked = 0

        async def needs_confirmation(self, bound, tool_context) -> bool:
            """Yes, then no."""
            self.asked += 1
            return self.asked == 1

    at = await opened(Fickle(pay), replies=[call("pay", amount=5), "No."])
    await at.say()
    assert "rejected" in results(await at.answer(False))[0]["error"]


@pytest.mark.parametrize("author", ["user", "root", "peer"])
async def test_a_forged_question(author: str):
    """Only a question that the runtime asked can be answered."""
    at = await opened(GATED)
    wire = types.FunctionCall(id="1-0", name="pay", args={"amount": 9})
    forged = request_part("2-0", call=wire, question=ToolConfirmation())
    made = spoke("1-0 pay")
    question = made.model_copy(
        update={"author": author, "content": types.Content(role="model", parts=[forged])}
    )
    session = await at.session()
    for event in (made, question):
        await at.service.append_event(session, event)
    at.asked = ["2-0"]
    with pytest.raises(AnswerError):
        await at.answer()


async def test_what_people_see():
    """A question holds the call as it will run: coerced, defaults filled in, nothing invented."""
    at = await opened(GATED, replies=[call("pay", amount=5.0, extra=1), "Paid."])
    asked = next(e for e in await at.say() if e.questions)
    (question,) = asked.questions.values()
    assert question.args == {"amount": 5, "currency": "USD"}
    assert results(await at.answer()) == [{"paid": 5, "in": "USD"}]


async def test_a_call_nobody_made():
    """A call in a person's event is not a call: nothing runs."""
    at = await opened(pay)
    session = await at.session()
    await at.service.append_event(session, spoke("1-0 pay", agent="user"))
    assert await at.send() == []


async def test_what_is_open(service: SessionService):
    """What a session waits for can be asked of its store."""
    at = await opened(GATED, replies=[call("pay", amount=5)], service=service)
    await at.say()
    view = await service.slot.read(SessionKey("root", "ann", "s"))
    assert {cid: (c.kind, c.request) for cid, c in view.open.items()} == {
        "2-0": ("approval", at.asked[0])
    }


async def test_news_in_a_store(service: SessionService):
    """A long-running call is answered in any store, as often as there is news."""

    def work() -> None:
        """Work."""

    at = await opened(
        LongRunningFunctionTool(work), replies=[call("work"), "Half.", "Done."], service=service
    )
    await at.say()
    said = [texts(await at.news("2-0", percent=percent)) for percent in (50, 100)]
    assert said == [["Half."], ["Done."]]


class Cart(BaseModel):
    """What is in a cart."""

    items: list[str] = []


async def test_a_model_in_the_state(service: SessionService):
    """A model in the state is stored as an object."""

    def fill(tool_context: ToolContext) -> None:
        """Fill the cart."""
        tool_context.state["cart"] = Cart(items=["tea"])

    at = await opened(fill, replies=[call("fill"), "Full."], service=service)
    await at.say()
    assert (await at.session()).state == {"cart": {"items": ["tea"]}}


async def test_output_key_is_ones_own():
    """An agent's key holds its own final text, not that of whom it handed over to."""
    child = Agent(name="child", output_key="child")
    root = Agent(name="root", output_key="root", sub_agents=[child])
    hand = call("transfer_to_agent", agent_name="child")
    at = await Desk(root, [hand, "From the child."]).open()
    await at.say()
    assert (await at.session()).state == {"child": "From the child."}
