"""What goes with new events: approvals to open and to settle, posts owed, audit entries.

A question opens an approval with its cards, the line in the requester's thread, and a note for the
model. Two kinds of approvals close right after the change that brings them about, for a session
takes news only through its inbox: one that nobody may decide, and one whose call is answered
without it, such as one that was asked for again. They are in `Plan.settling` and due at once in the
index, so the worker closes them (`decide.settle`), or the clock when the worker is gone.
"""

from collections.abc import Sequence

from google.genai import types

from agents import Companions, Event, Post, Settle, Ticket
from bot.approvals import audit, faults, posts
from bot.approvals.asked import asked
from bot.approvals.scene import USER, Plan, Scene, merged, requester, talks


def plan(events: Sequence[Event], scene: Scene) -> Plan:
    """What goes into the slot together with these new events, which have their versions."""
    plans = [_said(event, scene) for event in events]
    plans += [_begun(event, scene) for event in events]
    plans += [_moved_on(event, scene) for event in events]
    plans += [_paid(event, scene) for event in events]
    plans += [_answered(event, scene) for event in events]
    plans += [asked(event, request_id, scene) for event in events for request_id in event.questions]
    return merged(plans)


def _said(event: Event, scene: Scene) -> Plan:
    """What the agent said, or that it could not: nested agents speak to their parents only."""
    if event.author == USER or event.branch or event.partial:
        return Plan()
    owed: list[Post] = []
    asker = requester(scene.story.events, event)
    text = "\n".join(event.texts()).strip()
    if text:
        name = f"o:{event.version}:0"
        owed.append(posts.answer(name, scene.thread, text=text, asker=asker, at=scene.now))
    if event.error_code:
        said = faults.sentence(event.error_code)
        name = f"o:{event.version}:1"
        owed.append(posts.notice(name, scene.thread, text=said, asker=asker, at=scene.now))
    return Plan(companions=Companions(posts=owed))


def _begun(event: Event, scene: Scene) -> Plan:
    """The notice that work has begun of which the agent said nothing: it speaks when there is news.

    A ticket that is told of has a message of its own.
    """
    shown = {
        response.id
        for response in event.get_function_responses()
        if Ticket.from_response(response.response or {})
    }
    events = (each for each in scene.story.events if not each.branch)
    spoken = {each.version for each in events if "".join(each.texts()).strip()}
    calls = [scene.story.calls[name] for name in event.pending if name not in shown]
    untold = [call.name for call in calls if call.version not in spoken]
    if not untold:
        return Plan()
    names = ", ".join(f"“{name.replace('_', ' ')}”" for name in dict.fromkeys(untold))
    asker = requester(scene.story.events, event)
    notice = posts.notice(
        f"o:{event.version}:2",
        scene.thread,
        text=f"Started: {names}. News of it will come here by itself; you need not ask again.",
        asker=asker,
        at=scene.now,
    )
    return Plan(companions=Companions(posts=[notice]))


def _moved_on(event: Event, scene: Scene) -> Plan:
    """The news, for people who are being asked elsewhere, that somebody wrote in the conversation.

    It is told at the first message after a question: the others change nothing about it.
    """
    if not talks(event):
        return Plan()
    spoken = (each.version for each in scene.story.events if talks(each))
    before = max((version for version in spoken if version < event.version), default=0)
    asked = (call.request or "" for call in scene.story.open.values() if call.status == "asked")
    waiting = [scene.approvals[name] for name in asked if name in scene.approvals]
    by = event.user_id or ""
    untold = [each for each in waiting if before < each.version]
    owed = [post for each in untold for post in posts.moved_on(each, by=by)]
    return Plan(companions=Companions(posts=owed))


def _paid(event: Event, scene: Scene) -> Plan:
    """Charge the tokens of this event to the person behind it."""
    count = scene.rules.spent
    if count is None or not event.tokens:
        return Plan()
    person = requester(scene.story.events, event)
    commands = count(scene.key, person, tokens=event.tokens, now=scene.now)
    return Plan(companions=Companions(index=commands))


def _answered(event: Event, scene: Scene) -> Plan:
    """The approvals whose calls have their first answer in this event, settled and shown so."""
    if event.author == USER:
        return Plan()
    responses = event.get_function_responses()
    settled = [
        _settled(response.id or "", event=event, scene=scene)
        for response in responses
        if _is_run_with(response, event=event, scene=scene)
    ]
    known = (_known(response, event, scene) for response in responses)
    return merged([*settled, *known, _over(event, scene)])


def _over(event: Event, scene: Scene) -> Plan:
    """The approvals whose calls are answered here without them, so that nobody waits for them.

    One that somebody approves at this very moment is void: the answer came too late to be heard.
    """
    shown = event.actions.requested_tool_confirmations
    calls = (
        scene.story.calls.get(response.id or "") for response in event.get_function_responses()
    )
    asked = [
        call.request or "" for call in calls if call and not call.answer and call.id not in shown
    ]
    found = [name for name in asked if name in scene.approvals]
    mark = f"a{event.version}"
    return Plan(
        companions=Companions(
            settles=[
                Settle(id=name, sources=("approved",), status="void") for name in asked if name
            ],
            posts=[p for name in found for p in posts.updates(scene.approvals[name], mark=mark)],
            index=[each for n in found for each in scene.rules.due(scene.key, n, scene.now)],
        ),
        settling=tuple(found),
    )


def _known(response: types.FunctionResponse, event: Event, scene: Scene) -> Plan:
    """The approvals of a call that was interrupted, once it is known what became of it."""
    call = scene.story.calls.get(response.id or "")
    if call is None or call.question is None or not call.answer:
        return Plan()
    newest = scene.approvals.get(call.request or "")
    if not call.question.unknown and not (newest and newest.begun):
        return Plan()
    older = [
        each
        for each in scene.approvals.values()
        if each.call_id == call.id and each.id != call.request
    ]
    status = "done" if call.fate(event.version) == "done" else "cancelled"
    version, mark = event.version, f"k{event.version}"
    return Plan(
        companions=Companions(
            settles=[Settle(id=each.id, sources=("unknown",), status=status) for each in older],
            posts=[post for each in older for post in posts.updates(each, mark=mark)],
            audit=[
                audit.answered(
                    each.id, digest=each.digest, status=status, version=version, now=scene.now
                )
                for each in older
                if each.status in ("started", "unknown")
            ],
        )
    )


def _is_run_with(response: types.FunctionResponse, *, event: Event, scene: Scene) -> bool:
    """Whether a call that people had agreed to has its first answer here."""
    call = scene.story.calls.get(response.id or "")
    if call is None or call.answer is None or not call.answer.confirmed or response.will_continue:
        return False
    answered_before = any(
        answer.version < event.version
        and not answer.placeholder
        and not answer.response.will_continue
        for answer in call.responses
    )
    return bool(call.request) and not answered_before


def _settled(cid: str, *, event: Event, scene: Scene) -> Plan:
    """The approval of a call settled by its response, whether or not its record can be read.

    A call that is answered though its body never started was stopped on the way: void.
    """
    call, version, now = scene.story.calls[cid], event.version, scene.now
    request, status = call.request or "", call.fate(version)
    approval, digest = scene.approvals.get(request), call.question.digest if call.question else ""
    return Plan(
        companions=Companions(
            settles=(
                Settle(id=request, sources=("started",), status=status),
                Settle(id=request, sources=("approved",), status="void"),
            ),
            posts=posts.updates(approval, mark=f"v{version}") if approval else (),
            audit=(
                audit.answered(request, digest=digest, status=status, version=version, now=now),
            ),
        )
    )
