"""Settings: where they come from, what is refused and how, and that no secret is ever printed."""

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from bot.errors import SettingsError
from bot.needs import PROOF, require_model, require_slack, require_store
from bot.settings import Role, Route, Settings, variable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pyproject.toml of an otherwise empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pyproject.toml"


def test_without_any_setting_everything_has_a_default():
    """An empty environment is enough to read the settings, and they name no outside address."""
    settings = Settings.read()
    assert settings.redis_url is None
    assert settings.roles == get_args(Role)
    assert settings.port == 8025
    assert settings.approval_ttl == timedelta(days=7)


@pytest.mark.parametrize("field", Settings.model_fields)
def test_every_field_says_what_it_is(field: str):
    """Each setting has a description, a sentence for the operator."""
    description = Settings.model_fields[field].description or ""
    assert description[:1].isupper()
    assert description.endswith((".", "…"))


def test_settings_cannot_be_changed():
    """What was read once stays as it was read."""
    with pytest.raises(ValidationError, match="frozen"):
        Settings.read().port = 1


READ = [
    pytest.param("REDIS_URL", "redis://h", "redis_url", "redis://h", id="a store"),
    pytest.param("ROLES", "web, clock", "roles", ("web", "clock"), id="roles between commas"),
    pytest.param("ROLES", '["worker"]', "roles", ("worker",), id="roles as JSON"),
    pytest.param("PORT", "80", "port", 80, id="the platform's name has no prefix"),
    pytest.param("LEASE", "80", "lease", 30, id="ours has one"),
    pytest.param("COUNTERSIGN_LEASE", "0.5", "lease", 0.5, id="a part of a second"),
    pytest.param(
        "COUNTERSIGN_APPROVAL_TTL", "90m", "approval_ttl", timedelta(minutes=90), id="90m"
    ),
    pytest.param("COUNTERSIGN_SESSION_TTL", "60", "session_ttl", timedelta(minutes=1), id="60"),
    pytest.param("COUNTERSIGN_APPROVERS", "U1A, W2B", "approvers", ("U1A", "W2B"), id="people"),
    pytest.param("COUNTERSIGN_APPROVERS", '["U1A"]', "approvers", ("U1A",), id="people as JSON"),
    pytest.param("COUNTERSIGN_APPROVERS", "", "approvers", (), id="empty is as good as unset"),
    pytest.param(
        "COUNTERSIGN_ROUTES",
        json.dumps({"C1": "support", "#pay": {"agent": "reimbursement", "answer": "all"}}),
        "routes",
        {"C1": Route(agent="support"), "#pay": Route(agent="reimbursement", answer="all")},
        id="routes, short and long",
    ),
    pytest.param(
        "SLACK_API_URL",
        "http://127.0.0.1:1/api",
        "slack_api_url",
        "http://127.0.0.1:1/api/",
        id="/",
    ),
    pytest.param("COUNTERSIGN_LOG_LEVEL", "debug", "log_level", "DEBUG", id="level in any case"),
    pytest.param(
        "COUNTERSIGN_MODEL_FALLBACKS", "a, b", "model_fallbacks", ("a", "b"), id="other models"
    ),
    pytest.param("COUNTERSIGN_DAILY_TOKENS", "1000", "daily_tokens", 1000, id="a limit"),
    pytest.param("GOOGLE_CLOUD_LOCATION", "global", "google_cloud_location", "global", id="Vertex"),
]


@pytest.mark.parametrize(("name", "text", "field", "value"), READ)
def test_read_from_the_environment(monkeypatch, name: str, text: str, field: str, value: object):
    """Each form an operator may write is read as what it means."""
    monkeypatch.setenv(name, text)
    found = getattr(Settings.read(), field)
    assert (found.get_secret_value() if field == "redis_url" else found) == value


def test_the_encrypted_address_wins(monkeypatch):
    """Where a platform gives two addresses of the store, the one with TLS is taken."""
    monkeypatch.setenv("REDIS_URL", "redis://open")
    monkeypatch.setenv("REDIS_TLS_URL", "rediss://closed")
    url = Settings.read().redis_url
    assert url
    assert url.get_secret_value() == "rediss://closed"


def test_the_file_has_the_same_settings_and_the_environment_wins(toml: Path, monkeypatch):
    """`[tool.countersign]` takes the fields' names; the environment wins over it."""
    toml.write_text(
        '[tool.countersign]\nmodel = "file"\nport = 1\nlease = 1\nroles = ["web"]\n'
        'approval_ttl = "2d"\n[tool.countersign.routes]\nC1 = "support"\n'
    )
    monkeypatch.setenv("PORT", "2")
    monkeypatch.setenv("COUNTERSIGN_LEASE", "2")
    settings = Settings.read(lease=3)
    assert (settings.model, settings.port, settings.lease) == ("file", 2, 3)
    assert settings.roles == ("web",)
    assert settings.approval_ttl == timedelta(days=2)
    assert settings.routes == {"C1": Route(agent="support")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(
            "modell = 'x'",
            "[tool.countersign] has no setting modell (model was probably meant)",
            id="typo",
        ),
        pytest.param("zzz = 1", "[tool.countersign] has no setting zzz.", id="nothing like it"),
        pytest.param("port = 'x'", "PORT is wrong: ", id="a wrong value"),
        pytest.param("port = ", "pyproject.toml cannot be read: ", id="no TOML"),
        pytest.param("\u00fc", "pyproject.toml cannot be read: ", id="no UTF-8"),
    ],
)
def test_a_wrong_file_is_refused(toml: Path, text: str, sentence: str):
    """A file that cannot be meant stops the start, with a suggestion where there is one."""
    toml.write_text(f"[tool.countersign]\n{text}\n", "latin-1")
    with pytest.raises(SettingsError) as refusal:
        Settings.read()
    assert str(refusal.value).startswith(sentence)


def test_a_file_whose_table_is_none(toml: Path):
    """What stands where our table should be is named."""
    toml.write_text("[tool]\ncountersign = 3\n")
    with pytest.raises(SettingsError, match="must be a table"):
        Settings.read()


WRONG = [
    pytest.param({"PORT": "abc"}, "PORT", id="no number"),
    pytest.param({"PORT": "65536"}, "PORT", id="no port"),
    pytest.param({"REDIS_URL": "http://u:s3cret@h"}, "REDIS_URL", id="no store"),
    pytest.param({"REDIS_URL": "redis://[s3cret"}, "REDIS_URL", id="half an address"),
    pytest.param({"REDIS_URL": "redis://h:s3cret/0"}, "REDIS_URL", id="a port that is none"),
    pytest.param({"TICKETS_URL": "https://h:s3cret"}, "TICKETS_URL", id="a web port that is none"),
    pytest.param({"REDIS_TLS_URL": "s3cret"}, "REDIS_URL", id="no store with TLS"),
    pytest.param({"SLACK_BOT_TOKEN": "xoxp-s3cret"}, "SLACK_BOT_TOKEN", id="a person's token"),
    pytest.param({"SLACK_APP_TOKEN": "xoxb-s3cret"}, "SLACK_APP_TOKEN", id="tokens swapped"),
    pytest.param({"SLACK_SIGNING_SECRET": "xoxb-s3cret"}, "SLACK_SIGNING_SECRET", id="no secret"),
    pytest.param({"SLACK_API_URL": "slack.com"}, "SLACK_API_URL", id="no address"),
    pytest.param({"ROLES": "web,wroker"}, "ROLES", id="an unknown role"),
    pytest.param({"ROLES": ","}, "ROLES", id="no role"),
    pytest.param({"ROLES": "[web"}, "ROLES", id="half a list"),
    pytest.param({"COUNTERSIGN_APPROVERS": "@ann"}, "COUNTERSIGN_APPROVERS", id="a name, no id"),
    pytest.param({"COUNTERSIGN_APPROVAL_TTL": "soon"}, "COUNTERSIGN_APPROVAL_TTL", id="soon"),
    pytest.param({"COUNTERSIGN_APPROVAL_TTL": "0d"}, "COUNTERSIGN_APPROVAL_TTL", id="no time"),
    pytest.param({"COUNTERSIGN_LEASE": "-1"}, "COUNTERSIGN_LEASE", id="less than nothing"),
    pytest.param({"COUNTERSIGN_KEY_PREFIX": "{b}"}, "COUNTERSIGN_KEY_PREFIX", id="a hash tag"),
    pytest.param({"COUNTERSIGN_ROUTES": "{"}, "COUNTERSIGN_ROUTES", id="no JSON"),
    pytest.param({"STOCK_PRICE_URL": "https://s3cret"}, "STOCK_PRICE_URL", id="no symbol in it"),
    pytest.param({"TICKETS_URL": "ftp://s3cret"}, "TICKETS_URL", id="no web address"),
    pytest.param({"COUNTERSIGN_ROUTES": "[]"}, "COUNTERSIGN_ROUTES", id="no object"),
    pytest.param({"COUNTERSIGN_ROUTES": '{"C1": {}}'}, "COUNTERSIGN_ROUTES", id="no agent"),
    pytest.param(
        {"COUNTERSIGN_ROUTES": '{"C1": {"agent": "a", "answers": "all"}}'},
        "COUNTERSIGN_ROUTES",
        id="an unknown part of a route",
    ),
    pytest.param(
        {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "s3cret"}, "SLACK_CLIENT_ID", id="OAuth"
    ),
]


@pytest.mark.parametrize(("environment", "name"), WRONG)
def test_a_wrong_value_is_one_sentence(monkeypatch, environment: dict[str, str], name: str):
    """A wrong value stops the start with one sentence that names the setting and no secret."""
    for variable_name, text in environment.items():
        monkeypatch.setenv(variable_name, text)
    with pytest.raises(SettingsError) as refusal:
        Settings.read()
    sentence = str(refusal.value)
    assert sentence.startswith(name)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "s3cret" not in sentence
    assert refusal.value.__suppress_context__


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        pytest.param(
            "COUNTERSIGN_APROVERS",
            "COUNTERSIGN_APROVERS is not a setting (COUNTERSIGN_APPROVERS was probably meant).",
            id="a typo",
        ),
        pytest.param(
            "countersign_approver_channel",
            "COUNTERSIGN_APPROVER_CHANNEL is not a setting"
            " (COUNTERSIGN_APPROVERS_CHANNEL was probably meant).",
            id="in small letters",
        ),
        pytest.param("COUNTERSIGN_TIER", "COUNTERSIGN_TIER is not a setting.", id="far from any"),
        pytest.param("COUNTERSIGN_", "COUNTERSIGN_ is not a setting", id="no name"),
        pytest.param(
            "COUNTERSIGN_ZZZZZZZ", "COUNTERSIGN_ZZZZZZZ is not a setting", id="like nothing"
        ),
    ],
)
def test_an_unknown_variable_is_refused(monkeypatch, name: str, sentence: str):
    """A variable that looks like ours and is not stops the start: it is a typo in a setting."""
    monkeypatch.setenv(name, "s3cret")
    with pytest.raises(SettingsError) as refusal:
        Settings.read(port=1)
    assert str(refusal.value).startswith(sentence)
    assert "s3cret" not in str(refusal.value)
    monkeypatch.setenv("PORT", "x")
    with pytest.raises(SettingsError, match=r"is not a setting.*; PORT is wrong"):
        Settings.read()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("COUNTERSIGN_APROVERS", "", id="empty is as good as unset"),
        pytest.param("COUNTERSIGN_LEASE", "1", id="ours"),
        pytest.param("COUNTERSIGN_MODEL", "x", id="a vendor's name with our prefix"),
        pytest.param("MY_COUNTERSIGN_APROVERS", "x", id="somebody else's"),
    ],
)
def test_other_variables_are_nobodys_business(monkeypatch, name: str, text: str):
    """What is ours, empty, or does not begin as ours do is no reason not to start."""
    monkeypatch.setenv(name, text)
    assert Settings.read().approvers == ()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        pytest.param({"COUNTERSIGN_ROUTES": "{"}, ": must be a JSON object", id="no JSON"),
        pytest.param({"ROLES": "[web"}, ": must be names between commas", id="half a list"),
        pytest.param({"ROLES": ","}, ": must name at least one of web", id="nothing"),
        pytest.param({"PORT": "x"}, ": input should be", id="a word"),
    ],
)
def test_a_reason_goes_on_in_small_letters(monkeypatch, environment, reason: str):
    """A reason begins in small letters in the middle of a sentence, and says what to write."""
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError, match=reason):
        Settings.read()


def test_all_wrong_values_are_named_at_once(monkeypatch):
    """An operator who got two settings wrong hears of both."""
    monkeypatch.setenv("PORT", "x")
    monkeypatch.setenv("COUNTERSIGN_LEASE", "y")
    with pytest.raises(SettingsError, match=r"COUNTERSIGN_LEASE.*; PORT|PORT.*; COUNTERSIGN_LEASE"):
        Settings.read()


def test_secrets_are_not_printed(monkeypatch):
    """Settings can be printed without giving a secret away."""
    monkeypatch.setenv("REDIS_URL", "redis://:s3cret@h")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-s3cret")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "s3cret")
    monkeypatch.setenv("GEMINI_API_KEY", "s3cret")
    settings = Settings.read()
    assert "s3cret" not in repr(settings) + str(settings) + settings.model_dump_json()


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        pytest.param(
            set(), f"SLACK_BOT_TOKEN is missing, and with it {PROOF}; `python", id="nothing"
        ),
        pytest.param({"token"}, f"{PROOF} is missing beside SLACK_BOT_TOKEN.", id="token"),
        pytest.param({"secret"}, "SLACK_BOT_TOKEN is missing beside SLACK_SIGNING", id="secret"),
        pytest.param({"app"}, "SLACK_BOT_TOKEN is missing beside SLACK_APP_TOKEN", id="app token"),
        pytest.param({"token", "secret"}, None, id="a public address"),
        pytest.param({"token", "app"}, None, id="Socket Mode"),
        pytest.param({"token", "secret", "app"}, None, id="both"),
    ],
)
def test_a_workspace_needs_a_whole_pair(monkeypatch, given: set[str], missing: str | None):
    """Half of what Slack takes is refused by the name of the other half."""
    for part, name, value in (
        ("token", "SLACK_BOT_TOKEN", "xoxb-1"),
        ("secret", "SLACK_SIGNING_SECRET", "8f"),
        ("app", "SLACK_APP_TOKEN", "xapp-1"),
    ):
        if part in given:
            monkeypatch.setenv(name, value)
    assert (refusal(require_slack) or "").startswith(missing or "")
    assert (refusal(require_slack) is None) == (missing is None)


@pytest.mark.parametrize(
    ("environment", "refused"),
    [
        pytest.param({}, False, id="all in one process"),
        pytest.param({"ROLES": "web"}, True, id="some other process needs it too"),
        pytest.param({"DYNO": "web.1"}, True, id="a dyno keeps no files"),
        pytest.param({"DYNO": "web.1", "REDIS_URL": "redis://h"}, False, id="given, on a dyno"),
        pytest.param({"ROLES": "web", "REDIS_URL": "redis://h"}, False, id="given, for one role"),
    ],
)
def test_the_embedded_store_is_for_one_lasting_process(monkeypatch, environment, refused: bool):
    """Without REDIS_URL a bot runs only where its own store reaches every role and lasts."""
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    said = refusal(require_store)
    assert (said or "").startswith("REDIS_URL is missing") == refused


@pytest.mark.parametrize(
    ("environment", "refused"),
    [
        pytest.param({}, "GEMINI_API_KEY", id="nothing"),
        pytest.param({"GEMINI_API_KEY": "k"}, None, id="a key"),
        pytest.param({"GOOGLE_GENAI_USE_VERTEXAI": "true"}, "GOOGLE_CLOUD_PROJECT", id="Vertex AI"),
        pytest.param(
            {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p"},
            "GOOGLE_CLOUD_PROJECT",
            id="Vertex AI somewhere",
        ),
        pytest.param(
            {
                "GOOGLE_GENAI_USE_VERTEXAI": "true",
                "GOOGLE_CLOUD_PROJECT": "p",
                "GOOGLE_CLOUD_LOCATION": "global",
            },
            None,
            id="Vertex AI in a place",
        ),
        pytest.param(
            {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GEMINI_API_KEY": "k"}, None, id="its key"
        ),
        pytest.param({"MODEL": "rehearsal"}, None, id="asked to do without"),
    ],
)
def test_a_model_is_needed(monkeypatch, environment, refused: str | None):
    """A deployed bot has a model, or was told in so many words to do without."""
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    said = refusal(require_model)
    assert (said or "").split(" ")[0] == (refused or "")


def test_heroku_asks_for_settings_that_exist():
    """Each variable of app.json is one the bot reads, and its values are accepted."""
    asked = json.loads((ROOT / "app.json").read_text())["env"]
    ours = set(asked) - {"PYTHONUNBUFFERED"}
    names = {variable(field): field for field in Settings.model_fields}
    assert ours <= set(names)
    values = {names[name]: asked[name]["value"] for name in ours if "value" in asked[name]}
    assert Settings.read(**values).model


def test_our_own_file_sets_nothing_wrong():
    """The project's own `[tool.countersign]`, if there is one, can be read."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"].get("countersign", {})
    assert set(table) <= set(Settings.model_fields)


def refusal(require) -> str | None:
    """What a requirement says when it is not met."""
    try:
        require(Settings.read())
    except SettingsError as error:
        return str(error)
    return None
