"""The page before the real bot, used as people use it: a store, a process, a browser."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from tests.bot.playground.screen import Screen, launched, needs_chromium, opened, running

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of a running playground."""
    async with running(tmp_path_factory.mktemp("playground")) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests."""
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def screen(browser: Browser, url: str) -> AsyncIterator[Screen]:
    """A fresh window at the playground."""
    async with opened(browser, url) as screen:
        yield screen


async def ask(screen: Screen, text: str, *, who: str = "ana", where: str = "expenses") -> None:
    """Somebody asks the channel's agent, and reads in the thread that people were asked."""
    await screen.sit(who, where)
    await screen.say(f"@countersign {text}")
    await expect(screen.thread.get_by_text("Asked Max Meier and Mia Moreau")).to_be_visible()


async def test_a_reimbursement_over_two_people(screen: Screen) -> None:
    """Ana asks, Max finds the card by the number at his name and approves, Ana reads the answer."""
    await ask(screen, "please reimburse 201 dollars for the hotel")
    await expect(screen.face("max")).to_have_accessible_name(re.compile("new"))
    await screen.be("max")
    card = screen.message("201")
    await expect(card).to_contain_text("Reimburse, asked by @Ana Alvarez")
    await screen.press("Approve", on=card)
    await expect(card).to_contain_text("Approved by @Max Meier")
    await expect(card.get_by_role("button", name="Approve")).to_have_count(0)
    await screen.sit("ana", "expenses")
    await screen.message("201").get_by_text("replies").click()
    await expect(screen.thread).to_contain_text("Paid")


async def test_fewer_days_than_asked_for(screen: Screen) -> None:
    """A number out of range is told to Max alone and decides nothing; three of five days do."""
    await ask(screen, "I'd like to take five days off from 2026-12-24", where="time-off")
    await screen.sit("max", "approvals")
    card = screen.message("5 days off")
    await card.get_by_label("Approved days").fill("9")
    await screen.press("Approve", on=card)
    await expect(screen.private("between 1 and 5")).to_be_visible()
    await card.get_by_label("Approved days").fill("3")
    await screen.press("Approve", on=card)
    await expect(card).to_contain_text("Entered: Approved days: 3")
    await screen.be("mia")
    await screen.sit("mia", "approvals")
    await expect(screen.message("5 days off")).to_contain_text("Approved by")
    await expect(screen.page.get_by_text("Only visible to you")).to_have_count(0)
    await screen.sit("ana", "time-off")
    await screen.message("five days").get_by_text("replies").click()
    await expect(screen.thread).to_contain_text("3 of 5")


async def test_a_rejection_and_its_reason(screen: Screen) -> None:
    """Mia rejects in a form, and the reason reaches the one who asked."""
    await ask(screen, "please reimburse 320 dollars for a chair", who="ben")
    await screen.sit("mia", "approvals")
    card = screen.message("320")
    await screen.press("Reject", on=card)
    form = screen.page.get_by_role("dialog")
    await form.get_by_label("Reason").fill("use cost centre 12")
    await screen.press("Reject", on=form)
    await expect(form).to_have_count(0)
    await expect(card).to_contain_text("Rejected by @Mia Moreau")
    await screen.sit("ben", "expenses")
    await screen.message("320").get_by_text("replies").click()
    await expect(screen.thread).to_contain_text("use cost centre 12")


async def pressed(home: Locator, name: str, *, of: str) -> None:
    """Press a button below the request with some words."""
    row = f"xpath=//*[contains(., '{of}')]/following-sibling::*[contains(@class, 'actions')][1]"
    await home.locator(row).get_by_role("button", name=name).click()


async def test_a_manager_decides_from_home(browser: Browser, url: str) -> None:
    """On a phone Home fills by itself; a wrong number is told beside it, a good one empties it."""
    async with opened(browser, url, width=390) as phone, opened(browser, url) as screen:
        await phone.sit("mia", "home")
        home = phone.page.locator("#home")
        await expect(home).to_contain_text("Waits for you")
        await ask(screen, "I'd like to take four days off from 2027-02-01", where="time-off")
        await pressed(home, "Open", of="2027-02-01")
        form = phone.page.get_by_role("dialog")
        await expect(form).to_contain_text("4 days off")
        await form.get_by_label("Approved days").fill("9")
        await phone.press("Approve", on=form)
        await expect(form).to_contain_text("Must be at most 4.")
        await expect(form.get_by_label("Approved days")).to_have_value("9")
        await form.get_by_label("Approved days").fill("4")
        await phone.press("Approve", on=form)
        done = home.locator(".blocks > *").filter(has_text="2027-02-01").last
        await expect(done.locator("xpath=following-sibling::*[1]")).to_contain_text("It is done.")
        await expect(screen.thread).to_contain_text("4 days are approved from 1 February 2027.")


async def test_a_manager_says_no_from_home(screen: Screen) -> None:
    """The form says what is refused, and Home has it under what was decided."""
    await ask(screen, "please reimburse 777 dollars for a sofa")
    await screen.sit("mia", "home")
    home = screen.page.locator("#home")
    await pressed(home, "Reject", of="777")
    form = screen.page.get_by_role("dialog")
    await expect(form).to_contain_text("Amount: 777, Purpose: sofa")
    await form.get_by_label("Reason").fill("no sofas")
    await screen.press("Reject", on=form)
    await expect(home).to_contain_text("Rejected by @Mia Moreau")
    await screen.sit("ana", "expenses")
    await screen.message("777").get_by_text("replies").click()
    await expect(screen.thread).to_contain_text("“no sofas”")


async def test_which_of_two_days_is_asked_back(screen: Screen) -> None:
    """Nobody is asked about a day that was not chosen."""
    await screen.sit("ben", "time-off")
    await screen.say("@countersign Can I have Monday or Tuesday off? One day.")
    await expect(screen.thread).to_contain_text("what is the start date: Monday or Tuesday?")
    await screen.reply("Tuesday")
    await expect(screen.thread).to_contain_text("Asked Max Meier and Mia Moreau")


async def test_a_stranger_is_told_why_nobody_answers(screen: Screen) -> None:
    """Somebody of another company who names the bot reads a sentence that only they see."""
    await screen.sit("pat", "partners")
    await screen.say("@countersign please reimburse 5 dollars for tea")
    await expect(screen.private("people of the company that runs me")).to_be_visible()


async def test_an_outsider_is_refused(screen: Screen) -> None:
    """Somebody of another company who presses a button is told so in private."""
    await ask(screen, "please reimburse 410 dollars for the fair", where="partners")
    await screen.sit("pat", "partners")
    await screen.message("410").get_by_text("reply").click()
    await screen.press("Withdraw", on=screen.thread)
    await expect(screen.private("Only people of this workspace")).to_be_visible()
    await screen.sit("ana", "partners")
    await expect(screen.page.get_by_text("Only visible to you")).to_have_count(0)
    await screen.message("410").get_by_text("reply").click()
    await expect(screen.thread.get_by_role("button", name="Withdraw")).to_be_visible()


async def test_two_approvals_in_one_thread_in_the_other_order(screen: Screen) -> None:
    """Two requests wait in one thread; the later is approved first, and both are paid."""
    await ask(screen, "please reimburse 510 dollars for the flight")
    await screen.reply("please reimburse 520 dollars for the train")
    await expect(screen.thread.get_by_role("button", name="Withdraw")).to_have_count(2)
    await screen.sit("max", "approvals")
    for amount in ("520", "510"):
        await screen.press("Approve", on=screen.message(amount))
        await expect(screen.message(amount)).to_contain_text("Approved by @Max Meier")
    await screen.sit("ana", "expenses")
    await screen.message("510").get_by_text("replies").click()
    await expect(screen.thread.get_by_text("Paid")).to_have_count(2)


async def test_a_ticket_is_moved_along(screen: Screen) -> None:
    """Ana asks for a ticket; who works on it says so in another tab, and her thread hears of it."""
    await screen.sit("ana", "support")
    await screen.say("@countersign high urgency ticket: the lift is stuck")
    await expect(screen.thread).to_contain_text(": open.")
    async with screen.page.context.expect_page() as other:
        await screen.page.get_by_role("link", name="Ticket system").click()
    ticket = (await other.value).get_by_role("article").filter(has_text="lift is stuck")
    await screen.press("In progress, 30 %", on=ticket)
    await expect(screen.thread).to_contain_text(": in progress, 30 %.")
    await ticket.get_by_label("What to say about it").fill("It moves again")
    await screen.press("Resolved", on=ticket)
    await expect(ticket.get_by_role("button")).to_have_count(0)
    await expect(screen.thread).to_contain_text(": resolved. “It moves again”")
    await expect(screen.thread).to_contain_text("Resolved: ")


async def test_behind_the_scenes(screen: Screen) -> None:
    """The panel tells the thread's events, what waits, the ledger, and which model answers."""
    await ask(screen, "please reimburse 610 dollars for a desk")
    await screen.page.get_by_role("button", name="Behind the scenes").click()
    panel = screen.page.get_by_role("complementary", name="Behind the scenes")
    await expect(panel).to_contain_text("reimbursement calls reimburse")
    await expect(panel).to_contain_text("purpose: desk")
    await expect(panel).to_contain_text("asked by Ana Alvarez")
    await expect(panel).to_contain_text("The rehearsal model")
    await screen.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()


AT_END = "(log) => log.scrollTop + log.clientHeight >= log.scrollHeight - 1"


async def test_a_conversation_opens_at_its_end(browser: Browser, url: str) -> None:
    """The newest message is in full view when one comes back, and after the page was loaded."""
    async with opened(browser, url, width=390, height=600) as screen:
        await screen.sit("ben", "dm")
        await screen.say("hello")
        await expect(screen.message("There are:")).to_be_visible()
        await screen.say("I'd like to take 2 days off from 2027-04-05")
        await expect(screen.message("Asked Max Meier")).to_be_visible()
        log = screen.page.locator("#log")
        await log.evaluate("(log) => log.scrollTo(0, 0)")
        await screen.sit("ben", "random")
        await expect(screen.page.get_by_role("heading", name="random")).to_be_visible()
        await screen.sit("ben", "dm")
        await expect(screen.message("Asked Max Meier")).to_be_in_viewport(ratio=1)
        assert await log.evaluate(AT_END)
        await screen.page.reload()
        await expect(screen.message("Asked Max Meier")).to_be_in_viewport(ratio=1)
        assert await log.evaluate(AT_END)


async def test_a_phone_shows_one_thing_at_a_time(browser: Browser, url: str) -> None:
    """On a narrow screen one goes from the channels into a thread, and back."""
    async with opened(browser, url, width=390) as screen:
        await screen.sit("ben")
        channels = screen.page.get_by_role("navigation", name="Channels")
        await channels.get_by_role("link", name="expenses").click()
        await screen.say("@countersign please reimburse 12 dollars for tea")
        await screen.message("12 dollars for tea").get_by_text("reply").click()
        await expect(screen.thread).to_contain_text("Paid")
        await expect(screen.page.get_by_role("main")).to_be_hidden()
        for hidden_no_more in (screen.page.get_by_role("main"), channels):
            await screen.page.locator(".back:visible").first.click()
            await expect(hidden_no_more).to_be_visible()
        overflow = "document.documentElement.scrollWidth > innerWidth"
        assert not await screen.page.evaluate(overflow)
