"""Clicks that nobody made: a wrong signature, an old one, and a button of another card."""

import json
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from bot.approvals.button import Button, decode, encode
from bot.playground import BEN, LocalSlack
from bot.playground.people import TEAM_ID
from tests.faults.evidence import Forged

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class _Copied:
    """What an encoded button is made of."""

    def __init__(self, button: Button) -> None:
        self.session, self.id = button.session, button.approval
        self.nonce, self.digest = button.nonce, button.digest8


async def press(slack: LocalSlack, card: dict[str, Any] | None) -> list[Forged]:
    """Approve what a card is about in the name of somebody who has pressed nothing."""
    elements = [
        each for block in (card or {}).get("blocks", []) for each in block.get("elements", [])
    ]
    values = [each["value"] for each in elements if each.get("action_id") == "approve"]
    button = decode(values[0]) if values else None
    if button is None or card is None:
        return []
    true, other = _body(button, card), _body(replace(button, nonce="guessed"), card)
    old = slack.delivery.signed(true, now=time.time() - 600)
    wrong = {**slack.delivery.signed(true), "X-Slack-Signature": "v0=" + "0" * 64}
    tries = (
        ("old", true, old),
        ("signature", true, wrong),
        ("nonce", other, slack.delivery.signed(other)),
    )
    found: list[Forged] = []
    for kind, body, headers in tries:
        delivered = await slack.deliver_raw(body, {**headers, **FORM})
        found.append(Forged(kind, delivered.status))
    return found


def _body(button: Button, card: dict[str, Any]) -> str:
    """The body of a click on a card's button, made by one who may decide."""
    payload = {
        "type": "block_actions",
        "team": {"id": TEAM_ID},
        "user": {"id": BEN.id, "team_id": TEAM_ID, "name": BEN.name},
        "api_app_id": "A0LOCALAPP1",
        "trigger_id": "1.2.3",
        "channel": {"id": card["channel"]},
        "container": {
            "type": "message",
            "message_ts": card["ts"],
            "channel_id": card["channel"],
        },
        "message": card,
        "state": {"values": {"days": {"days": {"type": "number_input", "value": "3"}}}},
        "actions": [
            {
                "type": "button",
                "action_id": "approve",
                "block_id": "decide:1",
                "value": encode(_Copied(button)),
                "action_ts": f"{time.time():.6f}",
            }
        ],
    }
    return urlencode({"payload": json.dumps(payload)})
