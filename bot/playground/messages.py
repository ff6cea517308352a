"""Messages as Slack keeps them: what a person types, what a bot posts, all their text; pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.playground.people import APP_ID, BOT, BOT_ID, TEAM_ID, Person, bot_profile
from bot.slack.checks import JsonObject, as_array, as_object

NO_TEXT = "This content can't be displayed."
_TOKEN = re.compile(r"(<@[UW][A-Z0-9]+>|<#[CG][A-Z0-9]+(?:\|[^>]*)?>|https?://[^\s<>|]+)")


def typed(person: Person, text: str, *, client_msg_id: str, block_id: str) -> JsonObject:
    """A person's message: `text` as typed, with <@U…> where somebody was picked from the list.

    `text` of the message is escaped as Slack does, its rich_text block is not.
    """
    pieces = [piece for piece in _TOKEN.split(text) if piece]
    section = {"type": "rich_text_section", "elements": [_rich(piece) for piece in pieces]}
    return {
        "user": person.id,
        "type": "message",
        "client_msg_id": client_msg_id,
        "text": "".join(_escaped(piece) for piece in pieces),
        "team": person.team_id,
        "blocks": [{"type": "rich_text", "block_id": block_id, "elements": [section]}],
    }


def with_mentions(text: str, ids: Mapping[str, str]) -> str:
    """The text with each @name of the workspace turned into the mention Slack's list makes."""
    return re.sub(r"(?<![\w<])@(\w+)", lambda m: f"<@{ids[m[1]]}>" if m[1] in ids else m[0], text)


def posted(text: str, blocks: list[JsonObject] | None) -> JsonObject:
    """A message of the bot; its blocks must be complete (see `complete`)."""
    message: JsonObject = {
        "user": BOT.id,
        "type": "message",
        "bot_id": BOT_ID,
        "app_id": APP_ID,
        "text": text or NO_TEXT,
        "team": TEAM_ID,
        "bot_profile": bot_profile(),
    }
    return message | ({"blocks": blocks} if blocks else {})


def complete(blocks: list[JsonObject], new_id: Callable[[], str]) -> list[JsonObject]:
    """Copies of blocks with what Slack fills in: ids, emoji, verbatim, optional."""
    return [_complete_block(block, new_id) for block in blocks]


def asks(message: JsonObject) -> bool:
    """Whether a message has buttons."""
    return any(block["type"] == "actions" for block in message.get("blocks", []))


def full_text(message: JsonObject) -> str:
    """Everything one can read in a message or a view: its text, and every text in its blocks."""
    parts = [message.get("text", ""), *_texts(message.get("title")), *_texts(message.get("blocks"))]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _escaped(piece: str) -> str:
    if piece.startswith(("<@", "<#")):
        return piece
    if piece.startswith("http"):
        return f"<{piece.replace('&', '&amp;')}>"
    return piece.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _rich(piece: str) -> JsonObject:
    if piece.startswith("<@"):
        return {"type": "user", "user_id": piece[2:-1]}
    if piece.startswith("<#"):
        return {"type": "channel", "channel_id": piece[2:-1].split("|", maxsplit=1)[0]}
    if piece.startswith("http"):
        return {"type": "link", "url": piece}
    return {"type": "text", "text": piece}


def _complete_block(block: JsonObject, new_id: Callable[[], str]) -> JsonObject:
    whole: JsonObject = {"block_id": new_id(), **_complete(block)}
    if whole["type"] == "input":
        whole = {"optional": False, "dispatch_action": False, **whole}
    places = [whole.get("accessory"), whole.get("element")]
    if whole["type"] in ("actions", "context_actions"):
        places += whole["elements"]
    for element in places:
        if element and element["type"] != "image":
            element.setdefault("action_id", new_id())
        if element and element["type"].endswith(("text_input", "number_input")):
            told = {"trigger_actions_on": ["on_enter_pressed"]}
            element.setdefault("dispatch_action_config", told)
    return whole


def _complete(value: Any) -> Any:
    if (items := as_array(value)) is not None:
        return [_complete(each) for each in items]
    if (there := as_object(value)) is None:
        return value
    whole = {key: _complete(each) for key, each in there.items()}
    if whole.get("type") == "plain_text":
        whole.setdefault("emoji", True)
    if whole.get("type") == "mrkdwn":
        whole.setdefault("verbatim", False)
    return whole


def _texts(value: Any) -> Iterator[str]:
    for each in as_array(value) or []:
        yield from _texts(each)
    for key, each in (as_object(value) or {}).items():
        if key in ("text", "alt_text", "initial_value", "url") and isinstance(each, str):
            yield each
        elif key == "user_id":
            yield f"<@{each}>"
        else:
            yield from _texts(each)
