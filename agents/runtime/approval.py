"""What an agent's file may say about approvals: plain data, resolved by whoever asks people."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Who may decide about a tool's calls, how many of them, and until when.

    `approvers` are names: people, groups or roles that the deployment knows; empty means the
    deployment's default approvers. `expires` counts from the asking, None means never.
    """

    approvers: tuple[str, ...] = ()
    quorum: int = 1
    self_approval: bool = False
    expires: timedelta | None = timedelta(days=7)
