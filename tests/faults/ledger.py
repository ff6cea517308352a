"""The world outside, in a process of its own: it counts what happened, by key, and never forgets.

`POST /<world>` acts, `GET /<world>?key=` looks, `GET /<world>/all` tells everything, and
`POST /<world>/mood` says how the next calls go: `slow` (seconds), `fails` (answers 500 afterwards).
"""

import asyncio
import sys
import time
from collections import defaultdict, deque
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

IDEMPOTENT = {"pay", "share"}


class Books:
    """Everything that happened in every world."""

    def __init__(self) -> None:
        self.acts: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.moods: dict[str, deque[dict[str, Any]]] = defaultdict(deque)

    async def act(self, request: web.Request) -> web.Response:
        """Do it; what is idempotent has an effect only the first time."""
        world, told = request.match_info["world"], await request.json()
        mood = self.moods[world].popleft() if self.moods[world] else {}
        again = any(each["key"] == told["key"] and each["effect"] for each in self.acts[world])
        effect = not (again and told["tool"] in IDEMPOTENT)
        done = {**told, "effect": effect, "came": time.time()}
        self.acts[world].append(done)
        await asyncio.sleep(mood.get("slow", 0))
        done["answered"] = time.time()
        return web.json_response({"ref": told["key"][-6:]}, status=500 if "fails" in mood else 200)

    async def find(self, request: web.Request) -> web.Response:
        """How often something happened under a key."""
        acts = self.acts[request.match_info["world"]]
        count = sum(each["effect"] for each in acts if each["key"] == request.query["key"])
        return web.json_response({"effects": count})

    async def everything(self, request: web.Request) -> web.Response:
        """All that happened in a world, oldest first."""
        return web.json_response(self.acts[request.match_info["world"]])

    async def mood(self, request: web.Request) -> web.Response:
        """How the next call goes."""
        self.moods[request.match_info["world"]].append(await request.json())
        return web.Response()

    def application(self) -> web.Application:
        """The server."""
        made = web.Application()
        made.router.add_get("/{world}/all", self.everything)
        made.router.add_post("/{world}/mood", self.mood)
        made.router.add_post("/{world}", self.act)
        made.router.add_get("/{world}", self.find)
        return made


async def main() -> None:
    """Serve on a free port, say which, and end when nobody listens any more."""
    runner = web.AppRunner(Books().application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


@asynccontextmanager
async def ledger():
    """The ledger's address, while the block runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
