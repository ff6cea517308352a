"""What people see in messages: answers, cards, the lines under a request; pure."""

from bot.slack.blocks.answer import answer
from bot.slack.blocks.card import card, shows_all, withheld
from bot.slack.blocks.elsewhere import elsewhere
from bot.slack.blocks.line import asked, prompt
from bot.slack.blocks.rendered import Rendered, shortened
from bot.slack.blocks.result import brought
from bot.slack.blocks.saving import saving
from bot.slack.blocks.ticket import ticket

__all__ = [
    "Rendered",
    "answer",
    "asked",
    "brought",
    "card",
    "elsewhere",
    "prompt",
    "saving",
    "shortened",
    "shows_all",
    "ticket",
    "withheld",
]
