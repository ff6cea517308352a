"""A session's state as the calls of a batch see it, each through a view that knows what it changed.

What is live is a fold: what is stored, and the changes of the calls in their order. So several
calls may change one list and all of it counts, and what a call changed before it failed is taken
out again.
"""

import threading
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

Container = dict[Any, Any] | list[Any]

_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class _Change:
    """A key that a view set, or (with `before`) a container that it changed in place."""

    by: "State"
    key: str
    before: Any
    after: Any

    def of(self, value: object) -> Any:
        """The value after this change."""
        return self.after if self.before is _MISSING else _rebased(self.before, self.after, value)


class Live:
    """The state that the calls of a batch share; plain functions use it from their threads."""

    def __init__(self, stored: Mapping[str, Any] | None = None) -> None:
        """Begin with what is stored, which stays as it is."""
        self.lock = threading.RLock()
        self.values: dict[str, Any] = dict(stored or {})
        self.views: list[State] = []
        self._stored = dict(self.values)
        self._changes: list[_Change] = []

    def look_at(self, view: "State") -> None:
        """Remember a view that has changes of its own."""
        if not any(known is view for known in self.views):
            self.views.append(view)

    def notice(self, key: str) -> None:
        """Take in what calls have changed in place since the last look."""
        for view in self.views:
            view.note(key)

    def change(self, change: _Change) -> None:
        """Take in a change."""
        self._changes.append(change)
        self.values[change.key] = change.of(self.values.get(change.key, _MISSING))

    def take_out(self, view: "State") -> None:
        """Undo what one view changed."""
        mine = {change.key for change in self._changes if change.by is view}
        self._changes = [change for change in self._changes if change.by is not view]
        for key in mine:
            self.values.pop(key, None)
            if key in self._stored:
                self.values[key] = self._stored[key]
        for change in self._changes:
            if change.key in mine:
                self.values[change.key] = change.of(self.values.get(change.key, _MISSING))

    def settled(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """A call's delta at the end of its batch: what several changed in place ends the same."""
        shared = {key for view in self.views for key in view.in_place}
        return {k: _copy(self.values[k]) if k in shared else v for k, v in delta.items()}


class State(MutableMapping[str, Any]):
    """A session's state as one call sees it: a view that remembers what was changed.

    Prefixes: `app:` belongs to everybody, `user:` to the person, `temp:` to this invocation, no
    prefix to the session. Values are JSON. Writing is seen at once by calls that run beside this
    one, and is stored with the call's response.
    """

    def __init__(self, live: Live | Mapping[str, Any] | None = None) -> None:
        """Look at `live`, which may be shared by the calls of one batch."""
        self._live = live if isinstance(live, Live) else Live(live)
        self._set: dict[str, Any] = {}
        self._mine: dict[str, Container] = {}
        self._known: dict[str, Container] = {}
        self.in_place: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        """The value under a key; a list or dict may be changed in place."""
        with self._live.lock:
            self._live.notice(key)
            value = self._live.values[key]
            if not _is_container(value):
                return value
            self._live.look_at(self)
            mine = self._mine.get(key)
            if mine is not None and type(mine) is type(value):
                _refresh(mine, value)
            else:
                mine = self._mine[key] = _copy(value)
            self._known[key] = _copy(value)
            return mine

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a key; stored with the call's response."""
        with self._live.lock:
            self._live.notice(key)
            self._live.look_at(self)
            self._set[key] = value
            self._mine.pop(key, None)
            self.in_place.discard(key)
            if _is_container(value):
                self._mine[key], self._known[key] = value, _copy(value)
            self._live.change(_Change(self, key, _MISSING, _copy(value)))

    def __delitem__(self, key: str) -> None:
        """Forget a key: it reads as None from now on."""
        self[key] = None

    def __iter__(self) -> Iterator[str]:
        """The keys there are."""
        return iter(list(self._live.values))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._live.values)

    def to_dict(self) -> dict[str, Any]:
        """A copy of what is there."""
        with self._live.lock:
            for key in self._live.values:
                self._live.notice(key)
            return _copy(self._live.values)

    def delta(self) -> dict[str, Any]:
        """What was written or changed in place since this view was made."""
        if not self._set and not self._mine:
            return {}
        with self._live.lock:
            for key in self._mine:
                self.note(key)
            values = self._live.values
            return self._set | {key: _copy(values[key]) for key in self.in_place}

    def forget(self) -> None:
        """Take back whatever was changed: the call has failed."""
        with self._live.lock:
            self._live.take_out(self)
            for kept in (self._set, self._mine, self._known, self.in_place):
                kept.clear()

    def note(self, key: str) -> None:
        """Tell those beside this call how it changed a container since the last time."""
        if key not in self._mine:
            return
        now, before = _copy(self._mine[key]), self._known[key]
        if not _same(now, before):
            self._known[key] = now
            self.in_place.add(key)
            self._live.change(_Change(self, key, before, now))


def _is_container(value: object) -> TypeGuard[Container]:
    return type(value) in (dict, list)


def _same(one: object, other: object) -> bool:
    """Whether two values are equal in kind as well: 1 is not True."""
    return one == other and repr(one) == repr(other)


def _copy(value: Any) -> Any:
    """A value that shares no dict or list with the given one, which a thread may be changing."""
    if type(value) is dict:
        return {name: _copy(item) for name, item in list(cast("dict[Any, Any]", value).items())}
    if type(value) is list:
        return [_copy(item) for item in list(cast("list[Any]", value))]
    return value


def _refresh(mine: Container, value: Container) -> None:
    """Make a container that was handed out equal to another one, and whatever is inside it."""
    if isinstance(mine, list) or isinstance(value, list):
        if not _same(mine, value):
            cast("list[Any]", mine)[:] = _copy(value)
        return
    for name in [name for name in mine if name not in value]:
        del mine[name]
    for name, item in value.items():
        old = mine.get(name)
        if _is_container(old) and type(old) is type(item):
            _refresh(old, item)
        else:
            mine[name] = _copy(item)


def _rebased(before: Any, after: Any, value: Any) -> Any:
    """A value that somebody else changed as well, after a change from `before` to `after`.

    Dicts key by key; a list loses and gains members; of anything else the change counts.
    """
    if _same(before, value):
        return after
    if type(before) is type(after) is type(value) is list:
        return _less(value, _less(before, after)) + _less(after, before)
    if not type(before) is type(after) is type(value) is dict:
        return after
    changed = {
        name: _rebased(before.get(name, _MISSING), item, value.get(name, _MISSING))
        for name, item in after.items()
        if name not in before or not _same(before[name], item)
    }
    return {n: v for n, v in value.items() if n not in before or n in after} | changed


def _less(members: list[Any], others: list[Any]) -> list[Any]:
    """The members left over once each of the others has taken an equal one away."""
    left = list(members)
    for other in others:
        at = next((at for at, member in enumerate(left) if _same(member, other)), None)
        if at is not None:
            del left[at]
    return left
