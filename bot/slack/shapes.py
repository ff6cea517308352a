"""Block Kit as data: which fields each block and element has, how long, and where it may stand.

Limits are Slack's, from the doc comments of @slack/types and the reference pages; where the two
differ the smaller one holds.
"""

from collections.abc import Mapping
from typing import Literal

from bot.slack.checks import (
    Check,
    anything,
    flag,
    matching,
    one_of,
    plain,
    several,
    shape,
    string,
    text,
    whole,
)

Surface = Literal["message", "modal", "home"]

ID = string(255)
OPTION = shape(
    {"text": plain(75), "value": string(75)}, {"description": plain(75), "url": string(3000)}
)
MRKDWN_OPTION = shape({"text": text(75), "value": string(75)}, {"description": text(75)})
OPTION_GROUP = shape({"label": plain(75), "options": several(OPTION, 100)})
CONFIRM = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)
DISPATCH = shape(
    {"trigger_actions_on": several(one_of("on_enter_pressed", "on_character_entered"), 2)}
)
DATE = matching(r"\d{4}-\d{2}-\d{2}", "YYYY-MM-DD")
TIME = matching(r"\d{2}:\d{2}", "HH:mm")
DECIMAL = matching(r"-?\d+(\.\d+)?", "of a number in a string")
STYLE = one_of("primary", "danger")

_ACTION: Mapping[str, Check] = {"type": string(50), "action_id": ID}
_PICK: Mapping[str, Check] = {
    **_ACTION,
    "confirm": CONFIRM,
    "focus_on_load": flag,
    "placeholder": plain(150),
}
_TYPE_IN: Mapping[str, Check] = {
    **_ACTION,
    "focus_on_load": flag,
    "placeholder": plain(150),
    "dispatch_action_config": DISPATCH,
}
_OPTIONS: Mapping[str, Check] = {
    "options": several(OPTION, 100),
    "option_groups": several(OPTION_GROUP, 100),
}
_MANY: Mapping[str, Check] = {"max_selected_items": whole(1, 1000)}
_IDS = several(string(255), 1000)

ELEMENTS: Mapping[str, Check] = {
    "button": shape(
        {"text": plain(75)},
        {
            **_ACTION,
            "url": string(3000),
            "value": string(2000),
            "style": STYLE,
            "confirm": CONFIRM,
            "accessibility_label": string(75),
        },
    ),
    "image": shape(
        {"alt_text": string(2000)},
        {"type": string(50), "image_url": string(3000), "slack_file": anything},
    ),
    "overflow": shape({"options": several(OPTION, 5)}, {**_ACTION, "confirm": CONFIRM}),
    "workflow_button": shape(
        {"text": plain(75), "workflow": anything},
        {**_ACTION, "style": STYLE, "accessibility_label": string(75)},
    ),
    "checkboxes": shape(
        {"options": several(MRKDWN_OPTION, 10)},
        {
            **_ACTION,
            "initial_options": several(MRKDWN_OPTION, 10),
            "confirm": CONFIRM,
            "focus_on_load": flag,
        },
    ),
    "radio_buttons": shape(
        {"options": several(MRKDWN_OPTION, 10)},
        {**_ACTION, "initial_option": MRKDWN_OPTION, "confirm": CONFIRM, "focus_on_load": flag},
    ),
    "static_select": shape({}, {**_PICK, **_OPTIONS, "initial_option": OPTION}),
    "multi_static_select": shape(
        {}, {**_PICK, **_OPTIONS, **_MANY, "initial_options": several(OPTION, 100)}
    ),
    "external_select": shape(
        {}, {**_PICK, "initial_option": OPTION, "min_query_length": whole(0, 1000)}
    ),
    "multi_external_select": shape(
        {},
        {
            **_PICK,
            **_MANY,
            "initial_options": several(OPTION, 100),
            "min_query_length": whole(0, 1000),
        },
    ),
    "users_select": shape({}, {**_PICK, "initial_user": string(255)}),
    "multi_users_select": shape({}, {**_PICK, **_MANY, "initial_users": _IDS}),
    "conversations_select": shape(
        {},
        {
            **_PICK,
            "initial_conversation": string(255),
            "default_to_current_conversation": flag,
            "response_url_enabled": flag,
            "filter": anything,
        },
    ),
    "multi_conversations_select": shape(
        {},
        {
            **_PICK,
            **_MANY,
            "initial_conversations": _IDS,
            "default_to_current_conversation": flag,
            "filter": anything,
        },
    ),
    "channels_select": shape(
        {}, {**_PICK, "initial_channel": string(255), "response_url_enabled": flag}
    ),
    "multi_channels_select": shape({}, {**_PICK, **_MANY, "initial_channels": _IDS}),
    "datepicker": shape({}, {**_PICK, "initial_date": DATE}),
    "timepicker": shape({}, {**_PICK, "initial_time": TIME, "timezone": string(255)}),
    "datetimepicker": shape(
        {},
        {
            **_ACTION,
            "initial_date_time": whole(1_000_000_000, 9_999_999_999),
            "confirm": CONFIRM,
            "focus_on_load": flag,
        },
    ),
    "plain_text_input": shape(
        {},
        {
            **_TYPE_IN,
            "initial_value": string(3000),
            "multiline": flag,
            "min_length": whole(0, 3000),
            "max_length": whole(1, 3000),
        },
    ),
    "number_input": shape(
        {"is_decimal_allowed": flag},
        {**_TYPE_IN, "initial_value": DECIMAL, "min_value": DECIMAL, "max_value": DECIMAL},
    ),
    "email_text_input": shape({}, {**_TYPE_IN, "initial_value": string(3000)}),
    "url_text_input": shape({}, {**_TYPE_IN, "initial_value": string(3000)}),
    "rich_text_input": shape(
        {},
        {
            **_TYPE_IN,
            "initial_value": anything,
            "min_lines": whole(1, 100),
            "max_lines": whole(1, 100),
        },
    ),
    "file_input": shape(
        {}, {**_ACTION, "filetypes": several(string(20), 100), "max_files": whole(1, 10)}
    ),
    "feedback_buttons": shape(
        {"positive_button": anything, "negative_button": anything}, {**_ACTION}
    ),
    "icon_button": shape(
        {"icon": string(100), "text": plain(75)},
        {
            **_ACTION,
            "value": string(2000),
            "confirm": CONFIRM,
            "accessibility_label": string(75),
            "visible_to_user_ids": _IDS,
        },
    ),
}

_PICKERS = (
    "checkboxes",
    "radio_buttons",
    "datepicker",
    "timepicker",
    *(kind for kind in ELEMENTS if kind.endswith("_select")),
)

STANDS_IN: Mapping[str, tuple[str, ...]] = {
    "button": ("section", "actions"),
    "image": ("section", "context"),
    "overflow": ("section", "actions"),
    "workflow_button": ("section", "actions"),
    "datetimepicker": ("actions", "input"),
    "plain_text_input": ("input",),
    "rich_text_input": ("input", "actions"),
    "number_input": ("input",),
    "email_text_input": ("input",),
    "url_text_input": ("input",),
    "file_input": ("input",),
    "feedback_buttons": ("context_actions",),
    "icon_button": ("context_actions",),
    **dict.fromkeys(_PICKERS, ("section", "actions", "input")),
}

_EVERYWHERE: tuple[Surface, ...] = ("message", "modal", "home")
_MODAL: tuple[Surface, ...] = ("modal",)
_MESSAGE: tuple[Surface, ...] = ("message",)

ELEMENT_SURFACES: Mapping[str, tuple[Surface, ...]] = {
    **dict.fromkeys(ELEMENTS, _EVERYWHERE),
    "datetimepicker": ("message", "modal"),
    "rich_text_input": ("modal", "home"),
    "number_input": _MODAL,
    "email_text_input": _MODAL,
    "url_text_input": _MODAL,
    "file_input": _MODAL,
    "workflow_button": _MESSAGE,
    "feedback_buttons": _MESSAGE,
    "icon_button": _MESSAGE,
}

_BLOCK: Mapping[str, Check] = {"type": string(50), "block_id": ID}
_ELEMENTS = several(anything, 25)

BLOCKS: Mapping[str, Check] = {
    "section": shape(
        {},
        {
            **_BLOCK,
            "text": text(3000),
            "fields": several(text(2000), 10),
            "accessory": anything,
            "expand": flag,
        },
    ),
    "header": shape({"text": plain(150)}, _BLOCK),
    "divider": shape({}, _BLOCK),
    "image": shape(
        {"alt_text": string(2000)},
        {**_BLOCK, "image_url": string(3000), "slack_file": anything, "title": plain(2000)},
    ),
    "context": shape({"elements": several(anything, 10)}, _BLOCK),
    "actions": shape({"elements": _ELEMENTS}, _BLOCK),
    "context_actions": shape({"elements": several(anything, 5)}, _BLOCK),
    "input": shape(
        {"label": plain(2000), "element": anything},
        {**_BLOCK, "hint": plain(2000), "optional": flag, "dispatch_action": flag},
    ),
    "markdown": shape({"text": string(12_000)}, _BLOCK),
    "rich_text": shape({"elements": several(anything, 1000)}, _BLOCK),
    "table": shape(
        {"rows": several(several(anything, 20), 100)},
        {**_BLOCK, "column_settings": several(anything, 20, least=0)},
    ),
    **dict.fromkeys(
        (
            "alert",
            "card",
            "carousel",
            "container",
            "data_table",
            "data_visualization",
            "file",
            "plan",
            "task_card",
            "video",
        ),
        anything,
    ),
}

BLOCK_SURFACES: Mapping[str, tuple[Surface, ...]] = {
    **dict.fromkeys(BLOCKS, _EVERYWHERE),
    **dict.fromkeys(
        ("context_actions", "file", "markdown", "plan", "table", "task_card"), _MESSAGE
    ),
}

_VIEW: Mapping[str, Check] = {
    "private_metadata": string(3000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
}

VIEWS: Mapping[str, Check] = {
    "home": shape({"type": one_of("home"), "blocks": anything}, _VIEW),
    "modal": shape(
        {"type": one_of("modal"), "title": plain(24), "blocks": anything},
        {
            **_VIEW,
            "submit": plain(24),
            "close": plain(24),
            "clear_on_close": flag,
            "notify_on_close": flag,
            "submit_disabled": flag,
        },
    ),
}
