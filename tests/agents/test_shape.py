"""The types of parameters: what a model can send, and what is said of the others."""

import datetime
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from agents.runtime.approval import Secret
from agents.runtime.declarations import signature_of
from agents.runtime.errors import DeclarationError


class Plain:
    """A class without JSON form."""


class Unfinished(BaseModel):
    rest: "Missing"  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


INSTEAD = "use a pydantic model, a dataclass or a TypedDict"
UNSENDABLE = {
    "plain class": (Plain, "a model cannot send <class '", INSTEAD),
    "in a list": (list[Plain], "a model cannot send <class '", INSTEAD),
    "iterator": (typing.Iterator[int], "a model cannot send typing.Iterator[int]", INSTEAD),
    "a value": (3, "a model cannot send 3", INSTEAD),
    "function": (Callable[[int], int], "no JSON schema for CallableSchema", INSTEAD),
    "class": (type, "no JSON schema for IsInstanceSchema", INSTEAD),
    "a mark alone": (Secret, "write Annotated[str, Secret]"),
    "a mark made": (Secret(), "write Annotated[str, Secret]"),
    "marks": (list[Secret], "write Annotated[str, Secret]"),
    "a mark or none": (Secret | None, "write Annotated[str, Secret]"),
    "unfinished class": (Unfinished, "names types that are not there yet"),
    "no pattern": (Annotated[str, Field(pattern="(")], "regex parse error"),
    "no number": (Annotated[int, Field(ge=typing.cast("int", "a"))], "must be coercible"),
}


@pytest.mark.parametrize(
    ("annotation", "words"), [(a, w) for a, *w in UNSENDABLE.values()], ids=UNSENDABLE
)
def test_what_no_model_can_send(annotation: Any, words: list[str]):
    """The error names tool and parameter, and advises only what one can do here."""

    def pay(a: Any): ...

    pay.__annotations__["a"] = annotation
    with pytest.raises(DeclarationError) as caught:
        signature_of(pay)
    told = str(caught.value)
    assert told.startswith("pay: parameter 'a': ")
    assert all(word in told for word in words)
    assert "model_config" not in told
    assert "http" not in told


class Priced(BaseModel):
    price: Annotated[float, Field(pattern="^x$")]


def check(value: Any) -> Any:
    """Check what a person would, which nobody may try beforehand."""
    raise TypeError(value)


LIMITS = {
    "pattern of a number": (Annotated[int, Field(pattern="^x$")], "pattern"),
    "pattern of a Decimal": (Annotated[Decimal, Field(pattern="^x$")], "pattern"),
    "pattern of a list": (Annotated[list[str], Field(pattern="^x$")], "pattern"),
    "length of a number": (Annotated[int, Field(min_length=2)], "min_length"),
    "length of a flag": (Annotated[bool, Field(max_length=2)], "max_length"),
    "length of a time": (Annotated[datetime.datetime, Field(max_length=9)], "max_length"),
    "least text": (Annotated[str, Field(ge=1)], "ge"),
    "most of a list": (Annotated[list[int], Field(lt=1)], "lt"),
    "step of a text": (Annotated[str, Field(multiple_of=2)], "multiple_of"),
    "step of a dict": (Annotated[dict[str, int], Field(multiple_of=2)], "multiple_of"),
    "digits of an int": (Annotated[int, Field(max_digits=2)], "max_digits"),
    "places of a text": (Annotated[str, Field(decimal_places=2)], "decimal_places"),
    "one of two": (Annotated[int, Field(pattern="^x$")] | None, "pattern"),
    "in a list": (list[Annotated[int, Field(pattern="^x$")]], "pattern"),
    "in a class": (Priced, "pattern"),
    "two limits": (Annotated[str, Field(min_length=1, multiple_of=2)], "multiple_of"),
}


@pytest.mark.parametrize(("annotation", "limit"), LIMITS.values(), ids=LIMITS)
def test_a_limit_that_its_type_cannot_have(annotation: Any, limit: str):
    """It would fail at every call; so the tool is refused when it is built."""

    def pay(a: Any): ...

    pay.__annotations__["a"] = annotation
    with pytest.raises(DeclarationError, match=f"^pay: parameter 'a': .* {limit} is no limit"):
        signature_of(pay)


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param(Annotated[int, Field(ge=1, le=5, multiple_of=2)], id="number"),
        pytest.param(Annotated[str, Field(pattern="^x$", min_length=2)], id="text"),
        pytest.param(Annotated[str, Field(ge="a")], id="least text"),
        pytest.param(Annotated[Decimal, Field(max_digits=4, decimal_places=2)], id="Decimal"),
        pytest.param(Annotated[list[str], Field(max_length=2)], id="list"),
        pytest.param(Annotated[datetime.date, Field(ge=datetime.date(2020, 1, 1))], id="date"),
        pytest.param(Annotated[bool, Field(gt=0)], id="flag"),
        pytest.param(Annotated[Any, Field(ge=1)], id="any"),
        pytest.param(Annotated[int | str, Field(ge=1)], id="one of two"),
        pytest.param(Annotated[str, AfterValidator(check)], id="a check of one's own"),
        pytest.param(Annotated[str, AfterValidator(str.strip)], id="a built-in one"),
        pytest.param(
            Annotated[int, AfterValidator(check), Field(min_length=2)], id="and a limit after it"
        ),
    ],
)
def test_a_limit_that_its_type_can_have(annotation: Any):
    """Limits that fit are no concern, and nobody's own code runs to find that out."""

    def pay(a: Any): ...

    pay.__annotations__["a"] = annotation
    assert signature_of(pay).schema
