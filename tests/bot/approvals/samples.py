"""People, questions and approvals that the tests of approvals are about."""

from itertools import count

from google.genai import types

from agents import Event, Question, SessionKey, Story, ToolConfirmation
from agents.runtime.events import EventActions
from agents.runtime.slot.port import OpenCall
from bot.approvals.button import Button, decode, encode
from bot.approvals.companions import plan
from bot.approvals.decision import Decision
from bot.approvals.policy import Act, Person
from bot.approvals.request import Approval, Copy
from bot.approvals.resolve import Defaults
from bot.approvals.scene import Plan, Rules, Scene
from bot.approvals.terms import Policy

TEAM = "T1"
KEY = SessionKey(app="reimbursement", user="thread", id="C1:100.1", tenant=TEAM)
ASKED = 1_800_000_000_000
DEADLINE = ASKED + 60_000
SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["days"],
    "additionalProperties": False,
}


def session(number: int) -> SessionKey:
    """One of many sessions."""
    return SessionKey(app="reimbursement", user="thread", id=f"C1:{number}", tenant=TEAM)


def person(person_id: str = "UBOSS", **changes) -> Person:
    """Somebody of the team."""
    return Person(**{"id": person_id, "team": TEAM, **changes})


def approval(**changes) -> Approval:
    """A pending approval: UASK asked, UBOSS and UCFO may decide, one is enough."""
    fields = {
        "id": "3-0",
        "session": str(KEY),
        "call_id": "2-0",
        "agent": "reimbursement",
        "tool": "reimburse",
        "requester": "UASK",
        "args": {"amount": 1500},
        "digest": "d" * 64,
        "nonce": "n0nce",
        "policy": Policy(approvers=("UBOSS", "UCFO")),
        "asked_at": ASKED,
        "deadline": DEADLINE,
        "copies": (Copy(post="card:3-0:0", channel="CBOSS"),),
        "notice": "asked:3-0",
    }
    return Approval(**{**fields, **changes})


def waiting(*approvals: Approval) -> dict[str, OpenCall]:
    """The open calls that wait for these approvals."""
    return {
        each.call_id: OpenCall(name=each.tool, kind="approval", version=2, request=each.id)
        for each in approvals
        if each.status == "pending"
    }


def button(of: Approval) -> Button:
    """The button on the cards of an approval."""
    found = decode(encode(of))
    assert found is not None
    return found


def click(of: Approval, who: str | Person = "UBOSS", act: Act = "approve", **more) -> Decision:
    """Somebody presses a button on a card of this approval."""
    clicker = person(who) if isinstance(who, str) else who
    return Decision(button=button(of), person=clicker, act=act, **more)


def message(text: str = "pay 1500", *, user: str = "UASK", version: int = 1, run: str = "i1"):
    """Somebody says something, which begins an invocation."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(version=version, invocation_id=run, author="user", user_id=user, content=content)


def calling(version: int = 2, *, calls: int = 1, run: str = "i1", **changes) -> Event:
    """The model calls `reimburse`, once or several times; the calls' ids are `<version>-<n>`."""
    parts = [
        types.Part(function_call=types.FunctionCall(id=f"{version}-{n}", name="reimburse", args={}))
        for n in range(calls)
    ]
    fields = {"version": version, "invocation_id": run, "author": "reimbursement"}
    return Event(**fields, content=types.Content(role="model", parts=parts), **changes)


def asking(version: int = 3, *, calls=("2-0",), run: str = "i1", **changes) -> Event:
    """The event that asks about calls; the requests' ids are `<version>-<n>`."""
    branch = changes.pop("branch", None)
    questions = {
        f"{version}-{n}": Question(
            **{
                "call_id": call,
                "tool": "reimburse",
                "agent": "reimbursement",
                "args": {"amount": 1500},
                "digest": "d" * 64,
                **changes,
            }
        )
        for n, call in enumerate(calls)
    }
    return Event(
        version=version,
        invocation_id=run,
        author="reimbursement",
        branch=branch,
        questions=questions,
        long_running_tool_ids=set(questions),
    )


def answering(request: str = "3-0", *, version: int = 4, by: str = "UBOSS", **said) -> Event:
    """The event of a person's answer."""
    part = ToolConfirmation(**said).response(request)
    content = types.Content(role="user", parts=[part])
    return Event(version=version, invocation_id="i1", author="user", user_id=by, content=content)


def response(
    call: str = "2-0", *, version: int = 5, more: bool | None = None, shown: bool = False, **said
) -> Event:
    """The event with a response of a call; `shown`: it only stands for one while people decide."""
    part = types.Part(
        function_response=types.FunctionResponse(
            id=call, name="reimburse", response=said or {"ok": True}, will_continue=more
        )
    )
    asked = {call: ToolConfirmation(payload={"days": 3})} if shown else {}
    return Event(
        version=version,
        invocation_id="i1",
        author="reimbursement",
        content=types.Content(role="user", parts=[part]),
        actions=EventActions(requested_tool_confirmations=asked),
    )


def says(text: str, *, version: int = 4, **changes) -> Event:
    """The agent says something."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    fields = {"version": version, "author": "reimbursement", "content": content}
    return Event(**{**fields, **changes})


def rules(policies=None, **changes) -> Rules:
    """Rules of a deployment where UBOSS and UCFO approve, in the channel CBOSS."""
    fields = {
        "due": lambda key, approval_id, at: (("ZADD", "due", at, approval_id),),
        "defaults": Defaults(approvers=("UBOSS", "UCFO")),
        "channel": "CBOSS",
    }
    told = policies and {f"reimbursement.{name}": (each,) for name, each in policies.items()}
    return Rules(**{**fields, "policies": told, **changes})


def planned(*events: Event, after=(), known=(), now: int = ASKED, **changed_rules) -> Plan:
    """The plan for new events that come `after` others into a session with `known` approvals."""
    told = Scene(
        key=KEY,
        story=Story([*after, *events]),
        now=now,
        rules=rules(**changed_rules),
        nonces=(f"nonce{n}" for n in count()),
        approvals={each.id: each for each in known},
    )
    return plan(events, told)
