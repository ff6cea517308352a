"""What is inside an argument stands as it is declared, and what the model left out is told."""

import json
from typing import Any

import pytest

from bot.approvals.request import Approval
from bot.slack import blocks
from bot.slack.blocks.arguments import arguments
from bot.slack.blocks.rendered import Block
from bot.slack.validate import message_problems
from tests.bot.slack.samples import NOW, approval

DECLARED = ("order", "order.item", "order.express", "order.lines", "order.lines.what", "when")
STORED = {
    "order": {
        "express": True,
        "item": "desk",
        "lines": [{"what": "leg", "at": 1}, {"at": 2, "what": "top"}],
    },
    "when": "now",
}


def shown(record: Approval) -> list[Block]:
    """The blocks of a card."""
    return [*blocks.card(record, now=NOW).blocks]


def test_the_order_of_declaration_is_kept():
    """A store sorts names, people do not read them so; what nobody declared comes last."""
    found = {each.name: each for each in arguments(approval(args=STORED, order=DECLARED))}
    read = json.loads(found["order"].value)
    assert [*read] == ["item", "express", "lines"]
    assert [[*each] for each in read["lines"]] == [["what", "at"], ["what", "at"]]
    assert read == STORED["order"]


def test_without_an_order_all_is_there():
    """A record of an older release names arguments only."""
    found = {each.name: each for each in arguments(approval(args=STORED, order=("when", "order")))}
    assert [*found] == ["when", "order"]
    assert json.loads(found["order"].value) == STORED["order"]


@pytest.mark.parametrize(
    ("given", "title"),
    [
        pytest.param({"defaults": ("order.express",)}, "Order (default: express)", id="one"),
        pytest.param(
            {"defaults": ("when", "order.express", "order.lines.2.at")},
            "Order (default: express, lines.2.at)",
            id="deeper",
        ),
        pytest.param({"defaults": ("order",)}, "Order (default)", id="all of it"),
        pytest.param({"defaults": ("orders.express",)}, "Order", id="of another one"),
        pytest.param({"defaults": ()}, "Order", id="nothing"),
        pytest.param(
            {"defaults": ("order.express",), "secrets": ("order",)}, "Order", id="of a secret one"
        ),
    ],
)
def test_what_the_model_left_out_inside_is_told(given: dict[str, Any], title: str):
    """Beside the argument's name, where no value can pass for it."""
    record = approval(args=STORED, order=DECLARED, **given)
    found = {each.name: each.title for each in arguments(record)}
    assert found["order"] == title
    assert title in json.dumps(shown(record), ensure_ascii=False)


def test_many_are_cut():
    """A type of a hundred fields with defaults makes no endless title, and Slack takes it."""
    left = tuple(f"order.field_{n}" for n in range(100))
    record = approval(args=STORED, order=DECLARED, defaults=left)
    (title,) = [each.title for each in arguments(record) if each.name == "order"]
    assert len(title) < 250
    assert message_problems({"text": "x", "blocks": shown(record)}) == []
