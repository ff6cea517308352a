"""What Slack refuses is found, at its place; what Slack takes is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.slack.shapes import Surface
from bot.slack.validate import message_problems, problems, view_problems


def plain(text: Any = "x") -> dict[str, Any]:
    """A plain_text object."""
    return {"type": "plain_text", "text": text}


def mrkdwn(text: Any = "x") -> dict[str, Any]:
    """A mrkdwn object."""
    return {"type": "mrkdwn", "text": text}


def option(value: Any = "a", text: str = "A") -> dict[str, Any]:
    """An option of a select."""
    return {"text": plain(text), "value": value}


def section(**fields: Any) -> dict[str, Any]:
    """A section block."""
    return {"type": "section", **({"text": mrkdwn()} | fields)}


def button(**fields: Any) -> dict[str, Any]:
    """A button."""
    return {"type": "button", "action_id": "go", "text": plain("Go"), **fields}


def actions(*elements: Any, **fields: Any) -> dict[str, Any]:
    """An actions block."""
    return {"type": "actions", "elements": list(elements), **fields}


def select(**fields: Any) -> dict[str, Any]:
    """A static select."""
    return {"type": "static_select", "action_id": "s", "options": [option()], **fields}


def entry(element: Any, **fields: Any) -> dict[str, Any]:
    """An input block."""
    return {"type": "input", "label": plain("Label"), "element": element, **fields}


def text_input(**fields: Any) -> dict[str, Any]:
    """A plain_text_input."""
    return {"type": "plain_text_input", "action_id": "t", **fields}


def number(**fields: Any) -> dict[str, Any]:
    """A number_input."""
    return {"type": "number_input", "action_id": "n", "is_decimal_allowed": False, **fields}


def checkboxes(count: int = 1, **fields: Any) -> dict[str, Any]:
    """Checkboxes."""
    options = [option(str(each)) for each in range(count)]
    return {"type": "checkboxes", "action_id": "c", "options": options, **fields}


def rich(*elements: Any) -> dict[str, Any]:
    """A rich_text block."""
    return {"type": "rich_text", "elements": list(elements)}


def confirm(**fields: Any) -> dict[str, Any]:
    """A confirm dialog."""
    asked = {"title": plain(), "text": plain(), "confirm": plain("Y"), "deny": plain("N")}
    return asked | fields


def of(kind: str, **fields: Any) -> dict[str, Any]:
    """Anything with a type."""
    return {"type": kind, **fields}


BAD: list[tuple[str, Surface, Any, str]] = [
    ("no list", "message", {"type": "divider"}, "/blocks"),
    ("a block is no object", "message", ["divider"], "/blocks/0"),
    ("no type", "message", [{"text": plain()}], "/blocks/0/type"),
    ("unknown type", "message", [of("banner")], "/blocks/0/type"),
    ("51 blocks", "message", [of("divider")] * 51, "/blocks"),
    ("101 blocks in a modal", "modal", [of("divider")] * 101, "/blocks"),
    ("unknown field", "message", [of("divider", color="red")], "/blocks/0/color"),
    ("block_id 256", "message", [of("divider", block_id="b" * 256)], "/blocks/0/block_id"),
    (
        "block_id twice",
        "message",
        [of("divider", block_id="b"), of("divider", block_id="b")],
        "/blocks/1/block_id",
    ),
    ("section 3001", "message", [section(text=mrkdwn("x" * 3001))], "/blocks/0/text/text"),
    ("empty text", "message", [section(text=mrkdwn(""))], "/blocks/0/text/text"),
    ("text is a string", "message", [section(text="x")], "/blocks/0/text"),
    ("text of no kind", "message", [section(text={"text": "x"})], "/blocks/0/text/type"),
    ("text is a number", "message", [section(text=mrkdwn(3))], "/blocks/0/text/text"),
    (
        "emoji on mrkdwn",
        "message",
        [section(text=mrkdwn() | {"emoji": True})],
        "/blocks/0/text/emoji",
    ),
    ("section without text", "message", [of("section")], "/blocks/0/text"),
    ("11 fields", "message", [section(fields=[plain()] * 11)], "/blocks/0/fields"),
    ("field 2001", "message", [section(fields=[plain("x" * 2001)])], "/blocks/0/fields/0/text"),
    ("header 151", "message", [of("header", text=plain("x" * 151))], "/blocks/0/text/text"),
    ("mrkdwn header", "message", [of("header", text=mrkdwn())], "/blocks/0/text/type"),
    ("header without text", "message", [of("header")], "/blocks/0/text"),
    ("11 in context", "message", [of("context", elements=[plain()] * 11)], "/blocks/0/elements"),
    (
        "button in context",
        "message",
        [of("context", elements=[button()])],
        "/blocks/0/elements/0/type",
    ),
    (
        "image without alt",
        "message",
        [of("image", image_url="https://x.y/z")],
        "/blocks/0/alt_text",
    ),
    ("empty actions", "message", [actions()], "/blocks/0/elements"),
    (
        "26 actions",
        "message",
        [actions(*(button(action_id=str(each)) for each in range(26)))],
        "/blocks/0/elements",
    ),
    ("element is a string", "message", [actions("go")], "/blocks/0/elements/0"),
    (
        "elements is an object",
        "message",
        [of("actions", elements=button())],
        "/blocks/0/elements",
    ),
    (
        "action_id twice",
        "message",
        [actions(button(), button())],
        "/blocks/0/elements/0/action_id",
    ),
    (
        "button text 76",
        "message",
        [actions(button(text=plain("x" * 76)))],
        "/blocks/0/elements/0/text/text",
    ),
    (
        "button text is a string",
        "message",
        [actions(button(text="Go"))],
        "/blocks/0/elements/0/text",
    ),
    (
        "mrkdwn button",
        "message",
        [actions(button(text=mrkdwn()))],
        "/blocks/0/elements/0/text/type",
    ),
    ("value 2001", "message", [actions(button(value="v" * 2001))], "/blocks/0/elements/0/value"),
    ("value is a number", "message", [actions(button(value=1))], "/blocks/0/elements/0/value"),
    (
        "action_id 256",
        "message",
        [actions(button(action_id="a" * 256))],
        "/blocks/0/elements/0/action_id",
    ),
    ("style", "message", [actions(button(style="green"))], "/blocks/0/elements/0/style"),
    ("url 3001", "message", [actions(button(url="u" * 3001))], "/blocks/0/elements/0/url"),
    (
        "confirm text 301",
        "message",
        [actions(button(confirm=confirm(text=plain("x" * 301))))],
        "/blocks/0/elements/0/confirm/text/text",
    ),
    (
        "confirm without deny",
        "message",
        [actions(button(confirm={k: v for k, v in confirm().items() if k != "deny"}))],
        "/blocks/0/elements/0/confirm/deny",
    ),
    (
        "101 options",
        "message",
        [actions(select(options=[option(str(each)) for each in range(101)]))],
        "/blocks/0/elements/0/options",
    ),
    ("no options", "message", [actions(select(options=[]))], "/blocks/0/elements/0/options"),
    (
        "neither options nor groups",
        "message",
        [actions(of("static_select", action_id="s"))],
        "/blocks/0/elements/0/options",
    ),
    (
        "option value 76",
        "message",
        [actions(select(options=[option("v" * 76)]))],
        "/blocks/0/elements/0/options/0/value",
    ),
    (
        "option text 76",
        "message",
        [actions(select(options=[option("a", "x" * 76)]))],
        "/blocks/0/elements/0/options/0/text/text",
    ),
    (
        "option value twice",
        "message",
        [actions(select(options=[option(), option()]))],
        "/blocks/0/elements/0/options",
    ),
    (
        "initial option not offered",
        "message",
        [actions(select(initial_option=option("b")))],
        "/blocks/0/elements/0/initial_option",
    ),
    (
        "initial options not offered",
        "message",
        [actions(checkboxes(initial_options=[option("9")]))],
        "/blocks/0/elements/0/initial_options",
    ),
    ("11 checkboxes", "message", [actions(checkboxes(11))], "/blocks/0/elements/0/options"),
    (
        "placeholder 151",
        "message",
        [actions(select(placeholder=plain("x" * 151)))],
        "/blocks/0/elements/0/placeholder/text",
    ),
    (
        "date",
        "message",
        [actions(of("datepicker", action_id="d", initial_date="7.12.2026"))],
        "/blocks/0/elements/0/initial_date",
    ),
    (
        "time",
        "message",
        [actions(of("timepicker", action_id="d", initial_time="9"))],
        "/blocks/0/elements/0/initial_time",
    ),
    (
        "text input in actions",
        "message",
        [actions(text_input())],
        "/blocks/0/elements/0/type",
    ),
    (
        "text input in section",
        "modal",
        [section(accessory=text_input())],
        "/blocks/0/accessory/type",
    ),
    ("button in input", "modal", [entry(button())], "/blocks/0/element/type"),
    ("input without label", "modal", [of("input", element=text_input())], "/blocks/0/label"),
    ("input without element", "modal", [of("input", label=plain())], "/blocks/0/element"),
    ("label 2001", "modal", [entry(text_input(), label=plain("x" * 2001))], "/blocks/0/label/text"),
    ("optional is a string", "modal", [entry(text_input(), optional="yes")], "/blocks/0/optional"),
    ("max_length", "modal", [entry(text_input(max_length=3001))], "/blocks/0/element/max_length"),
    ("number in a message", "message", [entry(number())], "/blocks/0/element/type"),
    ("number on Home", "home", [entry(number())], "/blocks/0/element/type"),
    (
        "email in a message",
        "message",
        [entry(of("email_text_input", action_id="e"))],
        "/blocks/0/element/type",
    ),
    (
        "rich text input in a message",
        "message",
        [entry(of("rich_text_input", action_id="r"))],
        "/blocks/0/element/type",
    ),
    (
        "datetime on Home",
        "home",
        [actions(of("datetimepicker", action_id="d"))],
        "/blocks/0/elements/0/type",
    ),
    (
        "number is_decimal_allowed",
        "modal",
        [entry(of("number_input", action_id="n"))],
        "/blocks/0/element/is_decimal_allowed",
    ),
    ("numeric min_value", "modal", [entry(number(min_value=1))], "/blocks/0/element/min_value"),
    (
        "max_value in words",
        "modal",
        [entry(number(max_value="ten"))],
        "/blocks/0/element/max_value",
    ),
    ("markdown 12001", "message", [of("markdown", text="x" * 12_001)], "/blocks/0/text"),
    ("markdown in a modal", "modal", [of("markdown", text="x")], "/blocks/0/type"),
    ("too much text", "message", [section(text=mrkdwn("x" * 2500))] * 5, "/blocks"),
    (
        "two tables",
        "message",
        [of("table", rows=[[of("raw_text", text="a")]])] * 2,
        "/blocks",
    ),
    (
        "empty rich text",
        "message",
        [rich(of("rich_text_section", elements=[of("text", text="")]))],
        "/blocks/0/elements/0/elements/0/text",
    ),
    ("rich text of no kind", "message", [rich(of("section"))], "/blocks/0/elements/0/type"),
    (
        "card body 201",
        "message",
        [of("card", title=plain(), body=mrkdwn("x" * 201))],
        "/blocks/0",
    ),
]


@pytest.mark.parametrize(
    ("surface", "blocks", "pointer"),
    [pytest.param(surface, blocks, at, id=name) for name, surface, blocks, at in BAD],
)
def test_bad_blocks(surface: Surface, blocks: Any, pointer: str) -> None:
    """Each fault is found where it is."""
    found = problems(blocks, surface=surface)
    assert pointer in [problem.pointer for problem in found]
    assert all(problem.message for problem in found)


GOOD: list[tuple[str, Surface, list[dict[str, Any]]]] = [
    ("nothing", "message", []),
    ("50 dividers", "message", [of("divider")] * 50),
    ("100 dividers on Home", "home", [of("divider")] * 100),
    ("section of 3000", "message", [section(text=mrkdwn("x" * 3000))]),
    ("section of fields", "message", [of("section", fields=[mrkdwn(), plain()])]),
    ("verbatim", "message", [section(text=mrkdwn() | {"verbatim": True})]),
    ("header with emoji", "message", [of("header", text=plain("x" * 150) | {"emoji": True})]),
    (
        "context",
        "message",
        [of("context", elements=[mrkdwn(), of("image", image_url="https://x.y/z", alt_text="z")])],
    ),
    (
        "buttons",
        "message",
        [
            actions(
                button(style="primary", value="v" * 2000), button(action_id="no", confirm=confirm())
            )
        ],
    ),
    ("select", "message", [actions(select(initial_option=option(), placeholder=plain()))]),
    (
        "groups",
        "message",
        [
            actions(
                of(
                    "static_select",
                    action_id="s",
                    option_groups=[{"label": plain(), "options": [option()]}],
                    initial_option=option(),
                )
            )
        ],
    ),
    ("checked boxes", "message", [actions(checkboxes(10, initial_options=[option("3")]))]),
    (
        "text and date in a message",
        "message",
        [
            entry(text_input(initial_value="3", max_length=10), optional=True),
            entry(of("datepicker", action_id="d", initial_date="2026-12-07")),
        ],
    ),
    ("accessory", "home", [section(accessory=button())]),
    ("people", "modal", [entry(of("multi_users_select", action_id="u", initial_users=["U1"]))]),
    ("number in a modal", "modal", [entry(number(min_value="0", max_value="3.5"))]),
    ("rich text input on Home", "home", [entry(of("rich_text_input", action_id="r"))]),
    ("markdown", "message", [of("markdown", text="# Hello")]),
    (
        "rich text",
        "message",
        [
            rich(
                of("rich_text_section", elements=[of("text", text="x"), of("user", user_id="U1")]),
                of(
                    "rich_text_list",
                    style="bullet",
                    elements=[of("rich_text_section", elements=[of("text", text="x")])],
                ),
                of("rich_text_preformatted", elements=[of("text", text="x")]),
            )
        ],
    ),
    ("same action_id in two blocks", "message", [actions(button()), actions(button())]),
    ("alert", "message", [of("alert", text=mrkdwn(), level="info")]),
]


@pytest.mark.parametrize(
    ("surface", "blocks"),
    [pytest.param(surface, blocks, id=name) for name, surface, blocks in GOOD],
)
def test_good_blocks(surface: Surface, blocks: list[dict[str, Any]]) -> None:
    """What Slack takes has no problem."""
    assert problems(blocks, surface=surface) == []


def view(**fields: Any) -> dict[str, Any]:
    """A modal with one input."""
    asked = {"title": plain("Title"), "submit": plain("Send"), "blocks": [entry(text_input())]}
    return {"type": "modal", **asked, **fields}


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        pytest.param("modal", "/view", id="no object"),
        pytest.param(of("popup", blocks=[]), "/view/type", id="type"),
        pytest.param(of("modal", blocks=[]), "/view/title", id="no title"),
        pytest.param(view(title=plain("x" * 25)), "/view/title/text", id="title 25"),
        pytest.param(view(title=mrkdwn()), "/view/title/type", id="mrkdwn title"),
        pytest.param(view(submit=plain("x" * 25)), "/view/submit/text", id="submit 25"),
        pytest.param(view(submit=None), "/view/submit", id="input without submit"),
        pytest.param(view(private_metadata="x" * 3001), "/view/private_metadata", id="metadata"),
        pytest.param(view(callback_id="x" * 256), "/view/callback_id", id="callback_id"),
        pytest.param(view(hash="x"), "/view/hash", id="unknown field"),
        pytest.param(of("modal", title=plain()), "/view/blocks", id="no blocks"),
        pytest.param(view(blocks=[of("banner")]), "/view/blocks/0/type", id="a bad block"),
        pytest.param(of("home", blocks=[], title=plain()), "/view/title", id="home with a title"),
    ],
)
def test_bad_views(value: Any, pointer: str) -> None:
    """Faults of a view are found where they are."""
    assert pointer in [problem.pointer for problem in view_problems(value)]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(view(), id="modal"),
        pytest.param(view(submit=plain(), blocks=[section()], notify_on_close=True), id="notice"),
        pytest.param(of("modal", title=plain(), blocks=[section()]), id="without submit"),
        pytest.param(of("home", blocks=[section()], private_metadata=""), id="home"),
    ],
)
def test_good_views(value: dict[str, Any]) -> None:
    """What Slack opens has no problem."""
    assert view_problems(value) == []


@pytest.mark.parametrize(
    ("message", "update", "error"),
    [
        pytest.param({}, False, "no_text", id="empty"),
        pytest.param({"text": "", "blocks": []}, False, "no_text", id="empty text and blocks"),
        pytest.param({"text": "x" * 4001}, True, "msg_too_long", id="long update"),
        pytest.param({"text": "x", "blocks": [of("banner")]}, False, "invalid_blocks", id="blocks"),
        pytest.param({"text": "x", "blocks": "x"}, False, "invalid_blocks_format", id="no blocks"),
        pytest.param(
            {"blocks": [section(text=mrkdwn("x" * 2500))] * 5},
            False,
            "msg_blocks_too_long",
            id="long",
        ),
        pytest.param(
            {"text": "x", "metadata": {"event_type": "e"}},
            False,
            "invalid_metadata_format",
            id="half",
        ),
        pytest.param(
            {"text": "x", "metadata": {"event_type": "e", "event_payload": {"x": "x" * 16_000}}},
            False,
            "metadata_too_large",
            id="large metadata",
        ),
    ],
)
def test_bad_messages(message: dict[str, Any], update: bool, error: str) -> None:
    """Faults of a whole message carry the code Slack would answer with."""
    assert error in [problem.error for problem in message_problems(message, update=update)]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"text": "x" * 4001}, id="long, but new"),
        pytest.param({"text": "x", "blocks": [section()]}, id="both"),
        pytest.param({"blocks": [section()]}, id="blocks alone"),
        pytest.param(
            {"text": "x", "metadata": {"event_type": "e", "event_payload": {"id": 1}}},
            id="metadata",
        ),
    ],
)
def test_good_messages(message: dict[str, Any]) -> None:
    """What Slack posts has no problem."""
    assert message_problems(message) == []


def test_what_slack_sent_is_valid() -> None:
    """The blocks in Slack's own samples pass."""
    folder = Path(__file__).parents[1] / "playground" / "fixtures"
    clicked = json.loads((folder / "block_actions_message_approve.json").read_text())
    assert problems(clicked["message"]["blocks"], surface="message") == []
    sent = json.loads((folder / "view_submission_decide.json").read_text())
    assert problems(sent["view"]["blocks"], surface="modal") == []
