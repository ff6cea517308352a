"""What a deployment has to set; without it, a sentence says what is missing."""

from typing import get_args

from bot.errors import SettingsError
from bot.settings import REHEARSAL, Role, Settings, variable

PROOF = "SLACK_APP_TOKEN (for Socket Mode) or SLACK_SIGNING_SECRET (for a public address)"


def require_slack(settings: Settings) -> None:
    """Refuse to run without a workspace, or with half of what it takes.

    Raises SettingsError, which names what is missing.
    """
    proofs = [
        variable(name)
        for name in ("slack_signing_secret", "slack_app_token")
        if getattr(settings, name)
    ]
    if settings.slack_bot_token and proofs:
        return
    if settings.slack_bot_token:
        raise SettingsError(f"{PROOF} is missing beside SLACK_BOT_TOKEN.")
    if proofs:
        raise SettingsError(f"SLACK_BOT_TOKEN is missing beside {proofs[0]}.")
    raise SettingsError(
        f"SLACK_BOT_TOKEN is missing, and with it {PROOF};"
        " `python -m bot playground` needs none of them."
    )


def require_store(settings: Settings) -> None:
    """Refuse the embedded store where another process could not reach it or it would not last.

    Raises SettingsError, which names REDIS_URL.
    """
    if settings.redis_url:
        return
    if settings.dyno:
        raise SettingsError("REDIS_URL is missing, and a dyno keeps no files of its own.")
    if missing := [role for role in get_args(Role) if role not in settings.roles]:
        raise SettingsError(f"REDIS_URL is missing: {missing[0]} in another process needs it.")


def require_model(settings: Settings) -> None:
    """Refuse to run without a model unless MODEL asks for the rehearsal.

    Raises SettingsError, which names GEMINI_API_KEY or what Vertex AI lacks.
    """
    if settings.model == REHEARSAL:
        return
    if not (settings.gemini_api_key or settings.vertexai):
        raise SettingsError("GEMINI_API_KEY is missing; MODEL=rehearsal runs without an LLM.")
    place = settings.google_cloud_project and settings.google_cloud_location
    if settings.vertexai and not (settings.gemini_api_key or place):
        raise SettingsError(
            "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION are missing beside"
            " GOOGLE_GENAI_USE_VERTEXAI."
        )
