"""Tickets as the runtime knows them: what is final, what is news, what a response names."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from agents import Ticket


@pytest.mark.parametrize(
    ("status", "final"),
    [
        pytest.param("open", False, id="open"),
        pytest.param("in_progress", False, id="in progress"),
        pytest.param("resolved", True, id="resolved"),
        pytest.param("rejected", True, id="rejected"),
        pytest.param("deleted", True, id="deleted"),
        pytest.param("timeout", True, id="timeout"),
    ],
)
def test_what_ends_a_ticket(status: str, final: bool) -> None:
    """A ticket is over when somebody is done with it, and when nobody waits any more."""
    assert Ticket.model_validate({"id": "T-1", "status": status}).final is final


@pytest.mark.parametrize(
    ("change", "news"),
    [
        pytest.param({"status": "in_progress"}, True, id="status"),
        pytest.param({"progress": 30}, True, id="progress"),
        pytest.param({"progress": 0}, True, id="progress of zero"),
        pytest.param({"note": "on my way"}, True, id="note"),
        pytest.param({"subject": "printer"}, False, id="subject"),
        pytest.param({"urgency": "high"}, False, id="urgency"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_what_counts_as_news(change: dict[str, Any], news: bool) -> None:
    """A mark differs when status, progress or note do."""
    before = Ticket(id="T-1")
    assert (before.mark != before.model_copy(update=change).mark) is news


@pytest.mark.parametrize(
    ("response", "ticket"),
    [
        pytest.param({"status": "pending", "ticket_id": "T-1"}, Ticket(id="T-1"), id="pending"),
        pytest.param({"ticket-id": "T-1"}, Ticket(id="T-1"), id="with a hyphen"),
        pytest.param({"ticket_id": 17}, Ticket(id="17"), id="a number"),
        pytest.param(
            {"status": "in_progress", "ticket_id": "T-1", "progress": 30, "note": "soon"},
            Ticket(id="T-1", status="in_progress", progress=30, note="soon"),
            id="in progress",
        ),
        pytest.param(
            {"ticket_id": "T-1", "progress": 130, "note": None}, Ticket(id="T-1"), id="nonsense"
        ),
        *(
            pytest.param(
                {"ticket_id": "T-1", "status": odd, "progress": odd}, Ticket(id="T-1"), id=repr(odd)
            )
            for odd in ({"name": "Open"}, ["open"], [], {}, None, -1, 1.5, "yes", math.nan)
        ),
        pytest.param({"status": "pending"}, None, id="no ticket"),
        pytest.param({"ticket_id": ""}, None, id="an empty id"),
        pytest.param({"ticket_id": {"a": 1}}, None, id="no id at all"),
        pytest.param({}, None, id="empty"),
    ],
)
def test_which_responses_name_a_ticket(response: dict[str, Any], ticket: Ticket | None) -> None:
    """The id of a ticket in a response makes its call wait for that ticket."""
    assert Ticket.from_response(response) == ticket


@pytest.mark.parametrize(
    "ticket",
    [
        pytest.param(Ticket(id="T-1"), id="open"),
        pytest.param(Ticket(id="T-1", status="in_progress", progress=0), id="at zero"),
        pytest.param(Ticket(id="T-1", status="resolved", note="done “so”"), id="with a note"),
    ],
)
def test_a_response_reads_back(ticket: Ticket) -> None:
    """What a call is answered names the ticket and how it stands."""
    assert Ticket.from_response(ticket.response()) == ticket


@pytest.mark.parametrize(
    "wrong", [{"id": ""}, {"id": "T", "progress": 101}, {"id": "T", "status": "x"}]
)
def test_what_no_ticket_is(wrong: dict[str, Any]) -> None:
    """A ticket has an id, one of the statuses, and at most a hundred percent."""
    with pytest.raises(ValidationError):
        Ticket.model_validate(wrong)
