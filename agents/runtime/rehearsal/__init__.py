"""A Model without an LLM: it chooses a tool by the words of a message and tells what came of it."""

from agents.runtime.rehearsal.model import RehearsalModel

__all__ = ["RehearsalModel"]
