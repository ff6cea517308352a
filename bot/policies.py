"""How a deployment writes down where agents answer and who decides: routes, policies, hours.

A policy has the fields of `agents.ApprovalPolicy`, in JSON or TOML; an unknown name is refused,
for a stricter rule with a typing error must not be passed over.
"""

import re
from dataclasses import fields
from datetime import date, time, timedelta
from typing import Annotated, Literal, Self, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from agents import ApprovalPolicy
from bot.values import parsed

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_DURATION = re.compile(r"(\d{1,9})\s*([smhd]?)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_KNOWN = frozenset(each.name for each in fields(ApprovalPolicy))
_SPANS = frozenset({"expires", "run_within"})


def duration(value: object) -> object:
    """A text as a timedelta: `90s`, `15m`, `12h`, `7d`, or only a number of seconds."""
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if not match or not int(match[1]):
        raise ValueError("must be a duration such as 90s, 15m, 12h or 7d")
    return timedelta(**{_UNITS[match[2] or "s"]: int(match[1])})


class Route(BaseModel):
    """Which agent answers in a channel, to what, and where its questions go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = Field(min_length=1, description="The agent's name.")
    answer: Literal["thread", "all"] = Field(
        default="thread",
        description="`thread`: mentions, and then all of that thread; `all`: every message.",
    )
    approvers_channel: str | None = Field(
        default=None,
        description="Channel id or #name where this channel's questions are put as well.",
    )


class WorkingHours(BaseModel):
    """When people work: a zone's name, days of the week, hours, and holidays as dates."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    zone: str = "UTC"
    days: tuple[Day, ...] = DAYS[:5]
    start: time = time(9)
    end: time = time(17)
    holidays: tuple[date, ...] = ()

    @field_validator("zone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("must be the name of a time zone such as Europe/Berlin") from None
        return value

    @field_validator("start", "end")
    @classmethod
    def _is_plain(cls, value: time) -> time:
        if value.tzinfo is not None:
            raise ValueError("must be a time of day such as 09:00, in the zone that is named")
        return value

    @model_validator(mode="after")
    def _has_time(self) -> Self:
        if not self.days:
            raise ValueError("days must name one day at least")
        if self.start >= self.end:
            raise ValueError("start must be before end")
        return self


def _table(value: object) -> object:
    """A JSON object, or a table that TOML has read."""
    found = parsed(value, "must be a JSON object") if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise ValueError("must be a JSON object")
    return cast("object", found)


def _policies(value: object) -> object:
    table = cast("dict[str, object]", _table(value))
    return {name: _policy(written) for name, written in table.items()}


def _policy(value: object) -> object:
    """A policy with its spans read, also in its tiers; raises ValueError for an unknown field."""
    if not isinstance(value, dict):
        return value
    written = cast("dict[str, object]", value)
    if unknown := sorted(written.keys() - _KNOWN):
        raise ValueError(f"a policy has no {unknown[0]!r}")
    read = {name: duration(v) if name in _SPANS else v for name, v in written.items()}
    tiers = read.get("tiers")
    if isinstance(tiers, dict):
        told = cast("dict[str, object]", tiers)
        read["tiers"] = {when: _policy(tier) for when, tier in told.items()}
    return read


def _routes(value: object) -> object:
    """Routes by channel; a text is only an agent's name."""
    routes = cast("dict[str, object]", _table(value))
    return {
        channel: {"agent": route} if isinstance(route, str) else route
        for channel, route in routes.items()
    }


Table = BeforeValidator(_table)
Routes = Annotated[dict[str, Route], BeforeValidator(_routes)]
Roles = Annotated[dict[str, tuple[str, ...]], Table]
Policies = Annotated[dict[str, ApprovalPolicy], BeforeValidator(_policies)]
Hours = Annotated[WorkingHours | None, BeforeValidator(lambda v: v if v is None else _table(v))]
Duration = Annotated[
    timedelta, BeforeValidator(duration), Field(gt=timedelta(0), le=timedelta(days=3_660))
]
