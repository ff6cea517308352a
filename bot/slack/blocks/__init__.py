"""What people see in Slack: answers, cards, the lines under a request, modals; pure."""

from bot.slack.blocks.answer import answer
from bot.slack.blocks.card import card, shows_all, withheld
from bot.slack.blocks.line import asked, prompt
from bot.slack.blocks.rendered import Rendered, shortened
from bot.slack.blocks.result import brought
from bot.slack.blocks.saving import saving
from bot.slack.blocks.ticket import ticket
from bot.slack.blocks.views import everything_view, form_view, reject_view, told_view

__all__ = [
    "Rendered",
    "answer",
    "asked",
    "brought",
    "card",
    "everything_view",
    "form_view",
    "prompt",
    "reject_view",
    "saving",
    "shortened",
    "shows_all",
    "ticket",
    "told_view",
    "withheld",
]
