"""The recorded conversations, with Gemini over HTTP in place of the scripted model."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from agents import LlmRequest, LlmResponse, ModelError
from agents.runtime.gemini import Gemini
from tests.agents.gemini.server import GeminiServer, Item, Reply, fault
from tests.conformance import shape
from tests.conformance.__main__ import CASES, DEVIATIONS, HERE, cases, load
from tests.conformance.play import Play, differences

pytestmark = pytest.mark.asyncio(loop_scope="module")

TALKS = [
    path for path in (*cases(CASES), *cases(HERE / "more")) if load(path)["kind"] == "conversation"
]


class OverHttp:
    """The client, which notes what each agent sent it."""

    def __init__(self, play: Play, gemini: Gemini) -> None:
        """Note requests by turn."""
        self.play = play
        self.gemini = gemini
        self.seen: list[dict[str, Any]] = []

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Note the request and ask, under the name the server knows."""
        told = shape.request("", request.system_instruction, request.contents, request.tools)
        self.seen.append({"turn": self.play.turn, **told})
        asked = LlmRequest(
            contents=request.contents,
            system_instruction=request.system_instruction,
            tools=request.tools,
            response_schema=request.response_schema,
            config=request.config,
        )
        async for response in self.gemini.generate_content_async(asked, stream=stream):
            yield response


class PlayOverHttp(Play):
    """A case whose model is Gemini."""

    gemini: Gemini

    def _model(self) -> Any:
        return OverHttp(self, self.gemini)


def items(told: dict[str, Any]) -> list[Item]:
    """A scripted reply as Gemini sends it; silence lasts, for it is asked about once more."""
    if "raise" in told:
        return [fault(403)]
    if told.get("empty"):
        return [Reply(parts=None), Reply(parts=None)]
    parts = [types.Part.model_validate(part) for part in told["parts"]]
    wire = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts]
    return [Reply(parts=wire)]


def failing_over_http(case: dict[str, Any]) -> dict[str, Any]:
    """The case, where a model that raises is a server that refuses."""
    kinds = json.dumps([kind.__name__ for kind in ModelError.__mro__])
    scripted = '["RuntimeError", "Exception", "BaseException", "object"]'
    told = json.dumps(case).replace(scripted, kinds)
    return json.loads(told.replace('{"code": "RuntimeError"}', '{"code": "ModelError"}'))


@pytest.mark.parametrize("path", TALKS, ids=lambda path: path.stem)
async def test_a_conversation_over_http(shared: tuple[GeminiServer, Gemini], path: Path):
    """The outcome is that of the scripted model, and nothing we send is refused."""
    case = failing_over_http(load(path))
    server, gemini = shared
    server.begin([item for told in case["model_script"] for item in items(told)])
    play = PlayOverHttp(case)
    play.gemini = gemini
    try:
        got = await play.run()
    except ValueError as error:
        got = {"refused": type(error).__name__}
    assert server.refused == []
    difference = differences(case, case["expect"], got)
    assert bool(difference) == (path.stem in DEVIATIONS), difference
