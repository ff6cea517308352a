"""A session in which a ticket was opened, and what can be heard of it."""

from google.genai import types

from agents import Event, SessionKey, Story, Ticket

KEY = SessionKey(app="support", user="thread", id="C1:100.1", tenant="T1")
OPENED = 1_800_000_000_000
CID = "2-0"
NAME = "create_ticket_long_running"


def asked(*, run: str = "i1", version: int = 1) -> Event:
    """Ana tells of a problem."""
    content = types.Content(role="user", parts=[types.Part(text="the printer is on fire")])
    return Event(version=version, invocation_id=run, author="user", user_id="UANA", content=content)


def calling(*, version: int = 2, lasting: bool = True) -> Event:
    """The agent opens a ticket."""
    cid = f"{version}-0"
    part = types.Part(function_call=types.FunctionCall(id=cid, name=NAME, args={}))
    return Event(
        version=version,
        invocation_id="i1",
        author="support",
        content=types.Content(role="model", parts=[part]),
        long_running_tool_ids={cid} if lasting else None,
    )


def answered(*, version: int = 3, call: str = CID, **response: object) -> Event:
    """What the tool says of it."""
    said = response or {"status": "pending", "ticket_id": "T-1"}
    return _response(said, version=version, call=call, author="support", more=False)


def heard_of(ticket: Ticket, *, version: int = 4, call: str = CID) -> Event:
    """News of the ticket."""
    more = not ticket.final
    return _response(ticket.response(), version=version, call=call, author="user", more=more)


def _response(said: object, *, version: int, call: str, author: str, more: bool) -> Event:
    part = types.Part(
        function_response=types.FunctionResponse(
            id=call, name=NAME, response=said, will_continue=more or None
        )
    )
    return Event(
        version=version,
        invocation_id="i1",
        author=author,
        content=types.Content(role="user", parts=[part]),
        timestamp=OPENED / 1000,
    )


def story(*events: Event) -> Story:
    """A session in which a ticket was asked for, and what came after."""
    return Story([asked(), calling(), *events])
