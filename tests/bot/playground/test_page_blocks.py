"""Every block and input in a browser: what it shows, and what the bot hears of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, expect

from agents.runtime.slot.memory import MemorySlot
from bot.playground import BOT, LocalSlack
from bot.playground.behind import Behind
from bot.playground.messages import complete, posted
from bot.playground.page import Page
from tests.bot.playground.cards import option, plain
from tests.bot.playground.ear import Ear, serving
from tests.bot.playground.screen import Screen, launched, needs_chromium, opened

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]
Block = dict[str, Any]


@dataclass(frozen=True)
class Desk:
    """A workspace, somebody before its page, and a bot that only listens."""

    slack: LocalSlack
    screen: Screen
    ear: Ear

    def post(self, *blocks: Block, where: str = "general") -> None:
        """The bot posts blocks, checked by nobody."""
        workspace = self.slack.workspace
        made = complete(list(blocks), lambda: workspace.new_id("b"))
        channel = workspace.channel(where)
        workspace.post(channel, posted("said", made), now=self.slack.now)

    def open(self, **view: Any) -> None:
        """The bot opens a modal for Ana."""
        modal = {"type": "modal", "title": plain("Form"), "close": plain("Cancel"), **view}
        workspace = self.slack.workspace
        person = workspace.person("ana")
        workspace.show_view(person.id, workspace.views.push(person.id, modal, now=self.slack.now))

    async def heard(self, kind: str = "block_actions") -> dict[str, Any]:
        """The newest interaction of a kind."""
        await self.slack.wait_for(lambda: self.ear.of(kind))
        return self.ear.of(kind)[-1]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests."""
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def desk(browser: Browser, tmp_path: Path) -> AsyncIterator[Desk]:
    """Ana, before a fresh workspace, in #general."""
    ear, listener = Ear(), web.Application()
    listener.router.add_post("/slack/events", ear.hear)
    async with LocalSlack(patience=30.0) as slack, serving(listener) as bot:
        slack.connect(f"{bot}/slack/events")
        behind = Behind(
            workspace=slack.workspace,
            slot=MemorySlot(),
            agents=(),
            ledger=tmp_path / "ledger.jsonl",
            model="rehearsal",
        )
        page = Page(slack, agents=(), routes={}, behind=behind)
        async with serving(page.application()) as url, opened(browser, url) as screen:
            await screen.sit("ana", "general")
            yield Desk(slack, screen, ear)


def section(text: str, **more: Any) -> Block:
    """A section of mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def asking(label: str, element: Block, **more: Any) -> Block:
    """An input block whose block id is its label."""
    element = {"action_id": "it", **element}
    return {
        "type": "input",
        "block_id": label,
        "label": plain(label),
        "element": element,
        **more,
    }


TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": each} for each in ("Sum", "12")]]}
SHOWN = [
    pytest.param({"type": "header", "text": plain("Big words")}, "Big words", id="header"),
    pytest.param(section("*bold* &amp; <@U0LOCALANA1>"), "bold & @Ana Alvarez", id="section"),
    pytest.param(
        {"type": "section", "fields": [plain("one"), plain("two")]}, "onetwo", id="fields"
    ),
    pytest.param({"type": "context", "elements": [plain("small")]}, "small", id="context"),
    pytest.param(
        {"type": "markdown", "text": "**so** [here](https://a.example)"}, "so here", id="markdown"
    ),
    pytest.param(TABLE, "Sum12", id="table"),
    pytest.param({"type": "hologram", "depth": 3}, '"depth": 3', id="unknown"),
    pytest.param(
        {"type": "section", "text": plain("<img src=x onerror=alert(1)>")},
        "<img src=x",
        id="markup is text",
    ),
]


@pytest.mark.parametrize(("block", "text"), SHOWN)
async def test_a_block_is_shown(desk: Desk, block: Block, text: str) -> None:
    """Each block has its words, an unknown one its JSON, and no text becomes markup."""
    desk.post(block)
    await expect(desk.screen.message("Countersign")).to_contain_text(text)
    assert await desk.screen.page.locator(".message img, .message script").count() == 0


OPTIONS = [option("Paid", "paid"), option("Unpaid", "unpaid")]
ENTERED = [
    pytest.param({"type": "datepicker"}, "2026-12-24", {"selected_date": "2026-12-24"}, id="date"),
    pytest.param({"type": "timepicker"}, "09:30", {"selected_time": "09:30"}, id="time"),
    pytest.param(
        {"type": "datetimepicker"},
        "2026-12-24T09:30",
        {"selected_date_time": 1798101000},
        id="date and time in Ana's zone",
    ),
    pytest.param({"type": "plain_text_input"}, "a <b>", {"value": "a <b>"}, id="text"),
    pytest.param(
        {"type": "plain_text_input", "multiline": True}, "a\nb", {"value": "a\nb"}, id="lines"
    ),
    pytest.param(
        {"type": "number_input", "is_decimal_allowed": False}, "12", {"value": "12"}, id="number"
    ),
]


@pytest.mark.parametrize(("element", "entered", "value"), ENTERED)
async def test_what_is_typed_is_sent(
    desk: Desk, element: Block, entered: str, value: dict[str, Any]
) -> None:
    """A form's inputs reach the bot in Slack's words."""
    desk.open(blocks=[asking("Value", element)], submit=plain("Send"))
    form = desk.screen.page.get_by_role("dialog")
    await form.get_by_label("Value").fill(entered)
    await desk.screen.press("Send", on=form)
    await expect(form).to_have_count(0)
    sent = (await desk.heard("view_submission"))["view"]["state"]["values"]
    assert sent["Value"]["it"] == {"type": element["type"], **value}


async def test_choices(desk: Desk) -> None:
    """Selects, radio buttons, checkboxes, several at once, and people."""
    kinds = ("static_select", "radio_buttons", "checkboxes", "multi_static_select")
    blocks = [asking(kind, {"type": kind, "options": OPTIONS}) for kind in kinds]
    desk.open(blocks=[*blocks, asking("Who", {"type": "users_select"})], submit=plain("Send"))
    form = desk.screen.page.get_by_role("dialog")
    await form.get_by_label("static_select", exact=True).select_option("Unpaid")
    await form.get_by_role("radiogroup").get_by_text("Unpaid").click()
    for group in await form.get_by_role("group").all():
        await group.get_by_text("Paid", exact=True).click()
        await group.get_by_text("Unpaid").click()
    await form.get_by_label("Who").select_option("Max Meier")
    await desk.screen.press("Send", on=form)
    await expect(form).to_have_count(0)
    sent = (await desk.heard("view_submission"))["view"]["state"]["values"]
    chosen = {
        label: next(v for k, v in s["it"].items() if k != "type") for label, s in sent.items()
    }
    assert chosen["static_select"]["value"] == chosen["radio_buttons"]["value"] == "unpaid"
    for kind in ("checkboxes", "multi_static_select"):
        assert [each["value"] for each in chosen[kind]] == ["paid", "unpaid"]
    assert chosen["Who"] == desk.slack.workspace.person("max").id


async def test_an_error_stands_next_to_its_field(desk: Desk) -> None:
    """What the form or the bot refuses is told beside the field, and the form stays open."""
    number = {"type": "number_input", "is_decimal_allowed": False, "max_value": "5"}
    desk.open(blocks=[asking("Days", number)], submit=plain("Send"))
    form = desk.screen.page.get_by_role("dialog")
    days = form.get_by_label("Days")
    await days.fill("9")
    await days.press("Enter")
    await expect(form.get_by_role("alert").filter(has_text="at most 5")).to_be_visible()
    await expect(days).to_be_focused()
    answer = {"response_action": "errors", "errors": {"Days": "not in December"}}
    desk.ear.answers.append(web.json_response(answer))
    await days.fill("4")
    await days.press("Enter")
    await expect(days).to_have_accessible_description("not in December")


async def test_modals_stack(desk: Desk) -> None:
    """A pushed modal covers the first, Escape uncovers it, and clear closes all."""
    desk.open(blocks=[section("first")], submit=plain("Send"))
    form = desk.screen.page.get_by_role("dialog")
    second = {"type": "modal", "title": plain("Two"), "blocks": [section("second")]}
    pushed = {"response_action": "push", "view": second}
    desk.ear.answers.append(web.json_response(pushed))
    await desk.screen.press("Send", on=form)
    await expect(form).to_contain_text("second")
    await desk.screen.page.keyboard.press("Escape")
    await expect(form).to_contain_text("first")
    desk.ear.answers.append(web.json_response({"response_action": "clear"}))
    await desk.screen.press("Send", on=form)
    await expect(form).to_have_count(0)


async def test_a_question_before_a_button(desk: Desk) -> None:
    """A confirm dialog asks first: no means nothing is sent, yes sends the click."""
    sure = {
        "title": plain("Sure?"),
        "text": plain("It cannot be undone."),
        "confirm": plain("Do it"),
        "deny": plain("Stop"),
    }
    button = {"type": "button", "action_id": "go", "text": plain("Delete"), "confirm": sure}
    desk.post({"type": "actions", "elements": [button]})
    for answer, times in (("Stop", 0), ("Do it", 1)):
        await desk.screen.press("Delete", on=desk.screen.message("Delete"))
        await desk.screen.press(answer, on=desk.screen.page.get_by_role("dialog"))
        await expect(desk.screen.page.get_by_role("dialog")).to_have_count(0)
        await desk.screen.page.wait_for_load_state("networkidle")
        assert len(desk.ear.of("block_actions")) == times


async def test_an_overflow_menu(desk: Desk) -> None:
    """What is chosen in a menu is the action's selected option."""
    menu = {"type": "overflow", "action_id": "more", "options": OPTIONS}
    desk.post(section("Leave", accessory=menu))
    await desk.screen.message("Leave").get_by_label("More actions").click()
    await desk.screen.press("Unpaid", on=desk.screen.message("Leave"))
    assert (await desk.heard())["actions"][0]["selected_option"]["value"] == "unpaid"


async def test_a_select_tells_at_once(desk: Desk) -> None:
    """An input outside an input block is sent when it changes, with its confirm and state."""
    select = {"type": "static_select", "action_id": "kind", "options": OPTIONS}
    desk.post(section("Leave", accessory=select))
    await desk.screen.message("Leave").get_by_role("combobox").select_option("Paid")
    assert (await desk.heard())["actions"][0]["selected_option"]["value"] == "paid"


async def test_a_click_nobody_takes(desk: Desk) -> None:
    """When the bot does not answer 200 there is a warning beside the button."""
    desk.post({"type": "actions", "elements": [{"type": "button", "text": plain("Go")}]})
    desk.ear.answers.append(web.Response(status=503))
    await desk.screen.press("Go", on=desk.screen.message("Go"))
    await expect(desk.screen.message("Go").get_by_role("alert")).to_contain_text("did not work")


async def test_what_the_bot_is_doing(desk: Desk) -> None:
    """A status is shown in its thread until the bot says something."""
    workspace = desk.slack.workspace
    said = await desk.slack.say("ana", "general", "hello")
    workspace.set_status(workspace.channel("general"), said.ts, "is thinking…", now=desk.slack.now)
    await expect(desk.screen.page.get_by_text("Countersign is thinking…")).to_be_visible()
    workspace.post(
        workspace.channel("general"), posted("hi", None), now=desk.slack.now, thread_ts=said.ts
    )
    await expect(desk.screen.page.get_by_text("is thinking…")).to_have_count(0)


async def test_what_is_typed_outlives_what_others_say(desk: Desk) -> None:
    """A message that arrives takes neither the focus nor the words away."""
    box = desk.screen.page.get_by_role("textbox", name="Message general")
    await box.type("half a sent")
    desk.post(section("news"))
    await expect(desk.screen.message("news")).to_be_visible()
    await expect(box).to_be_focused()
    await box.press("Shift+Enter")
    await box.type("ence")
    await box.press("Enter")
    await expect(desk.screen.message("half a sent")).to_contain_text("ence")
    await expect(box).to_have_value("")


async def test_the_home(desk: Desk) -> None:
    """The Home tab tells the bot that it was opened, and shows what the bot publishes."""
    await desk.screen.sit("ana", "home")
    await desk.slack.wait_for(lambda: desk.ear.of("app_home_opened"))
    views, person = desk.slack.workspace.views, desk.slack.workspace.person("ana")
    view = {"type": "home", "blocks": [section("At home")]}
    desk.slack.workspace.show_view(person.id, views.publish(person.id, view, now=desk.slack.now))
    await expect(desk.screen.page.get_by_role("main")).to_contain_text("At home")


async def test_the_keyboard_is_enough(desk: Desk) -> None:
    """Tab reaches everything in turn, and arrows go along the channels."""
    await desk.screen.page.get_by_role("link", name="general").focus()
    await desk.screen.page.keyboard.press("ArrowDown")
    await desk.screen.page.keyboard.press("Enter")
    await expect(desk.screen.page.get_by_role("heading", level=1)).to_contain_text("expenses")
    seen: set[str] = set()
    for _ in range(24):
        await desk.screen.page.keyboard.press("Tab")
        label = "e => e.ariaLabel || e.textContent || e.placeholder"
        seen.add(await desk.screen.page.evaluate(f"({label})(document.activeElement)"))
    assert {"Messages", "Message expenses", "Send", "Behind the scenes"} <= seen
    assert BOT.real_name in " ".join(seen)


async def test_names_to_pick(desk: Desk) -> None:
    """After an @ the channel's people are offered; Enter picks, the next Enter sends."""
    box = desk.screen.page.get_by_role("textbox", name="Message general")
    await box.type("@")
    names = desk.screen.page.get_by_role("listbox", name="People")
    await expect(names.get_by_role("option")).to_have_count(5)
    await box.type("m")
    await expect(names.get_by_role("option")).to_have_count(2)
    await box.press("ArrowDown")
    await expect(names.get_by_role("option", selected=True)).to_contain_text("Mia Moreau")
    await box.press("Enter")
    await expect(names).to_be_hidden()
    await box.type("hi")
    await box.press("Enter")
    await expect(desk.screen.message("hi")).to_contain_text("@Mia Moreau hi")
