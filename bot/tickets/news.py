"""What a call waits for, and what its news amounts to: notes, messages and turns; pure.

A tool whose response names a ticket waits for it. What was told of the ticket last stands in the
note of the open call, so one look at a session says whether a ticket has changed. The thread shows
how it stands in one message, which each piece of news changes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from pydantic import JsonValue

from agents import Companions, Event, Post, SessionKey, Story, Ticket
from bot.turns import Command, Due, Thread, Turn, thread_of

USER = "user"
UNREPORTED = (
    "Nobody reported what came of this, and nobody waits for it any more. It may have happened."
)

Companion = Callable[..., Companions]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What the note of an open call says about its ticket.

    `seen` marks what was told last, `news` counts that; `since` is when, and `until` when nobody
    waits any more, in milliseconds of the store's clock. `person` is whom the call works for.
    """

    ticket: str
    seen: str
    news: int
    since: int
    until: int
    person: str = ""

    def note(self) -> dict[str, JsonValue]:
        """As the slot keeps it."""
        return {
            "ticket_id": self.ticket,
            "seen": self.seen,
            "news": self.news,
            "since": self.since,
            "until": self.until,
            "person": self.person,
        }

    @classmethod
    def of(cls, note: Mapping[str, JsonValue]) -> Self | None:
        """What a note says; None when its call waits for no ticket."""
        match note:
            case {
                "ticket_id": str(ticket),
                "seen": str(seen),
                "news": int(news),
                "since": int(since),
                "until": int(until),
                "person": str(person),
            }:
                return cls(
                    ticket=ticket, seen=seen, news=news, since=since, until=until, person=person
                )
            case _:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """Adds what tickets need to the companions of new events.

    `due` are index commands, `ttl` is how long a ticket is waited for, `pause` the shortest time
    between two looks at it.
    """

    due: Due
    ttl: timedelta
    pause: timedelta

    def beside(self, companion: Companion) -> Companion:
        """A companion that adds what tickets need to what this one gives."""

        def both(key: SessionKey, story: Story, *, new: Sequence[Event], now: int) -> Companions:
            wanted = companion(key, story, new=new, now=now)
            told = [news for event in new for news in heard(event, story)]
            return self._added(wanted, told, key=key, now=now) if told else wanted

        return both

    def _added(
        self, wanted: Companions, told: Sequence["News"], *, key: SessionKey, now: int
    ) -> Companions:
        notes: dict[str, dict[str, JsonValue]] = {}
        index: list[Command] = []
        for news in told:
            if news.waits:
                notes[news.call] = self._waiting(news, now=now).note()
                index += self.due(key, news.call, now + _ms(self.pause))
        posts = [_post(news, thread_of(key)) for news in told]
        return replace(
            wanted,
            posts=[*posts, *wanted.posts],
            notes={**wanted.notes, **notes},
            index=[*wanted.index, *index],
        )

    def _waiting(self, news: "News", *, now: int) -> Waiting:
        return Waiting(
            ticket=news.ticket.id,
            seen=news.ticket.mark,
            news=news.number,
            since=now,
            until=news.opened + _ms(self.ttl),
            person=news.person,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What one event says about the ticket of a call.

    `number` counts what was heard since the ticket was opened, which was at `opened` (ms).
    `waits` is whether more may come.
    """

    call: str
    ticket: Ticket
    version: int
    number: int
    opened: int
    waits: bool
    person: str


def heard(event: Event, story: Story) -> Iterator[News]:
    """What an event of the story says about tickets: that one was opened, or how one stands.

    Intermediate news that comes after the end is left out.
    """
    for response in event.get_function_responses():
        call = story.calls.get(response.id or "")
        ticket = Ticket.from_response(response.response or {})
        if call is None or ticket is None or not call.long_running:
            continue
        told = sorted(
            {
                each.version
                for each in call.responses
                if not each.placeholder and each.version <= event.version
            }
        )
        waits = call.id in story.open
        if (event.author != USER and len(told) > 1) or (response.will_continue and not waits):
            continue
        yield News(
            call=call.id,
            ticket=ticket,
            version=event.version,
            number=len(told) - 1,
            opened=_moment(story, told[0]),
            waits=waits,
            person=story.requesters.get(call.invocation, ""),
        )


def turn(key: SessionKey, call: tuple[str, str], waiting: Waiting, *, now: Ticket) -> Turn | None:
    """The turn in which a ticket tells its call (id and name) the news; None when there is none.

    Its id is that of the news after those told last. Two clocks that look at the same time make the
    same id, and one that stood still since it looked makes an older one: so nothing is told twice,
    or after something newer. What gets lost that way is found at the next look.
    """
    if now.mark == waiting.seen:
        return None
    cid, name = call
    part: dict[str, JsonValue] = {"id": cid, "name": name, "response": now.response()}
    if not now.final:
        part["will_continue"] = True
    return Turn(
        id=f"ticket:{cid}:{waiting.ticket}:{waiting.news + 1}",
        session=key,
        author=waiting.person,
        parts=({"function_response": part},),
    )


def unreported(key: SessionKey, call: tuple[str, str]) -> Turn:
    """What a call (id and name) that waits for a report, not a ticket, is told in the end."""
    cid, name = call
    response: JsonValue = {"status": "timeout", "message": UNREPORTED}
    part: dict[str, JsonValue] = {"id": cid, "name": name, "response": response}
    turn_id = f"unreported:{cid}"
    return Turn(id=turn_id, session=key, author="", parts=({"function_response": part},))


def until_next(quiet: timedelta, *, shortest: timedelta, longest: timedelta) -> timedelta:
    """How long until the next look at a ticket that has been silent for so long.

    A third of that, so a ticket that does not change is looked at less and less often.
    """
    return max(min(quiet / 3, longest), shortest)


def _post(news: News, thread: Thread) -> Post:
    """The post that makes or changes the message about a ticket."""
    first = f"ticket:{news.call}"
    body: dict[str, JsonValue] = {
        "kind": "ticket_update" if news.number else "ticket",
        "call": news.call,
        "channel": thread.channel,
        "thread_ts": thread.ts,
        "ticket": news.ticket.model_dump(mode="json"),
        "asker": news.person,
        "at": news.opened,
    }
    if not news.number:
        return Post(id=first, body=body)
    return Post(id=f"{first}@{news.version}", body=body, after=first)


def _moment(story: Story, version: int) -> int:
    """When an event was stored, in milliseconds."""
    event = next(event for event in story.events if event.version == version)
    return int(event.timestamp * 1000)


def _ms(time: timedelta) -> int:
    return int(time.total_seconds() * 1000)
