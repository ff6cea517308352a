"""What a person agrees to, as a fingerprint."""

import json
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agents.runtime.declarations import signature_of
from agents.runtime.digest import canonical, contract_version, digest


class Level(IntEnum):
    """A number that is more than a number."""

    LOW = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(
            {"b": 1, "a": [None, True]}, b'{"a":[null,true],"b":1}', id="sorted, no blanks"
        ),
        pytest.param("é", b'"\\u00e9"', id="ASCII"),
        pytest.param("e\u0301", b'"e\\u0301"', id="NFD stays NFD"),
        pytest.param("\ud800", b'"\\ud800"', id="half a character"),
        pytest.param(10**20, b"100000000000000000000", id="big int, digit by digit"),
        pytest.param(1e20, b"1e+20", id="big float"),
        pytest.param(-0.0, b"-0.0", id="negative zero"),
        pytest.param(0.1 + 0.2, b"0.30000000000000004", id="every digit of a float"),
    ],
)
def test_canonical(value: Any, text: bytes):
    """There is one text for a value."""
    assert canonical(value) == text


def test_look_alikes_differ():
    """Values that Python or an eye takes for equal have different texts."""
    values: list[Any] = [1, 1.0, "1", True, "true", 0, 0.0, -0.0, False, None, "null", "", [], {}]
    values += ["é", "e\u0301", "a", "а", " a", [1], [[1]], {"a": 1}, {"a": 1.0}, {"A": 1}]
    values += [9007199254740992, 9007199254740993, 9007199254740992.0]
    assert len({canonical(value) for value in values}) == len(values)


def test_order_of_keys_does_not_matter():
    """Two dicts that differ in their order only are one."""
    assert canonical({"a": {"x": 1, "y": 2}, "b": 3}) == canonical({"b": 3, "a": {"y": 2, "x": 1}})


@pytest.mark.parametrize(
    ("value", "error"),
    [
        pytest.param(float("nan"), ValueError, id="NaN"),
        pytest.param([float("inf")], ValueError, id="infinity"),
        pytest.param({1: 2}, TypeError, id="a key that is no text"),
        pytest.param({None: 2}, TypeError, id="a key that is nothing"),
        pytest.param((1, 2), TypeError, id="a tuple"),
        pytest.param({"a": {1}}, TypeError, id="a set inside"),
        pytest.param(Level.LOW, TypeError, id="an enum"),
        pytest.param(b"x", TypeError, id="bytes"),
    ],
)
def test_no_json(value: Any, error: type[Exception]):
    """Only JSON has a canonical text."""
    with pytest.raises(error):
        canonical(value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=150)
@given(JSON, JSON)
def test_canonical_is_faithful(one: Any, two: Any):
    """The text reads back to the value, through a store too, and tells two values apart."""
    assert json.loads(canonical(one)) == one
    assert canonical(json.loads(canonical(one))) == canonical(one)
    assert (canonical(one) == canonical(two)) == (repr_of(one) == repr_of(two))


def repr_of(value: Any) -> str:
    """A text that tells values apart without knowing JSON."""
    if isinstance(value, dict):
        return f"dict{sorted((key, repr_of(item)) for key, item in value.items())}"
    return f"[{','.join(map(repr_of, value))}]" if isinstance(value, list) else repr(value)


CALL: dict[str, Any] = {
    "tenant": "T1",
    "agent": "root/payer",
    "tool": "pay",
    "contract": "c",
    "args": {"amount": 5},
    "payload_schema": None,
}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"tenant": "T2"}, id="tenant"),
        pytest.param({"agent": "root"}, id="agent"),
        pytest.param({"tool": "repay"}, id="tool"),
        pytest.param({"contract": "d"}, id="contract"),
        pytest.param({"args": {"amount": 5.0}}, id="number type"),
        pytest.param({"args": {"amount": "5"}}, id="text for number"),
        pytest.param({"args": {"amount": 5, "to": None}}, id="one more argument"),
        pytest.param({"payload_schema": {}}, id="payload schema"),
        pytest.param({"precondition": {"price": 5}}, id="precondition"),
    ],
)
def test_digest_covers(change: dict[str, Any]):
    """Any part of what was agreed to changes the digest, and nothing else does."""
    assert digest(**CALL) == digest(**json.loads(json.dumps(CALL)))
    assert digest(**(CALL | change)) != digest(**CALL)


def test_no_precondition():
    """A call that depends on nothing has the digest it had before anything could."""
    assert digest(**CALL, precondition={}) == digest(**CALL)


def tool(body: str) -> Callable[..., Any]:
    """A function called `pay` with these parameters."""
    names: dict[str, Any] = {
        "Annotated": Annotated,
        "Literal": Literal,
        "Field": Field,
        "Order": Order,
    }
    exec(f"def pay({body}):\n    'Pay it.'", names)
    return names["pay"]


class Order(BaseModel):
    """What is ordered; the words may change."""

    title: str = Field(description="its title")
    description: int = 1


BEFORE = "amount: int, currency: str = 'JPY'"


@pytest.mark.parametrize(
    ("after", "same"),
    [
        pytest.param(BEFORE, True, id="nothing"),
        pytest.param("amount: int", False, id="a parameter removed"),
        pytest.param(f"{BEFORE}, to: str = ''", False, id="a parameter added"),
        pytest.param("amount: int, money: str = 'JPY'", False, id="a parameter renamed"),
        pytest.param("amount: int, currency: str = 'USD'", False, id="another default"),
        pytest.param("amount: int, currency: str", False, id="no default"),
        pytest.param("amount: float, currency: str = 'JPY'", False, id="a wider type"),
        pytest.param("amount: int, currency: Literal['JPY'] = 'JPY'", False, id="a narrower type"),
        pytest.param(
            "amount: Annotated[int, Field(le=5)], currency: str = 'JPY'", False, id="a limit"
        ),
        pytest.param(
            "amount: Annotated[int, Field(description='x')], currency: str = 'JPY'",
            True,
            id="a description",
        ),
    ],
)
def test_contract_version(after: str, same: bool):
    """The contract changes with names, types, limits and defaults, not with words."""
    before = contract_version(signature_of(tool(BEFORE)), effects="once")
    assert (contract_version(signature_of(tool(after)), effects="once") == before) is same


def test_contract_version_covers_the_rest():
    """The contract covers the name, the effects and the payload's schema."""
    signature = signature_of(tool(BEFORE))
    versions = {
        contract_version(signature, effects="once"),
        contract_version(signature, effects="none"),
        contract_version(signature_of(tool(BEFORE), name="other"), effects="once"),
        contract_version(signature, effects="once", payload_schema={"type": "object"}),
        contract_version(signature_of(tool("")), effects="once"),
    }
    assert len(versions) == 5


def test_fields_called_like_words_of_a_schema_count():
    """A model's field named `title` or `description` is part of the contract."""

    class Shorter(BaseModel):
        title: str

    def version(model: type[BaseModel]) -> str:
        schema = model.model_json_schema()
        return contract_version(signature_of(tool("")), effects="once", payload_schema=schema)

    assert version(Order) != version(Shorter)
