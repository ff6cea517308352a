"""Modals and Home views as Slack keeps them: stacks, hashes, what replaces what; pure."""

from collections.abc import Callable, Iterator
from typing import Any

from bot.playground.grants import Refused, require
from bot.playground.people import APP_ID, BOT_ID, TEAM_ID
from bot.slack.checks import JsonObject

STACK_LIMIT = 3


Complete = Callable[[list[JsonObject], Callable[[], str]], list[JsonObject]]


class Views:
    """Each person's open modals, lowest first, and their Home.

    `complete` gives blocks what Slack fills in.
    """

    def __init__(self, new_id: Callable[[str], str], *, complete: Complete) -> None:
        self._new_id = new_id
        self._complete = complete
        self.stacks: dict[str, list[JsonObject]] = {}
        self.homes: dict[str, JsonObject] = {}

    def open(self, person_id: str, view: JsonObject, *, now: float) -> JsonObject:
        """Open a modal over the workspace; another one that was open is gone."""
        self.stacks[person_id] = []
        return self.push(person_id, view, now=now)

    def push(self, person_id: str, view: JsonObject, *, now: float) -> JsonObject:
        """Open a modal over the person's modals; Refused above three."""
        stack = self.stacks.setdefault(person_id, [])
        require(len(stack) < STACK_LIMIT, "push_limit_reached")
        self._refuse_known(view)
        stored = self._stored(view, now=now)
        if stack:
            stored |= {"previous_view_id": stack[-1]["id"], "root_view_id": stack[0]["id"]}
        stack.append(stored)
        return stored

    def publish(
        self, person_id: str, view: JsonObject, *, now: float, expected: str | None = None
    ) -> JsonObject:
        """Show a Home; Refused when `expected` is not the hash of what it shows."""
        home = self.homes.get(person_id)
        require(not (expected and home) or home["hash"] == expected, "hash_conflict")
        self.homes[person_id] = self._stored(view, now=now, kept=home)
        return self.homes[person_id]

    def update(
        self, old: JsonObject, view: JsonObject, *, now: float, expected: str | None = None
    ) -> JsonObject:
        """Replace what a view shows, in place; Refused when `expected` is not its hash."""
        require(expected in (None, "", old["hash"]), "hash_conflict")
        new = self._stored(view, now=now, kept=old)
        for stack in self.stacks.values():
            stack[:] = [new if each["id"] == old["id"] else each for each in stack]
        for person_id, home in self.homes.items():
            if home["id"] == old["id"]:
                self.homes[person_id] = new
        return new

    def close(self, person_id: str, *, everything: bool = False) -> JsonObject:
        """Take the person's top modal away, or all of them; the top one is returned."""
        stack = self.stacks.get(person_id, [])
        require(stack, "not_found")
        top = stack.pop()
        if everything:
            stack.clear()
        return top

    def find(self, *, view_id: str | None = None, external_id: str | None = None) -> JsonObject:
        """The view on somebody's screen with this id; Refused when it is gone."""
        for view in self._all():
            if view["id"] == view_id or (external_id and view["external_id"] == external_id):
                return view
        raise Refused("not_found")

    def owner(self, view_id: str) -> str:
        """The id of the person on whose screen the view is; Refused when it is gone."""
        for person_id, stack in self.stacks.items():
            if any(each["id"] == view_id for each in stack):
                return person_id
        for person_id, home in self.homes.items():
            if home["id"] == view_id:
                return person_id
        raise Refused("not_found")

    def _all(self) -> Iterator[JsonObject]:
        for stack in self.stacks.values():
            yield from stack
        yield from self.homes.values()

    def _refuse_known(self, view: JsonObject) -> None:
        external_id = view.get("external_id")
        taken = external_id and any(each["external_id"] == external_id for each in self._all())
        require(not taken, "duplicate_external_id")

    def _stored(
        self, view: JsonObject, *, now: float, kept: JsonObject | None = None
    ) -> JsonObject:
        view_id: str = kept["id"] if kept else self._new_id("V")
        default_title = {"type": "plain_text", "text": "View Title", "emoji": True}
        return {
            "id": view_id,
            "team_id": TEAM_ID,
            "type": view["type"],
            "blocks": self._complete(view["blocks"], lambda: self._new_id("b")),
            "private_metadata": view.get("private_metadata") or "",
            "callback_id": view.get("callback_id") or "",
            "state": {"values": {}},
            "hash": f"{int(now)}.{self._new_id('')}",
            "title": _text(view.get("title")) or default_title,
            "clear_on_close": bool(view.get("clear_on_close")),
            "notify_on_close": bool(view.get("notify_on_close")),
            "close": _text(view.get("close")),
            "submit": _text(view.get("submit")),
            "previous_view_id": kept["previous_view_id"] if kept else None,
            "root_view_id": kept["root_view_id"] if kept else view_id,
            "app_id": APP_ID,
            "external_id": view.get("external_id") or "",
            "app_installed_team_id": TEAM_ID,
            "bot_id": BOT_ID,
        }


def _text(text: JsonObject | None) -> Any:
    return {"emoji": True, **text} if text else None
