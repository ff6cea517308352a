"""Sums texts up: one agent as another's tool, whose answer is the answer."""

from agents import Agent, AgentTool

SUMMARIZE = """\
You sum texts up. Read the text you are given and say what matters in it, in at most three short
sentences and in its own language. Add nothing that is not in the text, and do not talk about it.
"""
INSTRUCTION = """\
You have texts summed up. Hand the person's text to `summarizer` exactly as it is, without changing
or shortening it. When a message holds no text to sum up, ask for one.
"""


def summary_agent() -> Agent:
    """The agent that hands a text to another one, which sums it up."""
    summarizer = Agent(
        name="summarizer",
        description="Sum up a text.",
        instruction=SUMMARIZE,
    )
    return Agent(
        name="summary",
        description="Sums up a text that is pasted into a message.",
        instruction=INSTRUCTION,
        tools=[AgentTool(summarizer, skip_summarization=True)],
        examples=(
            "Sum this up: The move is put off to May. The lease ends in June, and the new rooms"
            " are ready in April. Boxes come by post.",
        ),
    )
