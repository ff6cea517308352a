"""A Slack on this machine, for trying out and for the tests."""

from bot.playground.inputs import CannotDo
from bot.playground.local_slack import LocalSlack
from bot.playground.noticed import Noticed
from bot.playground.people import ANA, BEN, BOT, MAX, MIA, PAT, Person
from bot.playground.workspace import Workspace

__all__ = [
    "ANA",
    "BEN",
    "BOT",
    "MAX",
    "MIA",
    "PAT",
    "CannotDo",
    "LocalSlack",
    "Noticed",
    "Person",
    "Workspace",
]
