"""The commands: `python -m bot`, and what may stand behind it."""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, NoReturn, get_args

from bot import app, console, lines
from bot.doctor import Parts, examine
from bot.errors import BotError, SettingsError
from bot.playground import LocalSlack, rehearse, tickets
from bot.playground.behind import Behind
from bot.playground.page import Page
from bot.playground.people import TEAM_ID
from bot.playground.run import local
from bot.settings import REHEARSAL, Role, Settings
from bot.slack.manifest import manifest
from bot.tickets.local import LocalTickets
from bot.web import EVENTS, serve

Command = Callable[[], Coroutine[Any, Any, int]]

WRONG_SETTINGS = 78
"""Exit status, as sysexits.h has it: somebody must change the configuration."""
UNAVAILABLE = 69
"""Exit status: something outside does not answer; trying again may help."""
NOBODY_READS = 141
"""Exit status, as shells have it: whoever read what is printed, such as `head`, has enough."""
STOPPED = 130
"""Exit status, as shells have it: somebody pressed Ctrl-C."""
LAST_WORD = 1.0
"""Seconds for what still runs when all else has ended."""
OPEN = """\
The playground is open: http://127.0.0.1:{port}
In #expenses, as Ana, write: @countersign please reimburse 200 dollars for the hotel
Then be Max (at the top of the page) and decide. {model} answers. Ctrl-C ends everything."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0 when all went well."""
    given = parser().parse_args(arguments)
    try:
        status = asyncio.run(given.run(given) if "run" in given else given.command())
        sys.stdout.flush()
    except SettingsError as error:
        print(error, file=sys.stderr)
        return WRONG_SETTINGS
    except BotError as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE
    except BrokenPipeError:
        # What is printed and not read yet would be tried once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt:
        return STOPPED
    return status


def parser() -> argparse.ArgumentParser:
    """All commands: what is parsed has `run`, which takes it, or `command`, which takes nothing."""
    made = argparse.ArgumentParser(
        prog="python -m bot",
        description="Without a command: the roles that ROLES names, in this process.",
    )
    made.set_defaults(command=_roles)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    known: dict[str, tuple[Command, str]] = {
        role: (partial(_roles, (role,)), f"play only the role {role}") for role in get_args(Role)
    }
    known |= {
        "release": (_release, "check settings and store before a release"),
        "rehearse": (_rehearse, "play the stories, and say how they went"),
        "playground": (_playground, "open a workspace on this machine"),
        "manifest": (_manifest, "print the manifest of the Slack app"),
        "doctor": (_doctor, "ask every part whether it works"),
    }
    for name, (command, text) in known.items():
        commands.add_parser(name, help=text, description=text).set_defaults(command=command)
    console.add(commands, opened=app.kept)
    return made


def leave(status: int) -> None:
    """End the process, also when a tool's thread is still at work.

    Nothing stops a thread, and waiting for it would outlast the platform's patience after SIGTERM;
    its call is in the journal, as for a process that was killed.
    """
    if threading.active_count() > 1:
        _go(status)
    sys.exit(status)


async def leave_tasks(status: int) -> int:
    """The status, unless a tool's body goes on though it was told to stop: then end the process.

    The loop would wait for it, and it would be killed, as a thread would.
    """
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left and (await asyncio.wait(left, timeout=LAST_WORD))[1]:
        _go(status)
    return status


def _go(status: int) -> NoReturn:
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


async def _roles(roles: tuple[Role, ...] = ()) -> int:
    """Play roles until somebody says stop."""
    settings = Settings.read(**({"roles": roles} if roles else {}))
    lines.set_up(settings.log_level)
    await app.run(settings, stopping=_stopping())
    return await leave_tasks(0)


async def _release() -> int:
    """Look at settings and store as a release will find them."""
    settings = Settings.read()
    lines.set_up(settings.log_level)
    print(await app.release(settings))
    return 0


async def _playground() -> int:
    """A workspace, its store, the bot and the page in this process, until somebody says stop."""
    stopping = _stopping()
    settings = Settings.read()
    lines.set_up(settings.log_level if "log_level" in settings.model_fields_set else "WARNING")
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(LocalSlack())
        mine = local(slack, settings)
        with console.patience():
            bot = await app.unless(stopping, stack.enter_async_context(app.opened(mine)))
        if bot is None:
            return 0
        slack.connect(f"http://127.0.0.1:{bot.port}{EVENTS}")
        made = _page(slack, bot, mine).application()
        made.add_routes(tickets.routes(LocalTickets(bot.tickets, tenant=TEAM_ID)))
        serving = serve(made, port=settings.port, host="127.0.0.1")
        port = await stack.enter_async_context(serving)
        model = "The rehearsal model, no LLM," if mine.model == REHEARSAL else mine.model
        print(OPEN.format(port=port, model=model), flush=True)
        await bot.run(stopping)
    return 0


def _page(slack: LocalSlack, bot: app.Bot, settings: Settings) -> Page:
    """The page of a workspace, and what it may look at."""
    behind = Behind(
        workspace=slack.workspace,
        slot=bot.slot,
        agents=[agent.name for agent in bot.agents],
        ledger=settings.ledger_path,
        model=settings.model,
    )
    return Page(slack, agents=bot.agents, routes=bot.routes, behind=behind)


async def _rehearse() -> int:
    """Play the stories, with tickets that live in the bot's store."""
    return await rehearse.play(partial(app.local_tickets, tenant=TEAM_ID))


async def _manifest() -> int:
    """What Slack wants to read when the app is made there."""
    print(json.dumps(manifest(Settings.read()), indent=2))
    return 0


async def _doctor() -> int:
    """What is right and wrong with this deployment, a line each; 1 when something is wrong."""
    settings = Settings.read()
    lines.set_up("ERROR")
    wrong = False
    parts = Parts(
        store=app.store_findings, model=app.ask_model, agents=app.ours, left=app.left_behind
    )
    async for finding in examine(settings, parts):
        print(finding, flush=True)
        wrong = wrong or finding.level == "wrong"
    return 1 if wrong else 0


def _stopping() -> asyncio.Event:
    """Set by SIGTERM and Ctrl-C; a platform may say it several times."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for how in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(how, stopping.set)
    return stopping
