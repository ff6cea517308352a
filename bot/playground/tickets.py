"""The page on which a person moves tickets along, as those who work on them would elsewhere.

It is plain HTML with forms, made anew for each look.
"""

from html import escape
from pathlib import Path
from string import Template

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents import Ticket
from bot.playground.page import POLICY
from bot.tickets.local import LocalTickets

PAGE = Template((Path(__file__).parent / "tickets.html").read_text())
HEADERS = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
MOVES = (
    ("In progress, 30 %", "in_progress 30", ""),
    ("In progress, 80 %", "in_progress 80", ""),
    ("Resolved", "resolved", "primary"),
    ("Rejected", "rejected", "danger"),
    ("Delete", "deleted", ""),
)
"""What a button says, the status and percent it stands for, and its look."""
NONE = (
    '<p>There is no ticket yet. Open one in <a href="/#/ana/support">#support</a>: '
    "<i>@countersign Open a high urgency ticket: the printer is on fire</i>.</p>"
)
WAITING = '<meta http-equiv="refresh" content="2">'
"""While there is no ticket nobody is typing, so the page may look again by itself."""


class Move(BaseModel):
    """How a ticket stands from now on; `status` is one of a Ticket's, `progress` in percent."""

    model_config = ConfigDict(extra="forbid")

    status: str
    progress: int | None = None
    note: str = Field(default="", max_length=1_000)


def routes(tickets: LocalTickets) -> list[web.RouteDef]:
    """GET /tickets (the newest ones, in HTML), POST /tickets/<id> (a form: `move` and `note`)."""

    async def on_look(_: web.Request) -> web.Response:
        newest = await tickets.newest()
        page = PAGE.substitute(
            refresh="" if newest else WAITING,
            tickets="".join(map(article, newest)) or NONE,
        )
        return web.Response(text=page, content_type="text/html", headers=HEADERS)

    async def on_move(request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        status, _, percent = form.pop("move", "").partition(" ")
        try:
            move = Move.model_validate({**form, "status": status, "progress": percent or None})
            ticket = await tickets.move(
                request.match_info["id"],
                status=move.status,
                progress=move.progress,
                note=move.note.strip(),
            )
        except ValidationError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        if ticket is None:
            raise web.HTTPNotFound(text="This ticket is not there any more.")
        raise web.HTTPSeeOther("/tickets")

    return [web.get("/tickets", on_look), web.post("/tickets/{id}", on_move)]


def article(ticket: Ticket) -> str:
    """One ticket, with its buttons while it can still be moved."""
    percent = "" if ticket.progress is None else f", {ticket.progress} %"
    state = f"{ticket.status.replace('_', ' ')}{percent}"
    facts = f"{ticket.id} · urgency {ticket.urgency}"
    note = f"<blockquote>{escape(ticket.note)}</blockquote>" if ticket.note else ""
    return (
        f"<article><header><h2>{escape(ticket.subject)}</h2>"
        f'<span class="state">{escape(state)}</span><small>{escape(facts)}</small></header>'
        f"{note}{'' if ticket.final else _form(ticket)}</article>"
    )


def _form(ticket: Ticket) -> str:
    buttons = "".join(
        f'<button name="move" value="{value}" class="{look}">{text}</button>'
        for text, value, look in MOVES
    )
    return (
        f'<form method="post" action="tickets/{escape(ticket.id)}">'
        '<input name="note" maxlength="1000" aria-label="What to say about it"'
        f' placeholder="What to say about it (optional)">{buttons}</form>'
    )
