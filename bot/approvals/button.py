"""What a card's buttons carry: the approval they belong to, and proof that they are its own."""

import hmac
from dataclasses import dataclass
from typing import Protocol

_FORMAT = "v1"


class Asked(Protocol):
    """What buttons know of their approval."""

    @property
    def session(self) -> str:
        """The tag of its session."""
        ...

    @property
    def id(self) -> str:
        """Its id, unique in the session."""
        ...

    @property
    def nonce(self) -> str:
        """What nobody can guess."""
        ...

    @property
    def digest(self) -> str:
        """What people agree to."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """The value of a button: `digest8` is the digest's beginning, `session` a tag.

    `SessionKey.parse(session)` is the slot to look in; it raises ValueError for a forged one.
    """

    session: str
    approval: str
    nonce: str
    digest8: str

    def fits(self, approval: Asked) -> bool:
        """Whether the button was put on a card of this very approval."""
        told = (self.session, self.approval, self.nonce, self.digest8)
        kept = (approval.session, approval.id, approval.nonce, approval.digest[:8])
        return hmac.compare_digest("|".join(told).encode(), "|".join(kept).encode())


def encode(approval: Asked) -> str:
    """The value for the buttons of an approval's cards: `v1|session|approval|nonce|digest8`."""
    parts = (approval.session, approval.id, approval.nonce, approval.digest[:8])
    return "|".join((_FORMAT, *parts))


def decode(value: object) -> Button | None:
    """What a button says; None when it is not one of ours."""
    if not isinstance(value, str):
        return None
    version, *parts = value.split("|")
    if version != _FORMAT or len(parts) != 4 or not all(parts[:3]):
        return None
    session, approval, nonce, digest8 = parts
    return Button(session=session, approval=approval, nonce=nonce, digest8=digest8)
