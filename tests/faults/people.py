"""The people of a run: what they say, which buttons they press, and what they see in the end."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from agents import SessionKey
from bot.approvals.button import Button, decode
from bot.playground import ANA, BOT, LocalSlack, Noticed, messages
from bot.playground.messages import full_text
from bot.playground.people import TEAM_ID
from tests.faults import crew
from tests.faults.evidence import Clicked, Sent, Shown
from tests.faults.plan import Plan, Said

MAY_DECIDE = ("max", "mia", "ben")
PLACES = ("approvals", "expenses")


class People:
    """Everybody in a workspace who follows a plan.

    `look` finds out whether an interrupted call happened, `note` writes into the run's log, `spawn`
    does something beside what is going on. While `patient` is not set nobody decides about
    conversation 0.
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
        self.patient = asyncio.Event()
        self._slack = slack
        self._plan = plan
        self._look = look
        self._note = note
        self._spawn = spawn
        self._said: list[tuple[str, str, str, int]] = []
        self._threads: dict[int, str] = {}
        self._handled: set[tuple[str, str, tuple[str, ...]]] = set()
        self._at_form = asyncio.Lock()

    def began(self, session: int) -> SessionKey:
        """Have a conversation that began long ago; its session's key."""
        workspace, now = self._slack.workspace, self._slack.now
        first = messages.typed(ANA, f"<@{BOT.id}> past", client_msg_id="past", block_id="past")
        ts = workspace.post(workspace.channel("expenses"), first, now=now)["ts"]
        workspace.take_undelivered()
        self._threads[session] = ts
        return self._key(ts)

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
        mark = said.text.rpartition(" ")[2]
        (ts,) = [each["ts"] for each in written if each["text"].endswith(f" {mark}")]
        self._threads.setdefault(said.session, ts)
        self._said.append((ts, self._threads[said.session], said.text, posted))
        self._note(f"people {said.who} says {ts} {said.text!r}")
        await task

    async def delete(self, mark: str) -> None:
        """Have somebody delete the message that ends with a mark, if they wrote it by now."""
        channel = self._slack.workspace.channel("expenses")
        for ts, _, text, _ in self._said:
            if text.endswith(f" {mark}"):
                self._note(f"people {text!r} is deleted")
                message = {**channel.message(ts), "channel": channel.id}
                await self._slack.delete(message["user"], message)

    def deleted(self) -> Iterator[str]:
        """The messages whose deletion the bot has heard of."""
        for each in self._slack.delivery.records:
            event = json.loads(each.body)["event"] if each.ok and each.body.startswith("{") else {}
            if event.get("subtype") == "message_deleted":
                yield f"m:{event['channel']}:{event['previous_message']['ts']}"

    async def click_all(self) -> None:
        """Press buttons as they appear, some twice, some by two people who disagree."""
        while True:
            for card in self._cards():
                button, actions = _button(card), _actions(card)
                seen = (button.session, button.approval, actions) if button else None
                if button and seen and seen not in self._handled and self._ready(button):
                    self._handled.add(seen)
                    self._spawn(self._decide(card, button))
            await asyncio.sleep(0.02)

    def waiting(self) -> dict[str, Any] | None:
        """A card on which somebody may approve now, if there is one."""
        return next((card for card in self._cards() if "approve" in _actions(card)), None)

    def _cards(self) -> Iterator[dict[str, Any]]:
        workspace = self._slack.workspace
        asked = MAY_DECIDE if self._plan.besides == "direct" else ()
        directs = [workspace.dm(workspace.person(who)) for who in asked]
        for channel in (*(workspace.channel(place) for place in PLACES), *directs):
            if channel.is_archived:
                continue
            for message in list(channel.messages.values()):
                yield {**message, "channel": channel.id}

    def _own(self, card: dict[str, Any], who: str) -> dict[str, Any] | None:
        """A card as somebody has it: in direct messages everybody has one of their own."""
        workspace, button = self._slack.workspace, _button(card)
        if workspace.channels[card["channel"]].kind != "im" or button is None:
            return card
        mine = workspace.dm(workspace.person(who)).id
        about = (button.session, button.approval)
        for each in self._cards():
            same = _button(each)
            if each["channel"] == mine and same and (same.session, same.approval) == about:
                return each
        return None

    def _ready(self, button: Button) -> bool:
        first = self._threads.get(0)
        return self.patient.is_set() or not first or button.session != str(self._key(first))

    async def _decide(self, card: dict[str, Any], button: Button) -> None:
        """Several people press at once, each twice, what the plan says."""
        chance = random.Random(f"{self._plan.seed} {button.approval}")
        wishes = await self._wishes(card, button, chance)
        brief = "brief" in full_text(card).lower()
        if brief and self._plan.answer != "late":
            wishes = wishes[:1] if not self._plan.answer and chance.random() < 0.5 else []
        pause = (0.4, 0.9) if brief else (0, 0.3)
        await asyncio.sleep(0.8 if self._plan.answer == "late" else chance.uniform(*pause))
        if chance.random() < 0.2 and "days" in _fields(card) and wishes:
            await self._press(card, wishes[0][0], "approve", days="many")
        if self._plan.answer == "twice":
            for wish in wishes:
                await self._press(card, *wish)
            return
        await asyncio.gather(*(self._press(card, *wish) for wish in wishes for _ in range(2)))

    async def _wishes(
        self, card: dict[str, Any], button: Button, chance: random.Random
    ) -> list[tuple[str, str]]:
        """Who wants to press what on a card."""
        answer, actions = self._plan.answer, _actions(card)
        if answer == "nobody":
            return []
        if "happened" in actions:
            found = "happened" if await self._look(button) else "approve"
            wish = "reject" if answer == "leave" or chance.random() < 0.3 else found
            return [(who, wish) for who in ("max", "mia")]
        if "approve" not in actions:
            whim = not answer and chance.random() < 0.2
            return [(who, chance.choice(actions)) for who in ("max", "ana") if whim]
        no = answer == "no" or (not answer and chance.random() < 0.2)
        wishes = [("max", "reject" if no else "approve")]
        wishes += [(who, "approve") for who in ("mia", "ben", "ana")]
        told = {"no": wishes[:1], "own": wishes[3:], "late": wishes[:1]}
        told |= {"twice": [("max", "approve")] * 2, "mia": wishes[1:2]}
        if not answer and "share" not in full_text(card).lower() and chance.random() < 0.4:
            return [chance.choice(wishes[:2])]
        return told.get(answer, chance.sample(wishes, 4))

    async def _press(self, card: dict[str, Any], who: str, act: str, *, days: str = "3") -> None:
        """Press, and again when Slack shows the warning triangle."""
        own, button = self._own(card, who), _button(card)
        assert button
        for _ in range(12 if own else 0):
            noticed = await self._pressed(own or card, who, act, days=days)
            ok = noticed is not None and noticed.ok
            why = _why(button, who) if act == "reject" else ""
            self.clicks.append(Clicked(button.session, button.approval, who, act, ok, why))
            self._note(f"people {who} presses {act} on {button.approval}: {ok}")
            if ok:
                return
            await asyncio.sleep(0.5)

    async def _pressed(
        self, card: dict[str, Any], who: str, act: str, *, days: str
    ) -> Noticed | None:
        button = _button(card)
        if act == "reject":
            return await self._reject(card, who, why=_why(button, who) if button else "")
        entered = {"days": days} if act == "approve" and "days" in _fields(card) else {}
        return await self._slack.click(who, card, act, values=entered)

    async def _reject(self, card: dict[str, Any], who: str, *, why: str) -> Noticed | None:
        """Press Reject, and send the form it opens with a reason.

        None when it did not open in time, though the card can still be rejected.
        """
        async with self._at_form:
            while self._slack.modals(who):
                await self._slack.close(who)
            clicked = await self._slack.click(who, card, "reject")
            for _ in range(50 if clicked.ok else 0):
                if not self._slack.modals(who):
                    await asyncio.sleep(0.02)
            if not self._slack.modals(who):
                channel = self._slack.workspace.channels[card["channel"]]
                closed = "reject" not in _actions(channel.message(card["ts"]))
                return clicked if closed else None
            if not self._slack.modals(who)[-1]["submit"]:
                return await self._slack.close(who)
            return await self._slack.submit(who, {"reason": why})

    def sent(self) -> Iterator[Sent]:
        """Every message, in the order in which it was written."""
        for said in self._said:
            yield self._as_sent(*said)

    def _as_sent(self, ts: str, thread: str, text: str, posted: int) -> Sent:
        acked = None
        for number, each in enumerate(self._slack.delivery.records):
            if each.ok and each.body.startswith("{"):
                event = json.loads(each.body)["event"]
                if event.get("ts") == ts and event.get("type") in ("message", "app_mention"):
                    acked = number if acked is None else acked
        key = self._key(thread)
        return Sent(f"m:{key.id.partition(':')[0]}:{ts}", str(key), text, posted, acked)

    def _key(self, thread: str) -> SessionKey:
        channel = self._slack.workspace.channel("expenses").id
        return SessionKey(crew.AGENT, "thread", f"{channel}:{thread}", TEAM_ID)

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
                        frozenset(f"{b.session}|{b.approval}" for b in _buttons(message)),
                    )


def _why(button: Button, who: str) -> str:
    """Why somebody says no to something: like no other reason."""
    return f"{who} has seen {button.approval} of {button.session[-8:]}"


def _elements(message: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = [block for block in message.get("blocks", []) if block["type"] == "actions"]
    return [element for block in blocks for element in block["elements"]]


def _fields(message: dict[str, Any]) -> tuple[str, ...]:
    blocks = [block for block in message.get("blocks", []) if block["type"] == "input"]
    return tuple(block["element"]["action_id"] for block in blocks)


def _actions(message: dict[str, Any]) -> tuple[str, ...]:
    return tuple(element["action_id"] for element in _elements(message))


def _buttons(message: dict[str, Any]) -> list[Button]:
    found = (decode(element.get("value", "")) for element in _elements(message))
    return [button for button in found if button]


def _button(message: dict[str, Any]) -> Button | None:
    return next(iter(_buttons(message)), None)
