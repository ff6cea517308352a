"""What people read that is different from what they agreed to."""

from typing import Any

import pytest

from agents import Agent, FunctionTool, Question
from agents.runtime.differences import differences
from agents.runtime.testing import call
from tests.agents.desk import Desk


def question(**changes: object) -> Question:
    """What is asked about a call."""
    return Question(**{"call_id": "6-0", "tool": "pay", "agent": "root", "digest": "d"} | changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"args": {"a": 2}}, ["a: was 1, is now 2"], id="another value"),
        pytest.param({"args": {}}, ["a: was 1, is gone"], id="a parameter less"),
        pytest.param({"args": {"a": 1, "b": 2}}, ["b: was not there, is now 2"], id="one more"),
        pytest.param({"agent": "other"}, ["agent: was root, is now other"], id="another agent"),
        pytest.param(
            {"contract": "v2"},
            ["the tool pay has changed since: its parameters, defaults or effects"],
            id="another version",
        ),
        pytest.param(
            {"contract": "v2", "args": {"a": 2}},
            ["a: was 1, is now 2", "the tool pay has changed since"],
            id="both",
        ),
        pytest.param({}, [], id="nothing"),
        pytest.param({"precondition": {"b": 3}}, ["b: was 2, is now 3"], id="another price"),
        pytest.param({"precondition": {}}, ["b: was 2, is gone"], id="no price"),
    ],
)
def test_differences(changes, expected):
    """People read what is different from what they agreed to."""
    before = question(args={"a": 1}, precondition={"b": 2})
    assert differences(before, before.model_copy(update=changes)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([1, 2], [2, 3], ["t: 1 more: 3", "t: 1 fewer: 1"], id="one came, one left"),
        pytest.param(["a"], ["a", "a"], ['t: 1 more: "a"'], id="the same once more"),
        pytest.param([1, 2], [2, 1], ["t: in another order"], id="another order"),
        pytest.param([], list(range(11)), None, id="too many to tell"),
        pytest.param({"x": [1], "y": 1}, {"x": [1], "y": 1.0}, ["t.y: was 1, is now 1.0"], id="in"),
        pytest.param({"x": 1}, [1], ['t: was {"x": 1}, is now [1]'], id="another kind"),
        pytest.param("é", "e\u0301", ['t: was "é", is now "e\u0301"'], id="another spelling"),
    ],
)
def test_what_a_precondition_finds_now(before, after, expected):
    """The difference is told field by field, of a list what came and what left."""
    asked = question(precondition={"t": before})
    told = differences(asked, asked.model_copy(update={"precondition": {"t": after}}))
    if expected is None:
        (line,) = told
        assert line.startswith("t: 11 more: 0, 1")
        assert line.endswith("9, …")
    else:
        assert told == expected


def test_secrets_are_not_told():
    """That a secret changed is said, not what it is."""
    before = question(args={"a": "x"}, secrets=("a",))
    after = before.model_copy(update={"args": {"a": "y"}})
    assert differences(before, after) == ["a: was another value, is not shown"]


def promised(parameters: dict[str, Any], effects: str = "once", **more: Any) -> Question:
    """The question about a tool with these parameters."""
    promise: dict[str, Any] = {"parameters": {"properties": parameters, **more}, "effects": effects}
    return question(args={"a": 1}, promise=promise, contract=str(promise))


CHANGED = "the tool pay has changed since"
WHOLE, TEXT = {"type": "integer"}, {"type": "string"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"a": WHOLE}, {}, ["a is no longer a parameter"], id="one less"),
        pytest.param({}, {"a": WHOLE}, ["a is a new parameter"], id="one more"),
        pytest.param(
            {"a": WHOLE},
            {"a": {"type": "number"}},
            ["a took a whole number, takes a number"],
            id="a type",
        ),
        pytest.param(
            {"a": TEXT | {"default": "Zürich"}},
            {"a": TEXT | {"default": "Łódź"}},
            ['default of a: was "Zürich", is now "Łódź"'],
            id="a default",
        ),
        pytest.param(
            {"a": TEXT | {"default": None}},
            {"a": TEXT},
            ["default of a: was null, is gone"],
            id="no default any more",
        ),
        pytest.param(
            {"a": TEXT},
            {"a": TEXT | {"default": ""}},
            ['default of a: was not there, is now ""'],
            id="a default by now",
        ),
        pytest.param(
            {"a": WHOLE | {"maximum": 5}},
            {"a": WHOLE | {"maximum": 9, "minimum": 1}},
            ["a took a whole number, at most 5, takes a whole number, at least 1, at most 9"],
            id="limits",
        ),
        pytest.param(
            {"a": {"enum": ["ja", "nö"]}},
            {"a": {"anyOf": [TEXT, {"type": "null"}]}},
            ['a took one of "ja", "nö", takes text or nothing'],
            id="choices",
        ),
        pytest.param(
            {"a": {"type": "array", "items": WHOLE}},
            {"a": {"type": "array", "items": TEXT}},
            ["a took a list of a whole number, takes a list of text"],
            id="what is in a list",
        ),
        pytest.param(
            {"a": {"type": "object", "properties": {"x": WHOLE}}},
            {"a": {"type": "object", "properties": {"x": TEXT}}},
            [
                'a took {"properties": {"x": {"type": "integer"}}, "type": "object"},'
                ' takes {"properties": {"x": {"type": "string"}}, "type": "object"}'
            ],
            id="what is in an object",
        ),
    ],
)
def test_what_of_a_tool_has_changed(before: Any, after: Any, expected: list[str]):
    """Of parameters it is named which, and in what."""
    assert differences(promised(before), promised(after)) == [CHANGED, *expected]


def test_the_effects_of_a_tool():
    """What a second run would do is a part of what people agreed to."""
    told = differences(promised({}), promised({}, effects="none"))
    assert told == [CHANGED, 'effects: was "once", is now "none"']


def test_what_a_parameter_refers_to():
    """A type that is defined beside the parameters is compared as if it stood there."""
    parameter = {"a": {"$ref": "#/$defs/Money"}}
    one, two = ({"$defs": {"Money": each}} for each in (WHOLE, TEXT))
    told = differences(promised(parameter, **one), promised(parameter, **two))
    assert told == [CHANGED, "a took a whole number, takes text"]
    loop = {"$defs": {"Tree": {"properties": {"left": {"$ref": "#/$defs/Tree"}}}}}
    trees = [promised({"a": {"$ref": "#/$defs/Tree"}}, effects=each, **loop) for each in ("x", "y")]
    assert differences(*trees) == [CHANGED, 'effects: was "x", is now "y"']


def test_a_secret_default_is_not_told():
    """That it is another one is said, not what it is."""
    before, after = (promised({"a": TEXT | {"default": each}}) for each in ("x", "y"))
    told = differences(*(each.model_copy(update={"secrets": ("a",)}) for each in (before, after)))
    assert told == [CHANGED, "default of a is another one"]


def field(**schema: Any) -> dict[str, Any]:
    """A form with the field `days`."""
    return {"type": "object", "properties": {"days": schema}, "required": ["days"]}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            field(type="integer", maximum=5),
            field(type="integer", maximum=50),
            [
                "to fill in: days asked for a whole number, at most 5,"
                " asks for a whole number, at most 50"
            ],
            id="a limit",
        ),
        pytest.param(None, field(), ["to fill in: days is asked for now"], id="a form by now"),
        pytest.param(
            field(),
            None,
            ["to fill in: days is not asked for in this question"],
            id="no form any more",
        ),
        pytest.param(field(title="A"), field(title="B"), [], id="words for readers"),
    ],
)
def test_what_of_a_form_has_changed(before: Any, after: Any, expected: list[str]):
    """Which field is asked for otherwise is named."""
    told = differences(question(payload_schema=before), question(payload_schema=after))
    assert told == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("Müller & Søn", "Łukasz", 'a: was "Müller & Søn", is now "Łukasz"', id="text"),
        pytest.param(500, 500.0, "a: was 500, is now 500.0", id="another kind of number"),
        pytest.param(
            {"items": [{"sku": "A", "n": 1}, {"sku": "B"}], "note": "x" * 50},
            {"items": [{"sku": "A", "n": 2}, {"sku": "B"}], "note": "x" * 50},
            "a.items #1.n: was 1, is now 2",
            id="deep inside",
        ),
        pytest.param({"b": None}, {}, "a.b: was null, is gone", id="null is something"),
        pytest.param({}, {"b": None}, "a.b: was not there, is now null", id="null by now"),
        pytest.param(
            {"b.c": 1, "b": {"c": 1}},
            {"b.c": 2, "b": {"c": 1}},
            'a."b.c": was 1, is now 2',
            id="dot",
        ),
        pytest.param(["ä"], ["ä", "ö"], 'a: 1 more: "ö"', id="a list"),
    ],
)
def test_what_of_an_argument_has_changed(before: Any, after: Any, expected: str):
    """Arguments differ field by field, in the letters people wrote."""
    asked = question(args={"a": before})
    assert differences(asked, asked.model_copy(update={"args": {"a": after}})) == [expected]


async def test_the_next_build_of_a_tool():
    """Of a tool that a deploy changed people read which parameter is new, and which default."""

    def first(to: str, note: str = "Grüße") -> str:
        """Pay."""
        return to + note

    def second(to: str, note: str = "Danke", urgent: str = "") -> str:
        """Pay."""
        return to + note + urgent

    tools = [FunctionTool(each, name="pay", require_confirmation=True) for each in (first, second)]
    at = await Desk(Agent(name="a", tools=tools[:1]), [call("pay", to="Bo"), "End."]).open()
    await at.say()
    later = Desk(Agent(name="a", tools=tools[1:]), ["End."], service=at.service)
    later.asked = at.asked
    await later.answer()
    (*_, asked) = [q for e in (await later.session()).events for q in e.questions.values()]
    assert asked.changes == (
        'urgent: was not there, is now ""',
        CHANGED,
        'default of note: was "Grüße", is now "Danke"',
    )
