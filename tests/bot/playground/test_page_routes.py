"""The page's server: what it serves, what it refuses, what it tells while things happen."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from agents import Agent
from agents.runtime.slot.memory import MemorySlot
from bot.playground import LocalSlack
from bot.playground.behind import Behind
from bot.playground.messages import posted
from bot.playground.page import FILES, Page, room
from bot.settings import Route

FOLDER = Path(__file__).parents[3] / "bot" / "playground"
WEIGHT = 60_000
"""Bytes of the page and all it loads."""
AGENT = Agent(name="pay", description="Pays.", examples=("Pay me",))


@pytest.fixture
async def page(slack: LocalSlack, tmp_path: Path) -> AsyncIterator[TestClient]:
    """A client of the page of a workspace nobody listens to."""
    behind = Behind(
        workspace=slack.workspace,
        slot=MemorySlot(),
        agents=("pay",),
        ledger=tmp_path / "ledger.jsonl",
        model="rehearsal",
    )
    routes = {slack.workspace.channel("expenses").id: Route(agent="pay")}
    application = Page(slack, agents=(AGENT,), routes=routes, behind=behind).application()
    async with TestClient(TestServer(application)) as client:
        yield client


async def told(page: TestClient, who: str = "ana") -> AsyncIterator[dict[str, Any]]:
    """The events of the stream, `facts` first."""
    async with page.get("/events", params={"as": who}) as stream:
        async for line in stream.content:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))


async def test_the_page_is_small(page: TestClient) -> None:
    """Everything it loads is here, weighs little, and may load nothing from elsewhere."""
    weight = 0
    for name in ("", *FILES):
        response = await page.get(f"/{name}")
        assert response.headers["Content-Security-Policy"].startswith("default-src 'self'")
        weight += len(await response.read())
    assert weight < WEIGHT


def test_the_scripts_are_short() -> None:
    """All of the page's own scripts together have under 700 lines."""
    assert sum(len(path.read_text().splitlines()) for path in FOLDER.glob("page*.js")) < 700


async def test_the_stream(page: TestClient, slack: LocalSlack) -> None:
    """First what stays, then what the person sees, and again when it changes."""
    stream = told(page)
    facts, first = await anext(stream), await anext(stream)
    expenses = slack.workspace.channel("expenses")
    assert facts["rooms"][expenses.id] == {
        "agent": "pay",
        "about": "Pays.",
        "examples": ["Pay me"],
    }
    assert first["person"]["name"] == "ana"
    slack.workspace.post(expenses, posted("news", None), now=slack.now)
    said = next(each for each in (await anext(stream))["channels"] if each["id"] == expenses.id)
    assert said["messages"][0]["nodes"] == ["news"]
    await stream.aclose()


async def test_nobody_by_that_name(page: TestClient) -> None:
    """A stream is somebody's."""
    assert (await page.get("/events", params={"as": "zoe"})).status == 404


REFUSED = [
    pytest.param("say", {"data": "{}"}, 415, id="a form from nowhere"),
    pytest.param(
        "say",
        {"data": {"text": "hi"}, "headers": {"Origin": "https://evil.example"}},
        415,
        id="another site's form",
    ),
    pytest.param(
        "say", {"data": {"text": "hi"}, "headers": {"Origin": "null"}}, 415, id="a hidden origin"
    ),
    pytest.param("fly", {"json": {"as": "ana"}}, 404, id="an act nobody knows"),
    pytest.param("say", {"json": {"text": "hi"}}, 400, id="nobody acts"),
    pytest.param("say", {"json": {"as": "ana", "headers": 1, "text": 1}}, 400, id="no text"),
    pytest.param(
        "say",
        {"json": {"as": "ana"}, "headers": {"Host": "evil.example"}},
        403,
        id="another host's name",
    ),
]


@pytest.mark.parametrize(("what", "request_", "status"), REFUSED)
async def test_what_is_refused(
    page: TestClient, what: str, request_: dict[str, Any], status: int
) -> None:
    """Only the page itself can act, and only in its own words."""
    assert (await page.post(f"/do/{what}", **request_)).status == status


CANNOT = [
    pytest.param("say", {"channel": "nowhere", "text": "hi"}, "no channel", id="no such channel"),
    pytest.param("click", {"channel": "general", "ts": "1.0"}, "not there", id="no such message"),
    pytest.param("submit", {}, "no modal", id="no modal"),
    pytest.param("dismiss", {"channel": "general", "ts": "1.0"}, "message_not_found", id="no note"),
]


@pytest.mark.parametrize(("what", "given", "why"), CANNOT)
async def test_what_cannot_be_done(
    page: TestClient, what: str, given: dict[str, Any], why: str
) -> None:
    """What a person could not do in Slack is told as a warning."""
    response = await page.post(f"/do/{what}", json={"as": "ana", **given})
    assert why in (await response.json())["warning"]


async def test_a_read_channel_and_a_dismissed_note(page: TestClient, slack: LocalSlack) -> None:
    """What was looked at is not new any more; a private note goes when it is dismissed."""
    general = slack.workspace.channel("general")
    person = slack.workspace.person("ana")
    note = slack.workspace.whisper(general, person, posted("psst", None), now=slack.now)
    stream = told(page)
    await anext(stream)
    assert (await anext(stream))["unread"][person.id][general.id]["mine"] == 1
    await page.post("/do/read", json={"as": "ana", "channel": general.id})
    assert (await anext(stream))["unread"][person.id] == {}
    await page.post("/do/dismiss", json={"as": "ana", "channel": general.id, "ts": note["ts"]})
    assert slack.visible("ana", "general") == []
    await stream.aclose()


async def test_behind_nothing(page: TestClient) -> None:
    """Without a thread the panel says how to see one, and what there is anyway."""
    sections = (await (await page.get("/behind")).json())["sections"]
    titles = [each["title"] for each in sections]
    assert titles == ["Events", "Open approvals", "Ledger", "Who answers"]
    assert sections[3]["lines"][0]["label"] == "The rehearsal model"


@pytest.mark.parametrize(
    ("where", "agent", "words"),
    [
        pytest.param("expenses", "pay", "Pays.", id="an agent's channel"),
        pytest.param("general", "", "what it can do", id="a channel without an agent"),
        pytest.param("approvals", "", "wait for a person", id="the approvers' channel"),
        pytest.param("random", "", "is not in this channel", id="a channel without the bot"),
    ],
)
def test_what_a_newcomer_is_told(slack: LocalSlack, where: str, agent: str, words: str) -> None:
    """Each channel says who answers in it."""
    routes = {slack.workspace.channel("expenses").id: Route(agent="pay")}
    found = room(slack.workspace.channel(where), agents=(AGENT,), routes=routes)
    assert found.agent == agent
    assert words in found.about


async def test_a_form_of_our_own_is_heard(page: TestClient) -> None:
    """The origin a browser adds says that a page of ours sent it; here it says too little."""
    ours = str(page.make_url("/").origin())
    response = await page.post("/do/say", data={"text": "hi"}, headers={"Origin": ours})
    assert response.status == 400
