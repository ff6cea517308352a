"""The commands: `python -m bot`, and what may stand behind it."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, get_args

from bot import app
from bot.errors import BotError, SettingsError
from bot.playground import rehearse, run
from bot.settings import Role, Settings

WRONG_SETTINGS = 78
"""Exit status, as sysexits.h has it: somebody must change the configuration."""
UNAVAILABLE = 69
"""Exit status: something outside does not answer; trying again may help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0 when all went well."""
    given = _parser().parse_args(arguments)
    try:
        return asyncio.run(given.command())
    except SettingsError as error:
        print(error, file=sys.stderr)
        return WRONG_SETTINGS
    except BotError as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bot",
        description="Without a command: the roles that ROLES names, in this process.",
    )
    parser.set_defaults(command=_roles)
    commands = parser.add_subparsers(title="commands", metavar="")
    for role in get_args(Role):
        _command(commands, role, partial(_roles, (role,)), f"play only the role {role}")
    _command(commands, "release", _release, "check settings and store before a release")
    _command(commands, "rehearse", rehearse.play, "play the stories, and say how they went")
    _command(commands, "playground", _playground, "open a workspace on this machine")
    _command(commands, "manifest", _manifest, "print the manifest of the Slack app")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[], Coroutine[Any, Any, int]], text: str
) -> None:
    commands.add_parser(name, help=text, description=text).set_defaults(command=run)


async def _roles(roles: tuple[Role, ...] = ()) -> int:
    """Play roles until somebody says stop."""
    settings = Settings.read(**({"roles": roles} if roles else {}))
    logs.set_up(settings.log_level)
    await app.run(settings, stopping=_stopping())
    return 0


async def _release() -> int:
    """Look at settings and store as a release will find them."""
    settings = Settings.read()
    logs.set_up(settings.log_level)
    print(await app.release(settings))
    return 0


async def _playground() -> int:
    """A workspace, its store and the bot in this process, until somebody says stop."""
    stopping = _stopping()
    settings = Settings.read()
    logs.set_up(settings.log_level)
    async with LocalSlack(port=settings.port) as slack:
        mine = settings.model_copy(update=local(slack, settings))
        async with app.opened(mine) as bot:
            slack.connect(f"http://127.0.0.1:{bot.port}{EVENTS}")
            print(f"The workspace is at {slack.url}, the bot listens on port {bot.port}.")
            await bot.run(stopping)
    return 0


async def _manifest() -> int:
    """What Slack wants to read when the app is made there."""
    print(json.dumps(manifest(Settings.read()), indent=2))
    return 0


def _stopping() -> asyncio.Event:
    """Set by SIGTERM and Ctrl-C; a platform may say it several times."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for how in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(how, stopping.set)
    return stopping
