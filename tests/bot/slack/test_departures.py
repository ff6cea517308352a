"""Which events have requests looked at again, and how little a thousand of them cost."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agents import SessionKey
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.board import listed
from bot.approvals.request import Approval
from bot.approvals.succession import Succession
from bot.approvals.terms import Policy, Quota
from bot.clock import UNTOLD, pass_on_due
from bot.index import Index
from bot.index.hints import text_of
from bot.playground import MAX, MIA, LocalSlack
from bot.playground.people import TEAM_ID
from bot.slack.departures import Departures, departed, standing_for
from bot.slack.groups import Groups
from bot.slack.people import People
from bot.slack.replies import Replies
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import session
from tests.bot.slack.samples import payload

GONE, FEWER = payload("user_change_deactivated"), payload("subteam_members_changed")
MANAGERS = "S0LOCALMGR1"
HOUR = 3_600_000
ROLES = {"board": (MAX.id,), "chiefs": ("board", "deputies"), "deputies": (MANAGERS,)}


def user(**changes: Any) -> dict[str, Any]:
    """A user_change."""
    about = {"id": "U1", "team_id": "T1", "deleted": False, **changes}
    return {"event": {"type": "user_change", "user": about}}


def subteam(kind: str, **about: Any) -> dict[str, Any]:
    """An event about a user group."""
    return {"event": {"type": kind, **about}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(user(deleted=True), "U1", id="deactivated"),
        pytest.param(user(is_restricted=True), "U1", id="a guest now"),
        pytest.param(user(is_ultra_restricted=True), "U1", id="a guest of one channel now"),
        pytest.param(user(is_stranger=True), "U1", id="of another company now"),
        pytest.param(user(), "", id="another name or picture"),
        pytest.param(GONE, GONE["event"]["user"]["id"], id="as recorded"),
        pytest.param(payload("user_change_out_of_office"), "", id="out of office"),
        pytest.param(FEWER, FEWER["event"]["subteam_id"], id="a group, as recorded"),
        pytest.param(
            subteam("subteam_updated", subteam={"id": "S1", "date_delete": 17}), "S1", id="disabled"
        ),
        pytest.param(subteam("subteam_created", subteam={"id": "S1"}), "", id="a new group"),
        pytest.param(payload("message_channel"), "", id="another event"),
        pytest.param({"event": {"type": "user_change", "user": {}}}, "", id="of nobody"),
        pytest.param({"event": {"type": "user_change", "user": None}}, "", id="of nothing"),
        pytest.param({}, "", id="no event"),
    ],
)
def test_who_may_have_left(body: dict[str, Any], expected: str):
    """Only what takes a right away has anything looked at."""
    assert departed(body) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("UX", {"UX"}, id="in no role"),
        pytest.param(MAX.id, {MAX.id, "board", "chiefs"}, id="a person"),
        pytest.param(MANAGERS, {MANAGERS, "deputies", "chiefs"}, id="a group"),
    ],
)
def test_what_stands_for_somebody(name: str, expected: set[str]):
    """A policy may name a role in place of them."""
    assert {*standing_for(name, ROLES)} == expected


class Bench:
    """A bot's parts on a real store, without the bot."""

    def __init__(self, slot: RedisSlot, index: Index, replies: Replies) -> None:
        """Two default approvers; lookups are remembered on a clock that stands still."""
        self.slot = slot
        self.index = index
        self.departures = Departures(index, concerning=index.lists.open_concerning, roles=ROLES)
        people = People(replies, team=TEAM_ID, clock=lambda: 0)
        groups = Groups(replies, people, roles=ROLES, clock=lambda: 0)
        self.succession = Succession(
            (MIA.id,), look_up=groups.able, voter=groups.voter, follow=lambda _: ()
        )

    async def asked(self, key: SessionKey, policy: Policy, **changes: Any) -> None:
        """Ask something of these approvers."""
        made = await put(self.slot, key=key, policy=policy, **changes)
        await self.index.send(listed(self.index.lists, made))

    async def passed(self) -> int:
        """Look at all that is due by now, as if it were later."""
        left = f"b:{{due:{TEAM_ID}}}:left"
        early = [("ZINCRBY", left, -HOUR, each) for each in await self.due()]
        await self.index.send(early)
        return await pass_on_due(self.slot, self.index, self.succession)

    async def due(self) -> list[str]:
        """What is to be looked at."""
        [found] = await self.index.send([("ZRANGE", f"b:{{due:{TEAM_ID}}}:left", 0, -1)])
        return [text_of(each) or "" for each in found]

    async def stored(self, key: SessionKey) -> Approval:
        """An approval as it is now."""
        view = await self.slot.read(key, parts=("approvals",))
        assert view is not None
        return Approval.from_record(view.approvals["3-0"])


@pytest.fixture
async def bench(store_url: str, replies: Replies) -> AsyncIterator[Bench]:
    """A store of its own, and a Slack that answers."""
    async with connect(store_url) as client:
        await client.flushdb()
        yield Bench(RedisSlot(client), Index(client, tenant=TEAM_ID), replies)


ONE = Policy(approvers=(MAX.id,))
GROUP = Policy(approvers=(MAX.id,), rules=((Quota(names=(MANAGERS,)),),))
DEPUTIES = Policy(approvers=(MAX.id,), rules=((Quota(names=("deputies",)),),))
ROLE = Policy(approvers=(MAX.id,), rules=((Quota(names=("board",)),),))


@pytest.mark.parametrize(
    ("policy", "body", "heirs"),
    [
        pytest.param(ONE, user(id=MAX.id, deleted=True), (MIA.id,), id="a person"),
        pytest.param(ROLE, user(id=MAX.id, deleted=True), (MIA.id,), id="through a role"),
        pytest.param(
            GROUP, subteam("subteam_members_changed", subteam_id=MANAGERS), (), id="others are left"
        ),
        pytest.param(
            DEPUTIES,
            subteam("subteam_updated", subteam={"id": MANAGERS}),
            (),
            id="a group behind a role",
        ),
    ],
)
async def test_what_an_event_leads_to(
    slack: LocalSlack, bench: Bench, policy: Policy, body: dict[str, Any], heirs: tuple[str, ...]
):
    """Requests of those whom it is about are looked at once, others are not."""
    slack.workspace.deactivate(slack.workspace.person("max"), now=1.0)
    await bench.asked(session(1), policy)
    await bench.asked(session(2), Policy(approvers=("UOTHER",)))
    await bench.departures.take(body)
    assert await bench.due() == [f"{session(1)}|3-0"]
    assert await bench.passed() == 1
    assert (await bench.stored(session(1))).heirs == heirs
    assert await bench.due() == []
    await bench.departures.take(body)
    await bench.passed()
    assert (await bench.stored(session(1))).rev == (2 if heirs else 1)


async def test_a_thousand_requests_and_one_event(slack: LocalSlack, bench: Bench):
    """One account is closed: each request is passed on, and Slack is asked about two people."""
    slack.workspace.deactivate(slack.workspace.person("max"), now=1.0)
    many = 1000
    for n in range(many):
        await bench.asked(session(n), ONE)
    await bench.departures.take(user(id=MAX.id, deleted=True))
    assert len(await bench.due()) == many
    assert slack.calls("users.info") == []
    while await bench.passed():
        pass
    assert len(slack.calls("users.info")) == 2
    for n in range(0, many, 97):
        assert (await bench.stored(session(n))).heirs == (MIA.id,)
    assert await bench.due() == []


async def test_a_slack_that_does_not_say(slack: LocalSlack, bench: Bench):
    """It is asked a few times, and what could not be looked at stays due for another time."""
    for n in range(2 * UNTOLD):
        await bench.asked(session(n), ONE)
    await bench.departures.take(user(id=MAX.id, deleted=True))
    slack.fail("users.info", "error", times=99)
    await bench.passed()
    assert len(slack.calls("users.info")) == UNTOLD
    assert len(await bench.due()) == 2 * UNTOLD


@pytest.mark.parametrize("error", ["missing_scope", "paid_teams_only", "plan_upgrade_required"])
@pytest.mark.parametrize("strange", [1, UNTOLD, UNTOLD + 3])
async def test_one_that_cannot_be_told_holds_up_no_other(
    slack: LocalSlack, bench: Bench, error: str, strange: int
):
    """However many are ahead about whom Slack says nothing: each is reached in its turn."""
    slack.workspace.deactivate(slack.workspace.person("max"), now=1.0)
    slack.fail("usergroups.users.list", "refused", error=error, times=99)
    for n in range(strange + 1):
        policy = GROUP if n < strange else ONE
        await bench.asked(session(n + 10), policy)
        await bench.index.send(bench.index.approval_left(session(n + 10), "3-0", 1))
    await bench.passed()
    await bench.passed()
    assert (await bench.stored(session(strange + 10))).heirs == (MIA.id,)
    assert len(await bench.due()) == strange


async def test_one_that_is_put_there_again_meanwhile(bench: Bench):
    """What happens while it is looked at is not struck off with it."""
    key = session(1)
    await bench.index.send(bench.index.approval_left(key, "3-0", 0))
    until, [found] = await bench.index.claim_left(9)
    await bench.index.send(bench.index.approval_left(key, "3-0", 5))
    await bench.index.send(bench.index.left_over(*found, until))
    assert len(await bench.due()) == 1
