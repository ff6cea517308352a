"""What Slack sends, as ours: a table over every recorded payload."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from bot.routing import Choice, Message
from bot.slack import events, payloads
from bot.slack.events import Joined
from bot.slack.options import option_meaning, option_value
from bot.slack.payloads import Click, Ignored, Submission
from bot.turns import Thread
from tests.bot.slack.samples import ANA, BOT_USER, FIXTURES, MAX, TEAM, payload

EVENTS = sorted(
    path.stem
    for path in FIXTURES.glob("*.json")
    if payload(path.stem).get("type") == "event_callback"
)
TEXTS = {
    "app_mention": "I need 3 days off",
    "assistant_user_message": "what is waiting for me?",
    "message_channel": f"I need 3 days off from Dec 7 & I'd like @{MAX} to know",
    "message_dm": "what is waiting for me?",
    "message_file_share": "please approve this expense\n[attached: receipt.pdf]",
    "message_mpim": "what is waiting for me?",
    "message_private_channel": None,
    "message_thread_broadcast": "also: approve by Friday",
    "message_thread_reply": "make it 2 days please",
}


def event(name: str, **changes: Any) -> Message | Joined | Ignored:
    """A sample event as ours, with some of its inner fields changed."""
    body = payload(name)
    body["event"] |= changes
    return events.event(body, team=TEAM, bot_user=BOT_USER)


@pytest.mark.parametrize("name", EVENTS)
def test_only_people_are_heard(name: str) -> None:
    """Of all recorded events only what colleagues write becomes a message."""
    found = event(name)
    assert isinstance(found, Message) == (name in TEXTS)
    if isinstance(found, Message) and TEXTS[name]:
        assert found.text == TEXTS[name]


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        pytest.param("message_own_bot", {}, "a bot", id="our own post has no subtype"),
        pytest.param("message_own_bot", {"user": "U0OTHER"}, "a bot", id="another bot's post"),
        pytest.param("message_channel", {"user": BOT_USER}, "a bot", id="our own user"),
        pytest.param("message_channel", {"user": None}, "nobody", id="no author"),
        pytest.param("message_channel", {"channel": None}, "no place", id="no channel"),
        pytest.param("message_channel", {"team": "T0PARTNER"}, "other company", id="outsider"),
        pytest.param("app_mention_slack_connect_external", {}, "other company", id="Slack Connect"),
        pytest.param("message_bot_message_subtype", {}, "message bot_message", id="webhook"),
        pytest.param("message_changed_user_edit", {}, "message message_changed", id="edit"),
        pytest.param("message_deleted", {}, "message message_deleted", id="deletion"),
        pytest.param("message_channel_join", {}, "message channel_join", id="join"),
        pytest.param("reaction_added", {}, "event reaction_added", id="reaction"),
    ],
)
def test_ignored(name: str, changes: dict[str, Any], reason: str) -> None:
    """What is not for an agent is ignored, and says why."""
    assert event(name, **changes) == Ignored(reason)


@pytest.mark.parametrize(
    ("shared", "found"),
    [
        pytest.param(False, Message, id="our channel"),
        pytest.param(True, Ignored, id="a shared channel"),
        pytest.param(None, Ignored, id="a channel of which nothing is said"),
    ],
)
def test_an_author_without_a_team(shared: bool | None, found: type) -> None:
    """Whose company is not said is a colleague only where no other company can be."""
    body = payload("message_channel")
    body["event"] = {k: v for k, v in body["event"].items() if k not in ("team", "user_team")}
    body["is_ext_shared_channel"] = shared
    assert isinstance(events.event(body, team=TEAM, bot_user=BOT_USER), found)


ODD = st.sampled_from([None, True, 7, -1, 10**30, 1.5, "", "x", "[" * 5000, [], [1], [[]], {}])
RECORDED = sorted(path.stem for path in FIXTURES.glob("*.json"))


def places(body: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a payload."""
    inside = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in inside if isinstance(body, dict | list) else ():
        yield (*at, name)
        if isinstance(value, dict | list):
            yield from places(value, (*at, name))


@settings(max_examples=300)
@given(data=st.data(), name=st.sampled_from(RECORDED), odd=ODD)
def test_odd_shapes_are_no_errors(data: st.DataObject, name: str, odd: Any) -> None:
    """Whatever stands in whatever place of a payload, it is read without an exception."""
    body = payload(name)
    *way, last = data.draw(st.sampled_from(list(places(body))))
    inside: Any = body
    for step in way:
        inside = inside[step]
    inside[last] = odd
    heard = events.event(body, team=TEAM, bot_user=BOT_USER)
    assert isinstance(heard, Message | Joined | Ignored)
    assert isinstance(payloads.click(body), Click | Ignored)
    assert isinstance(payloads.submission(body), Submission | Ignored)
    payloads.command(body)
    payloads.place(body)
    told = (events.changed_person, events.changed_group, events.home_opened)
    assert all(isinstance(read(body), str) for read in told)


@pytest.mark.parametrize(
    ("field", "element"),
    [
        pytest.param("date", {"selected_date_time": 10**15}, id="beyond the year 9999"),
        pytest.param("date", {"selected_date_time": -(10**15)}, id="before all years"),
        pytest.param("date", {"selected_date_time": "soon"}, id="no number"),
    ],
)
def test_no_moment(field: str, element: dict[str, Any]) -> None:
    """What is no moment of a calendar is nothing."""
    assert payloads.state_values({"values": {"b": {field: element}}}) == {field: None}


@pytest.mark.parametrize("body", [{}, {"event": None}, {"event": []}, {"type": "app_rate_limited"}])
def test_bodies_without_an_event(body: dict[str, Any]) -> None:
    """Whatever a body lacks, it is ignored and not an error."""
    assert events.event(body, team=TEAM, bot_user=BOT_USER) == Ignored("other workspace")
    body = body | {"team_id": TEAM}
    assert events.event(body, team=TEAM, bot_user=BOT_USER) == Ignored("no event")


def test_both_events_of_a_mention_are_one_turn() -> None:
    """A post that names the bot comes twice, as app_mention and as message, and is one turn."""
    text = payload("app_mention")["event"]["text"]
    first, second = event("app_mention"), event("message_channel", text=text)
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert first == second
    assert first.mention
    turn = events.turn(first, Choice(agent="time_off", text=first.text, ts=first.ts))
    assert turn.id == f"m:C0G9QF9GZ:{first.ts}"
    assert turn.author == ANA
    assert str(turn.session) == f"{TEAM}:time_off:thread:C0G9QF9GZ%3A{first.ts}"


def test_a_bare_mention_says_something() -> None:
    """Whoever only names the bot is heard too; no model takes an empty message."""
    found = event("app_mention", text=f"<@{BOT_USER}>")
    assert isinstance(found, Message)
    assert found.text == ""
    turn = events.turn(found, Choice(agent="guide", text=found.text, ts=found.ts))
    assert turn.text == events.NO_WORDS


def test_me_message_is_heard() -> None:
    """What somebody writes with /me is written too."""
    found = event("message_channel", subtype="me_message")
    assert isinstance(found, Message)


def test_threads() -> None:
    """A reply belongs to its thread; a first message has none, even once it has replies."""
    reply, first = event("message_thread_reply"), event("message_channel", thread_ts=None)
    parent = event("message_channel", thread_ts=payload("message_channel")["event"]["ts"])
    assert isinstance(reply, Message)
    assert isinstance(first, Message)
    assert isinstance(parent, Message)
    assert (reply.thread_ts, first.thread_ts, parent.thread_ts) == ("1795981205.318679", "", "")


@pytest.mark.parametrize(
    ("name", "direct"),
    [("message_dm", True), ("message_mpim", False), ("message_channel", False)],
)
def test_direct(name: str, direct: bool) -> None:
    """Only a conversation of two is a DM."""
    found = event(name)
    assert isinstance(found, Message)
    assert found.direct == direct


def test_joining_a_channel() -> None:
    """When we are added to a channel we hear who did it; others may come and go."""
    joined = {"type": "member_joined_channel", "user": BOT_USER, "inviter": ANA}
    found = event("message_channel", **joined)
    assert found == Joined(team=TEAM, channel="C0G9QF9GZ", inviter=ANA, ts="1795981205.318679")
    assert isinstance(found, Joined)
    turn = events.greeting(found, agent="guide")
    assert (turn.id, turn.author) == ("j:C0G9QF9GZ:1795981205.318679", ANA)
    assert event("message_channel", **joined | {"user": ANA}) == Ignored("somebody joined")


def test_changed_person() -> None:
    """The person of a user_change is told, of any other event nobody."""
    body = payload("user_change_deactivated")
    assert events.changed_person(body) == body["event"]["user"]["id"]
    assert events.changed_person(payload("message_channel")) == ""


@pytest.mark.parametrize(
    ("name", "action", "values", "thread"),
    [
        pytest.param(
            "block_actions_message_approve",
            "approve",
            {
                "approved_days": "2",
                "from_date": "2026-12-07",
                "leave_type": "paid",
                "flags": ["tell_hr"],
            },
            Thread("C0G9QF9GZ"),
            id="on a message",
        ),
        pytest.param(
            "block_actions_message_empty_inputs",
            "approve",
            {"approved_days": None, "from_date": None, "leave_type": None, "flags": []},
            Thread("C0G9QF9GZ"),
            id="with nothing entered",
        ),
        pytest.param(
            "block_actions_ephemeral", "approve", {}, Thread("C0G9QF9GZ"), id="on an ephemeral"
        ),
    ],
)
def test_clicks(name: str, action: str, values: dict[str, Any], thread: Thread) -> None:
    """A click says who pressed what, and what stood in the inputs then."""
    click = payloads.click(payload(name))
    assert isinstance(click, Click)
    assert (click.action, click.values, click.place.thread) == (action, values, thread)
    assert (click.by.id, click.by.team, click.button) == (MAX, TEAM, None)
    assert click.place.response_url.startswith("https://hooks.slack.com/")


def test_click_in_a_thread() -> None:
    """A click on a card in a thread is answered in that thread."""
    body = payload("block_actions_thread_reject")
    click = payloads.click(body)
    assert isinstance(click, Click)
    assert click.place.thread.ts == body["container"]["thread_ts"]


def test_click_from_another_company_names_that_company() -> None:
    """Who clicks in a shared channel keeps their own team."""
    click = payloads.click(payload("block_actions_slack_connect_external"))
    assert isinstance(click, Click)
    assert click.by.team not in ("", TEAM)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(payload("block_actions_select_changed"), "input changed", id="a select"),
        pytest.param({"actions": []}, "input changed", id="no action"),
        pytest.param({"actions": [{"type": "button"}]}, "nobody", id="no user"),
    ],
)
def test_clicks_that_decide_nothing(body: dict[str, Any], reason: str) -> None:
    """A changed input or a click by nobody decides nothing."""
    assert payloads.click(body) == Ignored(reason)


def test_value_with_a_page() -> None:
    """The buttons of a long call carry the page they lead to."""
    body = payload("block_actions_message_approve")
    body["actions"][0]["value"] = "v1|a:b:c:d|id|nonce|01234567#3"
    click = payloads.click(body)
    assert isinstance(click, Click)
    assert click.button is not None
    assert (click.page, click.button.digest8) == (3, "01234567")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("when", "2026-12-01T09:00:00Z"),
        ("who", ["U03MGR5KXQ2", "U05HRL9ZW41"]),
        ("opt", "yes"),
        ("t", "09:30"),
        ("u", "U03MGR5KXQ2"),
        ("m", "max@acme.test"),
        ("x", None),
    ],
)
def test_every_kind_of_input(field: str, value: JsonValue) -> None:
    """Each kind of input gives its value under the field's name."""
    state = payload("view_submission_all_input_kinds")["view"]["state"]
    values = payloads.state_values(state)
    assert values[field] == value
    assert isinstance(values["note"], dict)


def test_submission() -> None:
    """A modal says what it decides, in whose name, and where its fields stand."""
    body = payload("view_submission_decide")
    body["view"]["callback_id"] = "decide"
    body["view"]["private_metadata"] = (
        '{"act": "reject", "button": "v1|a:b:c:d|id|n|01234567", "channel": "C1", "thread": "1.2"}'
    )
    sent = payloads.submission(body)
    assert isinstance(sent, Submission)
    assert (sent.act, sent.reason) == ("reject", "Two days only, release week")
    assert sent.values == {"approved_days": "2"}
    assert sent.blocks == {"reason": "b_reason", "approved_days": "b_days"}
    assert sent.place.thread == Thread("C1", "1.2")
    assert sent.button is not None


@pytest.mark.parametrize("metadata", ["", "no json", "[]", '{"act": 1, "button": 2}'])
def test_submission_with_strange_metadata(metadata: str) -> None:
    """A modal whose private metadata is not ours has no button."""
    body = payload("view_submission_decide")
    body["view"] |= {"callback_id": "decide", "private_metadata": metadata}
    sent = payloads.submission(body)
    assert isinstance(sent, Submission)
    assert (sent.button, sent.act) == (None, "")


def test_other_modals_are_ignored() -> None:
    """A modal of somebody else's decides nothing."""
    assert payloads.submission(payload("view_submission_decide")) == Ignored("other modal")


def test_command() -> None:
    """A slash command says who typed what where."""
    command = payloads.command(payload("slash_command"))
    assert (command.name, command.text, command.by.id) == ("/approvals", "mine", ANA)
    assert command.place.thread == Thread("C0G9QF9GZ")


@pytest.mark.parametrize(
    "member",
    [
        *("paid", "true", "3", '"', "", "truest", " 3", "-", "[", '["a"]', "\t{}", "null", "NaN"),
        *(True, False, 3, -3, 2.5, None, ["a", None], {"a": 1}),
    ],
)
def test_option_values_keep_their_type(member: JsonValue) -> None:
    """An enum's member comes back from a select as what it was."""
    found = option_meaning(option_value(member))
    assert found == member
    assert type(found) is type(member)


WRITTEN = {"type": "message", "user": "UANA", "ts": "1.2", "text": "pay"}


def taken_back(kind: str, **inner: Any) -> dict[str, Any]:
    """The event of a message that is deleted or changed."""
    told = {"type": "message", "subtype": kind, "channel": "C1", "previous_message": WRITTEN}
    return {"team_id": "T1", "event": {**told, **inner}}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(taken_back("message_deleted"), (True, "1.2"), id="deleted"),
        pytest.param(
            taken_back("message_deleted", previous_message={**WRITTEN, "thread_ts": "1.0"}),
            (True, "1.0"),
            id="deleted in a thread",
        ),
        pytest.param(
            taken_back("message_changed", message={**WRITTEN, "text": "wait"}),
            (False, "1.2"),
            id="other words",
        ),
        pytest.param(
            taken_back("message_changed", message={"subtype": "tombstone"}),
            (True, "1.2"),
            id="deleted, and answers left",
        ),
        pytest.param(taken_back("message_changed", message=WRITTEN), None, id="an unfurled link"),
        pytest.param(taken_back("message_deleted", previous_message={}), None, id="nobody's"),
        pytest.param(taken_back("channel_join"), None, id="something else"),
        pytest.param({**taken_back("message_deleted"), "team_id": "T2"}, None, id="another team"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_what_is_taken_back(body: dict[str, Any], found: tuple[bool, str] | None):
    """A message that is gone, or whose words changed, is known by its author and its turn."""
    told = events.retracted(body, team="T1")
    assert (told and (told.deleted, told.thread)) == found
    assert told is None or (told.author, told.turn) == ("UANA", "m:C1:1.2")
