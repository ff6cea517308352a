"""Opens tickets that somebody else works on, and waits for what becomes of them."""

from typing import Any, Literal

from agents import Agent, LongRunningFunctionTool, TicketSystem, ToolContext, ToolError

LONGEST_SUBJECT = 200
INSTRUCTION = """\
You open support tickets. When a person tells of a problem, call `create_ticket_long_running` once,
with a short subject in their words and with the urgency: take it from what they say, ask when you
cannot tell. The ticket is worked on by people: say that it is open and that news will come by
itself, and do not open a second one for the same problem. When news arrives, tell it in one
friendly sentence, a note in its own words.
"""


def support_agent(tickets: TicketSystem) -> Agent:
    """The agent that opens its tickets in `tickets`."""

    async def create_ticket_long_running(
        urgency: Literal["low", "medium", "high"], subject: str, tool_context: ToolContext
    ) -> dict[str, Any]:
        """Open a support ticket for a problem, such as a broken printer or a lost key.

        Args:
            urgency: How urgent it is.
            subject: What is wrong, in a few words.
        """
        told = " ".join(subject.split())
        if not told:
            raise ToolError("Say in a few words what is wrong.")
        ticket = await tickets.create(
            subject=told[:LONGEST_SUBJECT],
            urgency=urgency,
            requester=tool_context.user_id,
            key=tool_context.idempotency_key,
        )
        return {"status": "pending", "ticket_id": ticket.id}

    return Agent(
        name="support",
        description="Opens support tickets for problems, such as a broken printer or no network.",
        instruction=INSTRUCTION,
        tools=[LongRunningFunctionTool(create_ticket_long_running, effects="idempotent")],
        examples=(
            "Open a high urgency ticket: the printer on floor two is on fire",
            "Low urgency ticket: the chair in room 5 squeaks",
        ),
    )
