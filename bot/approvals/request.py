"""The record of one question to people, and its life.

```
pending  -> approved | rejected | expired | cancelled (withdrawn, superseded, run_cancelled)
approved -> started | void           started -> done | failed | unknown
```
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents import Record

Status = Literal[
    "pending",
    "approved",
    "rejected",
    "expired",
    "cancelled",
    "void",
    "started",
    "done",
    "failed",
    "unknown",
]


class Frozen(BaseModel):
    """A record that does not change once it is made."""

    model_config = ConfigDict(frozen=True)


class Policy(Frozen):
    """Who may decide, frozen when the question was asked: ids of people, and how many."""

    approvers: tuple[str, ...]
    quorum: int = 1
    self_approval: bool = False


class Vote(Frozen):
    """What one person said, and when (milliseconds, the store's clock)."""

    person: str
    confirmed: bool
    at: int
    payload: dict[str, JsonValue] | None = None
    reason: str | None = None


class Copy(Frozen):
    """One posted card: the post that owes it, and the channel or person it went to."""

    post: str
    channel: str


class Approval(Frozen):
    """A question to people about one call, everything a card, a decision and an audit need.

    `id` is the id of the request for confirmation, unique in the session whose tag is `session`.
    `args` are the arguments as they will run. Times are milliseconds of the store's clock, None
    means never. `nonce` is on the card's buttons. `why` narrows a status: `withdrawn`, `superseded`.
    """

    id: str
    session: str
    call_id: str
    agent: str
    tool: str
    requester: str
    hint: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    payload_schema: dict[str, JsonValue] | None = None
    payload: dict[str, JsonValue] | None = None
    contract: str = ""
    digest: str = ""
    nonce: str = ""
    policy: Policy
    asked_at: int
    deadline: int | None = None
    run_by: int | None = None
    copies: Sequence[Copy] = ()
    notice: str = ""
    votes: Sequence[Vote] = ()
    status: Status = "pending"
    rev: int = 1
    why: str = ""
    decided_by: str | None = None
    decided_at: int | None = None

    def record(self) -> Record:
        """The approval as the slot keeps it."""
        body = self.model_dump(mode="json", exclude={"status", "rev"})
        return Record(
            id=self.id,
            status=self.status,
            rev=self.rev,
            digest=self.digest,
            deadline=self.deadline,
            run_by=self.run_by,
            body=body,
        )

    @classmethod
    def from_record(cls, record: Record) -> "Approval":
        """The approval in a slot's record."""
        return cls.model_validate({**record.body, "status": record.status, "rev": record.rev})
