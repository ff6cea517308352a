"""What people enter becomes the values Slack sends, and what no input takes is refused."""

from typing import Any

import pytest

from bot.playground.inputs import CannotDo, complaints, current, entered, find, values
from tests.bot.playground.cards import option, plain


def block(kind: str, **fields: Any) -> dict[str, Any]:
    """An input block with one element, as Slack keeps it."""
    element = {"type": kind, "action_id": "e", **fields}
    return {"type": "input", "block_id": "b", "label": plain("Label"), "element": element}


OPTIONS = [option("A", "a"), option("B", "b")]


@pytest.mark.parametrize(
    ("kind", "fields", "raw", "state"),
    [
        pytest.param("plain_text_input", {}, "hi", {"value": "hi"}, id="text"),
        pytest.param("plain_text_input", {}, "", {"value": None}, id="emptied text"),
        pytest.param("number_input", {}, 2, {"value": "2"}, id="number"),
        pytest.param("email_text_input", {}, "a@b.c", {"value": "a@b.c"}, id="email"),
        pytest.param(
            "static_select", {"options": OPTIONS}, "b", {"selected_option": OPTIONS[1]}, id="select"
        ),
        pytest.param(
            "static_select",
            {"option_groups": [{"label": plain("G"), "options": OPTIONS}]},
            "a",
            {"selected_option": OPTIONS[0]},
            id="select from groups",
        ),
        pytest.param(
            "radio_buttons", {"options": OPTIONS}, None, {"selected_option": None}, id="no radio"
        ),
        pytest.param(
            "external_select",
            {},
            option("X", "x"),
            {"selected_option": option("X", "x")},
            id="external",
        ),
        pytest.param(
            "checkboxes",
            {"options": OPTIONS},
            ["a", "b"],
            {"selected_options": OPTIONS},
            id="checkboxes",
        ),
        pytest.param(
            "checkboxes", {"options": OPTIONS}, None, {"selected_options": []}, id="unchecked"
        ),
        pytest.param("datepicker", {}, "2026-12-07", {"selected_date": "2026-12-07"}, id="date"),
        pytest.param("timepicker", {}, "09:30", {"selected_time": "09:30"}, id="time"),
        pytest.param(
            "datetimepicker", {}, 1796115600, {"selected_date_time": 1796115600}, id="moment"
        ),
        pytest.param("users_select", {}, "U1", {"selected_user": "U1"}, id="user"),
        pytest.param("multi_users_select", {}, ["U1"], {"selected_users": ["U1"]}, id="users"),
        pytest.param(
            "conversations_select", {}, "C1", {"selected_conversation": "C1"}, id="conversation"
        ),
        pytest.param("multi_channels_select", {}, [], {"selected_channels": []}, id="channels"),
        pytest.param(
            "rich_text_input",
            {},
            "hi",
            {
                "rich_text_value": {
                    "type": "rich_text",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [{"type": "text", "text": "hi"}],
                        }
                    ],
                }
            },
            id="rich text",
        ),
    ],
)
def test_entered(kind: str, fields: dict[str, Any], raw: Any, state: dict[str, Any]) -> None:
    """Each kind of input has its own shape in state.values."""
    blocks = [block(kind, **fields)]
    draft = {"b": {"e": entered(find(blocks, "e"), raw)}}
    assert values(blocks, draft) == {"b": {"e": {"type": kind, **state}}}


@pytest.mark.parametrize(
    ("kind", "fields", "raw"),
    [
        pytest.param("plain_text_input", {"max_length": 2}, "abc", id="too long"),
        pytest.param("static_select", {"options": OPTIONS}, "c", id="not offered"),
        pytest.param("checkboxes", {"options": OPTIONS}, ["a", "c"], id="one not offered"),
        pytest.param("datepicker", {}, "tomorrow", id="no date"),
        pytest.param("timepicker", {}, "noon", id="no time"),
        pytest.param("datetimepicker", {}, "noon", id="no moment"),
        pytest.param("button", {}, "x", id="a button"),
    ],
)
def test_not_entered(kind: str, fields: dict[str, Any], raw: Any) -> None:
    """An input does not take what a person could not put into it."""
    with pytest.raises(CannotDo):
        entered(find([block(kind, **fields)], "e"), raw)


@pytest.mark.parametrize(
    ("kind", "fields", "raw", "complains"),
    [
        pytest.param("plain_text_input", {}, "", True, id="empty"),
        pytest.param("plain_text_input", {"initial_value": "x"}, None, True, id="emptied"),
        pytest.param("plain_text_input", {}, "x", False, id="filled"),
        pytest.param("plain_text_input", {"min_length": 2}, "x", True, id="too short"),
        pytest.param("email_text_input", {}, "nobody", True, id="no email"),
        pytest.param("email_text_input", {}, "a@b.c", False, id="email"),
        pytest.param("url_text_input", {}, "example", True, id="no URL"),
        pytest.param("url_text_input", {}, "https://x.y", False, id="URL"),
        pytest.param("number_input", {"is_decimal_allowed": True}, "1.5", False, id="decimal"),
        pytest.param("number_input", {"is_decimal_allowed": False}, "1.5", True, id="no decimal"),
        pytest.param("checkboxes", {"options": OPTIONS}, [], True, id="nothing chosen"),
        pytest.param("datepicker", {}, "2026-12-07", False, id="date"),
    ],
)
def test_complaints(kind: str, fields: dict[str, Any], raw: Any, complains: bool) -> None:
    """A form complains of what is missing or malformed before it is sent."""
    blocks = [block(kind, **fields)]
    draft = {"b": {"e": entered(find(blocks, "e"), raw)}}
    assert set(complaints(blocks, draft)) == ({"b"} if complains else set())


def test_optional_may_stay_empty() -> None:
    """An optional input may be left empty."""
    assert complaints([block("plain_text_input") | {"optional": True}], {}) == {}


def test_initial_values_until_changed() -> None:
    """An input shows its initial value until a person changes it."""
    each = find([block("plain_text_input", initial_value="3")], "b")
    assert (current(each, {}), current(each, {"b": {"e": None}})) == ("3", None)


def test_find_within_a_block() -> None:
    """Two elements of one name are told apart by their blocks."""
    two = [block("plain_text_input"), block("number_input") | {"block_id": "c"}]
    assert find(two, "e").block_id == "b"
    assert find(two, "e", block_id="c").block_id == "c"
