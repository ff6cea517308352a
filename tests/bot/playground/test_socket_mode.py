"""Socket Mode: the unmodified client connects, and takes events, clicks and commands."""

from typing import Any

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
