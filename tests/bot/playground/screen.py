"""A running playground, a browser, and one person at a time before the page."""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from tests.conftest import unused_port

ROOT = Path(__file__).parents[3]
OPEN = re.compile(r"The playground is open: (http://\S+)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed here (Debian: apt-get install chromium)"
)
PATIENCE = 10_000
"""Milliseconds for something to be seen."""


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[str]:
    """`python -m bot playground` and its address; Ctrl-C ends it, and all goes well."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PORT": str(unused_port())}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "playground"),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(30):
            while not (found := OPEN.match((await process.stdout.readline()).decode())):
                assert process.returncode is None
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 20) == 0


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A Chromium without a window."""
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def opened(
    browser: Browser, url: str, *, width: int = 1280, height: int = 844, scale: int = 1
) -> AsyncIterator["Screen"]:
    """A fresh window at the page; what went wrong in its scripts fails the test."""
    context = await browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale
    )
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    try:
        yield Screen(page, url)
    finally:
        await context.close()
    assert wrong == []


@dataclass(frozen=True)
class Screen:
    """What a person does at the page; `url` is its address."""

    page: Page
    url: str

    async def sit(self, who: str, *places: str) -> None:
        """Open the page as somebody, at a channel and thread perhaps."""
        await self.page.goto(f"{self.url}/#/{'/'.join([who, *places])}")
        await expect(self.face(who)).to_have_attribute("aria-current", "true")

    async def be(self, who: str) -> None:
        """Become somebody else by a click at the top."""
        await self.face(who).click()
        await expect(self.face(who)).to_have_attribute("aria-current", "true")

    def face(self, who: str) -> Locator:
        """A person at the top of the page."""
        return self.page.get_by_label("Who you are").get_by_label(f"Be {who.capitalize()}")

    async def say(self, text: str) -> None:
        """Write into the channel that is open, and press Enter."""
        box = self.page.locator("main").get_by_role("textbox")
        await box.fill(text)
        await box.press("Enter")

    async def reply(self, text: str) -> None:
        """Write into the thread that is open, and press Enter."""
        box = self.thread.get_by_role("textbox")
        await box.fill(text)
        await box.press("Enter")

    @property
    def thread(self) -> Locator:
        """The thread that is open."""
        return self.page.get_by_role("complementary", name="Thread")

    def message(self, text: str) -> Locator:
        """The newest message of the channel that has a text."""
        return self.page.get_by_label("Messages").get_by_role("article").filter(has_text=text).last

    def private(self, text: str) -> Locator:
        """The newest message only the person sees."""
        return (
            self.page.get_by_role("article")
            .filter(has_text="Only visible")
            .filter(has_text=text)
            .last
        )

    async def press(self, name: str, *, on: Locator) -> None:
        """Press a button."""
        await on.get_by_role("button", name=name, exact=True).click()
