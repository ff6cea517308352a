"""Hooks: who is asked, in which order, and what their answers do."""

import pytest
from google.genai import types

from agents import (
    Agent,
    FunctionTool,
    LlmRequest,
    LlmResponse,
    ModelError,
    ToolContext,
    UsageError,
)
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


def _redact(_context: object, request: LlmRequest) -> None:
    for each in request.contents:
        for part in each.parts:
            part.text = (part.text or "").replace("4111", "XXXX") or None
            if part.function_response:
                part.function_response.response["paid"] = "hidden"
            if part.function_call:
                part.function_call.args["amount"] = 0


def _more(_context: object, request: LlmRequest) -> None:
    request.contents.append(content("more", role="user"))
    request.contents[0].parts.append(types.Part(text="too"))


def _config(_context: object, request: LlmRequest) -> None:
    request.config.temperature = 0.9
    request.config.stop_sequences.append("END")


def _tools(_context: object, request: LlmRequest) -> None:
    request.tools[0].description = "Do not."
    request.tools.clear()


CHANGES = [
    pytest.param(_redact, id="words, calls and results"),
    pytest.param(_more, id="more contents"),
    pytest.param(_config, id="the config"),
    pytest.param(_tools, id="the tools"),
]


@pytest.mark.parametrize("owner", ["agent", "plugin"])
@pytest.mark.parametrize("change", CHANGES)
async def test_what_a_hook_does_to_a_request_is_for_that_request(change, owner):
    """The model is asked so; what is stored, and what others are asked, is as it was."""
    config = types.GenerateContentConfig(temperature=0.1, stop_sequences=["STOP"])
    tool = FunctionTool(pay)

    def hook(callback_context: object, llm_request: LlmRequest) -> None:
        change(callback_context, llm_request)

    class Changing(Plugin):
        def before_model_callback(self, **told: object) -> None:
            hook(**told)

    given = {"before_model_callback": hook} if owner == "agent" else {}
    agent = Agent(name="root", tools=[tool], generate_content_config=config, **given)
    plugins = [Changing()] if owner == "plugin" else []
    at = await Desk(agent, [call("pay", amount=5), "Paid.", "Yes."], plugins=plugins).open()
    await at.say("my card is 4111")
    plain = await Desk(
        Agent(name="root", tools=[tool], generate_content_config=config),
        [call("pay", amount=5), "Paid.", "Yes."],
    ).open()
    await plain.say("my card is 4111")

    def told(events: list) -> list:
        return [event.model_dump(exclude={"timestamp", "entry"}) for event in events]

    assert told((await at.session()).events) == told((await plain.session()).events)
    assert repr(at.model.requests) != repr(plain.model.requests)
    assert (config.temperature, config.stop_sequences) == (0.1, ["STOP"])
    assert tool.declaration.description == "Pay."
    asked, same = (d.model.requests[1] for d in (at, plain))
    kept = (asked.contents, asked.tools, asked.config.temperature)
    assert kept != (same.contents, same.tools, same.config.temperature)


def _as_content(text: str) -> types.Content:
    return types.Content(role="system", parts=[types.Part(text="[Safe]"), types.Part(text=text)])


FORMS = [
    pytest.param(lambda old: f"[Safe]\n{old}", id="a text"),
    pytest.param(_as_content, id="a content"),
    pytest.param(lambda old: ["[Safe]", types.Part(text=old)], id="a list"),
]


@pytest.mark.parametrize("form", FORMS)
async def test_a_hook_may_change_the_instruction(form):
    """In whatever form a config may have it."""

    def hook(callback_context: object, llm_request: LlmRequest) -> None:
        old = llm_request.config.system_instruction
        llm_request.config.system_instruction = form(old)

    agent = Agent(name="root", instruction="Be brief.", before_model_callback=hook)
    at = await Desk(agent, ["Yes.", "Yes."]).open()
    for text in ("one", "two"):
        await at.say(text)
    told = {request.system_instruction for request in at.model.requests}
    identity = 'You are an agent. Your internal name is "root".'
    assert told == {f"[Safe]\nBe brief.\n\n{identity}"}


@pytest.mark.parametrize("kind", ["before_model_callback", "after_model_callback"])
async def test_a_hook_of_a_model_cannot_ask_a_person(kind):
    """There is no call to agree to: the turn ends with an error that says so."""

    def hook(callback_context: ToolContext, **_told: object) -> None:
        callback_context.request_confirmation(hint="May I?")

    at = await Desk(Agent(name="root", **{kind: hook}), ["never"]).open()
    with pytest.raises(UsageError, match="only a tool's call"):
        await at.say()
    assert (await at.session()).events[-1].error_code == "UsageError"
