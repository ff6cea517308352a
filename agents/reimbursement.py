"""Pays small sums back at once, and asks a person above a limit."""

import math
from typing import Any

from agents import Agent, FunctionTool, ToolContext, ToolError
from agents.ledger import Ledger

LIMIT = 100.0
INSTRUCTION = """\
You pay people back what they spent for work. Call `reimburse` with the amount and what it was for;
when one of the two is missing, ask for it. Never guess an amount, never split one to stay under a
limit, and call the tool once for each expense. Above {limit:g} dollars a person decides; when that
is pending, say so and wait. Tell the outcome in one friendly sentence, a reason in its own words.
"""


def reimbursement_agent(ledger: Ledger) -> Agent:
    """The agent that pays through `ledger`; who asks is who is paid."""

    async def reimburse(amount: float, purpose: str, tool_context: ToolContext) -> dict[str, Any]:
        """Pay an employee back money they spent for work.

        Args:
            amount: The sum to pay back, in dollars.
            purpose: What the money was spent on, e.g. lunch with a customer.
        """
        problem = unpayable(amount, purpose)
        if problem:
            raise ToolError(problem)
        paid = await ledger.pay(
            amount=amount,
            purpose=purpose.strip(),
            key=tool_context.idempotency_key,
            requester=tool_context.user_id,
        )
        return {"status": "paid", "amount": amount, "purpose": purpose.strip(), **paid}

    return Agent(
        name="reimbursement",
        description="Pays people back what they spent for work, such as lunch, a taxi or a hotel.",
        instruction=INSTRUCTION.format(limit=LIMIT),
        tools=[FunctionTool(reimburse, require_confirmation=over_limit, effects="idempotent")],
        examples=(
            "Please reimburse 42.50 for the taxi from the airport",
            "Can I get 250 dollars back for the hotel in Berlin?",
        ),
    )


def over_limit(amount: float, purpose: str) -> bool:
    """Whether a person must agree: above the limit. What cannot be paid at all is not asked."""
    return amount > LIMIT and unpayable(amount, purpose) is None


def unpayable(amount: float, purpose: str) -> str | None:
    """A sentence that says why this cannot be paid; None when it can."""
    if not math.isfinite(amount) or amount <= 0:
        return "The amount must be a number above zero."
    if not math.isclose(amount, round(amount, 2), rel_tol=0, abs_tol=1e-9):
        return "The amount must have at most two decimals."
    if not purpose.strip():
        return "Say what the money was spent on."
    return None
