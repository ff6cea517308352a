"""Hooks: who is asked, in which order, and what their answers do."""

import pytest

from agents import Agent, LlmResponse, ModelError
from agents.runtime.hooks import Hooks, Plugin
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts
from tests.agents.samples import content


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


def reply(text: str) -> LlmResponse:
    """A model's words."""
    return LlmResponse(content=content(text, role="model"))


class Watching(Plugin):
    """Notes what it is asked, and answers some."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __getattribute__(self, name: str):
        if not name.endswith("_callback"):
            return super().__getattribute__(name)

        async def hook(**told: object) -> object:
            self.asked.append(f"{name} {' '.join(sorted(told))}")
            return self.answers.get(name)

        return hook


async def test_the_order():
    """Plugins come first, then the agent's own one by one; the first answer counts."""
    seen: list[str] = []

    def note(name: str, answer: object = None):
        def hook(**_told: object) -> object:
            seen.append(name)
            return answer

        return hook

    agent = Agent(name="a", before_tool_callback=[note("own"), note("last", {"x": 1}), note("no")])
    hooks = Hooks([Watching(), Plugin()], agent)
    told = {"tool": None, "args": {}, "tool_context": None}
    assert await hooks.tool("before_tool_callback", told) == {"x": 1}
    assert seen == ["own", "last"]
    answering = Hooks([Watching(before_tool_callback={"y": 2})], agent)
    assert await answering.tool("before_tool_callback", told) == {"y": 2}


async def test_what_plugins_are_told():
    """A plugin hears of each step, in its own words."""
    watching = Watching()
    at = await Desk(
        Agent(name="root", tools=[pay]), [call("pay", amount=1), "Paid."], plugins=[watching]
    ).open()
    await at.say()
    assert watching.asked[:4] == [
        "before_model_callback callback_context llm_request",
        "after_model_callback callback_context llm_response",
        "before_tool_callback tool tool_args tool_context",
        "after_tool_callback result tool tool_args tool_context",
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, ([{"paid": 1}], ["Paid."]), id="none"),
        pytest.param(
            {"before_tool_callback": lambda **_: {"instead": 1}},
            ([{"instead": 1}], ["Paid."]),
            id="in a tool's place",
        ),
        pytest.param(
            {"after_tool_callback": lambda tool_response, **_: {**tool_response, "more": 1}},
            ([{"paid": 1, "more": 1}], ["Paid."]),
            id="another result",
        ),
        pytest.param(
            {"before_tool_callback": lambda args, **_: args.update(amount=7)},
            ([{"paid": 7}], ["Paid."]),
            id="other arguments",
        ),
        pytest.param(
            {"before_model_callback": lambda **_: reply("Closed.")}, ([], ["Closed."]), id="closed"
        ),
        pytest.param(
            {"after_model_callback": lambda **_: reply("Sorry.")}, ([], ["Sorry."]), id="censored"
        ),
    ],
)
async def test_what_hooks_do(fields, expected):
    """A hook may answer a step, or change what goes in."""
    agent = Agent(name="root", tools=[pay], **fields)
    at = await Desk(agent, [call("pay", amount=1), "Paid."]).open()
    events = await at.say()
    assert (results(events), texts(events)) == expected


@pytest.mark.parametrize("mended", [False, True])
async def test_a_model_that_fails(mended: bool):
    """A hook may answer for a model that failed; else the run ends with the error."""
    fields = {"on_model_error_callback": lambda **_: reply("Try later.")} if mended else {}
    at = await Desk(Agent(name="root", **fields), [ModelError("refused")]).open()
    if mended:
        assert texts(await at.say()) == ["Try later."]
        return
    with pytest.raises(ModelError, match="refused"):
        await at.say()
    assert [e.error_code for e in (await at.session()).events] == [None, "ModelError"]


async def test_a_hook_changes_state():
    """What a model hook writes is stored with the reply."""

    def count(callback_context, **_told: object) -> None:
        callback_context.state["asked"] = callback_context.state.get("asked", 0) + 1

    at = await Desk(Agent(name="root", before_model_callback=count), ["Hi.", "Hi again."]).open()
    await at.say()
    await at.say()
    assert (await at.session()).state == {"asked": 2}
