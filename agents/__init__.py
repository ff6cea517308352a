"""Agents, and what they run on: everything an agent's file or a program needs has its name here."""

from agents.runtime.agent import Agent
from agents.runtime.agent_tool import AgentTool
from agents.runtime.approval import ApprovalPolicy, Secret
from agents.runtime.budget import RunConfig
from agents.runtime.confirmation import Question, ToolConfirmation
from agents.runtime.context import ToolContext
from agents.runtime.errors import (
    AnswerError,
    ModelError,
    ModelUnavailable,
    PayloadError,
    SessionBusy,
    SessionConflict,
    SessionNotFoundError,
    StoreUnavailable,
    ToolError,
    UsageError,
)
from agents.runtime.events import Event
from agents.runtime.held import Held
from agents.runtime.model import LlmRequest, LlmResponse, Model
from agents.runtime.payload import check as check_payload
from agents.runtime.runner import Runner
from agents.runtime.sessions import InMemorySessionService, SessionService
from agents.runtime.slot.port import (
    Companions,
    Decide,
    Entry,
    Post,
    Record,
    SessionKey,
    Settle,
    Slot,
)
from agents.runtime.story import Story
from agents.runtime.tickets import Ticket, TicketSystem
from agents.runtime.tools import FunctionTool, LongRunningFunctionTool

__all__ = [
    "Agent",
    "AgentTool",
    "AnswerError",
    "ApprovalPolicy",
    "Companions",
    "Decide",
    "Entry",
    "Event",
    "FunctionTool",
    "Held",
    "InMemorySessionService",
    "LlmRequest",
    "LlmResponse",
    "LongRunningFunctionTool",
    "Model",
    "ModelError",
    "ModelUnavailable",
    "PayloadError",
    "Post",
    "Question",
    "Record",
    "RunConfig",
    "Runner",
    "Secret",
    "SessionBusy",
    "SessionConflict",
    "SessionKey",
    "SessionNotFoundError",
    "SessionService",
    "Settle",
    "Slot",
    "StoreUnavailable",
    "Story",
    "Ticket",
    "TicketSystem",
    "ToolConfirmation",
    "ToolContext",
    "ToolError",
    "UsageError",
    "check_payload",
]
