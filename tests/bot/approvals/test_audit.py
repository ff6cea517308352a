"""The audit of approvals, its export, and what the verifier finds."""

import json

import pytest

from agents import Decide, SessionKey
from agents.runtime.slot.memory import MemorySlot
from bot.approvals import audit
from bot.approvals.request import closed, voted, Vote
from bot.approvals.verify import main, verify
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval
