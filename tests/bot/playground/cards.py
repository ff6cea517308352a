"""A card and a modal as a bot posts them."""

from typing import Any


def plain(text: str) -> dict[str, Any]:
    """A plain_text object."""
    return {"type": "plain_text", "text": text}


def option(text: str, value: str) -> dict[str, Any]:
    """An option of a select."""
    return {"text": plain(text), "value": value}


def card() -> list[dict[str, Any]]:
    """An approval card with four inputs and two buttons."""
    return [
        {"type": "header", "block_id": "hdr", "text": plain("Leave request")},
        {"type": "section", "block_id": "sum", "text": {"type": "mrkdwn", "text": "*Ana* asks"}},
        {
            "type": "input",
            "block_id": "in_days",
            "label": plain("Approved days"),
            "element": {
                "type": "plain_text_input",
                "action_id": "approved_days",
                "initial_value": "3",
            },
        },
        {
            "type": "input",
            "block_id": "in_from",
            "label": plain("From"),
            "element": {
                "type": "datepicker",
                "action_id": "from_date",
                "initial_date": "2026-12-07",
            },
        },
        {
            "type": "actions",
            "block_id": "act",
            "elements": [
                {
                    "type": "static_select",
                    "action_id": "leave_type",
                    "placeholder": plain("Type"),
                    "options": [option("Paid", "paid"), option("Unpaid", "unpaid")],
                    "initial_option": option("Paid", "paid"),
                },
                {
                    "type": "checkboxes",
                    "action_id": "flags",
                    "options": [
                        {"text": {"type": "mrkdwn", "text": "Tell HR"}, "value": "tell_hr"}
                    ],
                },
                {
                    "type": "button",
                    "action_id": "approve",
                    "style": "primary",
                    "text": plain("Approve"),
                    "value": "req",
                },
                {
                    "type": "button",
                    "action_id": "reject",
                    "style": "danger",
                    "text": plain("Reject"),
                    "value": "req",
                },
            ],
        },
    ]


def modal(**changes: Any) -> dict[str, Any]:
    """A form that asks why and how many."""
    return {
        "type": "modal",
        "callback_id": "decide",
        "private_metadata": "req",
        "title": plain("Decide"),
        "submit": plain("Send"),
        "close": plain("Cancel"),
        "notify_on_close": True,
        "blocks": [
            {
                "type": "input",
                "block_id": "b_reason",
                "label": plain("Why?"),
                "element": {
                    "type": "plain_text_input",
                    "action_id": "reason",
                    "multiline": True,
                    "max_length": 500,
                },
            },
            {
                "type": "input",
                "block_id": "b_days",
                "optional": True,
                "label": plain("Approved days"),
                "element": {
                    "type": "number_input",
                    "action_id": "approved_days",
                    "is_decimal_allowed": False,
                    "min_value": "0",
                    "max_value": "30",
                },
            },
        ],
        **changes,
    }


def home(text: str = "*Ana*: 3 days") -> dict[str, Any]:
    """A Home with one button."""
    return {
        "type": "home",
        "blocks": [
            {
                "type": "section",
                "block_id": "r1",
                "text": {"type": "mrkdwn", "text": text},
                "accessory": {
                    "type": "button",
                    "action_id": "open_request",
                    "text": plain("Open"),
                    "value": "req",
                },
            }
        ],
    }
