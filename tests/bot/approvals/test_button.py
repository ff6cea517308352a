"""The value of a card's buttons."""

import pytest

from agents import SessionKey
from bot.approvals.button import Button, decode, encode
from tests.bot.approvals.samples import KEY, approval


def test_round_trip():
    """What is put on a button is read from it, and leads to its session."""
    found = decode(encode(approval()))
    assert found == Button(session=str(KEY), approval="3-0", nonce="n0nce", digest8="d" * 8)
    assert found.fits(approval())
    assert SessionKey.parse(found.session) == KEY


def test_any_session_fits_on_a_button():
    """Names with bars, colons and braces stay apart on a button."""
    key = SessionKey(app="a|b", user="{u}", id="C1:1|2", tenant="t:1")
    found = decode(encode(approval(session=str(key))))
    assert found is not None
    assert SessionKey.parse(found.session) == key


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="nothing"),
        pytest.param(7, id="a number"),
        pytest.param([], id="a list"),
        pytest.param("", id="empty"),
        pytest.param("approve", id="a word"),
        pytest.param("v1", id="only a version"),
        pytest.param("v2|s|a|n|d", id="another version"),
        pytest.param("v1|s|a|n", id="too few parts"),
        pytest.param("v1|s|a|n|d|x", id="too many parts"),
        pytest.param("v1||a|n|d", id="no session"),
        pytest.param("v1|s||n|d", id="no approval"),
        pytest.param("v1|s|a||d", id="no nonce"),
        pytest.param("v1||||", id="only bars"),
        pytest.param("|" * 5000, id="many bars"),
    ],
)
def test_junk(value):
    """Whatever is no button of ours is none."""
    assert decode(value) is None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(approval(id="3-1"), id="another request"),
        pytest.param(approval(nonce="other"), id="another card"),
        pytest.param(approval(digest="e" * 64), id="another call"),
        pytest.param(approval(session="T2:a:thread:C1"), id="another session"),
        pytest.param(approval(nonce="n0nc"), id="a shorter nonce"),
        pytest.param(approval(nonce="nöncé"), id="a nonce with accents"),
    ],
)
def test_a_button_fits_its_own_approval_only(other):
    """A button of another card decides nothing here."""
    found = decode(encode(other))
    assert found is not None
    assert not found.fits(approval())
