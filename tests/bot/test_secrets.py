"""What looks like a secret is masked wherever it stands; what people decide about never is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.secrets import covered, kind_of, masked, named_secrets

KEPT = {
    "a password": "password=hunter2",
    "a password in a sentence": "the password: hunter2",
    "a password in JSON": '{"password": "hunter2", "amount": 5}',
    "a password with blanks in JSON": '{"db_password": "hunter2 and more", "amount": 5}',
    "a secret in JSON, over lines": '{\n  "client_secret": "hunter2",\n  "amount": 5\n}',
    "an API key": "api_key=hunter2hunter2",
    "basic credentials": "Authorization: Basic aHVudGVyMjpodW50ZXIy",
    "a bearer token": "Authorization: Bearer hunter2hunter2",
    "an AWS key": "AKIAHUNTER2HUNTER2XX",
    "an AWS secret": "aws_secret_access_key=hunter2/hunter2+hunter2",
    "a JWT": "eyJhunter2.eyJhunter2.hunter2-hunter2",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----",
    "a private key that was cut": "-----BEGIN PRIVATE KEY-----\nhunter2",
    "a GitLab token": "glpat-hunter2hunter2hunter2",
    "an npm token": "npm_" + "hunter2" * 5,
    "a Hugging Face token": "hf_" + "hunter2" * 5,
    "a Stripe key": "sk_live_hunter2hunter2",
    "an OpenAI key": "sk-proj-hunter2hunter2",
    "a rotated token": "xoxe.xoxp-1-hunter2",
    "a SendGrid key": "SG.hunter2hunter2xx.hunter2hunter2xx",
    "a password in quotes": 'mysql --password="hunter2" -u root',
    "a password in escaped quotes": 'mysql --password=\\"hunter2\\" -u root',
    "a password with a quote in it": 'password="hun\\"hunter2"',
    "a password in a list": '{"passwords": ["hunter2", "b"]',
    "a password after a blank": "mysql --password hunter2",
    "a password with blanks after a blank": '--api-key "hunter2 y"',
    "a password behind its letter": "mysqldump -u root -phunter2 db",
    "a password for ssh": "sshpass -p hunter2 ssh host",
    "credentials for curl": "curl -s -u bo:hunter2 https://x.example",
    "a password in the environment": "PGPASSWORD='hunter2' psql",
    "a password in YAML": "db:\n  password: hunter2\n",
    "a password in XML": '<db:password type="plain">hunter2</db:password>',
    "a password in Ruby": "'password' => 'hunter2'",
    "a password in Go": 'client_secret := "hunter2"',
    "a passcode": "passcode: hunter2",
    "a password in German": "Passwort: hunter2",
    "another in German": "Kennwort = hunter2",
    "a password in Spanish": "contraseña: hunter2",
    "a password in French": "mot de passe : hunter2",
    "a pass": "user=bo pass=hunter2x",
    "a token": "token=hunter2x",
    "a token in a header": "Authorization: token hunter2xABC9",
    "a token with a name of its own": "PRIVATE-TOKEN: hunter2",
    "a token in a query": "https://x.example/?token=hunter2",
    "a token later in a query": "https://x.example/?a=1&access_token=hunter2#top",
    "a signature in a query": "https://a.example/b?sv=1&sig=hunter2%2B",
    "a token after a blank": "deploy --token hunter2",
    "a key in a header": 'curl -H "X-Api-Key: hunter2" host',
    "a key of an account": "AccountName=a;AccountKey=hunter2==;x=1",
    "a bearer token after a tab": "Authorization: Bearer\thunter2xABC9",
    "a bearer token after blanks": "Authorization: Bearer  hunter2xABC9",
    "a bearer token in odd letters": "authorization: BeaRer hunter2xABC9",
    "a PGP key": "-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2\n-----END",
    "a token with what nobody sees": "xoxb-12\u200b34-hunter2",
    "a name with what nobody sees": "pass\u200bword: hunter2",
    "a password with what nobody sees": "é password: hun\u200bter2",
    "basic credentials alone": "Basic aHVudGVyMjpodW50ZXIy",
    "basic credentials that end so": "basic hunter2hunter2=",
    "a password and a word": "password: hunter2 for the door",
    "short basic credentials": "Authorization: Basic hunter2",
    "credentials of somebody": 'credentials: "bob:hunter2"',
    "a password in Portuguese": "senha: hunter2",
    "a password in Russian": "Пароль: hunter2",
    "a password in Chinese, with its own colon": "密码：hunter2",
    "a password in Japanese": "パスワード = hunter2",
}
ISSUED = {
    "DigitalOcean": "dop_v1_" + "a1b2c3d4" * 8,
    "Databricks": "dapi" + "0123456789abcdef" * 2,
    "Shopify": "shpat_" + "0f1e2d3c" * 4,
    "PyPI": "pypi-AgEIcHlwaS5vcmcCJDk4ZjQ0YzQ3LTBm",
    "Stripe's hooks": "whsec_Ab1Cd2Ef3Gh4Ij5K",
    "Google's clients": "GOCSPX-1a2B3c4D5e6F7g8H9i0J",
    "Telegram": "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc",
    "Heroku": "HRKU-AAa1b2c3d4-1234-5678",
    "Vault": "hvs.CAESIJ1a2b3c4d5e6f7g8h9",
    "Linear": "lin_api_a1B2c3D4e5F6g7H8",
    "Notion": "ntn_123456789012abcdefABCDEF",
    "Mailgun": "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
    "New Relic": "NRAK-ABCDEFGHIJ1234567890ABCDEFG",
    "Atlassian": "ATATT3xFfGF0T2hJ8k9Lm0n1",
    "Twilio": "SK0123456789abcdef0123456789abcdef",
    "Discord": "MTA1NjQ4NzI5NTAxMjM0NTY3OA.GkY3aB.aBcDeFgHiJkLmNoPqRsTuVwXyZ012345",
    "Azure": "abc8Q~abc.DEF1234567890_ghiJKL",
    "Square": "sq0atp-22characters1234567",
    "age": "AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "Sentry": "sntrys_eyJpYXQiOjE2OTk",
    "Fly": "fo1_a1b2c3d4e5f6",
    "Grafana": "glsa_abcDEF123456789012345678901234_abcdef12",
    "Docker": "dckr_pat_abcDEF1234567890",
    "Figma": "figd_abc123DEF456ghi789",
    "Airtable": "patAbC123dEf456Gh.0123456789abcdef0123456789abcdef",
    "Doppler": "dp.pt.abcDEF123456789012345",
    "Postman": "PMAK-0123456789abcdef01234567-abcdef",
    "RubyGems": "rubygems_0123456789abcdef",
    "GitLab's runners": "glrt-abcDEF1234567890",
    "Terraform": "abcdefghijklmn.atlasv1.abcDEF12345678",
    "EasyPost": "EZAK0123456789abcdef",
    "Supabase": "sbp_0123456789abcdef0123456789abcdef01234567",
    "PlanetScale": "pscale_tkn_abcDEF1234567890",
}
PLAIN = (
    "pypi-mirror-2026-of-the-team",
    "SK Telecom 2026",
    "SKU0123456789-abcdef",
    "key-account-manager-2026-emea",
    "Credentials: see the vault",
    "La parola: ciao",
    "Figd_ and ntn_ are prefixes",
    "sbp_2026_budget_report",
    "fo1_2026_release_notes",
    "ntn_2026_invoice_4711",
    "glsa_report_2026_01",
    "lin_api_2026_rollout",
    "HRKU-2026-10-invoice",
    "PMAK-2026-000123456",
    "hvs.2026-01-01-planxx",
    "sbp_q3_2026_budget_report",
    "sk-attackers-account-number",
    "Bearer of good news",
    "a basic question about my password",
    "secretary: Bob",
    '{"password": null, "amount": 5}',
    "550e8400-e29b-41d4-a716-446655440000",
    "task-2026-11-30-and-some-more",
    "see https://example.com/a:b",
    "token: 3 of 5",
    "tokens: 128000",
    "token: SHOP-1234",
    "token: 0xdAC17F958D2ee523a2206206994597C13D831ec7",
    "password reset mail",
    "password:",
    "password: required",
    "Password policy: 12 characters",
    "the password is wrong",
    "Passwort vergessen",
    "secret santa: Bob",
    "Use --password to set it",
    "see --token for help",
    "Amount: 1500.00",
    "Invoice 2026-00017: 12,345.67 EUR",
    "IBAN DE89370400440532013000",
    "order A1B2C3D4",
    "SHOP-1234: fix the login",
    "https://example.com/reset-password?user=bo",
    "https://example.com/?page=2&tab=token",
    "https://example.com/docs/tokens#token=required",
    "https://shop.example/?coupon=SAVE2026",
    "sort=token&order=asc",
    "a basic 3-bedroom flat",
    "a bearer 12-month bond",
    "auth: google",
    "pass: 3rd-attempt",
    "compass: northwest2",
    "cookie: chocolate chip",
    "keyword: api",
    "docker run -u 1000:1000 app",
    "mkdir -p a/b",
    "mysql -p shop",
    "bo@example.com",
    "1Password: 40 seats, 7.99 EUR each",
    "Buy API keys: 25 x 10 EUR",
    "Lost access keys: 3",
    "Victoria's Secret: 240 EUR gift card",
    "Upgrade to Basic Subscription, 40 seats",
    "Basic Infrastructure for 900 EUR",
    "Move the team to Basic HubSpotSuite",
    "Basic Premium2024",
    "Payment authorization: AUTH123456",
    "Authorization: REF/2026/11/4711A",
    "authorization=PO2026-4711-A",
    "Pay bearer GB29NWBK60161331926819",
    "token: DE89370400440532013000",
    "Parking pass: B2-2026-0711",
    "https://docs.example.com/e?signature=2026-11-30",
    "https://pay.example.com/?token=INV-2026-00711",
    "--max-token 4000",
    "mysql -port 3306",
    "auth token: 12 pieces of YubiKey 5C at 55 EUR",
    "Security token: 120,000 EUR of ACME bond",
    "bot token: €500 per month",
    "Müller & Søn: 40\u202f000 €",
)


@pytest.mark.parametrize("token", ISSUED.values(), ids=ISSUED)
@pytest.mark.parametrize("around", ["deploy with {} please", "{}", '{{"t": "{}"}}', "Use {}."])
def test_what_is_issued_is_known_by_its_beginning(token: str, around: str):
    """Nothing beside a token has to say that it is one."""
    assert token not in masked(around.format(token))
    assert masked(around.format(token)) == around.format("***")


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_is_secret_is_masked_and_nothing_beside_it(text: str):
    """Nothing of a secret stays; what stands beside it does, and JSON stays JSON."""
    told = masked(text)
    assert "hunter2" not in told.lower().replace("\u200b", "")
    assert "***" in told
    assert masked(text, by="[gone]").count("[gone]") == told.count("***")
    assert masked(told) == told
    if text.startswith("{") and text.endswith("}"):
        assert json.loads(told)["amount"] == 5


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_secret_is_found_inside_what_it_is_written_into(text: str):
    """What is in a list, in an object or in JSON inside a text is looked at as it is."""
    for value in ([text], {"step": {"run": text}}, {"body": {"steps": [[text]]}}):
        told = covered(value)
        assert "hunter2" not in json.dumps(told, ensure_ascii=False).lower().replace("\u200b", "")
        assert "***" in json.dumps(told)


@pytest.mark.parametrize(
    "text",
    [
        "token: AB12CDEFGHIJKLMN234567",
        "https://x.example/?token=PAT-12345678-12345678",
        "auth: T0.1234567.12345678",
        "token: XK9912345678",
        "https://x.example/?signature=AB12CDEFGHIJKLMN234567",
    ],
)
def test_a_token_in_capitals_is_no_reference(text: str):
    """What is longer than a reference, or mixes letters and digits, is no account's number."""
    assert "***" in masked(text)


@pytest.mark.parametrize("text", PLAIN)
def test_words_are_not_masked(text: str):
    """What only resembles a secret stays readable."""
    assert masked(text) == text
    assert covered({"note": [text]}) == {"note": [text]}


NAMES = {
    "whole": (
        *("password", "passwords", "db_password", "dbPassword", "new password", "password1"),
        *("password_confirmation", "old_password", "Passwort", "kennwort", "passcode", "pwd"),
        *("secret", "client_secret", "api_key", "apiKey", "API-Key", "signing_key", "secrets"),
        *("refresh_token", "auth-token", "config.password", "credentials", "db_credential"),
        *("senha", "palavra_passe", "mots de passe", "wachtwoord", "lösenord", "adgangskode"),
        *("passord", "salasana", "hasło", "heslo", "jelszó", "şifre", "пароль", "κωδικός"),
        *("密码", "密碼", "新しいパスワード", "비밀번호", "mật khẩu", "kata sandi"),
    ),
    "drawn": ("token", "pageToken", "tokens", "Authorization", "cookie", "pass", "clave", "parola"),
    "code": ("pin", "card_pin", "cvv", "otp"),
    "": (
        *("password_reset", "password_policy", "password_length", "secretary", "secret_name"),
        *("token_count", "compass", "bypass", "passenger", "passport", "author", "monkey"),
        *("key", "keyword", "public_key", "access_key_id", "idempotency_key", "spin", "amount"),
    ),
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind, names in NAMES.items() for name in names]
)
def test_a_name_tells_what_is_secret_under_it(name: str, kind: str):
    """The last words of a name count: a reset of a password is no password."""
    assert kind_of(name) == kind


SECRET = "***"
UNDER = [
    pytest.param({"password": "x y"}, {"password": SECRET}, id="a text"),
    pytest.param({"password": 4711}, {"password": SECRET}, id="a number"),
    pytest.param({"password": ["a", "b"]}, {"password": [SECRET] * 2}, id="a list"),
    pytest.param({"secrets": {"db": {"x": "a"}}}, {"secrets": {"db": {"x": SECRET}}}, id="deep"),
    pytest.param({"token": {"value": "a1b2c3d4"}}, {"token": {"value": SECRET}}, id="a token"),
    pytest.param({"pin": "4711", "otp": 123456}, {"pin": SECRET, "otp": SECRET}, id="codes"),
    pytest.param({"a": {"api_key": "k"}, "b": 1}, {"a": {"api_key": SECRET}, "b": 1}, id="beside"),
    pytest.param({"xoxb-1-a": 1, "xoxb-2-b": 2}, {"***": 1, "*** 2": 2}, id="names themselves"),
    pytest.param({"password": True}, {"password": True}, id="a flag"),
    pytest.param({"password": None}, {"password": None}, id="nothing"),
    pytest.param({"password": ""}, {"password": ""}, id="an empty text"),
    pytest.param({"passwords": 3, "secrets": 2}, {"passwords": 3, "secrets": 2}, id="counts"),
    pytest.param({"token": "3 of 5"}, {"token": "3 of 5"}, id="words under a token"),
    pytest.param(
        {"tokens": 1500, "token": 7}, {"tokens": 1500, "token": 7}, id="numbers of tokens"
    ),
    pytest.param({"pin": True, "pins": 12}, {"pin": True, "pins": 12}, id="another pin"),
    pytest.param({"amount": 1500.0}, {"amount": 1500.0}, id="an amount"),
]


@pytest.mark.parametrize(("value", "told"), UNDER)
def test_a_value_is_masked_by_what_it_stands_under(value: Any, told: Any):
    """A secret is one by its name, however deep it stands; amounts, counts and flags are none."""
    assert covered(value) == told
    named = [] if "***" in told else list(named_secrets(value))
    assert bool(named) is (told != value and "***" not in told)


@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists))
def test_a_value_without_names_keeps_its_shape(value: Any):
    """Masking makes no other value of one, and what it made it leaves as it is."""
    assert covered(covered(value)) == covered(value)


@pytest.mark.parametrize(
    "text",
    [
        *("-" * 50_000, "password" * 10_000, "<a " * 20_000, "curl " * 20_000, "\\" * 50_000),
        *("basic " + "a" * 50_000, "password: " + " " * 50_000, "://a:" * 20_000, "pass _" * 9_000),
        *("-----BEGIN PRIVATE KEY-----" * 3_000, "://" + ":" * 150_000, "xoxa" * 50_000),
        *(
            'password=\\"' + "\\" * 150_000,
            "xox" + "a" * 150_000,
            "mysql-" * 9_000,
            "-eyJ" * 30_000,
        ),
    ],
    ids=lambda text: text[:12],
)
def test_a_long_text_is_looked_through_once(text: str):
    """No text makes the search begin again and again."""
    assert len(masked(text)) <= len(text)
    assert kind_of(text) in ("", "whole", "drawn")
