"""Types of parameters: what can be declared can be called, the rest is refused at once."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    field_serializer,
)

from agents import FunctionTool, UsageError
from agents.runtime.arguments import Bound


class Order(BaseModel):
    """Computes a field and takes no other."""

    model_config = ConfigDict(extra="forbid")
    qty: int

    @computed_field
    @property
    def total(self) -> int:
        """Twice."""
        return self.qty * 2


class Written(BaseModel):
    """Is written under another name than it is read."""

    name: str = Field(serialization_alias="n")


class Read(BaseModel):
    """Is read under another name."""

    name: str = Field(validation_alias="userName")


class Chosen(BaseModel):
    """Is read under several names."""

    name: str = Field(validation_alias=AliasChoices("userName", "user"))


class Both(BaseModel):
    """Has one other name for both."""

    name: str = Field(alias="NAME")


class Hidden(BaseModel):
    """Writes one field nowhere."""

    name: str
    internal: str = Field(exclude=True)


class Told(BaseModel):
    """Writes a date in words."""

    day: date

    @field_serializer("day")
    def _words(self, day: date) -> str:
        return f"the {day.day}th"


class Open(BaseModel):
    """Takes more than it declares."""

    model_config = ConfigDict(extra="allow")
    a: int


class Names(RootModel[list[str]]):
    """A list with a name."""


class Basket(BaseModel):
    """Has others inside."""

    orders: list[Order]
    reader: Read | None = None


CALLABLE = [
    pytest.param(Order, {"qty": 2}, id="a computed field"),
    pytest.param(Written, {"name": "z"}, id="a serialization alias"),
    pytest.param(Read, {"userName": "z"}, id="a validation alias"),
    pytest.param(Chosen, {"userName": "z"}, id="a choice of aliases"),
    pytest.param(Both, {"NAME": "z"}, id="an alias"),
    pytest.param(Hidden, {"name": "z", "internal": "q"}, id="an excluded field"),
    pytest.param(Told, {"day": "2026-01-02"}, id="a serializer"),
    pytest.param(Open, {"a": 1, "b": [2]}, id="extra fields"),
    pytest.param(Names, ["a", "b"], id="a root model"),
    pytest.param(Basket, {"orders": [{"qty": 1}], "reader": {"userName": "z"}}, id="nested"),
    pytest.param(list[Read], [{"userName": "z"}], id="a list of models"),
    pytest.param(Mapping[str, Order], {"a": {"qty": 1}}, id="a mapping of models"),
    pytest.param(Sequence[str], ["p"], id="a sequence"),
    pytest.param(tuple[int, ...], [1, 2], id="a tuple"),
    pytest.param(Decimal, "12.50", id="a decimal"),
]


def _tool(annotation: Any) -> FunctionTool:
    def take(x):
        """Take it."""
        return x

    take.__annotations__["x"] = annotation
    return FunctionTool(take)


@pytest.mark.parametrize(("annotation", "given"), CALLABLE)
def test_what_is_declared_can_be_called(annotation, given) -> None:
    """What a person is shown is what the model gave, and it is read back as the same."""
    tool = _tool(annotation)
    bound = tool.bind({"x": given})
    assert isinstance(bound, Bound), bound.response
    assert bound.as_json == {"x": given}
    again = tool.bind(bound.as_json)
    assert (again.values, again.as_json) == (bound.values, bound.as_json)


@pytest.mark.parametrize(
    "annotation",
    [
        Iterable[str],
        Iterator[str],
        Generator[str, None, None],
        list[Iterable[int]],
        Annotated[Iterable[str], "marked"],
    ],
    ids=str,
)
def test_what_can_be_gone_through_once_is_refused(annotation) -> None:
    """A person could not be shown what the function gets."""
    with pytest.raises(UsageError, match=r"cannot be declared|once only"):
        _tool(annotation)
