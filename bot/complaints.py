"""What is said about settings that are wrong: their names and why, never what was given; pure."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from pydantic_core import ErrorDetails

PREFIX = "COUNTERSIGN_"


def sentence(wrong: Sequence[str]) -> str:
    """Everything that is wrong in one sentence."""
    return "; ".join(wrong) + "."


def strange(environment: Mapping[str, str], fields: Iterable[str]) -> list[str]:
    """What is wrong with variables that look like ours but belong to no field."""
    ours = [field.upper() for field in fields]
    given = sorted(name.upper() for name, value in environment.items() if value)
    ends = [name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX)]
    return [
        f"{PREFIX}{end} is not a setting{_meant(end, ours, before=PREFIX)}"
        for end in ends
        if end not in ours
    ]


def complaint(detail: ErrorDetails, variables: Mapping[str, str]) -> str:
    """One wrong setting: its name and what is wrong with it; `variables` has each field's."""
    reason = detail["msg"].removeprefix("Value error, ")
    if not detail["loc"]:
        return reason
    name, *inside = map(str, detail["loc"])
    fields = {variable: field for field, variable in variables.items()}
    fields["REDIS_TLS_URL"] = "redis_url"
    field = fields.get(name, name.removeprefix(PREFIX).lower())
    if field not in variables:
        return f"[tool.countersign] has no setting {name}{_meant(name, variables)}"
    place = "".join(f" at {key}" for key in inside)
    return f"{variables[field]} is wrong{place}: {reason[:1].lower()}{reason[1:]}"


def _meant(name: str, known: Iterable[str], *, before: str = "") -> str:
    """The end of a sentence that names what was probably meant."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.8)
    return f" ({before}{close[0]} was probably meant)" if close else ""
