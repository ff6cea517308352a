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

from pydantic import JsonValue

from agents import ApprovalPolicy, Companions, Event, Post, SessionKey, Settle
from bot.approvals import audit, posts
from bot.approvals.policy import Defaults, NoApprovers, deadline, members, resolve
from bot.approvals.request import Approval, Command, Policy, opened, supersedes
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

    `history` are its events so far (the window), `approvals` its records by id, `nonces` are taken
    one for each question, `now` is in milliseconds of the store's clock.
    """

    key: SessionKey
    rules: Rules
    now: int
    nonces: Iterator[str]
    history: Sequence[Event] = ()
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])

    @property
    def thread(self) -> Thread:
        """Where the session's answers go."""
        return thread_of(self.key)


def plan(events: Sequence[Event], scene: Scene) -> Plan:
    """What goes into the slot together with these new events, which have their versions."""
    story = (*scene.history, *events)
    plans = [_said(event, scene) for event in events]
    plans += [_answered(event, scene) for event in events]
    plans += [
        _asked(event, request_id, scene=scene, person=requester(story, event))
        for event in events
        for request_id in event.questions
    ]
    return _merged(plans)


def requester(events: Iterable[Event], event: Event) -> str:
    """The person behind an event: who wrote the message its invocation began with.

    Whoever answered a question in between is not; empty when no message is known.
    """
    spoke = [e for e in events if e.author == USER and e.user_id and not e.get_function_responses()]
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
    """The approvals whose calls have their response in this event, settled and shown so.

    A call that is answered though its body never started was stopped on the way: void.
    """
    answers = {
        response.id: response.response or {}
        for response in event.get_function_responses()
        if event.author != USER and not response.will_continue
    }
    return _merged(
        _settled(approval, answers[approval.call_id], event=event, scene=scene)
        for approval in scene.approvals.values()
        if approval.call_id in answers and approval.status in ("pending", "approved", "started")
    )


def _settled(
    approval: Approval, response: Mapping[str, object], *, event: Event, scene: Scene
) -> Plan:
    """One approval settled by the response of its call."""
    status = "failed" if _failed(response) else "done"
    entry = audit.answered(approval, status=status, version=event.version, now=scene.now)
    return Plan(
        companions=Companions(
            settles=(
                Settle(id=approval.id, sources=("started",), status=status),
                Settle(id=approval.id, sources=("approved",), status="void"),
                Settle(id=approval.id, sources=("pending",), status="cancelled"),
            ),
            posts=posts.updates(approval, mark=f"v{event.version}"),
            audit=(entry,),
        )
    )


def _failed(response: Mapping[str, object]) -> bool:
    """Whether a response tells of a failure."""
    return "error" in response or response.get("status") == "error"


def _asked(event: Event, request_id: str, *, scene: Scene, person: str) -> Plan:
    """One question put to people, or the notice that there is nobody to put it to."""
    question = event.questions[request_id]
    declared = scene.rules.policies.get(question.tool)
    found = resolve(declared, defaults=scene.rules.defaults, requester=person)
    approval = _opened(event, request_id, scene=scene, person=person, policy=found)
    replaced = [a for a in scene.approvals.values() if supersedes(approval, a)]
    settling = [a.id for a in replaced]
    if isinstance(found, NoApprovers):
        owed = [posts.notice(approval.notice, scene.thread, text=_nobody(question.tool, found))]
        settling.append(request_id)
    else:
        owed = [posts.card(approval, copy) for copy in approval.copies]
        owed.append(posts.asked(approval, scene.thread))
    return Plan(
        companions=Companions(
            approvals=(approval.record(),),
            settles=_outdated(approval, scene),
            posts=owed,
            audit=(audit.opened(approval),),
            notes={question.call_id: _note(approval)},
            index=_due(approval, settling, scene=scene),
        ),
        settling=tuple(settling),
        gaps=_gaps(question.tool, found, scene.rules),
    )


def _opened(
    event: Event, request_id: str, *, scene: Scene, person: str, policy: Policy | NoApprovers
) -> Approval:
    """The approval of a question, with the places of its cards."""
    question, rules = event.questions[request_id], scene.rules
    shown = event.actions.requested_tool_confirmations.get(question.call_id)
    frozen = policy if isinstance(policy, Policy) else Policy(approvers=(), quorum=policy.needed)
    approval = opened(
        request_id,
        question,
        session=str(scene.key),
        requester=person,
        policy=frozen,
        nonce=next(scene.nonces),
        now=scene.now,
        deadline=deadline(rules.policies.get(question.tool), ttl=rules.defaults.ttl, now=scene.now),
        initial=shown.payload if shown else None,
    )
    channel = rules.channel if frozen.approvers else None
    copies = posts.copies(request_id, channel=channel, approvers=frozen.approvers)
    return approval.model_copy(update={"copies": copies, "notice": f"asked:{request_id}"})


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


def _outdated(approval: Approval, scene: Scene) -> tuple[Settle, ...]:
    """Approved requests for the very call that is asked about anew: it runs on none of them."""
    return tuple(
        Settle(id=older.id, sources=("approved",), status="void")
        for older in scene.approvals.values()
        if older.call_id == approval.call_id and older.id != approval.id
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
