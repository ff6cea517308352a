"""How single values are written in a setting: lists between commas, tokens, addresses; pure."""

import json
from typing import Annotated, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

Text = TypeVar("Text", str, SecretStr)


def listed(value: object) -> object:
    """A JSON list, or names between commas, as a list."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return parsed(value, "must be names between commas, or a JSON list")
    return [name.strip() for name in value.split(",") if name.strip()]


def parsed(text: str, otherwise: str) -> object:
    """JSON that was read; raises ValueError with the words of `otherwise` for anything else.

    A name that stands twice in an object is refused as well, for one of the two would be lost.
    """
    try:
        return cast("object", json.loads(text, object_pairs_hook=_once))
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(otherwise) from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"must not name {twice[0]} twice")
    return dict(pairs)


def _with_an_address(value: Text) -> Text:
    """Refuses an address whose host or port cannot be read."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    try:
        _ = urlsplit(text).port
    except ValueError:
        raise ValueError("must have a host and a port that can be read") from None
    return value


def starting(*prefixes: str) -> AfterValidator:
    """A check that refuses a text or secret which starts with none of the prefixes."""

    def check(value: Text) -> Text:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not text.startswith(prefixes):
            raise ValueError(f"must start with {' or '.join(prefixes)}")
        return value

    return AfterValidator(check)


Listed = BeforeValidator(listed)
Readable = AfterValidator(_with_an_address)
WebAddress = Annotated[str, starting("http://", "https://"), Readable]
