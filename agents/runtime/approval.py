"""What an agent's file may say about approvals: plain data, resolved by whoever asks people."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal, cast

from agents.runtime.errors import UsageError

LONGEST = timedelta(days=3_660)
"""No question is open for longer, and no approval good for longer."""

Names = tuple[str, ...] | list[str]


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
    `{"cfo": 1, "finance": 2}` is one of the first or two of the second. `rejections` close it;
    with `reason_required` whoever rejects must say why.

    `tiers` are policies for calls whose arguments meet a condition such as `amount > 1000`: the
    last one that is met stands in place of this policy; one that names nobody only adds to it. A
    date, a time or a span is written as in ISO 8601. Where an argument cannot be compared, or only
    looks like what it is compared with, the tier has to be met as well as what stands without it.
    `notify` are those who get a card or a mention, None means the approvers.

    `expires` counts from the asking: None means never, and "default" that the deployment says when.
    `run_within` counts from the approval, None means what the deployment says. With `working_hours`
    only those of the deployment's calendar count. `reminders` and the keys of `escalate` are
    fractions of that time; the names behind a key may decide from then on as well.

    Raises UsageError, with one sentence, for a policy that makes no sense.
    """

    approvers: Names = ()
    quorum: int = 1
    any_of: Mapping[str, int] = field(default_factory=dict[str, int])
    rejections: int = 1
    self_approval: bool = False
    reason_required: bool = False
    notify: Names | None = None
    expires: timedelta | Literal["default"] | None = "default"
    run_within: timedelta | None = None
    working_hours: bool = False
    reminders: list[float] | tuple[float, ...] = (0.8,)
    escalate: Mapping[float, Names] = field(default_factory=dict[float, Names])
    tiers: Mapping[str, "ApprovalPolicy"] = field(default_factory=dict[str, "ApprovalPolicy"])

    def __post_init__(self) -> None:
        """Refuse what makes no sense; a list of names becomes a tuple."""
        for name, (fits, wanted) in _FIELDS.items():
            if not fits(getattr(self, name)):
                raise UsageError(f"the {name} of an ApprovalPolicy must be {wanted}")
        if self.approvers and self.any_of:
            raise UsageError("an ApprovalPolicy has approvers or any_of, never both")
        for name in ("approvers", "reminders", *(() if self.notify is None else ("notify",))):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        later = {when: tuple(names) for when, names in self.escalate.items()}
        object.__setattr__(self, "escalate", later)


def _is_sequence(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(fits, cast("list[Any]", value)))


def _is_table(value: Any, key: Callable[[Any], bool], item: Callable[[Any], bool]) -> bool:
    if not isinstance(value, Mapping):
        return False
    table = cast("Mapping[Any, Any]", value)
    return all(map(key, table)) and all(map(item, table.values()))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_names(value: Any) -> bool:
    return _is_sequence(value, _is_name)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_part(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


def _is_span(value: Any) -> bool:
    return isinstance(value, timedelta) and timedelta(0) < value <= LONGEST


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


_SPAN = f"a timedelta of more than nothing and at most {LONGEST.days} days"
_FLAG = (_is_flag, "True or False")
_COUNT = (_is_count, "a whole number of at least 1")
_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "approvers": (_are_names, "a tuple of names"),
        "quorum": _COUNT,
        "any_of": (
            lambda v: _is_table(v, _is_name, _is_count),
            "a dict of names and whole numbers of at least 1",
        ),
        "rejections": _COUNT,
        "self_approval": _FLAG,
        "reason_required": _FLAG,
        "notify": (lambda v: v is None or _are_names(v), "a tuple of names, or None"),
        "expires": (lambda v: v in (None, "default") or _is_span(v), f'{_SPAN}, None or "default"'),
        "run_within": (lambda v: v is None or _is_span(v), f"{_SPAN}, or None"),
        "working_hours": _FLAG,
        "reminders": (
            lambda v: _is_sequence(v, _is_part),
            "a tuple of parts of its time, each between 0 and 1",
        ),
        "escalate": (
            lambda v: _is_table(v, _is_part, lambda names: _are_names(names) and bool(names)),
            "a dict of parts of its time, each between 0 and 1, and names",
        ),
        "tiers": (
            lambda v: _is_table(v, _is_name, lambda tier: isinstance(tier, ApprovalPolicy)),
            "a dict of conditions such as 'amount > 1000' and policies",
        ),
    }
)
