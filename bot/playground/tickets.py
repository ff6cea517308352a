"""The page on which a person moves tickets along, as those who work on them would elsewhere."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents import Ticket
from bot.playground.page import POLICY
from bot.tickets.local import LocalTickets

FOLDER = Path(__file__).parent

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Move(BaseModel):
    """How a ticket stands from now on; `status` is one of a Ticket's, `progress` in percent."""

    model_config = ConfigDict(extra="forbid")

    status: str
    progress: int | None = None
    note: str = Field(default="", max_length=1_000)


def routes(tickets: LocalTickets) -> list[web.RouteDef]:
    """The page, GET /tickets.json (the newest tickets), POST /tickets/<id> (a Move as JSON)."""

    async def on_list(_: web.Request) -> web.Response:
        return web.json_response([_shown(ticket) for ticket in await tickets.newest()])

    async def on_move(request: web.Request) -> web.Response:
        try:
            move = Move.model_validate_json(await request.text())
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
        return web.json_response(_shown(ticket))

    return [
        web.get("/tickets", _file("tickets.html")),
        web.get("/tickets.js", _file("tickets.js")),
        web.get("/tickets.json", on_list),
        web.post("/tickets/{id}", on_move),
    ]


def _shown(ticket: Ticket) -> Mapping[str, object]:
    return ticket.model_dump(mode="json") | {"final": ticket.final}


def _file(name: str) -> Handler:
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}

    async def serve(_: web.Request) -> web.FileResponse:
        return web.FileResponse(FOLDER / name, headers=headers)

    return serve
