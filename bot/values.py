"""How single values are written in a setting: lists between commas, tokens, addresses; pure."""

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_core import from_json

Text = TypeVar("Text", str, SecretStr)


def listed(value: object) -> object:
    """A JSON list, or names between commas, as a list."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return from_json(value)
    return [name.strip() for name in value.split(",") if name.strip()]


def starting(*prefixes: str) -> AfterValidator:
    """Refuses a text or a secret that starts with none of the prefixes."""

    def check(value: Text) -> Text:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not text.startswith(prefixes):
            raise ValueError(f"must start with {' or '.join(prefixes)}")
        return value

    return AfterValidator(check)


Listed = BeforeValidator(listed)
WebAddress = Annotated[str, starting("http://", "https://")]
