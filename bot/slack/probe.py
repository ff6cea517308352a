# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Knocks at doors to see whether they open: our own endpoint's, and that of Socket Mode."""

import json

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

TIMEOUT = aiohttp.ClientTimeout(total=5)


async def signed(session: aiohttp.ClientSession, url: str, *, secret: str, timestamp: int) -> int:
    """Ask an endpoint what Slack asks first, signed with a secret; returns the HTTP status.

    200 only if it answered with our challenge. Raises ClientError or TimeoutError.
    """
    challenge = f"countersign-{timestamp}"
    body = json.dumps({"type": "url_verification", "token": "", "challenge": challenge})
    signature = SignatureVerifier(secret).generate_signature(timestamp=str(timestamp), body=body)
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": str(timestamp),
        "X-Slack-Signature": signature or "",
    }
    async with session.post(url, data=body, headers=headers, timeout=TIMEOUT) as response:
        said = await response.text(errors="replace")
        return response.status if response.status != 200 or challenge in said else 0


async def socket(client: AsyncWebClient, *, app_token: str) -> str:
    """Ask for a websocket of Socket Mode; returns Slack's error code, empty when it opens.

    Raises ClientError or TimeoutError.
    """
    try:
        await client.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        return str(error.response["error"])
    return ""
