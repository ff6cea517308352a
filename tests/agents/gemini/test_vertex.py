"""Vertex AI by settings: with the machine's credentials, and without any."""

from pathlib import Path

import google.auth
import pytest
from google.auth.exceptions import RefreshError, TransportError
from google.genai import types
from google.oauth2.credentials import Credentials

from agents import LlmRequest, ModelError, ModelUnavailable, UsageError
from agents.runtime.gemini import Gemini, GeminiOptions
from tests.agents.gemini.server import GeminiServer, says

HELLO = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hello.")])])


class Failing(Credentials):
    """Credentials whose refresh fails."""

    def __init__(self, error: Exception) -> None:
        """Fail with `error`."""
        super().__init__(token=None, refresh_token="old")
        self.error = error

    def refresh(self, request: object) -> None:
        """Fail."""
        raise self.error


async def asked(server: GeminiServer) -> int:
    """Ask through Vertex AI; how many responses came."""
    options = GeminiOptions(
        vertexai=True, project="shop", location="global", base_url=server.url, timeout=30
    )
    async with Gemini("gemini-test", options) as gemini:
        return len([r async for r in gemini.generate_content_async(HELLO)])


async def test_the_machines_credentials_are_used(monkeypatch):
    """The project and the location are in the path, the token in the header."""
    monkeypatch.setattr(google.auth, "default", lambda **_: (Credentials(token="t"), "shop"))
    async with GeminiServer([says("Hello.")]) as server:
        assert await asked(server) == 1
    [path] = server.paths
    place = "projects/shop/locations/global/publishers/google"
    assert path == f"/v1beta1/{place}/models/gemini-test:generateContent"


async def test_without_credentials_the_operator_hears(monkeypatch, tmp_path: Path):
    """Credentials that are not there are for an operator to mend."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nothing.json"))
    async with GeminiServer([]) as server:
        with pytest.raises(ModelError, match="check the credentials"):
            await asked(server)
    assert server.paths == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(RefreshError("gone"), ModelError, id="refused"),
        pytest.param(TransportError("no way"), ModelUnavailable, id="not reached"),
    ],
)
async def test_credentials_that_cannot_be_renewed(monkeypatch, error: Exception, kind: type):
    """A refusal is for an operator, a broken line is tried again."""
    monkeypatch.setattr(google.auth, "default", lambda **_: (Failing(error), "shop"))
    async with GeminiServer([]) as server:
        with pytest.raises(ModelError) as raised:
            await asked(server)
    assert type(raised.value) is kind


def test_without_a_key_there_is_no_client():
    """Whoever builds it reads which setting is missing."""
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        Gemini("gemini-test", GeminiOptions())
