"""What stands in the inputs of a message or a view before anything is sent, pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from types import MappingProxyType
from typing import Any

from bot.slack.checks import JsonObject

Draft = dict[str, JsonObject]
"""What one person entered in one place: block id -> action id -> value."""

_TEXT = ("plain_text_input", "email_text_input", "url_text_input", "number_input")
_ONE_OPTION = ("static_select", "external_select", "radio_buttons")
_MANY_OPTIONS = ("checkboxes", "multi_static_select", "multi_external_select")
_KEYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    dict.fromkeys(_TEXT, ("value", "initial_value"))
    | dict.fromkeys(_ONE_OPTION, ("selected_option", "initial_option"))
    | dict.fromkeys(_MANY_OPTIONS, ("selected_options", "initial_options"))
    | {
        f"{many}{noun}s_select": (f"selected_{noun}{plural}", f"initial_{noun}{plural}")
        for noun in ("user", "conversation", "channel")
        for many, plural in (("", ""), ("multi_", "s"))
    }
    | {
        "rich_text_input": ("rich_text_value", "initial_value"),
        "datepicker": ("selected_date", "initial_date"),
        "timepicker": ("selected_time", "initial_time"),
        "datetimepicker": ("selected_date_time", "initial_date_time"),
        "file_input": ("files", "initial_files"),
    }
)


class CannotDo(Exception):
    """Nobody could do this in Slack's own window, so the test or the page is wrong."""


@dataclass(frozen=True)
class Placed:
    """An interactive element and the block it stands in."""

    block: JsonObject
    element: JsonObject

    @property
    def block_id(self) -> str:
        """The block's id."""
        return self.block["block_id"]

    @property
    def action_id(self) -> str:
        """The element's id, unique in its block."""
        return self.element["action_id"]

    @property
    def keeps_value(self) -> bool:
        """Whether the element has a value in `state.values`."""
        return self.element["type"] in _KEYS

    @property
    def tells_at_once(self) -> bool:
        """Whether a change is sent as block_actions before anything is submitted."""
        return self.block["type"] != "input" or bool(self.block.get("dispatch_action"))


def placed(blocks: list[JsonObject]) -> Iterator[Placed]:
    """Every interactive element of the blocks, in reading order."""
    for block in blocks:
        elements = [*block.get("elements", []), block.get("accessory"), block.get("element")]
        yield from (Placed(block, each) for each in elements if each and "action_id" in each)


def find(blocks: list[JsonObject], key: str, *, block_id: str | None = None) -> Placed:
    """The first element whose action id or block id is `key`; CannotDo when there is none."""
    there = [each for each in placed(blocks) if block_id in (None, each.block_id)]
    for each in there:
        if key in (each.action_id, each.block_id):
            return each
    ids = ", ".join(f"{each.block_id}/{each.action_id}" for each in there) or "nothing"
    raise CannotDo(f"there is no {key!r} to use here, only {ids}")


def values(blocks: list[JsonObject], draft: Draft) -> Draft:
    """`state.values`: what was entered, else the initial value, of each element with a value."""
    state: Draft = {}
    for each in placed(blocks):
        if each.keeps_value:
            state.setdefault(each.block_id, {})[each.action_id] = _state(each, draft)
    return state


def current(each: Placed, draft: Draft) -> Any:
    """The value an element shows: what was entered, else its initial value."""
    initial = each.element.get(_KEYS[each.element["type"]][1])
    if initial is None and _is_list(each.element):
        initial = []
    return draft.get(each.block_id, {}).get(each.action_id, initial)


def action(each: Placed, draft: Draft, *, action_ts: str, option: str | None = None) -> JsonObject:
    """The entry of `actions` for a pressed button, a changed input, a menu's chosen option."""
    kept = ("action_id", "type", "text", "value", "style", "placeholder", "url")
    entry = {key: each.element[key] for key in kept if key in each.element}
    entry |= {key: value for key, value in each.element.items() if key.startswith("initial_")}
    if each.keeps_value:
        entry |= _state(each, draft)
    if option is not None:
        entry["selected_option"] = _option(each.element, option)
    return entry | {"block_id": each.block_id, "action_ts": action_ts}


def entered(each: Placed, raw: Any) -> Any:
    """What a person's entry becomes: `raw` is the text, option value(s), id(s) or date.

    None and "" empty the input. CannotDo when the input would not take it.
    """
    element = each.element
    if not each.keeps_value:
        raise CannotDo(f"{each.action_id!r} is a {element['type']} and takes no value")
    if raw is None or raw == "":
        return [] if _is_list(element) else None
    kind: str = element["type"]
    if kind in _TEXT:
        return _text(element, str(raw))
    if kind in (*_ONE_OPTION, *_MANY_OPTIONS):
        return (
            [_option(element, one) for one in raw] if _is_list(element) else _option(element, raw)
        )
    return _other(kind, raw)


def complaints(blocks: list[JsonObject], draft: Draft) -> dict[str, str]:
    """What Slack's window says of a form by itself, by block id, before it sends anything."""
    found: dict[str, str] = {}
    for each in placed(blocks):
        if each.block["type"] == "input":
            value = current(each, draft)
            if value in (None, "", []):
                complaint = None if each.block.get("optional") else "Please complete this field."
            else:
                complaint = _complaint(each.element, value)
            found |= {each.block_id: complaint} if complaint else {}
    return found


def _state(each: Placed, draft: Draft) -> JsonObject:
    kind = each.element["type"]
    return {"type": kind, _KEYS[kind][0]: current(each, draft)}


def _is_list(element: JsonObject) -> bool:
    return _KEYS[element["type"]][0].endswith("s")


def _text(element: JsonObject, text: str) -> str:
    if len(text) > element.get("max_length", len(text)):
        raise CannotDo(f"{element['action_id']!r} takes {element['max_length']} characters")
    return text


def _option(element: JsonObject, raw: Any) -> JsonObject:
    if isinstance(raw, dict):
        return raw  # pyright: ignore[reportUnknownVariableType]
    groups = element.get("option_groups", [])
    options = element.get("options", []) + [each for group in groups for each in group["options"]]
    for option in options:
        if option["value"] == raw:
            return option
    offered = ", ".join(repr(option["value"]) for option in options)
    raise CannotDo(f"{element['action_id']!r} does not offer {raw!r}, only {offered}")


def _other(kind: str, raw: Any) -> Any:
    try:
        match kind:
            case "datepicker":
                return date.fromisoformat(str(raw)).isoformat()
            case "timepicker":
                return time.fromisoformat(str(raw)).strftime("%H:%M")
            case "datetimepicker":
                return int(raw)
            case "rich_text_input" if isinstance(raw, str):
                section = {"type": "rich_text_section", "elements": [{"type": "text", "text": raw}]}
                return {"type": "rich_text", "elements": [section]}
            case _:
                return raw
    except ValueError as error:
        raise CannotDo(f"a {kind} does not take {raw!r}") from error


def _complaint(element: JsonObject, value: Any) -> str | None:
    match element["type"]:
        case "number_input":
            return _number_complaint(element, value)
        case "email_text_input" if "@" not in value:
            return "Please enter a valid email."
        case "url_text_input" if not value.startswith(("http://", "https://")):
            return "Please enter a valid URL."
        case "plain_text_input" if len(value) < element.get("min_length", 0):
            return f"Must be at least {element['min_length']} characters."
        case _:
            return None


def _number_complaint(element: JsonObject, value: str) -> str | None:
    try:
        number = float(value)
    except ValueError:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and not number.is_integer():
        return "Please enter a whole number."
    if "min_value" in element and number < float(element["min_value"]):
        return f"Must be at least {element['min_value']}."
    if "max_value" in element and number > float(element["max_value"]):
        return f"Must be at most {element['max_value']}."
    return None
