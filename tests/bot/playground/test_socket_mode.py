"""Socket Mode: the unmodified client connects, and takes events, clicks and commands."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack


async def test_events_and_commands(slack: LocalSlack, client: AsyncWebClient) -> None:
    """What HTTP would carry comes over the websocket, and its answers go back."""
    heard: list[str] = []
    app = AsyncApp(client=client)

    async def on_message(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    async def on_command(ack: Any, command: dict[str, Any]) -> None:
        heard.append(command["text"])
        await ack(text="done")

    app.event("message")(on_message)
    app.command("/approvals")(on_command)
    handler = AsyncSocketModeHandler(app, slack.app_token, web_client=client)
    await handler.connect_async()
    try:
        await slack.wait_for(lambda: slack.listening)
        assert (await slack.dm("ana", "hello")).status == 200
        assert (await slack.command("ana", "dm", "/approvals mine")).ok
        await slack.wait_for(lambda: len(heard) == 2)
    finally:
        await handler.close_async()
    assert heard == ["hello", "mine"]
    assert [each["text"] for each in slack.dms("ana")] == ["hello", "done"]


async def test_frames() -> None:
    """Frames are Slack's; an unacknowledged event comes again, and a ticket opens one socket."""
    async with LocalSlack(retry_after=(0.2,), patience=0.1) as slack:
        await _frames(slack)


async def _frames(slack: LocalSlack) -> None:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
    url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        hello = await socket.receive_json()
        said = asyncio.ensure_future(slack.dm("ana", "hello"))
        first = await socket.receive_json()
        assert (await said).status == 0
        slack.delivery._patience = 30.0
        second = await socket.receive_json()
        await socket.send_json({"envelope_id": second["envelope_id"]})
        await slack.settled()
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)
    assert set(hello) == set(sample("socket_hello"))
    assert set(second) == set(sample("socket_events_api_retry"))
    assert first["payload"] == second["payload"]
    assert slack.delivery.records[-1].ok


def sample(name: str) -> Any:
    """A frame as Slack documents it."""
    return json.loads((Path(__file__).parent / "fixtures" / f"{name}.json").read_text())
