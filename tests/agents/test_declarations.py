"""What the model reads about a function: recorded cases of the peer, and our own rows."""

import dataclasses
import datetime
import decimal
import enum
import functools
import json
import sys
import typing
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NotRequired, Optional

import pytest
from pydantic import BaseModel, Field, SecretStr
from typing_extensions import TypeAliasType, TypedDict

from agents.runtime.approval import Secret
from agents.runtime.context import ToolContext
from agents.runtime.declarations import declare, signature_of
from agents.runtime.errors import DeclarationError

CASES = Path(__file__).parents[1] / "conformance" / "cases"
PRELUDE = {
    "dataclasses": dataclasses,
    "datetime": datetime,
    "decimal": decimal,
    "enum": enum,
    "functools": functools,
    **{name: getattr(typing, name) for name in typing.__all__},
    "TypedDict": TypedDict,
    "NotRequired": NotRequired,
    "Enum": Enum,
    "BaseModel": BaseModel,
    "Field": Field,
    "ToolContext": ToolContext,
}


def recorded() -> list[Any]:
    """One row per function of the peer's recorded declarations, without agents and failures."""
    rows: list[Any] = []
    for path in sorted(CASES.glob("*-decl-*.json")):
        if path.name.endswith(".ours.json"):
            continue
        case = json.loads(path.read_text())
        kinds = {tool["func"]: tool["kind"] for tool in case["tools"]}
        for entry in case["expect"]["declarations"]:
            if "verdict" in case or kinds[entry["func"]] != "function" or entry["func"] == "lam":
                continue
            row = (case["python"], entry["func"], entry)
            rows.append(pytest.param(*row, id=f"{path.stem[:3]}-{entry['func']}"))
    return rows


@pytest.mark.parametrize(("source", "expression", "expected"), recorded())
def test_recorded_declaration(source: str, expression: str, expected: dict[str, Any]):
    """A function is declared exactly as the peer declares it."""
    names: dict[str, Any] = {**PRELUDE, "__name__": __name__}
    exec(source, names)
    signature = signature_of(eval(expression, names))
    declared = declare(signature).model_dump(exclude_none=True)
    for name, schema in declared.get("parameters_json_schema", {}).get("properties", {}).items():
        wanted = expected["declaration"]["parameters_json_schema"]["properties"][name]
        if "description" not in wanted:
            schema.pop("description", None)
    assert declared == expected["declaration"]
    assert [p.name for p in signature.parameters if p.required] == expected["mandatory"]


class Plain:
    """A class without JSON form."""


@dataclasses.dataclass
class Caller:
    """What a caller does."""

    unit: str = "C"

    def __call__(self, a: str) -> str:
        """Call it."""
        return a


@dataclasses.dataclass
class Quiet:
    def __call__(self, a: str) -> str:
        """Call it."""
        return a


def documented(city: str, days: int = 1, unit: Annotated[str, Field(description="C or F")] = "C"):
    """Tell the weather.

    Args:
        city (str): where, as a name
            or a post code
        days: how many: at most 5
        unit: a unit
        nobody: no parameter

    Returns:
        city: no parameter's line
    """


def undocumented(city: str, args: int):
    """Args: are not listed here.

    city: not an entry
    """


def test_args_section_describes_parameters():
    """Lines of `Args:` describe the parameters; a Field's own description wins."""
    schema = signature_of(documented).schema
    assert schema is not None
    assert {name: value.get("description") for name, value in schema["properties"].items()} == {
        "city": "where, as a name or a post code",
        "days": "how many: at most 5",
        "unit": "C or F",
    }


def test_no_args_section():
    """Without a section of its own nothing is taken for a description."""
    schema = signature_of(undocumented).schema
    assert schema is not None
    assert all("description" not in value for value in schema["properties"].values())


def first(ctx: ToolContext, a: str): ...


def optional(a: str, ctx: Optional[ToolContext] = None): ...  # noqa: UP045


def piped(a: str, ctx: ToolContext | None = None): ...


def written(a: str, ctx: "ToolContext"): ...


def written_optional(a: str, ctx: "ToolContext | None" = None): ...


def named(a: str, tool_context): ...


def both(a: str, ctx: ToolContext, tool_context: str): ...


@pytest.mark.parametrize(
    ("func", "context", "declared"),
    [
        pytest.param(first, "ctx", ["a"], id="first"),
        pytest.param(optional, "ctx", ["a"], id="Optional"),
        pytest.param(piped, "ctx", ["a"], id="or None"),
        pytest.param(written, "ctx", ["a"], id="as a string"),
        pytest.param(written_optional, "ctx", ["a"], id="as a string, or None"),
        pytest.param(named, "tool_context", ["a"], id="by its name"),
        pytest.param(both, "ctx", ["a", "tool_context"], id="the annotation comes first"),
        pytest.param(functools.partial(first, a="x"), "ctx", ["a"], id="of a partial"),
        pytest.param(documented, None, ["city", "days", "unit"], id="none"),
    ],
)
def test_context_parameter(func: Callable[..., Any], context: str | None, declared: list[str]):
    """The context parameter is found by annotation, else by name, and never declared."""
    signature = signature_of(func)
    assert signature.context == context
    assert [parameter.name for parameter in signature.parameters] == declared


@pytest.mark.parametrize(
    ("func", "description"),
    [
        pytest.param(Caller(), "What a caller does.", id="a dataclass's own words"),
        pytest.param(Quiet(), "Call it.", id="not the words dataclass writes"),
        pytest.param(first, None, id="none"),
    ],
)
def test_description(func: Callable[..., Any], description: str | None):
    """The description is what a person wrote about the callable."""
    assert declare(signature_of(func)).description == description


def model_config(model_config: str, _a: int, json: bool, copy: str = "c"): ...


def test_any_parameter_name_is_declared():
    """No name of a parameter is special, not even one that pydantic has for itself."""
    schema = signature_of(model_config).schema
    assert schema is not None
    assert list(schema["properties"]) == ["model_config", "_a", "json", "copy"]
    assert schema["required"] == ["model_config", "_a", "json"]


class Colour(Enum):
    RED = "red"


def defaulted(
    a: Annotated[str, Field(default="k")],
    b: list[int] = Field(default_factory=list),  # noqa: B008
    c: str = Field(min_length=1),
    d: Colour = Colour.RED,
): ...


def test_field_defaults_resolve():
    """A Field's default is the parameter's default; a Field without one leaves it mandatory."""
    schema = signature_of(defaulted).schema
    assert schema is not None
    assert {k: v["default"] for k, v in schema["properties"].items() if "default" in v} == {
        "a": "k",
        "b": [],
        "d": "red",
    }
    assert schema["required"] == ["c"]


class Vault(BaseModel):
    key: SecretStr


def unresolvable(b: str, a): ...


def broken(a): ...


unresolvable.__annotations__["a"] = "Missing"
broken.__annotations__["a"] = "list["


def plain(a: Plain): ...


def calling(a: Callable[[int], int]): ...


def odd_default(a=Plain): ...


def nan_default(a: float = float("nan")): ...


def wrong_default(a: int = "x"): ...  # pyright: ignore[reportArgumentType]


def secret(a: Vault): ...


class Login(BaseModel):
    user: str
    token: Annotated[str, Secret]


class Inner(BaseModel):
    logins: dict[str, Login | None]


@dataclasses.dataclass
class LoginPoint:
    token: Annotated[str, Secret] | None = None


class LoginRow(TypedDict):
    tokens: list[Annotated[str, Secret()]]


def with_login(a: Login): ...


def with_logins(a: list[Login] | None = None): ...


def with_inner(a: Inner): ...


def with_point(a: LoginPoint): ...


def with_row(a: LoginRow): ...


SECRETS = {
    "a class": Annotated[str, Secret],
    "an instance": Annotated[str, Secret()],
    "one of two": Annotated[str, Secret] | None,
    "an optional one": Optional[Annotated[str, Secret]],  # noqa: UP045
    "in a list": list[Annotated[str, Secret()]],
    "in a dict": dict[str, Annotated[str, Secret]],
    "in a pair": tuple[int, Annotated[str, Secret]],
    "deep inside": list[dict[str, list[Annotated[int, Secret]] | None]],
    "beside a limit": Annotated[Annotated[str, Secret], Field(min_length=1)],
    "a name for it": typing.NewType("Token", Annotated[str, Secret]),  # pyright: ignore[reportGeneralTypeIssues]
    "an alias": TypeAliasType("Alias", Annotated[str, Secret]),
}


@pytest.mark.parametrize("annotation", SECRETS.values(), ids=SECRETS)
def test_a_mark_is_found_wherever_it_stands(annotation: Any):
    """A parameter is secret when any part of its type is marked so."""

    def login(host: str, token: Any): ...

    login.__annotations__["token"] = annotation
    assert [p.secret for p in signature_of(login).parameters] == [False, True]


def hidden(ctx: ToolContext, /, a: str): ...


class OldBox(typing.TypedDict):
    width: int


def old_typed_dict(a: OldBox): ...


class One:
    class Box(BaseModel):
        width: int


class Two:
    class Box(BaseModel):
        height: int


class Desk:
    def find(self, a: str): ...


def hiding(func: Any) -> Any:
    def inner(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return inner


def many(*names: str): ...


def options(**named: str): ...


def twice(a: str, tool_context: ToolContext, ctx: ToolContext): ...


def twice_optional(ctx: ToolContext, again: ToolContext | None = None): ...


def namesakes(a: One.Box, b: Two.Box): ...


@pytest.mark.parametrize(
    ("func", "words"),
    [
        pytest.param(unresolvable, ["unresolvable", "'a'", "Missing"], id="unknown name"),
        pytest.param(broken, ["broken", "'a'"], id="broken annotation"),
        pytest.param(plain, ["plain", "'a'", "Plain"], id="plain class"),
        pytest.param(calling, ["calling", "'a'"], id="a function as an argument"),
        pytest.param(odd_default, ["odd_default", "'a'", "default"], id="default without JSON"),
        pytest.param(nan_default, ["nan_default", "'a'", "default"], id="NaN as default"),
        pytest.param(wrong_default, ["wrong_default", "'a'", "default"], id="unfit default"),
        pytest.param(secret, ["secret", "'a'"], id="a secret"),
        *(
            pytest.param(func, [func.__name__, "'a'", "Login", "mark this one"], id=func.__name__)
            for func in (with_login, with_logins, with_inner, with_point, with_row)
        ),
        pytest.param(hidden, ["hidden", "'ctx'"], id="context by position only"),
        pytest.param(twice, ["twice: parameter 'ctx': a second ToolContext"], id="two contexts"),
        pytest.param(twice_optional, ["'again': a second ToolContext"], id="one to spare"),
        pytest.param(namesakes, ["namesakes", "'b'", "Box"], id="two types of one name"),
        pytest.param(lambda x: x, ["<lambda>", "name="], id="a lambda has no name"),
        pytest.param(Plain, ["Plain", "function"], id="a class"),
        pytest.param(Plain(), ["Plain", "function"], id="no callable"),
        pytest.param(next, ["next"], id="no signature"),
        pytest.param(
            Desk.find, ["find: Desk.find is not bound: give Desk(...).find"], id="method of nobody"
        ),
        pytest.param(
            functools.partial(Desk.find, a="x"), ["Desk.find is not bound"], id="a part of one"
        ),
        pytest.param(dict.get, ["dict.get is not bound"], id="built-in method of nobody"),
        pytest.param(hiding(documented), ["inner", "functools.wraps"], id="hidden by a decorator"),
        pytest.param(many, ["many", "*names", "name its parameters"], id="any number"),
        pytest.param(options, ["options", "**named", "name its parameters"], id="any names"),
        pytest.param(
            old_typed_dict,
            ["old_typed_dict", "'a'"],
            id="typing.TypedDict",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="works since 3.12"),
        ),
    ],
)
def test_what_cannot_be_declared(func: Any, words: list[str]):
    """What cannot be declared is refused when the tool is built, by tool and parameter."""
    with pytest.raises(DeclarationError) as caught:
        signature_of(func)
    assert all(word in str(caught.value) for word in words)


def test_a_lambda_with_a_name():
    """A lambda is a tool once it is given a name."""
    declaration = declare(signature_of(lambda x, y=2: x, name="pick"))
    assert declaration.name == "pick"
    assert declaration.parameters_json_schema == {
        "type": "object",
        "title": "pickParams",
        "properties": {"x": {"title": "X"}, "y": {"title": "Y", "default": 2}},
        "required": ["x"],
    }


def int_first(a: int | str): ...


def text_first(a: str | int): ...


def test_order_of_a_union_is_kept():
    """Two unions that Python takes for equal are declared each in its own order."""
    for func in (int_first, text_first):
        schema = signature_of(func).schema
        assert schema is not None
        kinds = [option["type"] for option in schema["properties"]["a"]["anyOf"]]
        assert kinds == (["integer", "string"] if func is int_first else ["string", "integer"])


def noted(a: Annotated[str, ["a note"], {"of": "any kind"}]): ...


def test_notes_of_any_kind():
    """Metadata that means nothing to a schema is left alone, hashable or not."""
    (a,) = signature_of(noted).parameters
    assert a.schema == {"title": "A", "type": "string"}


def rate(limit: float = 5): ...


def test_a_default_is_of_its_parameters_type():
    """A default is what the annotation makes of it, so that it reads back as the same value."""
    (limit,) = signature_of(rate).parameters
    assert type(limit.default) is float
    assert type(limit.schema["default"]) is float


def test_declaring_again_with_a_note():
    """Declaring twice gives equal declarations; a note stands behind the docstring."""
    signature = signature_of(documented)
    assert declare(signature) == declare(signature)
    assert declare(signature, note="Wait.").description == f"{signature.description}\n\nWait."


def test_a_context_that_is_imported_for_type_checkers_only():
    """The name alone says what it is."""

    def take(x, tool_context) -> None: ...

    take.__annotations__ = {"x": "int", "tool_context": "Nowhere"}
    found = signature_of(take)
    assert (found.context, [p.name for p in found.parameters]) == ("tool_context", ["x"])
