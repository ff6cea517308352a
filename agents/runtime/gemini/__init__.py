"""Gemini, on google-genai: asked over HTTP, and every answer and fault turned into one outcome."""

from agents.runtime.gemini.client import Gemini, GeminiOptions

__all__ = ["Gemini", "GeminiOptions"]
