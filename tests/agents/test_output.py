"""Answers that are to fit a schema: who is told of it, what is stored, and what does not fit."""

import json

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from agents import Agent, AgentTool, UsageError
from agents.runtime.output import fitted
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts


class Capital(BaseModel):
    """A capital."""

    capital: str
    people: int | None = None


def look(city: str) -> str:
    """Look."""
    return city


KID = Agent(name="kid", output_schema=Capital, tools=[look])
PARIS = '{"capital": "Paris"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PARIS, {"capital": "Paris"}, id="JSON"),
        pytest.param(f"```json\n{PARIS}\n```", {"capital": "Paris"}, id="in a block"),
        pytest.param(f"\n```\n{PARIS}\n```\n", {"capital": "Paris"}, id="in a block of no kind"),
        pytest.param('{"capital": "A", "people": 3}', {"capital": "A", "people": 3}, id="all"),
        pytest.param("Paris", None, id="words"),
        pytest.param("{}", None, id="something missing"),
        pytest.param(f"Here: {PARIS}", None, id="words before it"),
    ],
)
def test_what_fits(text, expected):
    """An object of the schema, alone or in a fenced block."""
    if expected is None:
        with pytest.raises(ValidationError):
            fitted(Capital, text)
    else:
        assert fitted(Capital, text) == expected


@pytest.mark.parametrize(
    ("reply", "state", "code"),
    [
        pytest.param(PARIS, {"k": {"capital": "Paris"}}, None, id="it fits"),
        pytest.param("It is Paris.", {}, "OUTPUT_MISFIT", id="it does not fit"),
    ],
)
async def test_an_answer_is_stored_as_what_it_says(reply, state, code):
    """One that does not fit is an error, and nothing is stored under the key."""
    agent = Agent(name="root", output_schema=Capital, output_key="k")
    at = await Desk(agent, [reply, "{}"]).open()
    (event,) = await at.say()
    assert ((await at.session()).state, event.error_code) == (state, code)
    assert [*event.texts()] == [reply]
    assert at.model.requests[0].response_schema == Capital.model_json_schema()


async def test_what_comes_before_the_answer_need_not_fit():
    """Words beside a call are no answer."""
    beside = [types.Part(text="One moment."), call("look", city="Paris")]
    agent = Agent(name="root", output_schema=Capital, output_key="k", tools=[look])
    at = await Desk(agent, [beside, PARIS]).open()
    events = await at.say()
    assert [event.error_code for event in events] == [None, None, None]
    assert (await at.session()).state == {"k": {"capital": "Paris"}}


TOLD = [
    pytest.param({}, 0, False, id="no tools: the provider holds it to the schema"),
    pytest.param({"tools": [look]}, 0, True, id="tools"),
    pytest.param({"sub_agents": [Agent(name="other")]}, 0, True, id="sub-agents"),
]


@pytest.mark.parametrize(("fields", "asked", "expected"), TOLD)
async def test_who_may_call_something_is_told_of_the_schema(fields, asked, expected):
    """A provider takes a schema only where nothing can be called."""
    at = await Desk(Agent(name="root", output_schema=Capital, **fields), [PARIS]).open()
    await at.say()
    told = at.model.requests[asked].system_instruction
    assert (json.dumps(Capital.model_json_schema()) in told) == expected


async def test_a_nested_agent_with_tools_is_told_too():
    """And its caller reads the object."""
    agent = Agent(name="root", tools=[AgentTool(KID)])
    at = await Desk(agent, [call("kid", request="x"), PARIS, "Done."]).open()
    events = await at.say()
    assert "capital" in at.model.requests[1].system_instruction
    assert (results(events), texts(events)) == ([{"capital": "Paris"}], ["Done."])


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        pytest.param(
            {"generate_content_config": types.GenerateContentConfig(tools=[types.Tool()])},
            "use tools",
            id="tools in the config",
        ),
        pytest.param(
            {"generate_content_config": types.GenerateContentConfig(system_instruction="x")},
            "use instruction",
            id="an instruction in the config",
        ),
        pytest.param(
            {"generate_content_config": types.GenerateContentConfig(response_schema=Capital)},
            "use output_schema",
            id="a schema in the config",
        ),
        pytest.param(
            {"generate_content_config": types.GenerateContentConfig(response_json_schema={"a": 1})},
            "use output_schema",
            id="a JSON schema in the config",
        ),
        pytest.param({"output_schema": dict}, "pydantic", id="a schema that is none"),
        pytest.param({"output_schema": Capital(capital="x")}, "pydantic", id="an instance"),
        pytest.param({"input_schema": "Capital"}, "pydantic", id="a name"),
    ],
)
def test_what_an_agent_refuses(fields, match):
    """Nothing is said twice, and nothing is dropped in silence."""
    with pytest.raises(UsageError, match=match):
        Agent(name="root", **fields)
