"""A field for a person takes a person of this workspace, whoever Slack's picker offers besides."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from agents import Slot
from agents.runtime.payload import schema_of
from bot.approvals.decide import decide
from bot.approvals.nominees import NO_PERSON, is_colleague, nominees
from bot.approvals.policy import Person
from bot.approvals.request import Approval
from bot.approvals.ruling import Ruling, carried
from bot.slack.blocks.entered import filled
from bot.slack.blocks.inputs import inputs
from bot.slack.payloads import state_values
from bot.slack.validate import message_problems
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import ASKED, KEY, approval, click, person

Somebody = Annotated[str, Field(json_schema_extra={"format": "person"})]


class Task(BaseModel):
    """A part of a form."""

    owner: Somebody
    note: str = "UNOTE"


def form(kind: Any, *default: Any) -> dict[str, Any]:
    """The schema of a form with the field `who`."""
    return schema_of(create_model("Form", who=(kind, *(default or (...,)))))[0]


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        pytest.param(Somebody, "UBO", ("UBO",), id="one"),
        pytest.param(Somebody | None, "UBO", ("UBO",), id="one or nobody"),
        pytest.param(Somebody | None, None, (), id="nobody"),
        pytest.param(list[Somebody], ["UBO", "UAL", "UBO"], ("UBO", "UAL"), id="a list"),
        pytest.param(list[Somebody], [], (), id="an empty list"),
        pytest.param(dict[str, Somebody], {"a": "UBO"}, ("UBO",), id="under names nobody knows"),
        pytest.param(dict[str, str], {"a": "UBO"}, (), id="texts under such names"),
        pytest.param(tuple[Somebody, str], ["UBO", "UAL"], ("UBO",), id="a pair"),
        pytest.param(tuple[Somebody, ...], ["UBO", "UAL"], ("UBO", "UAL"), id="so many"),
        pytest.param(Somebody | str, "the whole team", (), id="one, or any text"),
        pytest.param(Somebody | int, "UBO", ("UBO",), id="one, or a number"),
        pytest.param(Literal["none"] | Somebody, "UBO", ("UBO",), id="one, or a word"),
        pytest.param(Task, {"owner": "UBO", "note": "UAL"}, ("UBO",), id="in a model"),
        pytest.param(list[Task], [{"owner": "UBO"}], ("UBO",), id="in models"),
        pytest.param(str, "UBO", (), id="a text"),
        pytest.param(Somebody, "bob", ("bob",), id="what is no id"),
    ],
)
def test_whom_values_name(kind: Any, value: Any, named: tuple[str, ...]):
    """Only what stands where people are asked for is looked up."""
    found = nominees(form(kind), {"who": value, "extra": "UBO"})
    assert found == ({"who": named} if named else {})


ALL = {
    "UBO": person("UBO"),
    "UGUEST": person("UGUEST", is_guest=True),
    "UBOT": person("UBOT", is_bot=True),
    "UGONE": person("UGONE", deleted=True),
    "UPARTNER": person("UPARTNER", is_stranger=True),
    "UOTHER": Person(id="UOTHER", team="T2"),
}


@pytest.mark.parametrize(
    ("id_", "fits"),
    [("UBO", True), ("UGUEST", True), *((each, False) for each in [*ALL][2:])],
)
def test_who_is_a_colleague(id_: str, fits: bool):
    """Apps, those who left, and people of other companies are nobody to name."""
    assert is_colleague(approval(), ALL[id_]) is fits


@pytest.mark.parametrize(
    ("value", "kind", "field"),
    [
        pytest.param("UBO", "decided", "", id="a person"),
        pytest.param("UGUEST", "decided", "", id="a guest"),
        pytest.param("UBOT", "invalid", "who", id="an app"),
        pytest.param("UGONE", "invalid", "who", id="who left"),
        pytest.param("UPARTNER", "invalid", "who", id="another company's"),
        pytest.param("bob", "invalid", "who", id="no id"),
        pytest.param("UNKNOWN", "unsure", "", id="Slack does not say"),
    ],
)
@pytest.mark.parametrize("listed", [False, True], ids=["one", "in a list"])
async def test_who_is_named_is_looked_up_at_the_click(
    slot: Slot, value: str, kind: str, field: str, *, listed: bool
):
    """The error stands next to the field; while Slack does not say, nothing is decided."""
    schema = form(list[Somebody] if listed else Somebody)

    async def who_is(id_: str) -> Person | None:
        return ALL.get(id_)

    asked = await put(slot, payload_schema=schema, payload={})
    values = {"who": [value] if listed else value}
    outcome = await decide(slot, KEY, click(asked, values=values), who_is=who_is)
    assert outcome.kind == kind
    assert outcome.problems == ({field: NO_PERSON} if field else {})
    assert ((await stored(slot)).status == "approved") == (kind == "decided")


@pytest.mark.parametrize(("value", "status"), [("UBO", "approved"), ("bob", ""), ("  ", "")])
def test_an_operator_names_people_by_their_ids(value: str, status: str):
    """From outside Slack, too, what is no id is refused in a sentence."""
    asked = approval(payload_schema=form(Somebody), payload={})
    ruling = Ruling(act="approve", by="root", values={"who": value})
    after = carried(asked, ruling, now=ASKED + 1, run_for=None)
    assert isinstance(after, Approval) == bool(status)
    if not isinstance(after, Approval):
        assert "who" in after.sentence


@pytest.mark.parametrize("modal", [False, True])
@pytest.mark.parametrize("begins", [[], ["UBO", "UAL"], ["UBO", "bob"]], ids=str)
def test_several_people_are_picked(begins: list[str], *, modal: bool):
    """Nobody has to know ids: a list of people is a picker, and comes back as it began."""
    asked = approval(payload_schema=form(list[Somebody]), payload={"who": begins})
    (block,) = inputs(asked, modal=modal)
    element = block["element"]
    assert element["type"] == "multi_users_select"
    assert element.get("initial_users", []) == ([] if "bob" in begins else begins)
    assert message_problems({"text": "Who", "blocks": [block]}) == []
    state = {"values": {"b": {"who": {"type": element["type"], "selected_users": ["UBO"]}}}}
    assert state_values(state) == {"who": ["UBO"]}


@pytest.mark.parametrize(
    ("kind", "value", "mentioned"),
    [
        pytest.param(Somebody, "UBO", ["UBO"], id="one"),
        pytest.param(list[Somebody], ["UBO", "UAL"], ["UBO", "UAL"], id="several"),
        pytest.param(list[Somebody], ["UBO", "bob"], [], id="what is no id"),
        pytest.param(list[str], ["UBO"], [], id="texts"),
        pytest.param(str, "UBO", [], id="a text"),
    ],
)
def test_who_was_named_is_read_by_name(kind: Any, value: Any, mentioned: list[str]):
    """The next who has to agree reads names, not ids."""
    asked = approval(payload_schema=form(kind), payload={})
    (block,) = filled(asked, {"who": value}, by="UCFO")
    pieces = [piece for part in block["elements"] for piece in part["elements"]]
    assert [p["user_id"] for p in pieces if p["type"] == "user"] == ["UCFO", *mentioned]
    assert ("UBO" in str([p.get("text") for p in pieces])) != bool(mentioned)
    assert message_problems({"text": "Who", "blocks": [block]}) == []
