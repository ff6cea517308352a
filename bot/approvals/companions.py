"""What goes with new events: approvals to open and to settle, posts owed, audit entries.

A question opens an approval with its cards, the line in the requester's thread, and a note for the
model. Two kinds of approvals close right after the change that brings them about, for a session
takes news only through its inbox: one that nobody may decide, and one whose call was asked for
again. They are in `Plan.settling` and due at once in the index, so the worker closes them
(`decide.settle`), or the clock when the worker is gone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from google.genai import types
from pydantic import JsonValue

from agents import ApprovalPolicy, Companions, Event, Post, Question, SessionKey, Settle, Story
from bot.approvals import audit, posts
from bot.approvals.policy import Defaults, NoApprovers, deadline, members, resolve
from bot.approvals.request import Approval, Command, Policy, opened
from bot.turns import Thread, thread_of

USER = "user"

Due = Callable[[SessionKey, str, int], Sequence[Command]]
"""The index commands that make an approval due: session, id of the approval, when (ms)."""

FAULTS = {
    "MAX_TOKENS": "My answer became too long and was cut off.",
    "SAFETY": "The model would not answer this.",
    "RECITATION": "The model would not answer this.",
}
FAULT = "Something went wrong, so I stopped here. Please say it again, or ask an operator."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How questions are put: `policies` by the tool's name, `channel` for cards or None for DMs."""

    due: Due
    policies: Mapping[str, ApprovalPolicy] = field(default_factory=dict[str, ApprovalPolicy])
    defaults: Defaults = field(default_factory=Defaults)
    channel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something an operator has to mend: approvers that are missing, or names nobody knows."""

    kind: Literal["no_approvers", "unknown_names"]
    tool: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes with a commit, the approvals to close right after it, and what operators hear."""

    companions: Companions = field(default_factory=Companions)
    settling: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The session that new events come into.

    `story` has the new events already. `approvals` are the session's records by id; what is asked
    of them never changes, so they may be older than the story. `nonces` are taken one for each
    question, `now` is in milliseconds of the store's clock.
    """

    key: SessionKey
    story: Story
    now: int
    rules: Rules
    nonces: Iterator[str]
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])

    @property
    def thread(self) -> Thread:
        """Where the session's answers go."""
        return thread_of(self.key)

    def initial(self, question: Question) -> JsonValue:
        """The values that the inputs of a question begin with."""
        shown = [
            event.actions.requested_tool_confirmations[question.call_id].payload
            for event in self.story.events
            if question.call_id in event.actions.requested_tool_confirmations
        ]
        return shown[-1] if shown else None


def plan(events: Sequence[Event], scene: Scene) -> Plan:
    """What goes into the slot together with these new events, which have their versions."""
    plans = [_said(event, scene) for event in events]
    plans += [_answered(event, scene) for event in events]
    plans += [
        _asked(event, request_id, scene) for event in events for request_id in event.questions
    ]
    return _merged(plans)


def requester(events: Iterable[Event], event: Event) -> str:
    """The person behind an event: who wrote the message its invocation began with.

    Whoever answered a question in between is not; empty when no message is known.
    """
    spoke = [
        e
        for e in events
        if e.author == USER and e.user_id and not e.branch and not e.get_function_responses()
    ]
    own = [e for e in spoke if e.invocation_id == event.invocation_id]
    return ((own[:1] or spoke[-1:] or [Event()])[0]).user_id or ""


def _said(event: Event, scene: Scene) -> Plan:
    """What the agent said, or that it could not: nested agents speak to their parents only."""
    if event.author == USER or event.branch or event.partial:
        return Plan()
    owed: list[Post] = []
    text = "\n".join(event.texts()).strip()
    if text:
        owed.append(posts.answer(f"o:{event.version}:0", scene.thread, text=text))
    if event.error_code:
        said = FAULTS.get(event.error_code, FAULT)
        owed.append(posts.notice(f"o:{event.version}:1", scene.thread, text=said))
    return Plan(companions=Companions(posts=owed))


def _answered(event: Event, scene: Scene) -> Plan:
    """The approvals whose calls have their first answer in this event, settled and shown so."""
    if event.author == USER:
        return Plan()
    return _merged(
        _settled(approval, response.response or {}, event=event, scene=scene)
        for response in event.get_function_responses()
        if (approval := _run_with(response, event=event, scene=scene))
    )


def _run_with(response: types.FunctionResponse, *, event: Event, scene: Scene) -> Approval | None:
    """The approval whose call has its first answer here; None if people had not agreed to it."""
    call = scene.story.calls.get(response.id or "")
    if call is None or call.answer is None or not call.answer.confirmed or response.will_continue:
        return None
    answered_before = any(
        answer.version < event.version
        and not answer.placeholder
        and not answer.response.will_continue
        for answer in call.responses
    )
    return None if answered_before else scene.approvals.get(call.request or "")


def _settled(
    approval: Approval, response: Mapping[str, object], *, event: Event, scene: Scene
) -> Plan:
    """One approval settled by the response of its call.

    A call that is answered though its body never started was stopped on the way: void.
    """
    status = _status(response)
    return Plan(
        companions=Companions(
            settles=(
                Settle(id=approval.id, sources=("started",), status=status),
                Settle(id=approval.id, sources=("approved",), status="void"),
            ),
            posts=posts.updates(approval, mark=f"v{event.version}"),
            audit=(audit.answered(approval, status=status, version=event.version, now=scene.now),),
        )
    )


def _status(response: Mapping[str, object]) -> Literal["done", "failed", "unknown"]:
    """What a response says about the run of a body."""
    if response.get("status") == "unknown":
        return "unknown"
    return "failed" if "error" in response or response.get("status") == "error" else "done"


def _asked(event: Event, request_id: str, scene: Scene) -> Plan:
    """One question put to people, or the notice that there is nobody to put it to."""
    question = event.questions[request_id]
    found = resolve(
        scene.rules.policies.get(question.tool),
        defaults=scene.rules.defaults,
        requester=requester(scene.story.events, event),
    )
    approval = _opened(event, request_id, policy=found, scene=scene)
    if isinstance(found, NoApprovers):
        text = _nobody(question.tool, found)
        owed = [posts.notice(f"asked:{request_id}", scene.thread, text=text)]
        settling = [request_id]
    else:
        owed = [posts.card(approval, copy) for copy in approval.copies]
        owed.append(posts.asked(approval, scene.thread))
        settling = _superseded(request_id, question, scene)
    return Plan(
        companions=Companions(
            approvals=(approval.record(),),
            settles=_outdated(request_id, question, scene),
            posts=owed,
            audit=(audit.opened(approval),),
            notes={question.call_id: _note(approval)},
            index=_due(approval, settling, scene=scene),
        ),
        settling=tuple(settling),
        gaps=_gaps(question.tool, found, scene.rules),
    )


def _opened(
    event: Event, request_id: str, *, policy: Policy | NoApprovers, scene: Scene
) -> Approval:
    """The approval of a question, with the places of its cards."""
    question, rules = event.questions[request_id], scene.rules
    asked = isinstance(policy, Policy)
    approval = opened(
        request_id,
        question,
        session=str(scene.key),
        requester=requester(scene.story.events, event),
        policy=policy if asked else Policy(approvers=(), quorum=policy.needed),
        nonce=next(scene.nonces),
        now=scene.now,
        deadline=deadline(rules.policies.get(question.tool), ttl=rules.defaults.ttl, now=scene.now),
        initial=scene.initial(question),
    )
    if not asked:
        return approval
    copies = posts.copies(request_id, channel=rules.channel, approvers=policy.approvers)
    return approval.model_copy(update={"copies": copies, "notice": f"asked:{request_id}"})


def _superseded(request_id: str, question: Question, scene: Scene) -> list[str]:
    """Open requests for the same call out of earlier turns: the new one takes their place."""
    calls = scene.story.calls
    version = calls[question.call_id].version if question.call_id in calls else 0
    return [
        older.request
        for older in calls.values()
        if older.answer is None
        and older.request
        and older.request != request_id
        and older.question
        and question.digest
        and older.question.digest == question.digest
        and older.version < version
    ]


def _note(approval: Approval) -> dict[str, JsonValue]:
    """What the model may know while people are asked."""
    note: dict[str, JsonValue] = {
        "status": "pending",
        "waiting_for": "approval",
        "asked": list(approval.policy.approvers),
    }
    if approval.deadline is not None:
        until = datetime.fromtimestamp(approval.deadline / 1000, UTC)
        note["until"] = until.isoformat(timespec="seconds")
    return note


def _outdated(request_id: str, question: Question, scene: Scene) -> tuple[Settle, ...]:
    """Approved requests for the very call that is asked about anew: it runs on none of them."""
    return tuple(
        Settle(id=older.id, sources=("approved",), status="void")
        for older in scene.approvals.values()
        if older.call_id == question.call_id and older.id != request_id
    )


def _due(approval: Approval, settling: Iterable[str], *, scene: Scene) -> tuple[Command, ...]:
    """When the clock has to look at which approval."""
    times = {approval.id: approval.deadline, **dict.fromkeys(settling, scene.now)}
    return tuple(
        command
        for approval_id, at in times.items()
        if at is not None
        for command in scene.rules.due(scene.key, approval_id, at)
    )


def _nobody(tool: str, found: NoApprovers) -> str:
    """What the requester hears when there is nobody to ask."""
    if not found.present:
        return (
            f"Nobody may approve {tool} here, so it does not run. An operator can name approvers."
        )
    return (
        f"{tool} needs {found.needed} approvals and only {found.present} may be given here,"
        " so it does not run. An operator can name more approvers."
    )


def _gaps(tool: str, found: Policy | NoApprovers, rules: Rules) -> tuple[Gap, ...]:
    """What an operator has to mend about a tool's approvers."""
    declared = rules.policies.get(tool)
    names = (declared.approvers if declared else ()) or tuple(rules.defaults.approvers)
    _, unknown = members(names, rules.defaults.groups)
    gaps = [Gap(kind="unknown_names", tool=tool, names=unknown)] if unknown else []
    if isinstance(found, NoApprovers):
        gaps.append(Gap(kind="no_approvers", tool=tool))
    return tuple(gaps)


def _merged(plans: Iterable[Plan]) -> Plan:
    """Several plans as one."""
    parts = list(plans)
    carried = [part.companions for part in parts]
    return Plan(
        companions=Companions(
            approvals=[record for one in carried for record in one.approvals],
            settles=[settle for one in carried for settle in one.settles],
            posts=[post for one in carried for post in one.posts],
            audit=[entry for one in carried for entry in one.audit],
            notes={cid: note for one in carried for cid, note in one.notes.items()},
            index=[command for one in carried for command in one.index],
        ),
        settling=tuple(approval_id for part in parts for approval_id in part.settling),
        gaps=tuple(gap for part in parts for gap in part.gaps),
    )
