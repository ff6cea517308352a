"""A bot that only listens: keeps what it is sent, answers what it is told."""

import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web


@dataclass
class Ear:
    """`bodies` are the payloads that came, `answers` the responses to give, then 200."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: deque[web.Response] = field(default_factory=deque)

    async def hear(self, request: web.Request) -> web.Response:
        """Keep a request, whatever its form."""
        text = await request.text()
        self.headers.append(dict(request.headers))
        if request.content_type == "application/json":
            self.bodies.append(json.loads(text))
        else:
            form = {key: values[0] for key, values in parse_qs(text, True).items()}
            self.bodies.append(json.loads(form["payload"]) if "payload" in form else form)
        return self.answers.popleft() if self.answers else web.Response()

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events or interactions of a kind that came."""
        return [
            body
            for body in self.bodies
            if kind in (body.get("type"), body.get("event", {}).get("type"), body.get("command"))
        ]


@asynccontextmanager
async def serving(application: web.Application) -> AsyncIterator[str]:
    """Serve an application on a free port; its address."""
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
