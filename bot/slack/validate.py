# pyright: reportUnknownMemberType=false
"""What Slack would refuse, before Slack is asked; pure.

The shapes are data (`shapes`); here are the rules that need more than one field, and the SDK's
models as a second opinion on what the shapes let through.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from bot.slack.checks import JsonObject, Problem, as_array, as_object, string, text
from bot.slack.shapes import (
    BLOCK_SURFACES,
    BLOCKS,
    ELEMENT_SURFACES,
    ELEMENTS,
    STANDS_IN,
    VIEWS,
    Surface,
)

BLOCK_LIMITS: dict[Surface, int] = {"message": 50, "modal": 100, "home": 100}
BLOCKS_TEXT_LIMIT = 12_000
UPDATE_TEXT_LIMIT = 4000
METADATA_LIMIT = 16_000


def problems(blocks: Any, *, surface: Surface, at: str = "/blocks") -> list[Problem]:
    """Everything Slack would refuse in blocks on a surface; `at` is their place."""
    items = as_array(blocks)
    if items is None:
        return [Problem(at, "must provide an array", "invalid_blocks_format")]
    found = list(_count_problems(items, surface, at))
    for index, block in enumerate(items):
        found += _block_problems(block, surface, f"{at}/{index}")
    return found + list(_block_id_problems(items, at))


def view_problems(view: Any) -> list[Problem]:
    """Everything Slack would refuse in a modal or a Home view."""
    whole = as_object(view)
    if whole is None:
        return [Problem("/view", "must be an object")]
    kind = whole.get("type")
    if kind not in ("modal", "home"):
        return [Problem("/view/type", "must be a valid enum value: home, modal")]
    found = list(VIEWS[kind](whole, "/view"))
    found += problems(whole.get("blocks", []), surface=kind, at="/view/blocks")
    inputs = any(block.get("type") == "input" for block in _objects(whole.get("blocks")))
    if kind == "modal" and inputs and not whole.get("submit"):
        found.append(Problem("/view/submit", "missing required field: submit, there is an input"))
    return found


def message_problems(message: JsonObject, *, update: bool = False) -> list[Problem]:
    """Everything Slack would refuse in the arguments of chat.postMessage or chat.update."""
    said = [message.get(name) for name in ("text", "blocks", "attachments", "markdown_text")]
    if not any(said):
        return [Problem("/text", "no text, blocks or attachments", "no_text")]
    found: list[Problem] = []
    if update and len(message.get("text") or "") > UPDATE_TEXT_LIMIT:
        limit = f"must be less than {UPDATE_TEXT_LIMIT + 1} characters"
        found.append(Problem("/text", limit, "msg_too_long"))
    if message.get("blocks"):
        found += problems(message["blocks"], surface="message")
    return found + list(_metadata_problems(message.get("metadata")))


def _count_problems(blocks: list[Any], surface: Surface, at: str) -> Iterator[Problem]:
    if len(blocks) > BLOCK_LIMITS[surface]:
        yield Problem(at, f"no more than {BLOCK_LIMITS[surface]} items allowed")
    if surface != "message":
        return
    if sum(_text_size(block) for block in blocks) > BLOCKS_TEXT_LIMIT:
        limit = f"all text together must be less than {BLOCKS_TEXT_LIMIT + 1} characters"
        yield Problem(at, limit, "msg_blocks_too_long")
    if sum(block.get("type") == "table" for block in _objects(blocks)) > 1:
        yield Problem(at, "no more than one table allowed")


def _block_problems(block: Any, surface: Surface, at: str) -> list[Problem]:
    whole = as_object(block)
    if whole is None:
        return [Problem(at, "must be an object")]
    kind = str(whole.get("type"))
    if kind not in BLOCKS or surface not in BLOCK_SURFACES[kind]:
        return [Problem(f"{at}/type", f"unsupported type: {kind}")]
    found = [*BLOCKS[kind](whole, at), *_content_problems(whole, surface, at)]
    return found or list(_second_opinion(whole, at))


def _content_problems(block: JsonObject, surface: Surface, at: str) -> Iterator[Problem]:
    match block["type"]:
        case "section":
            if "text" not in block and "fields" not in block:
                yield Problem(f"{at}/text", "missing required field: text or fields")
            if "accessory" in block:
                yield from _element_problems(block, "accessory", surface, at=at)
        case "input":
            if "element" in block:
                yield from _element_problems(block, "element", surface, at=at)
        case "actions" | "context_actions" | "context":
            for index in range(len(as_array(block.get("elements")) or [])):
                yield from _element_problems(block, f"elements/{index}", surface, at=at)
            yield from _action_id_problems(block, at)
        case "rich_text":
            yield from _rich_text_problems(block, at)
        case _:
            return


def _element_problems(
    block: JsonObject, where: str, surface: Surface, *, at: str
) -> Iterator[Problem]:
    name, _, index = where.partition("/")
    element: Any = block[name][int(index)] if index else block[name]
    here = f"{at}/{where}"
    whole = as_object(element)
    if whole is None:
        yield Problem(here, "must be an object")
        return
    kind = str(whole.get("type"))
    if block["type"] == "context" and kind in ("plain_text", "mrkdwn"):
        yield from text(3000)(whole, here)
        return
    stands = kind in ELEMENTS and block["type"] in STANDS_IN[kind]
    if not stands or surface not in ELEMENT_SURFACES[kind]:
        yield Problem(f"{here}/type", f"unsupported type: {kind}")
        return
    yield from ELEMENTS[kind](whole, here)
    yield from _choice_problems(whole, here)


def _choice_problems(element: JsonObject, at: str) -> Iterator[Problem]:
    kind = element["type"]
    static = kind in ("static_select", "multi_static_select")
    if static and ("options" in element) == ("option_groups" in element):
        yield Problem(f"{at}/options", "must provide either options or option_groups")
    groups = [_objects(group.get("options")) for group in _objects(element.get("option_groups"))]
    options = sum(groups, _objects(element.get("options")))
    if not options:
        return
    offered = [option.get("value") for option in options]
    if len(set(map(str, offered))) < len(offered):
        yield Problem(f"{at}/options", "option values must be unique")
    for name in ("initial_option", "initial_options"):
        chosen = element.get(name)
        for option in _objects(chosen if isinstance(chosen, list) else [chosen]):
            if option not in options:
                yield Problem(f"{at}/{name}", "must be among the options")


def _action_id_problems(block: JsonObject, at: str) -> Iterator[Problem]:
    elements = _objects(block.get("elements"))
    seen = Counter(element.get("action_id") for element in elements)
    for index, element in enumerate(elements):
        action_id = element.get("action_id")
        if action_id is not None and seen[action_id] > 1:
            yield Problem(
                f"{at}/elements/{index}/action_id", "action_id must be unique in its block"
            )


def _block_id_problems(blocks: list[Any], at: str) -> Iterator[Problem]:
    seen: set[object] = set()
    for index, block in enumerate(blocks):
        block_id = (as_object(block) or {}).get("block_id")
        if block_id in seen:
            yield Problem(f"{at}/{index}/block_id", "block_id must be unique")
        if block_id is not None:
            seen.add(block_id)


def _rich_text_problems(block: JsonObject, at: str) -> Iterator[Problem]:
    known = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
    for index, part in enumerate(_objects(block.get("elements"))):
        here = f"{at}/elements/{index}"
        if part.get("type") not in known:
            yield Problem(f"{here}/type", f"unsupported type: {part.get('type')}")
        elif part["type"] == "rich_text_list":
            yield from _rich_text_problems(part, here)
        else:
            yield from _piece_problems(part, here)


def _piece_problems(part: JsonObject, at: str) -> Iterator[Problem]:
    for index, piece in enumerate(_objects(part.get("elements"))):
        if piece.get("type") == "text":
            yield from string(BLOCKS_TEXT_LIMIT)(piece.get("text"), f"{at}/elements/{index}/text")


def _metadata_problems(metadata: Any) -> Iterator[Problem]:
    if not metadata:
        return
    if not {"event_type", "event_payload"} <= set(as_object(metadata) or {}):
        message = "must have event_type and event_payload"
        yield Problem("/metadata", message, "invalid_metadata_format")
    elif len(json.dumps(metadata)) > METADATA_LIMIT:
        yield Problem("/metadata", "too large", "metadata_too_large")


def _second_opinion(block: JsonObject, at: str) -> Iterator[Problem]:
    try:
        parsed = Block.parse(block)
        if parsed is not None:
            parsed.to_dict()
    except SlackObjectFormationError as error:
        yield Problem(at, str(error))


def _objects(value: Any) -> list[JsonObject]:
    return [each for each in map(as_object, as_array(value) or []) if each is not None]


def _text_size(value: Any) -> int:
    whole = as_object(value) or {}
    said = whole.get("text")
    size = len(said) if isinstance(said, str) else 0
    return size + sum(_text_size(each) for each in (*whole.values(), *(as_array(value) or [])))
