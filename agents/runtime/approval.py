"""What an agent's file may say about approvals: plain data, resolved by whoever asks people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


class Secret:
    """Marks an argument whose value nobody is shown: `token: Annotated[str, Secret]`.

    The body gets it as it is; cards, `Show everything` and consoles have dots in its place. Inside
    a list, a dict or a choice it hides the whole argument; a class cannot hide one of its fields.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Who may decide about a tool's calls, how many of them, and until when.

    Names are people, user groups, or roles that the deployment knows. `approvers` and `quorum` say
    how many of whom; none means the deployment's default approvers. `any_of` says it by name:
    `{"cfo": 1, "finance": 2}` is one of the first or two of the second. `rejections` close it.

    `tiers` are policies for calls whose arguments meet a condition such as `amount > 1000`: the
    last one that is met stands in place of this policy; where an argument cannot be compared, the
    tier has to be met as well as what stands without it. `notify` are those who get a card or a
    mention, None means the approvers.

    `expires` counts from the asking and `run_within` from the approval, None means never. With
    `working_hours` only those of the deployment's calendar count. `reminders` and the keys of
    `escalate` are fractions of that time; the names behind a key may decide from then on as well.
    """

    approvers: tuple[str, ...] = ()
    quorum: int = 1
    any_of: Mapping[str, int] = field(default_factory=dict[str, int])
    rejections: int = 1
    self_approval: bool = False
    reason_required: bool = False
    notify: tuple[str, ...] | None = None
    expires: timedelta | None = timedelta(days=7)
    run_within: timedelta | None = None
    working_hours: bool = False
    reminders: tuple[float, ...] = (0.8,)
    escalate: Mapping[float, tuple[str, ...]] = field(default_factory=dict[float, tuple[str, ...]])
    tiers: Mapping[str, "ApprovalPolicy"] = field(default_factory=dict[str, "ApprovalPolicy"])
