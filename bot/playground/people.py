"""Who is in the local workspace: a small company, one outsider, and the bot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

TEAM_ID = "T0LOCALWORK"
TEAM_NAME = "Local Workspace"
PARTNER_TEAM_ID = "T0PARTNERCO"
TEAM_DOMAINS: Mapping[str, str] = MappingProxyType(
    {TEAM_ID: "local-workspace", PARTNER_TEAM_ID: "partner-company"}
)
APP_ID = "A0LOCALAPP1"
BOT_ID = "B0LOCALBOT1"


@dataclass(frozen=True)
class Person:
    """A member of the workspace, or of another company in a shared channel."""

    id: str
    name: str
    real_name: str
    title: str = ""
    tz: str = "Europe/Berlin"
    locale: str = "en-GB"
    team_id: str = TEAM_ID
    is_bot: bool = False
    deleted: bool = False
    is_guest: bool = False

    @property
    def email(self) -> str:
        """The address at the person's company."""
        return f"{self.name}@{TEAM_DOMAINS[self.team_id]}.example"


@dataclass(frozen=True)
class UserGroup:
    """People who are mentioned and listed together."""

    id: str
    handle: str
    name: str
    members: tuple[str, ...] = field(default=())


ANA = Person("U0LOCALANA1", "ana", "Ana Alvarez", "Designer")
BEN = Person("U0LOCALBEN1", "ben", "Ben Brandt", "Engineer", tz="America/New_York", locale="en-US")
MAX = Person("U0LOCALMAX1", "max", "Max Meier", "Manager", locale="de-DE")
MIA = Person("U0LOCALMIA1", "mia", "Mia Moreau", "Manager", tz="Europe/Paris")
PAT = Person("U0PARTNPAT1", "pat", "Pat Parker", "Partner", team_id=PARTNER_TEAM_ID)
BOT = Person("U0LOCALBOT1", "countersign", "Countersign", is_bot=True, tz="UTC", locale="en-US")

PEOPLE = (ANA, BEN, MAX, MIA, PAT, BOT)
GROUPS = (UserGroup("S0LOCALMGR1", "managers", "Managers", (MAX.id, MIA.id)),)


def user_object(person: Person, *, now: float) -> dict[str, Any]:
    """What users.info says of a person, seen from our team; `now` fixes the zone's offset.

    A deactivated person has no zone any more, as in Slack.
    """
    user: dict[str, Any] = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "deleted": person.deleted,
        "profile": profile(person),
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1_700_000_000,
    }
    user |= {"is_forever_deactivated": False} if person.deleted else _standing(person, now)
    if person.team_id != TEAM_ID:
        user["is_stranger"] = True
    return user


def profile(person: Person) -> dict[str, Any]:
    """The profile inside a user object; the address is hidden from other companies."""
    entry: dict[str, Any] = {
        "real_name": person.real_name,
        "display_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name_normalized": person.real_name,
        "title": person.title,
        "phone": "",
        "skype": "",
        "status_text": "",
        "status_emoji": "",
        "status_expiration": 0,
        "avatar_hash": "g0000000000",
        "image_24": "https://avatars.example/24.png",
        "team": person.team_id,
    }
    if person.team_id == TEAM_ID and not person.is_bot and not person.deleted:
        entry["email"] = person.email
    return entry


def outside_fields(person: Person) -> dict[str, Any]:
    """What an event adds when its author belongs to another company."""
    if person.team_id == TEAM_ID:
        return {}
    card = {
        "avatar_hash": "g0000000000",
        "image_72": "https://avatars.example/72.png",
        "first_name": person.real_name.split()[0],
        "real_name": person.real_name,
        "display_name": person.real_name,
        "team": person.team_id,
        "name": person.name,
        "is_restricted": False,
        "is_ultra_restricted": False,
    }
    return {"user_team": person.team_id, "source_team": person.team_id, "user_profile": card}


def bot_profile() -> dict[str, Any]:
    """The bot as it stands in each of its messages."""
    return {
        "id": BOT_ID,
        "deleted": False,
        "name": BOT.name,
        "updated": 1_700_000_000,
        "app_id": APP_ID,
        "user_id": BOT.id,
        "icons": {f"image_{size}": f"https://avatars.example/{size}.png" for size in (36, 48, 72)},
        "team_id": TEAM_ID,
    }


def _standing(person: Person, now: float) -> dict[str, Any]:
    zone = ZoneInfo(person.tz)
    offset = datetime.fromtimestamp(now, UTC).astimezone(zone).utcoffset()
    return {
        "real_name": person.real_name,
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": int(offset.total_seconds()) if offset else 0,
        "is_admin": False,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": person.is_guest,
        "is_ultra_restricted": False,
        "is_email_confirmed": True,
    }
