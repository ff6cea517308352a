"""Approvals in real runs: asked, decided, run, told."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from google.genai import types

from agents import (
    Agent,
    AgentTool,
    ApprovalPolicy,
    Decide,
    Entry,
    FunctionTool,
    Runner,
    SessionService,
    Slot,
    ToolContext,
)
from agents.runtime.slot.port import Start
from agents.runtime.testing import ScriptedModel, call
from agents.runtime.tools import Tool
from bot.approvals.decide import decide
from bot.approvals.request import Approval
from bot.approvals.resolve import Defaults
from bot.approvals.secretary import Secretary
from bot.turns import Turn
from tests.bot.approvals.samples import KEY, TEAM, click, rules


class Desk:
    """An agent at work in the session KEY: `paid` is what its tool did."""

    def __init__(
        self, slot: Slot, replies, *, nested: bool = False, effects="once", **options
    ) -> None:
        self.slot = slot
        self.paid: list[int] = []
        self.model = ScriptedModel(replies)
        self.rules = rules(**options)
        self.secretary = Secretary(
            slot=slot,
            rules=lambda _: self.rules,
            ring=lambda _: (),
            nonces=(f"nonce{n}" for n in count()),
        )
        agent = Agent(
            name="helper",
            description="Pays.",
            tools=[
                FunctionTool(self.pay, require_confirmation=True, effects=effects),
                FunctionTool(self.ask),
            ],
        )
        self.deploy(*([AgentTool(agent)] if nested else agent.tools))

    def deploy(self, *tools: Tool) -> None:
        """Run a build of the agent with these tools."""
        self.runner = Runner(
            agent=Agent(name=KEY.app, tools=tools),
            session_service=SessionService(self.slot, tenant=TEAM),
            models=self.model,
            companion=self.secretary.companions,
        )

    def pay(self, amount: int) -> dict:
        """Pay an amount."""
        if amount > 9000:
            raise OSError("no money")
        self.paid.append(amount)
        return {"paid": amount}

    def ask(self, days: int, tool_context: ToolContext) -> dict:
        """Ask for days off."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="How many?", payload={"approved": days})
            return {"status": "pending"}
        return dict(tool_context.tool_confirmation.payload)

    async def says(self, text: str, *, user: str = "UASK") -> list[Approval]:
        """Somebody says something, and the agent does what it can; the open approvals."""
        ids = self.__dict__.setdefault("ids", count())
        entry: Entry = Turn(id=f"m{next(ids)}", session=KEY, author=user, text=text).entry()
        await self.slot.ingest(KEY, entry)
        return await self.serve()

    async def serve(self) -> list[Approval]:
        """The agent works off its inbox; the approvals that are open then."""
        for _ in range(2):
            self.secretary.remember(KEY, await self.approvals())
            async for _event in self.runner.serve(KEY, owner="test"):
                pass
            await self.secretary.settle(KEY)
            self.secretary.forget(KEY)
        return [each for each in (await self.approvals()).values() if each.status == "pending"]

    async def approvals(self) -> dict[str, Approval]:
        """All approvals as they are stored."""
        view = await self.slot.read(KEY, parts=("approvals",))
        assert view is not None
        return {name: Approval.from_record(record) for name, record in view.approvals.items()}

    async def one(self) -> Approval:
        """The only approval there is."""
        (only,) = (await self.approvals()).values()
        return only

    async def decided(
        self, asked: Approval, who="UBOSS", act="approve", *, run_for=None, **more
    ) -> None:
        """Somebody decides, and the agent goes on a moment later."""
        await decide(self.slot, KEY, click(asked, who, act, **more), run_for=run_for)
        await asyncio.sleep(0.005)
        await self.serve()

    async def posts(self) -> list[str]:
        """What is owed to people: the kinds, and the texts of what has one."""
        view = await self.slot.read(KEY, parts=("posts",))
        assert view is not None
        return [str(post.body.get("text", post.body["kind"])) for post in view.posts]

    def heard(self) -> list[types.FunctionResponse]:
        """The responses that the model read last."""
        contents = self.model.requests[-1].contents
        return [p.function_response for c in contents for p in c.parts or [] if p.function_response]


async def test_an_approved_call_runs_once(slot: Slot):
    """Asked, approved, run and told: the approval ends as done, and every message says so."""
    desk = Desk(slot, [call("pay", amount=1500), "Paid."])
    (asked,) = await desk.says("pay 1500")
    assert (asked.requester, asked.args, desk.paid) == ("UASK", {"amount": 1500}, [])
    await desk.decided(asked)
    assert (desk.paid, (await desk.one()).status) == ([1500], "done")
    assert await desk.posts() == [
        *("card", "asked"),
        *("card_update", "asked_update"),
        *("card_update", "asked_update"),
        "Paid.",
    ]


@pytest.mark.parametrize("act", ["reject", "withdraw"])
async def test_a_refused_call_never_runs(slot: Slot, act):
    """After a no the body does not run, and the model hears it."""
    desk = Desk(slot, [call("pay", amount=1500), "It was not wanted."])
    (asked,) = await desk.says("pay 1500")
    await desk.decided(asked, "UBOSS" if act == "reject" else "UASK", act)
    outcome = "rejected" if act == "reject" else "cancelled"
    assert (desk.paid, (await desk.one()).status) == ([], outcome)
    assert desk.heard()[-1].response["outcome"] == outcome


async def test_a_failed_call_is_told(slot: Slot):
    """A body that raises ends its approval as failed: no card goes on claiming success."""
    desk = Desk(slot, [call("pay", amount=9999), "It failed."])
    (asked,) = await desk.says("pay 9999")
    await desk.decided(asked)
    assert (desk.paid, (await desk.one()).status) == ([], "failed")


async def test_an_approval_that_comes_too_late_to_run_is_void(slot: Slot):
    """What was not started within its time does not run any more, and its cards say so."""
    desk = Desk(slot, [call("pay", amount=1500), "Too late."])
    (asked,) = await desk.says("pay 1500")
    await desk.decided(asked, run_for=timedelta(milliseconds=1))
    assert (desk.paid, (await desk.one()).status) == ([], "void")


async def test_values_reach_the_tool(slot: Slot):
    """What the approver enters is what the tool gets; the card begins with what was asked for."""
    desk = Desk(slot, [call("ask", days=5), "Three."])
    (asked,) = await desk.says("five days")
    assert (asked.payload, asked.hint) == ({"approved": 5}, "How many?")
    await desk.decided(asked, values={"approved": "3"})
    assert desk.heard()[-1].response == {"approved": 3}
    assert (await desk.one()).status == "done"


async def test_two_questions_of_one_turn(slot: Slot):
    """Each of two equal calls is decided by itself, and the model is asked once both are."""
    desk = Desk(slot, [[call("pay", amount=1), call("pay", amount=1)], "Done."])
    first, second = await desk.says("pay twice")
    assert first.digest == second.digest
    await desk.decided(second, act="reject")
    assert (desk.paid, len(desk.model.requests)) == ([], 1)
    await desk.decided(first, "UCFO")
    assert (desk.paid, len(desk.model.requests)) == ([1], 2)
    statuses = {each.id: each.status for each in (await desk.approvals()).values()}
    assert statuses == {first.id: "done", second.id: "rejected"}


async def test_the_same_request_again(slot: Slot):
    """The same call in a later turn closes the older question, and only the newer one can run."""
    replies = [call("pay", amount=7), call("pay", amount=7), "Only once.", "Paid."]
    desk = Desk(slot, replies)
    (older,) = await desk.says("pay 7")
    (newer,) = await desk.says("pay 7, please!")
    assert (older.digest, older.id != newer.id) == (newer.digest, True)
    assert (await desk.approvals())[older.id].why == "superseded"
    await desk.decided(older)
    assert desk.paid == []
    await desk.decided(newer)
    assert desk.paid == [7]


ALONE, BOTH = ("UBOSS",), ("UBOSS", "UCFO")


@pytest.mark.parametrize(
    ("approvers", "quorum", "who", "nested"),
    [
        pytest.param(ALONE, 1, "UBOSS", False, id="the only approver"),
        pytest.param(BOTH, 1, "UBOSS", False, id="one of two approvers"),
        pytest.param(BOTH, 2, "UBOSS", False, id="one of two who both have to agree"),
        pytest.param(("UASK", "UBOSS"), 1, "UBOSS", False, id="where whoever asks approves others"),
        pytest.param(BOTH, 2, "UX1", False, id="somebody who has no part in it"),
        pytest.param(ALONE, 1, "UBOSS", True, id="about what a nested agent asks"),
    ],
)
async def test_the_word_of_somebody_else(
    slot: Slot, approvers: tuple[str, ...], quorum: int, *, who: str, nested: bool
):
    """What somebody else says leaves a request with those who decide about it, and it can run."""
    pay, helper = call("pay", amount=7), call("helper", request="pay 7")
    replies = [helper, pay, helper, pay, "It waits.", "It waits.", "I paid.", "Paid."]
    replies = replies if nested else [pay, pay, "It waits.", "Paid."]
    name = "helper.pay" if nested else "reimbursement.pay"
    policies = {name: (ApprovalPolicy(approvers=approvers, quorum=quorum),)}
    desk = Desk(slot, replies, nested=nested)
    desk.rules = replace(desk.rules, policies=policies)
    (asked,) = await desk.says("pay 7")
    assert await desk.says("looks fine, I will approve it", user=who) == [asked]
    assert await desk.approvals() == {asked.id: asked}
    for approver in [each for each in approvers if each != "UASK"][:quorum]:
        await desk.decided(asked, approver)
    assert (desk.paid, (await desk.one()).status) == ([7], "done")


async def test_a_click_while_the_same_is_asked_again(slot: Slot):
    """What was approved and is asked again before anybody heard of it is void, and says so."""
    desk = Desk(slot, [call("pay", amount=7), call("pay", amount=7), "Asked.", "Paid."])
    (older,) = await desk.says("pay 7")
    entry = Turn(id="again", session=KEY, author="UASK", text="pay 7, please!").entry()
    await slot.ingest(KEY, entry)
    assert (await decide(slot, KEY, click(older))).kind == "decided"
    (newer,) = await desk.serve()
    assert (await desk.approvals())[older.id].status == "void"
    await desk.decided(newer)
    assert (desk.paid, (await desk.approvals())[newer.id].status) == ([7], "done")


async def test_the_requester_asks_again_when_nobody_may_decide_any_more(slot: Slot):
    """The older call is answered with that, so its request is closed, and every card says so."""
    replies = [call("pay", amount=7), call("pay", amount=7), "Nobody.", "Nobody."]
    desk = Desk(slot, replies)
    (older,) = await desk.says("pay 7")
    desk.rules = replace(desk.rules, defaults=Defaults())
    assert await desk.says("pay 7, please!") == []
    found = {each.id: (each.status, each.why) for each in (await desk.approvals()).values()}
    newer = next(name for name in found if name != older.id)
    assert found == {older.id: ("cancelled", "superseded"), newer: ("cancelled", "nobody")}
    await desk.decided(older)
    assert desk.paid == []


@pytest.mark.parametrize(
    ("effects", "late", "paid", "unknown"),
    [
        pytest.param("none", False, [7], False, id="no effects, in time"),
        pytest.param("none", True, [], False, id="no effects, too late"),
        pytest.param("idempotent", False, [7], False, id="idempotent, in time"),
        pytest.param("idempotent", True, [], True, id="idempotent, too late"),
        pytest.param("once", False, [], True, id="once, in time"),
        pytest.param("once", True, [], True, id="once, too late"),
    ],
)
async def test_an_interrupted_call_and_its_execution_deadline(
    slot: Slot, effects: str, paid: list[int], *, late: bool, unknown: bool
):
    """What may run again does so in time; after that a person looks whether it happened."""
    desk = Desk(slot, [call("pay", amount=7), "Well."], effects=effects)
    (asked,) = await desk.says("pay 7")
    await decide(slot, KEY, click(asked, "UBOSS", "approve"), run_for=timedelta(minutes=1))
    begun = await slot.begin(KEY, owner="dies", lease=-1)
    step = {"cid": asked.call_id, "step": asked.call_id, "request": asked.id}
    started = await slot.start_call(KEY, Start(fence=begun.fence, digest=asked.digest, **step))
    assert started.kind == "go"
    if late:
        record = (await slot.read(KEY, parts=("approvals",))).approvals[asked.id]
        past = replace(record, rev=record.rev + 1, run_by=begun.now)
        await slot.decide(KEY, Decide(record=past, source="started"))
    looked_for = await desk.serve()
    assert (desk.paid, [each.unknown for each in looked_for]) == (paid, [True] * unknown)


async def test_nobody_to_ask(slot: Slot):
    """Without approvers the requester is told, the call ends, and the model can say so."""
    desk = Desk(slot, [call("pay", amount=7), "I may not."], defaults=Defaults())
    assert await desk.says("pay 7") == []
    closed = await desk.one()
    assert (closed.status, closed.why, desk.paid) == ("cancelled", "nobody", [])
    told, answer = await desk.posts()
    assert (told.startswith("Nobody may approve pay here"), answer) == (True, "I may not.")


async def test_a_nested_agent_asks(slot: Slot):
    """A question inside a nested agent reaches people and goes on where it was asked."""
    replies = [call("helper", request="pay 7"), call("pay", amount=7), "I paid.", "Paid."]
    desk = Desk(slot, replies, nested=True)
    (asked,) = await desk.says("pay 7")
    assert (asked.requester, asked.agent) == ("UASK", "helper")
    await desk.decided(asked)
    assert (desk.paid, (await desk.one()).status) == ([7], "done")
    assert [text for text in await desk.posts() if text.endswith(".")] == ["Paid."]


async def test_whoever_approves_does_not_become_the_requester(slot: Slot):
    """What a run asks after a decision is still the first person's request, not the approver's."""
    policy = {"pay": ApprovalPolicy(approvers=("UASK", "UBOSS"))}
    replies = [call("pay", amount=1), call("pay", amount=2), "Done."]
    desk = Desk(slot, replies, policies=policy)
    (first,) = await desk.says("pay 1, then 2")
    await desk.decided(first)
    (second,) = [it for it in (await desk.approvals()).values() if it.status == "pending"]
    assert (second.requester, second.policy.approvers) == ("UASK", ("UBOSS",))
    await desk.decided(second, "UASK")
    assert desk.paid == [1]


async def test_another_person_in_the_thread_asks_for_themselves(slot: Slot):
    """In a shared thread each person's request is their own."""
    desk = Desk(slot, [call("pay", amount=1), call("pay", amount=2)])
    await desk.says("pay 1")
    await desk.says("pay 2", user="UCFO")
    asked = {each.args["amount"]: each for each in (await desk.approvals()).values()}
    assert (asked[1].requester, asked[2].requester) == ("UASK", "UCFO")
    assert asked[2].policy.approvers == ("UBOSS",)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("first", "status", "why"),
    [
        pytest.param("approved", "void", "", id="approved, then its agent is gone"),
        pytest.param("gone", "cancelled", "run_cancelled", id="its agent is gone, then a click"),
    ],
)
async def test_a_nested_agent_that_a_deploy_took_away(
    slot: Slot, first: str, status: str, *, why: str, depth: int
):
    """What it asked is answered with its caller: nobody approves what nobody would run."""
    ways = [call(name, request="pay 7") for name in ("outer", "helper")[-depth:]]
    desk = Desk(slot, [*ways, call("pay", amount=7), *["End."] * 4], nested=True)
    if depth == 2:
        middle = Agent(name="outer", description="Asks.", tools=desk.runner.agent.tools)
        desk.deploy(AgentTool(middle))
    (asked,) = await desk.says("pay 7")
    desk.deploy()
    if first == "gone":
        await desk.says("hello?")
    await desk.decided(asked)
    only = await desk.one()
    assert (desk.paid, only.status, only.why) == ([], status, why)
    view = await slot.read(KEY, parts=())
    assert view is not None
    assert view.open == {}
