"""A store behind TLS: whom it has to prove its name to, and what is said when it does not."""

from pathlib import Path
from typing import Any

import pytest

from bot import app
from bot.errors import StoreUnavailable
from bot.settings import Settings
from tests.agents.slot.tls import encrypted
from tests.stories.conftest import Opening

LONG = 900.0
"""Seconds: who waits so long for a store that will never do fails by the test's patience."""


async def looked_at(url: str, **given: Any) -> int:
    """How many things there are to say about a store that could be reached."""
    settings = Settings.read(redis_url=url, **given)
    return len(await app.store_findings(settings, wait=LONG))


@pytest.mark.parametrize(
    ("given", "options"),
    [
        pytest.param({"store_verify": False}, "", id="the setting says so"),
        pytest.param({"dyno": "web.1"}, "", id="the platform is known for it"),
        pytest.param({}, "?ssl_cert_reqs=none", id="the address says so"),
    ],
)
async def test_a_store_that_signs_for_itself(store_url: str, tmp_path: Path, given, options: str):
    """As Heroku has it: it is taken where nobody is to ask for more."""
    async with encrypted(store_url, tmp_path) as url:
        assert await looked_at(url + options, **given) > 0


@pytest.mark.parametrize(
    ("given", "name", "why"),
    [
        pytest.param({}, "127.0.0.1", "certificate", id="nobody knows who signed"),
        pytest.param({}, "store.example", "not valid for", id="another name"),
        pytest.param(
            {"dyno": "web.1", "store_verify": True}, "127.0.0.1", "certificate", id="a dyno"
        ),
    ],
)
async def test_a_store_that_does_not_prove_its_name(
    store_url: str, tmp_path: Path, given, name: str, why: str
):
    """It is refused at once, and the sentence says what is wrong and what can be set."""
    async with encrypted(store_url, tmp_path, name=name) as url:
        known = f"?ssl_ca_certs={tmp_path / 'ca.pem'}" if name != "127.0.0.1" else ""
        with pytest.raises(StoreUnavailable, match=rf"{why}.*COUNTERSIGN_STORE_VERIFY"):
            await looked_at(url + known, **given)


async def test_a_store_whose_authority_is_named(store_url: str, tmp_path: Path):
    """With the authority in REDIS_URL it proves its name, on a dyno too when that is asked for."""
    async with encrypted(store_url, tmp_path) as url:
        named = f"{url}?ssl_ca_certs={tmp_path / 'ca.pem'}"
        assert await looked_at(named) > 0
        assert await looked_at(named, dyno="web.1", store_verify=True) > 0


async def test_without_tls_to_a_port_with_tls(store_url: str, tmp_path: Path):
    """`redis://` where TLS is spoken does not work, and says that nobody answers."""
    async with encrypted(store_url, tmp_path) as url:
        settings = Settings.read(redis_url=url.replace("rediss:", "redis:"))
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await app.store_findings(settings, wait=0.3)


async def test_a_bot_works_behind_tls(open_office: Opening, store_url: str, tmp_path: Path):
    """A request is asked about, approved and paid through an encrypted connection."""
    async with encrypted(store_url, tmp_path) as url:
        office = await open_office(url=url, store_verify=False)
        await office.ask("please reimburse 200 dollars for the hotel")
        card = await office.card("200")
        await office.slack.click("max", card, "approve")
        await office.closed(card, "It is done")
        assert office.amounts() == [200]
