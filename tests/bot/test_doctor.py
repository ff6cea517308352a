"""The doctor: what each part says when it is asked, against a real store and the local Slack."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents import Entry, ModelError, ModelUnavailable, SessionKey
from agents.runtime.slot.redis import RedisSlot, connect
from bot import app, doctor
from bot.cli import main
from bot.doctor import Finding, Parts, examine
from bot.index import Index
from bot.playground import BEN, LocalSlack
from bot.playground.people import TEAM_ID
from bot.playground.web_api import FaultKind
from bot.settings import Settings
from bot.slack.workspace import silence
from tests.conftest import unused_port
from tests.stories.conftest import office_settings, running


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch):
    """What does not answer is given up soon."""
    monkeypatch.setattr(doctor, "WAIT", 0.3)


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """A Slack on this machine."""
    async with LocalSlack() as workspace:
        yield workspace


@pytest.fixture
def settings(slack: LocalSlack, store_url: str, tmp_path: Path) -> Settings:
    """The settings of a bot with which all is well."""
    return office_settings(slack, store_url, tmp_path, port=unused_port())


async def found(settings: Settings, *, part: str = "") -> list[Finding]:
    """What is found, of one part or of all."""
    parts = Parts(
        store=app.store_findings, model=app.ask_model, agents=app.ours, left=app.left_behind
    )
    return [each async for each in examine(settings, parts) if part in ("", each.part)]


async def test_all_is_well(settings: Settings):
    """A bot that runs with these settings: nothing is wrong, every part is asked."""
    async with running(settings):
        told = await found(settings)
    assert {each.part for each in told} == {
        *("settings", "store", "slack", "scopes", "secret", "model")
    }
    assert [str(each) for each in told if each.level == "wrong"] == []


@pytest.mark.parametrize(
    ("part", "given", "level", "words"),
    [
        pytest.param(
            "settings", {"slack_signing_secret": None}, "wrong", "SLACK_SIGNING_SECRET", id="half"
        ),
        pytest.param("settings", {"model": "x"}, "wrong", "GEMINI_API_KEY", id="no model"),
        pytest.param(
            "store", {"redis_url": "redis://127.0.0.1:9/0"}, "wrong", "REDIS_URL", id="no store"
        ),
        pytest.param("store", {"redis_url": None}, "ok", "Embedded", id="the embedded store"),
        pytest.param(
            "store",
            {"redis_url": None, "data_dir": f"{__file__}/data"},
            "wrong",
            "COUNTERSIGN_DATA_DIR",
            id="no folder for it",
        ),
        pytest.param(
            "slack", {"slack_bot_token": "xoxb-another"}, "wrong", "invalid_auth", id="a token"
        ),
        pytest.param(
            "slack",
            {"slack_api_url": "http://127.0.0.1:9/api/"},
            "wrong",
            "does not answer",
            id="no Slack",
        ),
        pytest.param(
            "socket", {"slack_app_token": "xapp-other"}, "wrong", "invalid_auth", id="app token"
        ),
        pytest.param(
            "socket", {"slack_app_token": "xapp-local-workspace"}, "ok", "websocket", id="socket"
        ),
        pytest.param(
            "routes", {"routes": {"#expenses": "nobody"}}, "wrong", "'nobody'", id="no such agent"
        ),
        pytest.param("routes", {"routes": {}}, "warn", "COUNTERSIGN_ROUTES", id="no routes"),
        pytest.param(
            "routes", {"approvers_channel": "#nowhere"}, "wrong", "#nowhere", id="no such channel"
        ),
        pytest.param(
            "routes",
            {"approvers_channel": "#nowhere"},
            "wrong",
            "requests are put into the threads they come from. Bring it back, invite the bot, or",
            id="what to do about it",
        ),
        pytest.param(
            "routes", {"audit_channel": "#nowhere"}, "wrong", "not anchored", id="for the audit"
        ),
        pytest.param(
            "routes",
            {"routes": {"#nowhere": "time_off"}},
            "wrong",
            "COUNTERSIGN_ROUTES names #nowhere",
            id="where an agent answers",
        ),
        pytest.param("policies", {"approvers": []}, "warn", "no default", id="nobody decides"),
        pytest.param(
            "policies", {"approvers": ["U0NOBODY001"]}, "warn", "does not know this person", id="?"
        ),
        pytest.param(
            "policies", {"approvers": ["U0PARTNPAT1"]}, "warn", "another company", id="outsider"
        ),
        pytest.param("policies", {"approvers": ["U0LOCALBOT1"]}, "warn", "an app", id="a bot"),
        pytest.param(
            "policies",
            {"approvers": ["U0LOCALMAX1", "U0LOCALBEN1"]},
            "warn",
            "Not in #approvals, and so asked in a DM, are: U0LOCALBEN1.",
            id="who is not in the channel",
        ),
        pytest.param(
            "policies",
            {"approvers": ["U0LOCALMAX1"], "approvers_channel": "#nowhere"},
            "warn",
            "Who is in #nowhere is not known",
            id="a channel of which nobody knows who is in it",
        ),
        pytest.param(
            "policies", {"approvers": ["S0NOSUCHGRP"]}, "warn", "this user group", id="no group"
        ),
        pytest.param(
            "policies",
            {"approval_policies": {"*.reimburse": {"approvers": ["S0LOCALMGR1"], "quorum": 9}}},
            "wrong",
            "9 people have to agree, and 2 can",
            id="a user group that is too small",
        ),
        pytest.param(
            "policies",
            {
                "approver_roles": {"a": ["a"]},
                "approval_policies": {"*": {"approvers": ["a", "U0LOCALMAX1"]}},
            },
            "warn",
            "stands for nobody",
            id="a role that leads nowhere",
        ),
        pytest.param("secret", {}, "warn", "Nobody answers", id="the bot does not run"),
        pytest.param("model", {}, "ok", "no LLM", id="rehearsal"),
        pytest.param(
            "model",
            {
                "model": "gemini-x",
                "gemini_api_key": "k",
                "gemini_base_url": "http://127.0.0.1:9",
                "model_fallbacks": [],
            },
            "wrong",
            "gemini-x did not answer: ClientConnectorError. Trying again may help;",
            id="no model answers",
        ),
    ],
)
async def test_what_is_said_of_a_part(
    settings: Settings, part: str, given: dict[str, Any], level: str, words: str
):
    """A fault is found where it is, and the line says what to look at."""
    changed = Settings.read(**{**settings.model_dump(), **given})
    told = await found(changed, part=part)
    assert [each.level for each in told] == [level]
    assert words in told[0].text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(
            ModelUnavailable("x did not answer: ClientConnectorDNSError"),
            "x did not answer: ClientConnectorDNSError. Trying again may help; if not, look at the"
            " network and at GEMINI_BASE_URL.",
            id="no way there",
        ),
        pytest.param(
            ModelError("x refused with 404 NOT_FOUND: check MODEL"),
            "x refused with 404 NOT_FOUND: check MODEL.",
            id="refused, with its own advice",
        ),
    ],
)
async def test_what_a_model_that_fails_is_said_to_need(
    settings: Settings, error: ModelError, told: str
):
    """Whoever cannot be reached is not suspected of a wrong key, and sentences end as such."""

    async def fail(_settings: Settings) -> None:
        raise error

    changed = Settings.read(**{**settings.model_dump(), "model": "x", "gemini_api_key": "k"})
    parts = Parts(store=app.store_findings, model=fail, agents=app.ours, left=app.left_behind)
    said = [each.text async for each in examine(changed, parts) if each.part == "model"]
    assert said == [told]


@pytest.mark.parametrize(
    "away",
    [
        pytest.param({"slack_api_url": "http://127.0.0.1:9/api/"}, id="no Slack"),
        pytest.param({"slack_bot_token": "xoxb-another"}, id="another token"),
        pytest.param({"slack_bot_token": None}, id="no token"),
    ],
)
@pytest.mark.parametrize(
    ("part", "given", "words"),
    [
        pytest.param("routes", {"routes": {"#expenses": "nobody"}}, ["'nobody'"], id="no agent"),
        pytest.param("routes", {"routes": {}}, ["COUNTERSIGN_ROUTES"], id="no routes"),
        pytest.param("routes", {"approvers_channel": "#nowhere"}, [], id="a channel"),
        pytest.param("policies", {"approvers": []}, ["no default"], id="nobody decides"),
        pytest.param("policies", {"approvers": ["U0NOBODY001", "S0NOSUCHGRP"]}, [], id="people"),
        pytest.param(
            "policies",
            {"approval_policies": {"time_off.nothing": {"approvers": ["U0LOCALMAX1"]}}},
            ["there is no tool time_off.nothing"],
            id="no tool",
        ),
    ],
)
async def test_what_needs_no_slack_is_looked_at_without(
    settings: Settings, away: dict[str, Any], part: str, given: dict[str, Any], words: list[str]
):
    """While Slack does not answer, only what Slack alone knows is left out."""
    told = await found(Settings.read(**{**settings.model_dump(), **given, **away}), part=part)
    assert len(told) == len(words)
    assert all(word in each.text for word, each in zip(words, told, strict=True))


@pytest.mark.parametrize(
    ("url", "why", "told"),
    [
        pytest.param(
            "https://slack.com/api/",
            "ClientConnectorError",
            "Slack (https://slack.com/api/) does not answer (ClientConnectorError).",
            id="Slack itself",
        ),
        pytest.param(
            "https://slack.com/api/",
            "",
            "Slack (https://slack.com/api/) does not answer now.",
            id="now",
        ),
        pytest.param(
            "http://127.0.0.1:9/api/",
            "http_503",
            "Slack does not answer at SLACK_API_URL (http_503).",
            id="where the setting says",
        ),
    ],
)
def test_a_setting_is_named_where_it_was_set(url: str, why: str, told: str):
    """Whoever never said where Slack is, is not sent to look for that setting."""
    assert str(silence(url, why)) == told


@pytest.mark.parametrize(
    ("names", "words"),
    [
        pytest.param(["time_off", "guide"], [], id="all are there"),
        pytest.param(["parcels"], ["1 session belongs to the agent parcels, which"], id="one"),
        pytest.param(["letters", "letters"], ["2 sessions belong to the agent letters"], id="two"),
        pytest.param(["a\u202eb"], ["the agent a\\u{202E}b, which"], id="a name that hides"),
    ],
)
async def test_sessions_of_agents_that_are_gone_are_named(
    settings: Settings, store_url: str, names: list[str], words: list[str]
):
    """Whoever runs the bot learns which conversations no agent goes on with."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=TEAM_ID)
        for number, name in enumerate(names):
            key = SessionKey(name, "thread", f"C1:{number}", TEAM_ID)
            await slot.ingest(key, Entry(id="m", body={}))
        await index.lists.apps(["ended", *names])
    told = await found(settings, part="sessions")
    assert [(each.level, word in each.text) for each, word in zip(told, words, strict=True)] == [
        ("warn", True)
    ] * len(words)


async def test_scopes_that_are_missing(slack: LocalSlack, settings: Settings):
    """Each one is named, and how to get it."""
    slack.web_api.scopes = [s for s in slack.web_api.scopes if s not in ("chat:write", "im:read")]
    [told] = await found(settings, part="scopes")
    assert (told.level, "chat:write, im:read" in told.text) == ("wrong", True)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"deleted": True}, "the account is deactivated", id="who left"),
        pytest.param({"is_guest": True}, "this is a guest", id="a guest"),
    ],
)
async def test_an_approver_who_cannot_decide(
    slack: LocalSlack, settings: Settings, change: dict[str, bool], why: str
):
    """Whoever left, or came as a guest, is refused at the click: the doctor says so before."""
    people = slack.workspace.people
    named = people[settings.approvers[0]]
    people[named.id] = replace(named, **change)
    [told] = await found(settings, part="policies")
    assert told.text == f"{named.id} cannot decide: {why}."


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        pytest.param((), "", id="nobody"),
        pytest.param(("max",), "", id="one of two"),
        pytest.param(("max", "mia"), "nobody who is in this user group may", id="both"),
    ],
)
async def test_a_user_group_of_whom_nobody_can_decide(
    slack: LocalSlack, settings: Settings, gone: tuple[str, ...], told: str
):
    """A group is more than its members' number."""
    for name in gone:
        person = slack.workspace.person(name)
        slack.workspace.people[person.id] = replace(person, deleted=True)
    rules = {"reimbursement.reimburse": {"approvers": ["S0LOCALMGR1"]}}
    policies = Settings.read(approval_policies=json.dumps(rules)).approval_policies
    changed = settings.model_copy(update={"approval_policies": policies, "approvers": (BEN.id,)})
    said = await found(changed, part="policies")
    assert [each.text for each in said if "S0LOCALMGR1" in each.text] == (
        [f"S0LOCALMGR1 cannot decide: {told}."] if told else []
    )


ASKED = {
    "a person": ("users.info", "U0LOCALMAX1"),
    "a group": ("usergroups.users.list", "S0LOCALMGR1"),
}


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(("ratelimited", ""), "does not answer now", id="asked too often"),
        pytest.param(("error", ""), "does not answer now", id="a fault of Slack's"),
        pytest.param(("refused", "missing_scope"), "to say: missing_scope", id="a scope"),
        pytest.param(("refused", "user_not_found"), "does not know this", id="not there"),
    ],
)
async def test_who_can_decide_as_far_as_slack_says(
    slack: LocalSlack, settings: Settings, kind: str, fault: tuple[FaultKind, str], words: str
):
    """Slack that does not say who somebody is, is not Slack that does not know them."""
    method, name = ASKED[kind]
    slack.fail(method, fault[0], error=fault[1], times=9)
    told = await found(settings.model_copy(update={"approvers": (name,)}), part="policies")
    assert [words in each.text for each in told] == [True]


async def test_a_group_that_decides(settings: Settings):
    """A user group with people in it is fine."""
    changed = settings.model_copy(update={"approvers": ("S0LOCALMGR1",)})
    assert await found(changed, part="policies") == []


async def test_another_signing_secret(settings: Settings):
    """The bot that runs was started with another secret: Slack's requests would be refused too."""
    other = Settings.read(**{**settings.model_dump(), "slack_signing_secret": "another"})
    async with running(other):
        [told] = await found(settings, part="secret")
    assert (told.level, "401" in told.text) == ("wrong", True)


def test_the_exit_status_tells(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path):
    """Nothing is configured: the first line says what is missing, and the status is 1."""
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):
        assert main(["doctor"]) == 1
    assert capsys.readouterr().out.startswith("wrong settings")
