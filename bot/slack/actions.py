"""The names of our buttons, inputs and modals on the wire: cards that are out there carry them."""

APPROVE, REJECT, WITHDRAW, SHOW, FORM = "approve", "reject", "withdraw", "show", "form"
HAPPENED = "happened"
"""The action ids of our buttons; `form` approves through a modal, when a message is too small."""

REASON = "reason"
"""The action id of the input for why somebody rejects."""

DECIDE = "decide"
"""The callback id of the modals in which a person decides."""
