"""What a model refuses to read ends one turn: the next ones read that turn in words alone."""

from collections.abc import AsyncIterator, Callable

import pytest
from google.genai import types

from agents import Agent, LlmRequest, LlmResponse
from agents.runtime.errors import RequestRefused
from agents.runtime.history import IN_WORDS
from tests.agents.desk import Desk, texts, told

STRANGE = types.Part(inline_data=types.Blob(mime_type="image/x-strange", data=b"x"))
FILE = types.Part(file_data=types.FileData(mime_type="video/x-strange", file_uri="gs://b/f"))
Refuses = Callable[[types.Part], bool]


def medium(part: types.Part) -> bool:
    """Whether a part is a picture or a file."""
    return bool(part.inline_data or part.file_data)


def called(part: types.Part) -> bool:
    """Whether a part is a call of a tool, or its result."""
    return bool(part.function_call or part.function_response)


class Strict:
    """A model that refuses every request with a part of some kind; it does what it is told."""

    def __init__(self, refuses: Refuses, *, after: int = 0) -> None:
        """Begin to refuse after so many requests."""
        self.refuses = refuses
        self.after = after
        self.requests: list[LlmRequest] = []

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Call `look` where it is asked to look, else say something."""
        self.requests.append(request)
        parts = [part for each in request.contents for part in each.parts or []]
        if len(self.requests) > self.after and any(map(self.refuses, parts)):
            raise RequestRefused("400 INVALID_ARGUMENT: Unsupported MIME type")
        asked = parts[-1].text == "look"
        call = types.Part(function_call=types.FunctionCall(name="look", args={}))
        said = call if asked else types.Part(text="Fine.")
        yield LlmResponse(content=types.Content(role="model", parts=[said]))


@pytest.mark.parametrize(
    ("brought", "said", "refuses", "line"),
    [
        pytest.param(STRANGE, None, medium, "user: [image/x-strange, not shown]", id="a picture"),
        pytest.param(FILE, None, medium, "user: [video/x-strange, not shown]", id="a file"),
        pytest.param({"paid": 7}, None, called, 'result of look: {"paid": 7}', id="a result"),
        pytest.param(None, STRANGE, medium, "user: [image/x-strange, not shown]", id="of a person"),
    ],
)
async def test_one_turn_ends_and_no_other(brought, said, refuses: Refuses, line: str):
    """What was said and done in it is still known, in words."""

    async def look() -> object:
        """Look."""
        return brought

    at = await Desk(Agent(name="root", tools=[look]), Strict(refuses)).open()
    with pytest.raises(RequestRefused):
        await (at.send(types.Part(text="see"), said) if said else at.say("look"))
    for words in ("hello again", "and again"):
        assert texts(await at.say(words)) == ["Fine."]
    first, *_ = at.read()
    assert first.startswith(f"user: {IN_WORDS}\n<quote>\n")
    assert line in first
    assert at.read()[1:] == ["user: hello again", "model: Fine.", "user: and again"]


async def test_what_an_earlier_model_read():
    """Where another model refuses what is long past, two turns end, and all before is words."""

    async def look() -> types.Part:
        """Look."""
        return STRANGE

    at = await Desk(Agent(name="root", tools=[look]), Strict(medium, after=3)).open()
    assert texts(await at.say("look")) == ["Fine."]
    assert texts(await at.say("what now?")) == ["Fine."]
    for _ in range(2):
        with pytest.raises(RequestRefused):
            await at.say("and now?")
    for _ in range(2):
        assert texts(await at.say("hello")) == ["Fine."]
    assert [told(each).split(":")[0] for each in at.model.requests[-1].contents] == [
        "user",
        "user",
        "model",
        "user",
    ]
    assert "user: and now?" in at.read()[0]


async def test_two_turns_apart_leave_the_others_as_they_are():
    """A turn that the model answered in between is read as it was, with its parts."""

    async def look() -> types.Part:
        """Look."""
        return STRANGE

    at = await Desk(Agent(name="root", tools=[look]), Strict(medium)).open()
    for words in ("look", "hello", "look"):
        if words == "look":
            with pytest.raises(RequestRefused):
                await at.say(words)
        else:
            await at.say(words)
    await at.say("well?")
    assert [line.startswith(f"user: {IN_WORDS}") for line in at.read()] == [
        True,
        False,
        False,
        True,
        False,
    ]
