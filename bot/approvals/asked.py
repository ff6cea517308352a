"""A question on its way to people: the approval it opens, its cards, and what is said meanwhile."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from agents import ApprovalPolicy, Companions, Event, Question, Settle
from bot.approvals import audit, posts
from bot.approvals.kin import people_behind
from bot.approvals.life import hastened, next_look
from bot.approvals.request import Approval, Escalation, Status, opened
from bot.approvals.resolve import NoApprovers, Times, members, resolve, times
from bot.approvals.rota import unasked
from bot.approvals.scene import Gap, Plan, Scene, beginning, requester
from bot.approvals.terms import Policy, is_person
from bot.turns import Command

NOBODY_LOOKS = (
    "A call was started and interrupted, and there is nobody here to look whether it happened."
    " It does not run again. An operator can name approvers."
)


def asked(event: Event, request_id: str, scene: Scene) -> Plan:
    """One question put to people, or the notice that there is nobody to put it to."""
    question = event.questions[request_id]
    asker = requester(scene.story.events, event)
    others = [each for name, each in scene.approvals.items() if name != request_id]
    before = people_behind(question, others, asker=asker)
    found, moments = _terms(question, asker, scene, behind=before)
    approval = _opened(event, request_id, policy=found, moments=moments, scene=scene, behind=before)
    if isinstance(found, NoApprovers):
        text = NOBODY_LOOKS if question.unknown else _nobody(question.tool, found)
        name = f"asked:{request_id}"
        owed = [posts.notice(name, scene.thread, text=text, asker=asker, at=scene.now)]
        settling = (request_id,)
    else:
        owed = [posts.card(approval, copy) for copy in approval.copies]
        owed.append(posts.asked(approval, scene.thread))
        settling = ()
    outdated = [each for each in others if each.call_id == question.call_id]
    mark = f"n{event.version}"
    return Plan(
        companions=Companions(
            approvals=(approval.record(),),
            settles=[settle for each in outdated for settle in _outdated(each, question)],
            posts=[*(post for each in outdated for post in posts.updates(each, mark=mark)), *owed],
            audit=(audit.opened(approval),),
            notes={question.call_id: _note(approval, name=scene.rules.name)},
            index=_due(approval, settling, scene=scene),
        ),
        settling=settling,
        gaps=_gaps(question, found, scene),
    )


def _terms(
    question: Question, asker: str, scene: Scene, *, behind: tuple[str, ...]
) -> tuple[Policy | NoApprovers, Times]:
    """Who may decide, and until when; nobody where the policy turns out to make no sense.

    What makes no sense is refused at the start. If something passed nevertheless, the requester and
    the operator hear of it, where an error would only be tried again.
    """
    defaults = scene.rules.defaults
    try:
        policies = scene.rules.declared(question)
        found = resolve(policies, defaults=defaults, requester=asker, behind=behind)
        return found, times(policies, defaults=defaults, now=scene.now)
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError):
        return NoApprovers(present=0, needed=1, broken=True), Times(deadline=None)


def _opened(
    event: Event,
    request_id: str,
    *,
    policy: Policy | NoApprovers,
    moments: Times,
    scene: Scene,
    behind: tuple[str, ...],
) -> Approval:
    """The approval of a question, with the places of its cards."""
    question, rules = event.questions[request_id], scene.rules
    asked = isinstance(policy, Policy)
    began = beginning(scene.story.events, event)
    approval = opened(
        request_id,
        question,
        session=str(scene.key),
        requester=began.user_id or "",
        behind=behind,
        turn=began.entry if began.invocation_id == event.invocation_id else "",
        policy=policy if asked else Policy(approvers=(), quorum=policy.needed),
        nonce=next(scene.nonces),
        now=scene.now,
        deadline=moments.deadline,
        run_for=moments.run_for // timedelta(milliseconds=1) if moments.run_for else None,
        run=event.invocation_id,
    )
    if not asked:
        return approval.model_copy(update={"begun": _begun(question, scene)})
    approval = _somebody(
        approval.model_copy(
            update={
                "begun": _begun(question, scene),
                "notice": f"asked:{request_id}",
                "unsaved": rules.unsaved,
                "reminders": moments.reminders,
                "escalations": _escalations(moments, approval, scene),
            }
        ),
        now=scene.now,
    )
    policy = approval.policy
    told = policy.approvers if policy.notified is None else policy.notified
    copies = posts.copies(request_id, channel=rules.channel, approvers=told, home=scene.thread)
    return approval.model_copy(update={"copies": copies})


def _somebody(approval: Approval, *, now: int) -> Approval:
    """The approval with somebody to ask: of the first escalation, where there is nobody before."""
    while not approval.policy.approvers and (sooner := hastened(approval, now=now)):
        approval = sooner.model_copy(update={"rev": approval.rev, "copies": ()})
    return approval


def _begun(question: Question, scene: Scene) -> bool:
    """Whether a body has been run for the call already, after people had agreed to it.

    A body that only asked again, for something else, has done no more than at first.
    """
    older = [each for each in scene.approvals.values() if each.call_id == question.call_id]
    ran = bool(older and question.ended and not question.returned)
    return question.unknown or ran or any(each.begun for each in older)


def _escalations(moments: Times, approval: Approval, scene: Scene) -> tuple[Escalation, ...]:
    """Who may decide as well later on; never the requester, unless that is allowed at all."""
    defaults = scene.rules.defaults
    excluded, groups = set(defaults.barred), defaults.groups
    if not approval.policy.self_approval:
        excluded.update(approval.askers)
    return tuple(
        each.model_copy(
            update={"people": tuple(p for p in members(each.names, groups)[0] if p not in excluded)}
        )
        for each in moments.escalations
    )


def _note(approval: Approval, *, name: Callable[[str], str]) -> dict[str, JsonValue]:
    """What the model may tell while people are asked: whom, by name where known, and until when."""
    note: dict[str, JsonValue] = {
        "status": "pending",
        "waiting_for": "approval",
        "asked": [name(each) for each in approval.policy.approvers],
    }
    if approval.deadline is not None:
        until = datetime.fromtimestamp(approval.deadline / 1000, UTC)
        note["until"] = until.isoformat(timespec="seconds")
    return note


def _outdated(older: Approval, question: Question) -> tuple[Settle, ...]:
    """The end of an approved request whose call is asked about anew: the call no longer runs on it.

    One that was started is over: its body ended by asking, or it was interrupted, and nobody knows
    what came of it.
    """
    lost = question.unknown or (question.changes and not question.returned)
    came: Status = "unknown" if lost else "done"
    return (
        Settle(id=older.id, sources=("approved",), status="void"),
        Settle(id=older.id, sources=("started",), status=came),
    )


def _due(approval: Approval, settling: Iterable[str], *, scene: Scene) -> tuple[Command, ...]:
    """When the clock has to look at each of these approvals, and who finds the new one."""
    places = [copy.channel for copy in approval.copies]
    seen = all(map(is_person, places)) and not set(places).isdisjoint(approval.policy.approvers)
    at_once = unasked(approval) or not seen
    look = scene.now if at_once else next_look(approval)
    looks = {approval.id: look, **dict.fromkeys(settling, scene.now)}
    listed = scene.rules.listed
    return tuple(listed(approval) if listed else ()) + tuple(
        command
        for approval_id, at in looks.items()
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


def _gaps(question: Question, found: Policy | NoApprovers, scene: Scene) -> tuple[Gap, ...]:
    """What an operator has to mend about a tool's approvers."""
    if isinstance(found, NoApprovers) and found.broken:
        return (Gap(kind="broken_policy", tool=question.tool),)
    policies, defaults = scene.rules.declared(question), scene.rules.defaults
    _, unknown = members(_names(policies) or tuple(defaults.approvers), defaults.groups)
    gaps = [Gap(kind="unknown_names", tool=question.tool, names=unknown)] if unknown else []
    if isinstance(found, NoApprovers):
        gaps.append(Gap(kind="no_approvers", tool=question.tool))
    return tuple(gaps)


def _names(policies: Sequence[ApprovalPolicy]) -> tuple[str, ...]:
    """Everybody the policies name as those who decide, now or later."""
    return tuple(
        name
        for policy in policies
        for name in (
            *policy.approvers,
            *policy.any_of,
            *(later for names in policy.escalate.values() for later in names),
        )
    )
