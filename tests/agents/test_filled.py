"""What the model left out inside an argument is known, and nothing that it said is called so."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from agents import FunctionTool
from agents.runtime.arguments import Bound


class Line(BaseModel):
    """A line of an order."""

    item: str
    price: float = 99.0
    gift: bool = False


class Order(BaseModel):
    """What is bought."""

    item: str
    express: bool = True
    lines: list[Line] = []
    ship: Line | None = None
    much: int = Field(default=1, alias="howMany")


def buy(order: Order, lines: list[Line] | None = None, rest: dict[str, Any] | None = None) -> str:
    """Buy something."""
    return f"{order} {lines} {rest}"


LEFT = ("order.express", "order.lines", "order.ship", "order.howMany")


@pytest.mark.parametrize(
    ("args", "filled"),
    [
        pytest.param({"order": {"item": "desk"}}, LEFT, id="all that has a default"),
        pytest.param(
            {"order": {"item": "desk", "express": True, "lines": [], "ship": None, "howMany": 1}},
            (),
            id="said, though it is the default",
        ),
        pytest.param(
            {"order": {"item": "desk", "ship": {"item": "a", "gift": True}}},
            ("order.express", "order.lines", "order.ship.price", "order.howMany"),
            id="in a model in a model",
        ),
        pytest.param(
            {
                "order": {"item": "a"},
                "lines": [{"item": "b", "gift": True, "price": 1}, {"item": "c"}],
            },
            (*LEFT, "lines.2.price", "lines.2.gift"),
            id="in the second of a list",
        ),
        pytest.param(
            {"order": {"item": "a"}, "rest": {"x": {"y": 1}}}, LEFT, id="what the model made up"
        ),
        pytest.param(
            {"order": {"item": "a", "unknown": 1}}, (), id="names that are not all its own"
        ),
    ],
)
def test_what_was_left_out_inside(args: dict[str, Any], filled: tuple[str, ...]):
    """By the path of each, in the order in which they are declared."""
    bound = FunctionTool(buy).bind(args)
    assert isinstance(bound, Bound)
    assert bound.filled == filled
