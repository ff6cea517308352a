"""No secret of a call is read anywhere, and what people decide about stays to be read."""

import json
from typing import Any

import pytest

from bot.approvals.kin import Difference, Kin
from bot.secrets import MASK
from bot.slack import blocks
from bot.slack.blocks import views
from bot.slack.blocks.arguments import values
from bot.slack.blocks.concealed import concealed
from bot.slack.blocks.lists import item
from tests.bot.slack.samples import NOW, approval
from tests.bot.slack.test_blocks import CLICK, shown
from tests.bot.slack.test_shown_whole import pages, read

HIDDEN = [
    pytest.param({"user": "bo", "password": "hunter2x"}, id="an argument called password"),
    pytest.param({"user": "bo", "new_password": "hunter 2x"}, id="with blanks"),
    pytest.param({"user": "bo", "apiKey": "hunter2x"}, id="a key"),
    pytest.param({"user": "bo", "token": "hunter2x"}, id="a token"),
    pytest.param({"user": "bo", "config": {"password": ["hunter2x"]}}, id="a list of them"),
    pytest.param({"user": "bo", "config": {"token": "hunter2x"}}, id="a token inside"),
    pytest.param({"user": "bo", "run": 'sql --password="hunter2x"'}, id="in quotes"),
    pytest.param({"user": "bo", "do": {"run": 'sql --password="hunter2x"'}}, id="quoted, inside"),
    pytest.param({"user": "bo", "do": ['export API_KEY="hunter2x"']}, id="quoted, in a list"),
    pytest.param({"user": "bo", "json": '{"password": "hunter2x"}'}, id="JSON"),
    pytest.param({"user": "bo", "do": {"json": '{"password": "hunter2x"}'}}, id="JSON inside"),
    pytest.param({"user": "bo", "key": "xoxb-12\u200b34-hunter2x"}, id="a blank in a token"),
]


@pytest.mark.parametrize("args", HIDDEN)
def test_no_secret_is_read_anywhere(args: dict[str, Any]):
    """Not on the card, not where all is read, not in a line or list, nor in what is said of it."""
    hint = f"With {args.get('password', '')}" if args.get("password") else ""
    record = approval(args=args, order=tuple(args), precondition=args, hint=hint)
    found = [shown(blocks.card(record, now=NOW)), read(pages(record))]
    for told in found:
        assert "It runs with the real one" in told
        assert "bo" in told
    found += [shown(blocks.asked(record, now=NOW)), json.dumps(item(record), ensure_ascii=False)]
    found += [json.dumps(values(record)), json.dumps(views.reject_view(record, CLICK))]
    for told in found:
        assert "hunter" not in told
        assert "2x" not in told


CHANGES = {
    'password: was "hunter2x", is now "hunter3x"': f"Password: was {MASK}",
    'config.api_key: was "hunter2x", is now "y"': f"config.api_key: was {MASK}",
    'password: was not there, is now "hunter2x"': f"Password: was {MASK}",
    'token: was "hunter2x", is now "3 of 5"': f'Token: was "{MASK}", is now "3 of 5"',
    'config: was {"password":"hunter2x"}, is now {}': f'"password":"{MASK}"}}, is now {{}}',
    'passwords: 1 more: "hunter2x"': f"Passwords: {MASK}",
    'default of password: was "hunter2x", is now "y"': f"default of password: was {MASK}",
    "amount: was 9, is now 900": "Amount: was 9, is now 900",
    "to fill in: days is asked for now": "to fill in: days is asked for now",
    'to: was "password reset", is now "x"': 'To: was "password reset", is now "x"',
}


@pytest.mark.parametrize(("line", "told"), CHANGES.items(), ids=CHANGES)
def test_a_difference_tells_no_secret(line: str, told: str):
    """What was changed is said; a secret is not, neither the old one nor the new."""
    card = shown(blocks.card(approval(changes=(line,)), now=NOW))
    assert told in card
    assert "hunter" not in card


def test_nothing_is_said_of_how_secrets_differ():
    """Where a like request is told of, the values of what is secret by its name are left out."""
    one = approval(id="1-0", status="rejected", args={"password": "hunter2x", "to": "A"})
    other = approval(args={"password": "hunter2X", "to": "a"})
    apart = [Difference("password", "letter case"), Difference("to", "letter case")]
    told = shown(blocks.card(other, now=NOW, kin=Kin(alike=one, apart=apart)))
    assert "only password, to differ, in letter case (a / A)" in told


SHOWN = {
    "amounts": {"amount": 1500.5, "currency": "EUR", "tokens": 128000, "pins": 12},
    "words": {"subject": "Password reset mail", "note": "token: 3 of 5", "secretary": "Bob"},
    "ids": {"order": "A1B2C3D4", "id": "550e8400-e29b-41d4-a716-446655440000", "key": "SHOP-12"},
    "addresses": {"url": "https://x.example/reset-password?user=bo&tab=token", "to": "b@x.example"},
    "accounts": {"iban": "DE89370400440532013000", "token": f"0xdAC1{'7F958D2ee523' * 3}"},
    "settings": {"reset_password": True, "password_policy": "12 characters", "password": None},
}


@pytest.mark.parametrize("args", SHOWN.values(), ids=SHOWN)
def test_what_people_decide_about_is_read(args: dict[str, Any]):
    """Amounts, payees, ids and addresses are no secrets, whatever words stand beside them."""
    record = approval(args=args, order=tuple(args))
    for told in (shown(blocks.card(record, now=NOW)), read(pages(record))):
        assert "masked" not in told
        for value in args.values():
            assert isinstance(value, bool | None) or str(value) in told


def test_a_text_hides_what_is_secret_by_its_name():
    """The tool's question and an agent's answer do not say what the card hides."""
    record = approval(args={"password": "correct horse", "amount": 12})
    assert concealed(record, "Set it to correct horse, 12?") == f"Set it to {MASK}, 12?"
