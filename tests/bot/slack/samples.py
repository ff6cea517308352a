"""Recorded payloads of Slack, and an approval to put on a card."""

import json
from pathlib import Path
from typing import Any

from bot.approvals.request import Approval
from bot.approvals.terms import Policy

FIXTURES = Path(__file__).parent / "fixtures"
TEAM = "T06QH3V9KLM"
BOT_USER = "U07BOTAPRVR"
ANA, MAX, MIA = "U024BE7LH", "U03MGR5KXQ2", "U05HRL9ZW41"
NOW = 1_796_000_000_000


def payload(name: str) -> dict[str, Any]:
    """The body of a sample, as Slack sends it."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def approval(**given: Any) -> Approval:
    """Ana asks for 900 dollars; Max and Mia may decide; whatever is given is different."""
    session = f"{TEAM}:reimbursement:thread:C0G9QF9GZ%3A1795981205.318679"
    fields: dict[str, Any] = {
        "id": "adk-1",
        "session": session,
        "call_id": "2-0",
        "agent": "reimbursement",
        "tool": "reimburse",
        "requester": ANA,
        "hint": "Pay 900 dollars?",
        "args": {"amount": 900, "purpose": "a new chair"},
        "digest": "0123456789abcdef",
        "nonce": "n0nce",
        "policy": Policy(approvers=(MAX, MIA)),
        "asked_at": NOW - 1000,
        "deadline": NOW + 86_400_000,
    }
    return Approval(**(fields | given))
