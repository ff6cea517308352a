"""The people of a run: what they say, which buttons they press, and what they see in the end."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from agents import SessionKey
from bot.approvals.button import Button, decode
from bot.playground import BOT, LocalSlack, Noticed
from bot.playground.messages import full_text
from bot.playground.people import TEAM_ID
from tests.faults import crew
from tests.faults.evidence import Clicked, Sent, Shown
from tests.faults.plan import Plan, Said


class People:
    """Everybody in a workspace who follows a plan.

    `look` finds out whether an interrupted call happened, `note` writes into the run's log, `spawn`
    does something beside what is going on.
    """

    def __init__(
        self,
        slack: LocalSlack,
        plan: Plan,
        *,
        look: Callable[[Button], Awaitable[bool]],
        note: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.clicks: list[Clicked] = []
        self._slack = slack
        self._plan = plan
        self._look = look
        self._note = note
        self._spawn = spawn
        self._said: list[tuple[str, str, str, int]] = []
        self._threads: dict[int, str] = {}
        self._handled: set[tuple[str, str, tuple[str, ...]]] = set()
        self._at_form = asyncio.Lock()

    async def say(self, said: Said) -> None:
        """Say something, in the thread of its conversation."""
        posted = len(self._slack.delivery.records)
        thread = self._threads.get(said.session)
        if thread is None:
            noticing = self._slack.mention(said.who, "expenses", said.text)
        else:
            noticing = self._slack.say(said.who, "expenses", said.text, thread_ts=thread)
        task = asyncio.ensure_future(noticing)
        await asyncio.sleep(0)
        written = self._slack.workspace.channel("expenses").messages.values()
        (ts,) = [each["ts"] for each in written if each["text"].endswith(said.text)]
        self._threads.setdefault(said.session, ts)
        self._said.append((ts, self._threads[said.session], said.text, posted))
        self._note(f"people {said.who} says {ts} {said.text!r}")
        await task

    async def click_all(self) -> None:
        """Press buttons as they appear, some twice, some by two people who disagree."""
        while True:
            for place in ("approvals", "expenses"):
                for message in list(self._slack.workspace.channel(place).messages.values()):
                    card = {**message, "channel": self._slack.workspace.channel(place).id}
                    found = _button(card)
                    if (
                        found
                        and (found.session, found.approval, _actions(card)) not in self._handled
                    ):
                        self._handled.add((found.session, found.approval, _actions(card)))
                        self._spawn(self._decide(card))
            await asyncio.sleep(0.02)

    async def _decide(self, card: dict) -> None:
        """Two who may and one who may not press at once, each twice, what the plan says."""
        chance = random.Random(f"{self._plan.seed} {_button(card).approval}")
        actions = _actions(card)
        if "Brief" in full_text(card) or "brief" in full_text(card):
            return
        if "happened" in actions:
            found = "happened" if await self._look(_button(card)) else "approve"
            wish = "reject" if chance.random() < 0.3 else found
            wishes = [(who, wish) for who in ("max", "mia")]
        elif "approve" not in actions:
            whim = not self._plan.answer and chance.random() < 0.1
            wishes = [(who, chance.choice(actions)) for who in ("max", "ana") if whim]
        else:
            no = self._plan.answer == "no" or (not self._plan.answer and chance.random() < 0.2)
            wishes = [
                ("max", "reject" if no else "approve"),
                ("mia", "approve"),
                ("ana", "approve"),
            ]
            told = {"no": wishes[:1], "own": wishes[2:]}
            wishes = told.get(self._plan.answer, chance.sample(wishes, 3))
        await asyncio.sleep(chance.uniform(0, 0.3))
        await asyncio.gather(*(self._press(card, *wish) for wish in wishes for _ in range(2)))

    async def _press(self, card: dict, who: str, act: str) -> None:
        """Press, and again when Slack shows the warning triangle."""
        button = _button(card)
        for _ in range(12):
            noticed = await self._pressed(card, who, act)
            ok = noticed is not None and noticed.ok
            self.clicks.append(Clicked(button.session, button.approval, who, act, ok))
            self._note(f"people {who} presses {act} on {button.approval}: {ok}")
            if ok:
                return
            await asyncio.sleep(0.5)

    async def _pressed(self, card: dict, who: str, act: str) -> Noticed | None:
        if act == "reject":
            return await self._reject(card, who)
        return await self._slack.click(who, card, act)

    async def _reject(self, card: dict, who: str) -> Noticed | None:
        """Press Reject and send the form it opens; None when it did not open in time."""
        async with self._at_form:
            while self._slack.modals(who):
                await self._slack.close(who)
            if not (await self._slack.click(who, card, "reject")).ok:
                return None
            for _ in range(100):
                if not self._slack.modals(who):
                    await asyncio.sleep(0.02)
            if not self._slack.modals(who):
                return None
            if not self._slack.modals(who)[-1]["submit"]:
                return await self._slack.close(who)
            return await self._slack.submit(who)

    def sent(self) -> Iterator[Sent]:
        """Every message, in the order in which it was written."""
        for said in self._said:
            yield self._as_sent(*said)

    def _as_sent(self, ts: str, thread: str, text: str, posted: int) -> Sent:
        workspace = self._slack.workspace
        channel = workspace.channel("expenses").id
        acked = None
        for number, each in enumerate(self._slack.delivery.records):
            if each.ok and each.body.startswith("{"):
                event = json.loads(each.body)["event"]
                if event.get("ts") == ts and event.get("type") in ("message", "app_mention"):
                    acked = number if acked is None else acked
        key = SessionKey(crew.AGENT, "thread", f"{channel}:{thread}", TEAM_ID)
        return Sent(f"m:{channel}:{ts}", str(key), text, posted, acked)

    def shown(self) -> Iterator[Shown]:
        """Every message of the bot."""
        for channel in self._slack.workspace.channels.values():
            for message in channel.messages.values():
                if message.get("user") == BOT.id:
                    payload = (message.get("metadata") or {}).get("event_payload") or {}
                    yield Shown(
                        channel.id,
                        message.get("thread_ts", ""),
                        message["ts"],
                        payload.get("id", "").partition(" ")[0],
                        _actions(message),
                        full_text(message),
                    )


def _actions(message: dict) -> tuple[str, ...]:
    return tuple(
        element["action_id"]
        for block in message.get("blocks", [])
        if block["type"] == "actions"
        for element in block["elements"]
    )


def _button(message: dict) -> Button | None:
    values = [
        element.get("value", "")
        for block in message.get("blocks", [])
        if block["type"] == "actions"
        for element in block["elements"]
    ]
    return next(filter(None, map(decode, values)), None)
