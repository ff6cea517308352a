"""All that a deployment may set, read once at the start.

The environment wins over `[tool.countersign]` in the `pyproject.toml` of the working directory.
What a vendor or the platform names keeps its name (`SLACK_BOT_TOKEN`, `REDIS_URL`, `PORT`);
everything else is `COUNTERSIGN_` and the field's name. In the file every setting has the field's
name. Nothing else in the bot reads the environment.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    PyprojectTomlConfigSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as UnreadableSource

from agents import ApprovalPolicy
from bot.complaints import PREFIX, complaint, sentence, strange
from bot.errors import SettingsError
from bot.policies import Duration, Hours, Policies, Roles, Route, Routes
from bot.values import Listed, Readable, WebAddress, starting

REHEARSAL = "rehearsal"
"""The value of MODEL that means the model without an LLM."""

Role = Literal["web", "worker", "clock"]

CONNECTIONS: Mapping[Role, int] = MappingProxyType({"web": 3, "worker": 4, "clock": 2})
"""Connections to the store by role; of a worker's one waits. Two releases overlap in a deploy, and
the smallest plans take 20."""

_PEOPLE = re.compile(r"[UWS][A-Z0-9]{2,}")


class Settings(BaseSettings):
    """Everything configurable; frozen. Build it with `Settings.read()`."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=PREFIX,
        env_ignore_empty=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        pyproject_toml_table_header=("tool", "countersign"),
    )

    redis_url: (
        Annotated[SecretStr, starting("redis://", "rediss://", "unix://"), Readable] | None
    ) = Field(
        default=None,
        validation_alias=AliasChoices("REDIS_TLS_URL", "REDIS_URL"),
        description="The store: redis://, rediss:// or unix://. None: the embedded one.",
    )
    require_durable_store: bool = Field(
        default=False,
        validation_alias=AliasChoices("REQUIRE_DURABLE_STORE", "COUNTERSIGN_REQUIRE_DURABLE_STORE"),
        description="Refuse a store that forgets everything when it restarts.",
    )
    store_verify: bool | None = Field(
        default=None,
        description="Check the certificate behind rediss://. None: except on a dyno, whose store"
        " signs for itself.",
    )
    store_connections: int | None = Field(
        default=None,
        ge=2,
        description="Connections to the store that this process opens at the most. None: web 3,"
        " worker 4, clock 2.",
    )
    store_replicas: int = Field(
        default=0,
        ge=0,
        description="So many replicas of the store must have a decision before it is shown, and a"
        " start before it happens.",
    )
    store_replica_wait: int = Field(
        default=500,
        gt=0,
        le=2000,
        description="Milliseconds that replicas are given; then it is tried again later.",
    )
    key_prefix: str = Field(
        default="b:",
        pattern=r"^[A-Za-z0-9_.:-]+$",
        description="Before every key, so that two bots can share a store.",
    )
    tenant: str = Field(
        default="local",
        pattern=r"^[A-Za-z0-9_-]+$",
        description="The tenant of what does not come from a Slack workspace.",
    )
    data_dir: Path = Field(
        default=Path(".countersign"),
        description="Folder of the embedded store; one process owns it.",
    )

    slack_bot_token: Annotated[SecretStr, starting("xoxb-")] | None = Field(
        default=None, validation_alias="SLACK_BOT_TOKEN", description="The bot's token, xoxb-…"
    )
    slack_signing_secret: SecretStr | None = Field(
        default=None,
        validation_alias="SLACK_SIGNING_SECRET",
        description="Proves that Slack is asking.",
    )
    slack_app_token: Annotated[SecretStr, starting("xapp-")] | None = Field(
        default=None,
        validation_alias="SLACK_APP_TOKEN",
        description="For Socket Mode instead of a public address, xapp-…",
    )
    slack_api_url: WebAddress = Field(
        default="https://slack.com/api/",
        validation_alias="SLACK_API_URL",
        description="Where Slack's Web API is.",
    )
    public_url: Annotated[str, starting("https://")] | None = Field(
        default=None,
        description="Where Slack reaches this bot, without a path. None: by Socket Mode.",
    )
    slack_client_id: str | None = Field(
        default=None,
        validation_alias="SLACK_CLIENT_ID",
        description="Must not be set with its secret.",
    )
    slack_client_secret: SecretStr | None = Field(
        default=None,
        validation_alias="SLACK_CLIENT_SECRET",
        description="Must not be set with its id.",
    )

    model: str = Field(
        default="gemini-flash-latest",
        min_length=1,
        validation_alias="MODEL",
        description="The default model's name; `rehearsal` is the one without an LLM.",
    )
    gemini_api_key: SecretStr | None = Field(
        default=None, validation_alias="GEMINI_API_KEY", description="Key of the Gemini API."
    )
    gemini_base_url: WebAddress | None = Field(
        default=None,
        validation_alias="GEMINI_BASE_URL",
        description="Where the Gemini API is. None: Google's address.",
    )
    gemini_api_version: str | None = Field(
        default=None,
        validation_alias="GEMINI_API_VERSION",
        description="Version in the Gemini API's paths. None: the SDK's.",
    )
    vertexai: bool = Field(
        default=False,
        validation_alias="GOOGLE_GENAI_USE_VERTEXAI",
        description="Reach the model through Vertex AI with the machine's own credentials.",
    )

    google_cloud_project: str | None = Field(
        default=None,
        validation_alias="GOOGLE_CLOUD_PROJECT",
        description="The project of Vertex AI.",
    )
    google_cloud_location: str | None = Field(
        default=None,
        validation_alias="GOOGLE_CLOUD_LOCATION",
        description="The location of Vertex AI, such as global.",
    )
    gemini_timeout: Duration = Field(
        default=timedelta(minutes=1), description="How long one answer of the model may take."
    )
    model_fallbacks: Annotated[tuple[str, ...], NoDecode, Listed] = Field(
        default=(), description="Models asked in turn when the one before does not answer."
    )
    context_window: int = Field(
        default=8_000,
        ge=0,
        description="Tokens a model reads of a conversation; older turns are summed up. 0: all.",
    )
    turn_tokens: int = Field(
        default=0, ge=0, description="Tokens one turn may use up. 0: no limit."
    )
    daily_tokens: int = Field(
        default=0,
        ge=0,
        description="Tokens after which a person begins no more turns that day (UTC). 0: no limit.",
    )

    roles: Annotated[tuple[Role, ...], NoDecode, Listed] = Field(
        default=("web", "worker", "clock"),
        validation_alias="ROLES",
        description="What this process plays, between commas.",
    )
    port: int = Field(
        default=8025,
        ge=0,
        le=65535,
        validation_alias="PORT",
        description="Where web listens; 0: any.",
    )
    host: str = Field(
        default="0.0.0.0",  # noqa: S104 - a dyno's router is outside
        description="The address web listens at; 127.0.0.1 where nobody outside shall knock.",
    )
    dyno: str | None = Field(
        default=None,
        validation_alias="DYNO",
        description="This dyno's name on Heroku, such as worker.1.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="The least level that is logged."
    )

    routes: Annotated[Routes, NoDecode] = Field(
        default_factory=dict[str, Route],
        description="JSON: channel id or #name to an agent's name or a route.",
    )
    approver_roles: Annotated[Roles, NoDecode] = Field(
        default_factory=dict[str, tuple[str, ...]],
        description="JSON: a role's name to people, user groups and other roles.",
    )
    approvers: Annotated[tuple[str, ...], NoDecode, Listed] = Field(
        default=(), description="Slack ids of who may decide where a tool's policy names nobody."
    )
    approval_policies: Annotated[Policies, NoDecode] = Field(
        default_factory=dict[str, ApprovalPolicy],
        description="JSON: agent.tool, * for any, to a policy; all that match count, the stricter.",
    )
    working_hours: Annotated[Hours, NoDecode] = Field(
        default=None, description="JSON: zone, days, start, end and holidays of policies' time."
    )
    approvers_channel: str | None = Field(
        default=None, description="Channel id or #name where questions are put as well."
    )
    audit_channel: str | None = Field(
        default=None, description="Channel id or #name for the daily anchor of the audit."
    )
    approval_ttl: Duration = Field(
        default=timedelta(days=7), description="After this an unanswered question expires."
    )
    execution_ttl: Duration = Field(
        default=timedelta(days=1),
        description="After this an approved call that never started is void.",
    )
    session_ttl: Duration = Field(
        default=timedelta(days=30), description="After this a session nobody touched is forgotten."
    )
    lease: float = Field(
        default=30,
        gt=0,
        le=3_600,
        description="Seconds until another worker may take over a silent one's session.",
    )

    crash_at: Annotated[str, Field(pattern=r"^[a-z_.*]*(:[1-9][0-9]*)?$")] = Field(
        default="",
        validation_alias="CRASH_AT",
        description="For tests only: where this process kills itself, such as slot.commit.after:2.",
    )

    payments_url: WebAddress | None = Field(
        default=None,
        validation_alias="PAYMENTS_URL",
        description="Where reimbursements are paid. None: they are written to the ledger.",
    )
    ledger_path: Path = Field(
        default=Path(".countersign/ledger.jsonl"),
        description="File of the ledger, one payment a line.",
    )

    stock_price_url: WebAddress | None = Field(
        default=None,
        validation_alias="STOCK_PRICE_URL",
        description="Where share prices are; {symbol} is the ticker symbol. None: bundled samples.",
    )
    tickets_url: WebAddress | None = Field(
        default=None,
        validation_alias="TICKETS_URL",
        description="Where tickets are opened and looked at. None: they are kept in the store.",
    )
    tickets_token: SecretStr | None = Field(
        default=None,
        validation_alias="TICKETS_TOKEN",
        description="What the ticket system knows the bot by.",
    )
    ticket_poll: Duration = Field(
        default=timedelta(seconds=5),
        description="The shortest time between two looks at a ticket that is waited for.",
    )
    ticket_poll_limit: Duration = Field(
        default=timedelta(minutes=15), description="The longest, for one that has long been quiet."
    )
    ticket_ttl: Duration = Field(
        default=timedelta(days=14), description="After this nobody waits for a ticket any more."
    )
    report_ttl: Duration = Field(
        default=timedelta(days=90),
        le=timedelta(days=365),
        description="After this silence nobody waits for what a tool without a ticket may report.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is handed in, then the environment, then `[tool.countersign]`; no `.env`."""
        try:
            file = PyprojectTomlConfigSettingsSource(settings_cls)
        except AttributeError:
            raise SettingsError("[tool.countersign] in pyproject.toml must be a table.") from None
        return init_settings, env_settings, file

    @classmethod
    def read(cls, **given: Any) -> Self:
        """Read all settings; `given` wins over the environment.

        Raises SettingsError, one sentence that names every wrong setting and no secret.
        """
        wrong = strange(os.environ, cls.model_fields)
        try:
            read = cls(**given)
        except ValidationError as error:
            variables = {field: variable(field) for field in cls.model_fields}
            details = error.errors(include_input=False)
            wrong += [complaint(detail, variables) for detail in details]
            raise SettingsError(sentence(wrong)) from None
        except (UnreadableSource, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"pyproject.toml cannot be read: {error}.") from None
        if wrong:
            raise SettingsError(sentence(wrong))
        return read

    @field_validator("slack_signing_secret")
    @classmethod
    def _is_no_token(cls, value: SecretStr | None) -> SecretStr | None:
        if value and value.get_secret_value().startswith(("xox", "xapp-")):
            raise ValueError("must be the signing secret of the app, not one of its tokens")
        return value

    @field_validator("roles")
    @classmethod
    def _has_one(cls, value: tuple[Role, ...]) -> tuple[Role, ...]:
        if not value:
            raise ValueError(f"must name at least one of {', '.join(get_args(Role))}")
        return value

    @field_validator("approvers")
    @classmethod
    def _are_named(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        roles: Roles = info.data.get("approver_roles", {})
        strange = [name for name in value if not (_PEOPLE.fullmatch(name) or name in roles)]
        if strange:
            raise ValueError(f"must be Slack ids such as U02ABCDEF or roles, not {strange[0]!r}")
        return value

    @field_validator("slack_api_url")
    @classmethod
    def _ends_with_a_slash(cls, value: str) -> str:
        return value.rstrip("/") + "/"

    @field_validator("stock_price_url")
    @classmethod
    def _has_a_place_for_the_symbol(cls, value: str | None) -> str | None:
        if value and "{symbol}" not in value:
            raise ValueError("must have {symbol} where the ticker symbol goes")
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _in_capitals(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_one_workspace(self) -> Self:
        if self.slack_client_id and self.slack_client_secret:
            raise ValueError(
                "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET must be unset: with both, Bolt ignores"
                " SLACK_BOT_TOKEN and runs as an app for many workspaces"
            )
        return self

    @property
    def verified(self) -> bool:
        """Whether the store has to prove that it is the one that REDIS_URL names."""
        return not self.dyno if self.store_verify is None else self.store_verify

    @property
    def connections(self) -> int:
        """How many connections to the store this process opens at the most."""
        return self.store_connections or sum(CONNECTIONS[role] for role in self.roles)


def variable(field: str) -> str:
    """The environment variable of a field of Settings."""
    match Settings.model_fields[field].validation_alias:
        case AliasChoices(choices=choices):
            return str(choices[-1])
        case str(name):
            return name
        case _:
            return PREFIX + field.upper()
