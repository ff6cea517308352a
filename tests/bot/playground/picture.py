"""README's picture, made from the real page: `python -m tests.bot.playground.picture FILE`."""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from playwright.async_api import expect

from tests.bot.playground.screen import Screen, launched, opened, running


async def play(screen: Screen) -> None:
    """Ana asks twice; Max has approved the one and looks at the other."""
    await screen.sit("ana", "expenses")
    await screen.say("@countersign Can I get 250 dollars back for the hotel in Berlin?")
    await expect(screen.thread.get_by_text("Asked")).to_be_visible()
    await screen.sit("max", "approvals")
    await screen.press("Approve", on=screen.message("250"))
    await expect(screen.message("250")).to_contain_text("It is done.")
    await screen.sit("ana", "time-off")
    await screen.say("@countersign I'd like to take five days off from 2026-12-24")
    await expect(screen.thread.get_by_text("Asked")).to_be_visible()
    await screen.sit("max", "approvals")
    await screen.message("5 days off").get_by_label("Approved days").fill("3")


async def main(path: str) -> None:
    """Play, and keep what is seen."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = await stack.enter_async_context(running(Path(folder)))
        browser = await stack.enter_async_context(launched())
        size = {"width": 1120, "height": 720, "scale": 2}
        screen = await stack.enter_async_context(opened(browser, url, **size))
        await play(screen)
        await screen.page.mouse.move(0, 0)
        await screen.page.screenshot(path=path)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
