"""What goes with events that tell of tickets, and what a ticket has to tell."""

from datetime import timedelta

import pytest

from agents import Companions, Event, Post, Story, Ticket
from bot.tickets.news import Tickets, Waiting, turn, until_next
from tests.bot.tickets.samples import CID, KEY, NAME, OPENED, answered, calling, heard_of, story

TTL = timedelta(days=1)
PAUSE = timedelta(seconds=5)
OPEN = Ticket(id="T-1")
HALF = Ticket(id="T-1", status="in_progress", progress=50)
DONE = Ticket(id="T-1", status="resolved", note="new toner")


def added(*new: Event, to: Story, wanted: Companions | None = None, now: int = OPENED):
    """What goes with the last events of a story."""
    tickets = Tickets(due=lambda _, call, at: (("ZADD", "tick", at, call),), ttl=TTL, pause=PAUSE)
    both = tickets.beside(lambda *_, **__: wanted or Companions())
    return both(KEY, to, new=new, now=now)


def waiting(**changes: object) -> Waiting:
    """A call that waits for a ticket of which nothing was heard yet."""
    usual = {
        "ticket": "T-1",
        "seen": OPEN.mark,
        "news": 0,
        "since": OPENED,
        "until": OPENED + 86_400_000,
        "person": "UANA",
    }
    return Waiting(**{**usual, **changes})


def test_a_ticket_that_was_opened_is_waited_for():
    """The thread gets a line, the call a note, and the clock a time to look."""
    new = answered()
    found = added(new, to=story(new))
    [post] = found.posts
    assert (post.id, post.after, post.body["kind"]) == (f"ticket:{CID}", None, "ticket")
    assert (post.body["channel"], post.body["thread_ts"]) == ("C1", "100.1")
    assert Ticket.model_validate(post.body["ticket"]) == OPEN
    assert found.notes == {CID: waiting().note()}
    assert found.index == [("ZADD", "tick", OPENED + 5_000, CID)]


def test_news_change_the_line_and_are_counted():
    """What was told last, and when, stands in the note; the deadline stays."""
    new = heard_of(HALF)
    found = added(new, to=story(answered(), new), now=OPENED + 60_000)
    [post] = found.posts
    assert (post.id, post.after) == (f"ticket:{CID}@4", f"ticket:{CID}")
    assert post.body["kind"] == "ticket_update"
    assert Waiting.of(found.notes[CID]) == waiting(seen=HALF.mark, news=1, since=OPENED + 60_000)


def test_after_the_end_nothing_is_waited_for():
    """The line says how it ended; no note, no look."""
    new = heard_of(DONE)
    found = added(new, to=story(answered(), new))
    assert Ticket.model_validate(found.posts[0].body["ticket"]) == DONE
    assert (found.notes, found.index) == ({}, [])


def test_the_line_comes_before_the_words_about_it():
    """What else goes with the events is kept, behind the line."""
    answer = Post(id="o:5:0", body={"kind": "answer"})
    wanted = Companions(posts=[answer], notes={"9-0": {"a": 1}}, index=[("PING",)])
    new = answered()
    found = added(new, to=story(new), wanted=wanted)
    assert [post.id for post in found.posts] == [f"ticket:{CID}", "o:5:0"]
    assert set(found.notes) == {CID, "9-0"}
    assert found.index[0] == ("PING",)


@pytest.mark.parametrize(
    ("before", "new"),
    [
        pytest.param((), answered(status="pending"), id="a response without a ticket"),
        pytest.param((), answered(call="7-0", ticket_id="T-1"), id="a call nobody made"),
        pytest.param(
            (answered(), heard_of(DONE)), heard_of(HALF, version=5), id="progress after the end"
        ),
    ],
)
def test_what_tells_of_no_ticket(before: tuple[Event, ...], new: Event):
    """Then only what the others want goes with the events."""
    assert added(new, to=story(*before, new)) == Companions()


def test_a_call_that_does_not_last_waits_for_nothing():
    """An ordinary tool may name a ticket; its call is over."""
    new = answered()
    told = Story([calling(lasting=False), new])
    assert added(new, to=told) == Companions()


def test_a_note_reads_back():
    """A note says what it was made of; any other note is none of a ticket."""
    assert Waiting.of(waiting().note()) == waiting()
    assert Waiting.of({"status": "pending", "asked": ["U1"]}) is None
    assert Waiting.of({}) is None


@pytest.mark.parametrize(
    ("now", "since", "suffix"),
    [
        pytest.param(OPEN, waiting(), None, id="nothing new"),
        pytest.param(HALF, waiting(), "1", id="progress"),
        pytest.param(HALF, waiting(seen=HALF.mark, news=1), None, id="told before"),
        pytest.param(OPEN, waiting(seen=HALF.mark, news=1), "2", id="back again"),
        pytest.param(DONE, waiting(), "1", id="the end"),
        pytest.param(DONE, waiting(seen=HALF.mark, news=1), "2", id="the end, later"),
        pytest.param(Ticket(id="T-1", status="deleted"), waiting(), "1", id="another end"),
    ],
)
def test_what_a_ticket_has_to_tell(now: Ticket, since: Waiting, suffix: str | None):
    """Who looks at the same time, or late, has no id of their own: what comes first counts."""
    found = turn(KEY, (CID, NAME), since, now=now)
    assert (found and found.id) == (f"ticket:{CID}:T-1:{suffix}" if suffix else None)


def test_what_the_session_hears():
    """A response to the very call; only what is not the end says that more will come."""
    half = turn(KEY, (CID, NAME), waiting(), now=HALF)
    done = turn(KEY, (CID, NAME), waiting(), now=DONE)
    assert (half.session, half.author) == (KEY, "UANA")
    [part] = half.parts
    assert part["function_response"] == {
        "id": CID,
        "name": NAME,
        "response": {"status": "in_progress", "ticket_id": "T-1", "progress": 50},
        "will_continue": True,
    }
    assert "will_continue" not in done.parts[0]["function_response"]


@pytest.mark.parametrize(
    ("quiet_s", "seconds"),
    [
        pytest.param(0, 5, id="just heard of"),
        pytest.param(12, 5, id="soon after"),
        pytest.param(60, 20, id="a third of the time"),
        pytest.param(86_400, 900, id="a day"),
        pytest.param(-30, 5, id="a clock that went back"),
    ],
)
def test_a_quiet_ticket_is_looked_at_less(quiet_s: int, seconds: int):
    """The pause grows with the time in which nothing changed, between two limits."""
    longest = timedelta(minutes=15)
    pause = until_next(timedelta(seconds=quiet_s), shortest=PAUSE, longest=longest)
    assert pause == timedelta(seconds=seconds)
