"""What happens when Slack knocks: stored or decided before it hears 200, and always answered."""

import json
from collections.abc import AsyncIterator
from typing import Any, NoReturn
from urllib.parse import urlencode

import pytest

from agents import Entry, SessionKey, StoreUnavailable
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Begun, Commit
from bot.approvals.terms import Policy
from bot.playground import LocalSlack
from bot.turns import Thread
from tests.bot.slack.office import Office, open_office
from tests.bot.slack.samples import FIXTURES, payload


class Unreachable(MemorySlot):
    """A store that does not answer."""

    async def ingest(self, *_: Any, **__: Any) -> NoReturn:
        """Nothing is put anywhere."""
        raise StoreUnavailable("down")

    async def read(self, *_: Any, **__: Any) -> NoReturn:
        """Nothing is known."""
        raise StoreUnavailable("down")


@pytest.fixture
async def office(slack: LocalSlack) -> AsyncIterator[Office]:
    """The bot, listening."""
    async with open_office(slack, MemorySlot()) as office:
        yield office


async def test_a_mention_is_stored_once_before_slack_hears_200(office: Office) -> None:
    """Both events of a mention are acknowledged, and one turn waits in the inbox."""
    said = await office.slack.mention("ana", "general", "50 dollars & lunch")
    assert [each.status for each in said.deliveries] == [200, 200]
    thread = Thread(office.general, said.ts)
    (entry,) = await office.inbox(thread)
    assert entry["user_id"] == office.id("ana")
    assert entry["content"]["parts"] == [{"text": "50 dollars & lunch"}]
    view = await office.slot.read(office.key(thread))
    assert view is not None
    assert view.inbox == 1


async def test_a_thread_of_ours_is_answered_without_a_mention(office: Office) -> None:
    """In a thread we are in every message counts, in another one none does."""
    said = await office.slack.mention("ana", "general", "50 dollars")
    await office.slack.say("ben", "general", "make it 40", thread_ts=said.ts)
    view = await office.slot.read(office.key(Thread(office.general, said.ts)))
    assert view is not None
    assert view.inbox == 2
    other = await office.slack.say("ana", "general", "nice weather")
    reply = await office.slack.say("ben", "general", "indeed", thread_ts=other.ts)
    assert reply.status == 200
    assert await office.slot.read(office.key(Thread(office.general, other.ts))) is None


async def _unheard(office: Office, text: str) -> tuple[str, list[str]]:
    """A mention that Slack could not bring yet: its ts, and the bodies of its events."""
    known, url = len(office.slack.delivery.records), office.slack.delivery.url
    office.slack.connect(None)
    said = await office.slack.mention("ana", "general", text)
    await office.slack.settled()
    office.slack.connect(url)
    bodies = {each.body for each in office.slack.delivery.records[known:]}
    return said.ts, sorted(bodies)


async def _bring(office: Office, body: str) -> int:
    """Deliver an event again; the status it is answered with."""
    headers = {**office.slack.delivery.signed(body), "Content-Type": "application/json"}
    return (await office.slack.deliver_raw(body, headers)).status


async def _texts(office: Office, ts: str) -> list[str]:
    """What waits in a thread's session, oldest first."""
    key, found = office.key(Thread(office.general, ts)), list[str]()
    while await office.inbox(Thread(office.general, ts)):
        begun = await office.slot.begin(key, owner="test", lease=1000)
        assert isinstance(begun, Begun)
        assert begun.head is not None
        content: Any = begun.head.body["content"]
        found.append(content["parts"][0]["text"])
        number, fence = f"c{len(found)}", begun.fence
        done = Commit(id=number, fence=fence, version=begun.version, pop=begun.head.id)
        await office.slot.commit(key, done)
    return found


async def test_an_answer_before_its_mention_is_heard_behind_it(office: Office) -> None:
    """Slack brings a mention late: what was said in its thread meanwhile follows it, once."""
    ts, bodies = await _unheard(office, "50 dollars")
    await office.slack.say("ben", "general", "make it 40", thread_ts=ts)
    said = await office.slack.say("ana", "general", "or 30", thread_ts=ts)
    assert said.status == 200
    assert [await _bring(office, body) for body in bodies] == [200] * len(bodies)
    await office.slack.say("ana", "general", "no, 20", thread_ts=ts)
    assert await _texts(office, ts) == ["50 dollars", "make it 40", "or 30", "no, 20"]


async def test_what_was_said_before_the_mention_is_nobodys_business(office: Office) -> None:
    """Who is called into a thread of others hears what is said after the call only."""
    other = await office.slack.say("ana", "general", "nice weather")
    await office.slack.say("ben", "general", "indeed", thread_ts=other.ts)
    await office.slack.mention("ben", "general", "50 dollars", thread_ts=other.ts)
    await office.slack.say("ben", "general", "make it 40", thread_ts=other.ts)
    assert await _texts(office, other.ts) == ["50 dollars", "make it 40"]


class Overtaking(MemorySlot):
    """A store in which a mention is stored right after it was found missing."""

    async def ingest(self, key: SessionKey, entry: Entry, **told: Any) -> Any:
        """Have somebody else make the session once somebody has missed it."""
        taken = await super().ingest(key, entry, **told)
        if taken == "missing":
            await self.apply(key, state={}, create=True)
        return taken


async def test_a_mention_that_is_stored_meanwhile(slack: LocalSlack) -> None:
    """Whoever finds no thread looks again once the words are set aside."""
    async with open_office(slack, Overtaking()) as office:
        other = await office.slack.say("ana", "general", "50 dollars")
        await office.slack.say("ben", "general", "make it 40", thread_ts=other.ts)
        assert await _texts(office, other.ts) == ["make it 40"]


async def test_a_dm_goes_on_with_who_spoke_last(office: Office) -> None:
    """An agent that was named in a DM hears what follows."""
    dm = office.slack.workspace.dm(office.slack.workspace.person("ana")).id
    await office.slack.dm("ana", "time_off: 3 days")
    await office.slack.dm("ana", "hello?")
    view = await office.slot.read(office.key(Thread(dm), "time_off"))
    assert view is not None
    assert view.inbox == 2


async def test_coming_into_a_channel_the_guide_says_who_is_here(office: Office) -> None:
    """Whoever invites us hears what we are for."""
    event = {
        "type": "member_joined_channel",
        "user": office.slack.workspace.person("countersign").id,
        "channel": office.general,
        "inviter": office.id("ana"),
        "event_ts": "1.000100",
    }
    assert (await office.slack.deliver_event(event)).status == 200
    (entry,) = await office.inbox(Thread(office.general), "guide")
    assert entry["user_id"] == office.id("ana")


async def test_a_store_that_is_down_makes_slack_come_again(slack: LocalSlack) -> None:
    """A message that could not be stored is not acknowledged, and comes again."""
    async with open_office(slack, Unreachable()) as office:
        said = await office.slack.mention("ana", "general", "50 dollars")
        assert {each.status for each in said.deliveries} == {503}
        await office.slack.settled()
        attempts = {each.attempt for each in office.slack.delivery.records}
        assert attempts == {0, 1, 2, 3}


async def test_while_the_store_is_nearly_full_no_conversation_begins(slack: LocalSlack) -> None:
    """What is under way gets its messages and clicks; others begin when there is room again."""
    full: list[bool] = []
    async with open_office(slack, MemorySlot(), is_full=lambda: bool(full)) as office:
        record, card = await office.asked()
        full.append(True)
        refused = await slack.mention("ana", "general", "50 dollars")
        assert {each.status for each in refused.deliveries} == {503}
        thread, other = (
            Thread(office.general, card["thread_ts"]),
            Thread(office.general, refused.ts),
        )
        more = await slack.say("ben", "general", "make it 40", thread_ts=thread.ts)
        clicked = await slack.click("max", card, "approve")
        assert (more.status, clicked.status) == (200, 200)
        view = await office.slot.read(office.key(thread), parts=("approvals",))
        assert view is not None
        assert view.approvals[record.id].status == "approved"
        await slack.settled()
        assert await office.slot.read(office.key(other)) is None
        full.clear()
        begun = await slack.mention("ana", "general", "50 dollars")
        assert len(await office.inbox(Thread(office.general, begun.ts))) == 1


async def test_a_click_while_the_store_is_down_shows_a_warning(slack: LocalSlack) -> None:
    """A click that decided nothing is not acknowledged: the person sees it and clicks again."""
    slot = MemorySlot()
    async with open_office(slack, slot) as office:
        record, card = await office.asked()
    async with open_office(slack, Unreachable()) as office:
        clicked = await office.slack.click("max", card, "approve")
        await office.note("max", "I do not know whether it counted")
    assert (clicked.status, bool(clicked.warning)) == (503, True)
    view = await slot.read(
        office.key(Thread(office.general, card["thread_ts"])), parts=("approvals",)
    )
    assert view is not None
    assert view.approvals[record.id].status == "pending"


async def test_approving(office: Office) -> None:
    """A click decides at once, in the name of the signed clicker."""
    record, card = await office.asked()
    assert (await office.slack.click("max", card, "approve")).ok
    stored = await office.stored(record)
    assert (stored.status, stored.decided_by) == ("approved", office.id("max"))


async def test_the_second_clicker_hears_who_was_first(office: Office) -> None:
    """Two clicks are one decision; the second person is told, privately."""
    record, card = await office.asked()
    await office.slack.click("max", card, "approve")
    assert (await office.slack.click("mia", card, "approve")).ok
    note = await office.note("mia", "already approved by")
    assert office.id("max") in note["text"]
    assert len((await office.stored(record)).votes) == 1
    assert not [each for each in office.slack.visible("ana", "general") if each.get("is_ephemeral")]


@pytest.mark.parametrize(
    ("who", "told"),
    [
        pytest.param("ben", "These people can", id="not an approver"),
        pytest.param("ana", "somebody else has to decide", id="the requester"),
    ],
)
async def test_refused_clicks_are_answered(office: Office, who: str, told: str) -> None:
    """Whoever may not decide hears why, and the question stays open."""
    record, card = await office.asked()
    assert (await office.slack.click(who, card, "approve")).ok
    await office.note(who, told)
    assert (await office.stored(record)).status == "pending"


@pytest.mark.parametrize(
    ("who", "values", "first", "words"),
    [
        pytest.param("ben", {}, None, "You cannot decide this", id="not an approver"),
        pytest.param("max", {"days": "x"}, None, "nothing was decided yet", id="a wrong value"),
        pytest.param("mia", {}, "max", "already approved by", id="too late"),
    ],
)
async def test_a_note_says_what_it_is_about(
    office: Office, who: str, values: dict[str, str], first: str | None, words: str
) -> None:
    """It stays below the cards of many requests, and after the request was decided."""
    schema = {"type": "object", "properties": {"days": {"type": "integer", "default": 1}}}
    _, card = await office.asked(payload_schema=schema, tool="request_time_off")
    if first:
        await office.slack.click(first, card, "approve")
    await office.slack.click(who, card, "approve", values=values)
    note = await office.note(who, words)
    head, _, _ = note["text"].partition("\n")
    assert head == f"Request time off, asked by <@{office.id('ana')}>:"


async def test_another_company_cannot_decide(office: Office) -> None:
    """A click from another company in a shared channel decides nothing."""
    record, card = await office.asked()
    body = _click(card, office.id("max"), "T0PARTNERCO")
    assert (await _deliver(office, body)).status == 200
    assert (await office.stored(record)).status == "pending"


async def test_nobody_is_guessed(office: Office) -> None:
    """When Slack does not say who somebody is, nothing is decided and they may try again."""
    record, card = await office.asked()
    office.slack.fail("users.info", "error")
    assert (await office.slack.click("max", card, "approve")).ok
    await office.note("max", "try again")
    assert (await office.stored(record)).status == "pending"
    assert (await office.slack.click("max", card, "approve")).ok
    assert (await office.stored(record)).status == "approved"


async def test_values_are_read_at_the_click(office: Office) -> None:
    """What stands in the inputs at the click is what is approved; bad values are told by field."""
    schema = {
        "type": "object",
        "properties": {"approved_days": {"type": "integer", "maximum": 30}},
        "required": ["approved_days"],
        "additionalProperties": False,
    }
    record, card = await office.asked(payload_schema=schema, payload={"approved_days": 3})
    assert (await office.slack.click("max", card, "approve", values={"approved_days": "many"})).ok
    await office.note("max", "Approved days: ")
    assert (await office.stored(record)).status == "pending"
    assert (await office.slack.click("max", card, "approve", values={"approved_days": "2"})).ok
    assert (await office.stored(record)).payload == {"approved_days": 2}


async def test_rejecting_with_a_reason(office: Office) -> None:
    """Reject asks why in a modal, and the reason is stored word for word."""
    record, card = await office.asked()
    assert (await office.slack.click("max", card, "reject")).ok
    assert len(office.slack.modals("max")) == 1
    sent = await office.slack.submit("max", {"reason": "use cost centre 12"})
    assert sent.ok
    assert office.slack.modals("max") == []
    stored = await office.stored(record)
    assert (stored.status, stored.votes[0].reason) == ("rejected", "use cost centre 12")


async def test_rejecting_without_a_reason(office: Office) -> None:
    """The reason may be left out."""
    record, card = await office.asked()
    await office.slack.click("max", card, "reject")
    assert (await office.slack.submit("max")).ok
    stored = await office.stored(record)
    assert (stored.status, stored.votes[0].reason) == ("rejected", None)


async def test_a_modal_that_comes_too_late_says_so(office: Office) -> None:
    """Whoever was slower reads in the modal who was first."""
    _, card = await office.asked()
    await office.slack.click("mia", card, "reject")
    await office.slack.click("max", card, "approve")
    assert (await office.slack.submit("mia", {"reason": "no"})).ok
    (modal,) = office.slack.modals("mia")
    assert "already approved by" in json.dumps(modal)


async def test_a_modal_stays_open_when_nobody_is_known(office: Office) -> None:
    """When Slack does not say who somebody is, what they typed is kept."""
    record, card = await office.asked()
    await office.slack.click("max", card, "reject")
    office.slack.fail("users.info", "error")
    sent = await office.slack.submit("max", {"reason": "no"})
    assert list(sent.errors) == ["reason"]
    assert (await office.stored(record)).status == "pending"


async def test_a_trigger_that_is_too_old(office: Office) -> None:
    """A modal that could not be opened asks for another click."""
    _, card = await office.asked()
    office.slack.fail("views.open", "refused", error="expired_trigger_id")
    assert (await office.slack.click("max", card, "reject")).ok
    await office.note("max", "click again")


async def test_withdrawing(office: Office) -> None:
    """Only the person who asked can withdraw."""
    record, card = await office.asked()
    body = _click(card, office.id("max"), office.team, action="withdraw")
    await _deliver(office, body)
    assert (await office.stored(record)).status == "pending"
    body = _click(card, office.id("ana"), office.team, action="withdraw")
    assert (await _deliver(office, body)).status == 200
    stored = await office.stored(record)
    assert (stored.status, stored.why) == ("cancelled", "withdrawn")


async def test_one_of_two(office: Office) -> None:
    """A first approval of two is counted, and the person hears so."""
    people = (office.id("max"), office.id("mia"))
    record, card = await office.asked(policy=Policy(approvers=people, quorum=2))
    await office.slack.click("max", card, "approve")
    await office.note("max", "counted: 1 of 2")
    assert (await office.stored(record)).status == "pending"
    await office.slack.click("mia", card, "approve")
    assert (await office.stored(record)).status == "approved"


async def test_show_everything(office: Office) -> None:
    """A long call can be read whole, page by page, by anybody who sees the card."""
    text = " ".join(map(str, range(8000)))
    _, card = await office.asked(args={"text": text})
    assert (await office.slack.click("ben", card, "show")).ok
    (first,) = office.slack.modals("ben")
    assert (await office.slack.click("ben", first, "show:1")).ok
    (second,) = office.slack.modals("ben")
    assert "7999" in json.dumps(second) or "show:2" in json.dumps(second)
    assert json.dumps(first) != json.dumps(second)


async def test_a_big_form_is_asked_for_in_a_modal(office: Office) -> None:
    """More values than a card can ask for are asked for in a modal, with errors at the field."""
    names = [f"f{number}" for number in range(20)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    record, card = await office.asked(payload_schema=schema)
    assert (await office.slack.click("max", card, "form")).ok
    good = dict.fromkeys(names, "1")
    refused = await office.slack.submit("max", good | {"f7": "x"})
    assert list(refused.errors) == ["in:adk-1:7"]
    assert (await office.slack.submit("max", good)).ok
    assert (await office.stored(record)).payload == dict.fromkeys(names, 1)


LONG = {"text": " ".join(map(str, range(800)))}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "on its card": {},
    "in a modal": {"type": "view", "view_id": "V1", "message_ts": "", "channel_id": ""},
    "on a message for one person": {"is_ephemeral": True},
}


@pytest.mark.parametrize(
    ("given", "place", "status"),
    [
        pytest.param({}, "on its card", "approved", id="a card that shows all"),
        pytest.param({}, "in a modal", "pending", id="no card: a modal"),
        pytest.param({}, "on a message for one person", "pending", id="no card: a private note"),
        pytest.param({"args": LONG}, "on its card", "pending", id="a long argument"),
        pytest.param({"args": LONG}, "in a modal", "pending", id="a long argument in a modal"),
        pytest.param(
            {"args": {f"a{n}": n for n in range(41)}}, "on its card", "pending", id="too many"
        ),
        pytest.param({"precondition": LONG}, "on its card", "pending", id="a long condition"),
        pytest.param(
            {"args": LONG, "unknown": True}, "on its card", "pending", id="an interrupted call"
        ),
    ],
)
async def test_only_what_was_all_shown_is_approved(
    office: Office, given: dict[str, Any], place: str, status: str
) -> None:
    """A forged Approve on the right value counts only on a card with all of the call."""
    record, card = await office.asked(**given)
    body = _click(card, office.id("max"), office.team)
    body["container"] |= ELSEWHERE[place]
    assert (await _deliver(office, body)).status == 200
    assert (await office.stored(record)).status == status
    view = await office.slot.read(SessionKey.parse(record.session), parts=("audit",))
    assert view is not None
    tried = [entry["code"] for entry, _ in view.audit if "code" in entry]
    assert tried == ([] if status == "approved" else ["unseen"])
    if status == "pending":
        await office.note("max", "There is more to this call than the card shows")


@pytest.mark.parametrize("action", ["show", "form"])
async def test_a_long_call_is_approved_where_all_of_it_is(office: Office, action: str) -> None:
    """Whichever button is pressed, a call that a card has no room for is approved in full view."""
    record, card = await office.asked(args=LONG)
    body = _click(card, office.id("max"), office.team, action=action)
    body["trigger_id"] = office.slack.workspace.grants.trigger(
        office.id("max"), now=office.slack.now
    )
    assert (await _deliver(office, body)).status == 200
    (modal,) = office.slack.modals("max")
    assert LONG["text"][-100:] in json.dumps(modal)
    assert (await office.slack.submit("max", {})).ok
    assert (await office.stored(record)).status == "approved"


@pytest.mark.parametrize(
    ("action", "value"),
    [
        pytest.param("approve", "req_7f3c", id="a value that is not ours"),
        pytest.param("approve", "v1|T1:a:thread:C1%3A1|id|nonce|01234567", id="another workspace"),
        pytest.param("approve", "v1|forged|id|nonce|01234567", id="no session"),
        pytest.param("explode", None, id="an action nobody knows"),
    ],
)
async def test_old_and_forged_buttons(office: Office, action: str, value: str | None) -> None:
    """A button that means nothing any more says so, and decides nothing."""
    record, card = await office.asked()
    body = _click(card, office.id("max"), office.team, action=action)
    body["actions"][0]["value"] = value or body["actions"][0]["value"]
    assert (await _deliver(office, body)).status == 200
    await office.note("max", "no longer active")
    assert (await office.stored(record)).status == "pending"


async def test_a_nonce_of_another_card(office: Office) -> None:
    """A value whose nonce or digest is not the card's belongs to no request."""
    record, card = await office.asked()
    body = _click(card, office.id("max"), office.team)
    body["actions"][0]["value"] = body["actions"][0]["value"].replace("n0nce", "other")
    assert (await _deliver(office, body)).status == 200
    await office.note("max", "does not belong to any request")
    assert (await office.stored(record)).status == "pending"


async def test_a_private_note_finds_another_way(office: Office) -> None:
    """When Slack refuses an ephemeral message, the response URL is used."""
    _, card = await office.asked()
    office.slack.fail("chat.postEphemeral", "refused", error="user_not_in_channel")
    await office.slack.click("ben", card, "approve")
    await office.note("ben", "These people can")
    assert office.slack.calls("response_url")


@pytest.mark.parametrize(
    ("who", "words"),
    [
        pytest.param("ana", "do not know that command", id="one of us"),
        pytest.param("pat", "Only people of this workspace", id="of another company"),
    ],
)
async def test_unknown_commands_are_answered(office: Office, who: str, words: str) -> None:
    """A command nobody knows is answered, also when its text has the word payload in it.

    Nobody is sent where they would not be heard.
    """
    office.slack.workspace.channel("general").members.add(office.id(who))
    assert (await office.slack.command(who, "general", "/approvals change payload")).ok
    await office.note(who, words)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda each: each.stem)
async def test_everything_slack_sends_is_answered(office: Office, path: Any) -> None:
    """No recorded request gets a 404: Slack would come again, or show a warning."""
    body = payload(path.stem)
    if path.stem.startswith("socket_"):
        body = body.get("payload")
    if not body:
        return
    form = body if "command" in body else {"payload": json.dumps(body)}
    events = "event" in body or body.get("type") in ("app_rate_limited", "url_verification")
    text = json.dumps(body) if events else urlencode(form)
    content_type = "application/json" if events else "application/x-www-form-urlencoded"
    headers = {"Content-Type": content_type, **office.slack.delivery.signed(text)}
    assert (await office.slack.deliver_raw(text, headers)).status == 200


async def _deliver(office: Office, body: dict[str, Any]) -> Any:
    return await office.slack.delivery.interaction(body)


def _click(
    card: dict[str, Any], person: str, team: str, *, action: str = "approve"
) -> dict[str, Any]:
    """A click with any identity, as only Slack could sign it."""
    button = next(block for block in card["blocks"] if block["type"] == "actions")["elements"][0]
    container = {"type": "message", "message_ts": card["ts"], "channel_id": card["channel"]}
    return {
        "type": "block_actions",
        "user": {"id": person, "name": "x", "team_id": team},
        "team": {"id": team},
        "container": container | {"thread_ts": card.get("thread_ts")},
        "channel": {"id": card["channel"]},
        "trigger_id": "1.2.3",
        "actions": [{**button, "action_id": action, "action_ts": "1.2"}],
        "state": {"values": {}},
    }
