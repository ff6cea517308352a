"""A click fits this app, this workspace and the card of its request, or it decides nothing."""

import copy
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from agents.runtime.slot.memory import MemorySlot
from bot.playground import LocalSlack
from bot.playground.people import APP_ID, PARTNER_TEAM_ID
from bot.slack.clicks import INACTIVE, MISPLACED
from bot.slack.origin import misfit
from bot.slack.workspace import Identity
from tests.bot.slack.office import Office, open_office
from tests.bot.slack.samples import FIXTURES, TEAM, payload

APP = "A07APRV8R2X"
US = Identity(team=TEAM, user="U07BOTAPRVR", bot="B07APRVB0T1", app=APP)
GRID = Identity(team=TEAM, user="U07BOTAPRVR", bot="B1", app=APP, enterprise="E05GRIDORG1")
REAL = sorted(
    path.stem
    for path in FIXTURES.glob("*.json")
    if payload(path.stem).get("type") in ("block_actions", "view_submission")
)
GONE = object()


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The body with something else at a path, or without it."""
    body = copy.deepcopy(body)
    *way, last = path.split(".")
    there = body
    for name in way:
        there[name] = dict(there.get(name) or {})
        there = there[name]
    if value is GONE:
        there.pop(last, None)
    else:
        there[last] = value
    return body


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("app", [APP, ""], ids=["our app is known", "our app is not known"])
def test_what_slack_sends_fits(name: str, app: str):
    """Every recorded click and form fits who it was recorded for."""
    us = GRID if "org_install" in name else US
    found = Identity(team=us.team, user=us.user, bot=us.bot, app=app, enterprise=us.enterprise)
    assert misfit(payload(name), found) == ""


CARD, HOME, FORM = (
    "block_actions_message_approve",
    "block_actions_app_home",
    "view_submission_decide",
)
ORG, PRIVATE = "block_actions_org_install", "block_actions_ephemeral"
OUTSIDE = "block_actions_slack_connect_external"


@pytest.mark.parametrize(
    ("name", "path", "value", "field"),
    [
        (CARD, "api_app_id", "A0OTHER", "api_app_id"),
        (CARD, "api_app_id", "", "api_app_id"),
        (CARD, "api_app_id", None, "api_app_id"),
        (CARD, "api_app_id", [APP], "api_app_id"),
        (CARD, "message.app_id", "A0OTHER", "message.app_id"),
        (CARD, "team.id", "T0OTHER", "team.id"),
        (CARD, "team.id", None, "team.id"),
        (CARD, "team", None, "team"),
        (CARD, "enterprise", {"id": "E0OTHER"}, "enterprise.id"),
        (CARD, "channel.id", "C0OTHER", "channel.id"),
        (CARD, "channel.id", None, "channel.id"),
        (CARD, "container.channel_id", "C0OTHER", "channel.id"),
        (CARD, "container.channel_id", GONE, "container.channel_id"),
        (CARD, "container.message_ts", "1.2", "message.ts"),
        (CARD, "container.message_ts", GONE, "container.message_ts"),
        (CARD, "container.message_ts", 1795981212.551059, "container.message_ts"),
        (CARD, "message.ts", "1.2", "message.ts"),
        (CARD, "is_enterprise_install", True, ""),
        (PRIVATE, "channel.id", "C0OTHER", "channel.id"),
        (PRIVATE, "message", {"ts": "1.2"}, "message.ts"),
        (HOME, "api_app_id", "A0OTHER", "api_app_id"),
        (HOME, "view.app_id", "A0OTHER", "view.app_id"),
        (HOME, "view.app_installed_team_id", "T0OTHER", "view.app_installed_team_id"),
        (HOME, "team.id", "T0OTHER", "team.id"),
        (FORM, "api_app_id", "A0OTHER", "api_app_id"),
        (FORM, "view.app_id", "A0OTHER", "view.app_id"),
        (FORM, "view.app_installed_team_id", "T0OTHER", "view.app_installed_team_id"),
        (FORM, "team.id", "T0OTHER", "team.id"),
        (FORM, "enterprise", {"id": "E0OTHER"}, "enterprise.id"),
        (ORG, "enterprise.id", "E0OTHER", "enterprise.id"),
        (ORG, "enterprise", None, "enterprise.id"),
        (ORG, "team", {"id": "T0OTHER"}, "team.id"),
        (ORG, "is_enterprise_install", False, "team"),
        (OUTSIDE, "api_app_id", "A0OTHER", "api_app_id"),
        (OUTSIDE, "team.id", "T0OTHER", ""),
        (OUTSIDE, "container.message_ts", "1.2", "message.ts"),
    ],
)
def test_what_does_not_fit_is_named(name: str, path: str, value: Any, field: str):
    """A payload with one thing changed, as no card of ours would send it."""
    us = GRID if name == ORG else US
    assert misfit(changed(payload(name), path, value), us) == field


@pytest.fixture
async def office(slack: LocalSlack) -> AsyncIterator[Office]:
    """The bot, listening."""
    async with open_office(slack, MemorySlot()) as office:
        yield office


async def sent(office: Office, body: dict[str, Any]) -> int:
    """Deliver a signed click; the status it is answered with."""
    form = urlencode({"payload": json.dumps(body)})
    headers = {
        **office.slack.delivery.signed(form),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return (await office.slack.deliver_raw(form, headers)).status


Forge = Callable[[dict[str, Any]], dict[str, Any]]


def at(path: str, value: Any) -> Forge:
    """Changes one thing."""
    return lambda body: changed(body, path, value)


def elsewhere(body: dict[str, Any]) -> dict[str, Any]:
    """The same click, all of it from another message."""
    body = changed(body, "container.message_ts", "1700000000.000100")
    return changed(body, "message.ts", "1700000000.000100")


def from_a_view(body: dict[str, Any]) -> dict[str, Any]:
    """The same click, from no message at all."""
    body = {name: body[name] for name in body if name not in ("message", "channel")}
    return body | {"container": {"type": "view", "view_id": "V1"}}


@pytest.mark.parametrize("act", ["approve", "reject", "show"])
@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(at("api_app_id", "A0OTHER"), id="another app"),
        pytest.param(at("team.id", "T0OTHER"), id="another workspace"),
        pytest.param(at("enterprise", {"id": "E0OTHER"}), id="another enterprise"),
        pytest.param(at("channel.id", "C0OTHER"), id="another channel"),
        pytest.param(at("container.channel_id", "C0OTHER"), id="another container"),
        pytest.param(at("container.message_ts", "1.2"), id="another message"),
        pytest.param(elsewhere, id="a message that is none of its cards"),
    ],
)
async def test_a_forged_click_decides_nothing(office: Office, act: str, forge: Forge, caplog):
    """It is signed and answered, and the person is told; nothing is opened, counted or decided."""
    record, card = await office.asked()
    pressed = await office.slack.click("ben", card, "approve")
    before = await office.stored(record)
    body = json.loads(dict(parse_qsl(pressed.deliveries[-1].body))["payload"])
    body["user"] |= {"id": office.id("max"), "username": "max", "name": "max"}
    body["actions"][0] |= {"action_id": act, "action_ts": "1"}
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="countersign"):
        forged = forge(body)
        assert [await sent(office, forged) for _ in range(2)] == [200, 200]
        words = "not belong to any request known" if act == "approve" else INACTIVE
        told = words if forge is elsewhere else MISPLACED
        await office.slack.wait_for(
            lambda: (
                any(told[:30] in json.dumps(m) for m in office.slack.visible("max", "general"))
                or any(told[:30] in json.dumps(call.arguments) for call in office.slack.calls())
            )
        )
    after = await office.stored(record)
    assert (after.status, after.votes) == ("pending", before.votes)
    assert office.slack.modals("max") == []
    lines = [record for record in caplog.records if record.msg.startswith("click.")]
    assert len(lines) == (1 if told == MISPLACED else len(lines))


async def test_an_approval_is_pressed_on_a_message(office: Office):
    """From a view nothing is approved by a button: there it takes the form."""
    record, card = await office.asked()
    pressed = await office.slack.click("ben", card, "approve")
    body = json.loads(dict(parse_qsl(pressed.deliveries[-1].body))["payload"])
    body["user"] |= {"id": office.id("max"), "username": "max", "name": "max"}
    assert await sent(office, from_a_view(body)) == 200
    assert (await office.stored(record)).status == "pending"


async def test_a_partner_hears_why(office: Office):
    """Somebody of another company in a shared channel is refused for that, and nothing else."""
    record, card = await office.asked()
    pressed = await office.slack.click("ben", card, "approve")
    body = json.loads(dict(parse_qsl(pressed.deliveries[-1].body))["payload"])
    body["user"] |= {"id": "U0PARTNPAT1", "team_id": PARTNER_TEAM_ID}
    body["team"] = {"id": PARTNER_TEAM_ID, "domain": "partner"}
    assert body["api_app_id"] == APP_ID
    assert await sent(office, body) == 200
    assert (await office.stored(record)).status == "pending"
    assert MISPLACED[:30] not in json.dumps([call.arguments for call in office.slack.calls()])
