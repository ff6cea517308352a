"""What is owed to people because of approvals and answers, in the domain's own words.

Cards and the line in the requester's thread name their approval only: whoever renders them reads
the stored record, so a message is always a view of it.
"""

from collections.abc import Iterable

from pydantic import JsonValue

from agents import Post
from bot.approvals.request import Approval, Copy, Escalation
from bot.approvals.terms import is_person
from bot.turns import Thread


def answer(post_id: str, thread: Thread, *, text: str, asker: str, at: int = 0) -> Post:
    """What the agent says, into its thread; to `asker` alone when nobody can post there.

    `at` is since when it is owed (ms; 0: unknown).
    """
    body = {"kind": "answer", **_place(thread), "text": text, "asker": asker, "at": at}
    return Post(id=post_id, body={**body})


def notice(post_id: str, thread: Thread, *, text: str, asker: str, at: int = 0) -> Post:
    """What the bot itself says, into the thread; `asker` and `at` as for `answer`."""
    body = {"kind": "notice", **_place(thread), "text": text, "asker": asker, "at": at}
    return Post(id=post_id, body={**body})


def asked(approval: Approval, thread: Thread) -> Post:
    """The line in the requester's thread: who was asked, and until when."""
    body = {"kind": "asked", **_place(thread), "approval": approval.id}
    return Post(id=approval.notice, body={**body})


def card(approval: Approval, copy: Copy) -> Post:
    """A card with buttons, into a channel or thread or to one person."""
    place = "person" if is_person(copy.channel) else "channel"
    body = {"kind": "card", place: copy.channel, "approval": approval.id}
    thread = {"thread_ts": copy.thread_ts} if copy.thread_ts else {}
    return Post(id=copy.post, body={**body, **thread})


def copies(
    approval_id: str, *, channel: str | None, approvers: tuple[str, ...], home: Thread
) -> tuple[Copy, ...]:
    """Where the cards go: the approvers' channel, or without one each person to be told.

    When that is nobody, because groups could not be looked up or nobody is to be told, it is the
    requester's thread, `home`.
    """
    people = tuple(person for person in approvers if is_person(person))
    places = (channel,) if channel else people
    if not places:
        first = Copy.numbered(approval_id, 0, home.channel)
        return (first.model_copy(update={"thread_ts": home.ts}),)
    return tuple(Copy.numbered(approval_id, n, place) for n, place in enumerate(places))


def prompts(before: Approval, after: Approval) -> tuple[Post, ...]:
    """The lines under each card: time is running out, or others may decide from now on as well.

    Whoever voted on what is superseded hears that it is not counted for the newer request. The
    cards themselves stay as they are, for somebody may be filling one in.
    """
    made: list[tuple[str, str, list[JsonValue]]] = []
    due = after.escalations[before.escalated : after.escalated]
    if after.reminded > before.reminded:
        made.append(("reminder", f"r{after.reminded}", []))
    if due:
        made.append(("escalation", f"e{after.escalated}", [*_come_in(due, before)]))
    elif after.heirs == before.heirs and (joined := _joined(before, after)):
        made.append(("escalation", f"m{after.rev}", [*joined]))
    there = _still_told(before, after)
    under = [
        post
        for kind, mark, people in made
        for post in _under(before, kind, mark=mark, copies=there, people=people)
    ]
    if after.heirs != before.heirs:
        under += _inherited(before, after)
    if after.why == "superseded" and before.votes:
        under += _under(after, "superseded", mark="superseded")
    return (*under, *(card(after, copy) for copy in after.copies[len(before.copies) :]))


def _inherited(before: Approval, after: Approval) -> tuple[Post, ...]:
    """The line under each card, except those of people let go: others may decide now as well."""
    named = (name for name in after.heirs if is_person(name) and name not in before.heirs)
    more = (person for person in after.policy.approvers if person not in before.policy.approvers)
    people: list[JsonValue] = [*dict.fromkeys((*named, *more))]
    there = _still_told(before, after)
    return _under(after, "succession", mark=f"h{after.rev}", copies=there, people=people)


def _come_in(escalations: Iterable[Escalation], before: Approval) -> Iterable[str]:
    """The people who may decide now as well, each once; names where their people are not known.

    Whoever may already is not named again, unless nobody else comes in.
    """
    found = dict.fromkeys(name for each in escalations for name in (each.people or each.names))
    return [name for name in found if name not in before.policy.approvers] or found


def _joined(before: Approval, after: Approval) -> list[str]:
    """The people who are told since they have joined a group that may decide."""
    asked, told = before.policy.approvers, after.policy.notified
    known = all(map(is_person, asked))
    more = (person for person in after.policy.approvers if person not in asked)
    return [person for person in more if known and (told is None or person in told)]


def _still_told(before: Approval, after: Approval) -> list[Copy]:
    """The cards, except those of people who are not told of it any more."""
    told = {*after.policy.approvers, *(after.policy.notified or ())}
    return [c for c in before.copies if not is_person(c.channel) or c.channel in told]


def moved_on(approval: Approval, *, by: str) -> tuple[Post, ...]:
    """The line under each card that is elsewhere, once: somebody wrote where it was asked."""
    elsewhere = [copy for copy in approval.copies if not copy.thread_ts]
    return _under(approval, "moved_on", mark="moved", copies=elsewhere, by=by)


def edited(approval: Approval, *, at: str) -> tuple[Post, ...]:
    """The line under each card: its requester edited the message that asked; once for each `at`.

    Processes of releases that do not know `edited` say that the requester wrote.
    """
    by = approval.requester
    return _under(approval, "moved_on", mark=f"edited{at}", by=by, edited=True)


def ruled(approval: Approval) -> tuple[Post, ...]:
    """The line under each card: an operator closed it, in place of those who were asked."""
    return _under(approval, "ruling", mark="ruled")


def _under(
    approval: Approval,
    kind: str,
    *,
    mark: str,
    copies: Iterable[Copy] | None = None,
    **told: JsonValue,
) -> tuple[Post, ...]:
    """A line of that kind under each card, or under these `copies` of it only."""
    body = {"kind": kind, "approval": approval.id, **told}
    cards = approval.copies if copies is None else copies
    return tuple(Post(id=f"{c.post}@{mark}", body={**body}, after=c.post) for c in cards)


def updates(approval: Approval, *, mark: str | int) -> tuple[Post, ...]:
    """Updates of every card and of the line in the thread, after change `mark`."""
    places = [("card_update", copy.post) for copy in approval.copies]
    if approval.notice:
        places.append(("asked_update", approval.notice))
    return tuple(
        Post(id=f"{post}@{mark}", body={"kind": kind, "approval": approval.id}, after=post)
        for kind, post in places
    )


def kind_of(post: Post) -> str:
    """The kind of a post, as the functions here write it."""
    return str(post.body.get("kind"))


def thread_to(post: Post) -> Thread:
    """Where a post goes: a thread, a channel, or a person."""
    channel = post.body.get("channel") or post.body.get("person")
    return Thread(str(channel or ""), str(post.body.get("thread_ts") or ""))


def _place(thread: Thread) -> dict[str, str]:
    """A thread as a post's body names it."""
    return {"channel": thread.channel, "thread_ts": thread.ts}
