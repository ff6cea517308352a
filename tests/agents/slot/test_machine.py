"""The slot in memory and the slot on a store are one machine: whatever is done, they agree."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from agents.runtime.errors import SessionConflict
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import (
    Commit,
    Committed,
    Companions,
    Decide,
    Entry,
    OpenCall,
    Post,
    SessionKey,
    Settle,
    Slot,
    Start,
)
from agents.runtime.slot.redis import RedisSlot, connect
from tests.agents.slot.samples import LONG, answered, approval, called, replied, said

KEYS = [SessionKey("helper", "ann", "1"), SessionKey("helper", "bob", "2")]
CLOCKED = {"now", "until", "lease", "created", "updated", "fence", "before"}

sessions = st.sampled_from([KEYS[0]] * 6 + [KEYS[1]])
names = st.sampled_from("abcdefgh")
calls = st.sampled_from(["1-0", "2-0"])
words = st.sampled_from(["pending", "pending", "approved", "approved", "started", "unknown"])
questions = st.sampled_from("qqqqr")
values = st.sampled_from([1, "x", [], {}, None, {"deep": [None, {}]}])
olders = st.sampled_from([1] * 12 + [2])
rarely = st.sampled_from([False] * 12 + [True])


def _timeless(answer: Any) -> Any:
    """An answer without what clocks and fences say."""
    if not is_dataclass(answer) or isinstance(answer, type):
        return answer
    kept = {f.name: getattr(answer, f.name) for f in fields(answer) if f.name not in CLOCKED}
    return type(answer).__name__, kept


@st.composite
def companions(draw: st.DrawFn) -> Companions:
    """What goes with a commit."""
    name = draw(questions)
    opened = [approval(name, status=draw(words))] if draw(st.booleans()) else []
    settle = Settle(
        id=name, sources=draw(st.lists(words, min_size=1, max_size=3)), status=draw(words)
    )
    return Companions(
        approvals=opened,
        settles=[settle] if draw(st.booleans()) else [],
        posts=[Post(id=draw(names), body={"n": []})],
        audit=[{"name": name}],
        notes={"1-0": {"noted": name}} if draw(st.booleans()) else {},
    )


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    """A commit; its version is how far it is off."""
    value, invocation = draw(values), draw(st.sampled_from(["", "i", "j"]))
    cid, closed = draw(st.sampled_from([None, "1-0", "2-0"])), draw(calls)
    call = OpenCall(
        name="pay",
        kind=draw(st.sampled_from(["tool", "approval"])),
        version=int((cid or "1")[0]),
        request=draw(st.sampled_from([None, "q", "q", "r"])),
        note={"v": value},
    )
    made = {
        "said": said(invocation=invocation),
        "replied": replied(invocation=invocation),
        "called": called("1-0", invocation=invocation),
        "answered": answered("1-0", invocation=invocation),
    }
    return Commit(
        id="",
        fence=0,
        version=draw(st.sampled_from([0] * 12 + [1])),
        events=draw(st.lists(st.sampled_from(list(made.values())), max_size=3)),
        state={"s": value},
        app_state={"app:s": value} if draw(st.booleans()) else {},
        user_state={"user:s": value} if draw(st.booleans()) else {},
        user=draw(st.sampled_from([None, "ann", "cy"])),
        pop=draw(st.sampled_from([None] * 12 + ["a"])),
        opened={cid: call} if cid else {},
        closed=[closed] if draw(rarely) else [],
        ended=[draw(calls)] if draw(rarely) else [],
        results={draw(calls): value} if draw(rarely) else {},
        invocations=draw(
            st.dictionaries(st.sampled_from("ij"), st.sampled_from([None, {"t": []}]))
        ),
        companions=draw(companions()),
    )


@st.composite
def starts(draw: st.DrawFn) -> Start:
    """A wish to run a body."""
    cid = draw(calls)
    return Start(
        fence=0,
        cid=cid,
        step=cid + draw(st.sampled_from(["", ":ask"])),
        request=draw(st.sampled_from([None, "q", "q", "q", "r"])),
        digest=draw(st.sampled_from(["d"] * 6 + ["e"])),
        recorded=draw(st.booleans()),
        audit={"cid": cid},
    )


@st.composite
def decisions(draw: st.DrawFn) -> Decide:
    """A change of an approval."""
    name, rev = draw(questions), draw(st.sampled_from([2, 2, 2, 3, 3, 4, 1]))
    entry = draw(st.sampled_from([None, "a", "z"]))
    return Decide(
        record=approval(name, status=draw(words), rev=rev, body={"rev": rev}),
        source=draw(st.sampled_from(["pending", "pending", "unknown"])),
        late_ok=draw(st.booleans()),
        entry=Entry(id=entry, body={}) if entry else None,
        posts=[Post(id=f"{name}{rev}", body={}, after="a")],
        audit=[{"decided": name}, {"rev": rev}],
        audit_head=draw(st.sampled_from([None, "", "f" * 64])),
    )


class Machine(RuleBasedStateMachine):
    """Everything a slot can be asked, asked of both."""

    url = ""

    @initialize(status=words, requests=st.permutations(["q", None]))
    def start(self, status: str, requests: list[str | None]) -> None:
        """Two slots, in both a session in hand with two open calls and an approval."""
        self.runner = asyncio.Runner()
        self.client = self.runner.run(_opened(self.url))
        self.slots: tuple[Slot, Slot] = (
            MemorySlot(),
            RedisSlot(self.client, prefix=f"{uuid.uuid4().hex}:"),
        )
        self.fences: dict[SessionKey, list[tuple[int, int]]] = {key: [(0, 0)] for key in KEYS}
        self.version = dict.fromkeys(KEYS, 0)
        self.head: dict[SessionKey, Entry | None] = dict.fromkeys(KEYS)
        self.commits = 0
        self.ingest(KEYS[0], name="a", only=False, user=None)
        self.begin(KEYS[0], "one", lease=LONG, window=6, size=9000, since=0)
        asking = Commit(
            id="",
            fence=0,
            version=0,
            events=[called("1-0", invocation="i"), called("2-0", invocation="j")],
            opened={
                f"{n}-0": OpenCall(name="pay", kind="approval", version=n, request=request)
                for n, request in enumerate(requests, 1)
            },
            companions=Companions(approvals=[approval(status=status)]),
        )
        self.commit(KEYS[0], 1, commit=asking, again=False, pops=True)

    def teardown(self) -> None:
        """Close what was opened."""
        if hasattr(self, "runner"):
            self.both(lambda slot, _: _names_of(slot))
            self.runner.run(self.client.aclose())
            self.runner.close()

    def both(self, ask: Callable[[Slot, int], Awaitable[Any]]) -> tuple[Any, Any]:
        """Ask both, see that they agree, and give back both answers."""

        async def asked(slot: Slot, side: int) -> Any:
            try:
                return await ask(slot, side)
            except SessionConflict as conflict:
                return str(conflict)

        answers = [self.runner.run(asked(slot, side)) for side, slot in enumerate(self.slots)]
        assert _timeless(answers[0]) == _timeless(answers[1])
        return answers[0], answers[1]

    @rule(key=sessions, name=names, only=st.booleans(), user=st.sampled_from([None, "ann", "cy"]))
    def ingest(self, key: SessionKey, *, name: str, only: bool, user: str | None) -> None:
        """Somebody says something."""
        entry = Entry(id=name, body={"user_id": user, "n": []})
        self.both(lambda slot, _: slot.ingest(key, entry, only_existing=only))

    @rule(
        key=sessions,
        owner=st.sampled_from(["one"] * 5 + ["two"]),
        lease=st.sampled_from([LONG, LONG, LONG, -1]),
        window=st.integers(0, 6),
        size=st.sampled_from([0, 200, 500, 1000, 9000]),
        since=st.sampled_from([0, 0, 0, 1, 4]),
    )
    def begin(self, key: SessionKey, owner: str, *, lease: int, **read: int) -> None:
        """A worker takes the session."""
        begun = self.both(lambda slot, _: slot.begin(key, owner=owner, lease=lease, **read))
        if hasattr(begun[0], "fence"):
            self.fences[key].append((begun[0].fence, begun[1].fence))
            self.version[key], self.head[key] = begun[0].version, begun[0].head

    @rule(key=sessions, back=olders, commit=commits(), again=rarely, pops=st.booleans())
    def commit(
        self, key: SessionKey, back: int, *, commit: Commit, again: bool, pops: bool
    ) -> None:
        """A step of a run, by the newest holder or an old one; perhaps a repeated one."""
        self.commits += not again
        head = self.head[key].id if pops and self.head[key] else commit.pop
        version = self.version[key] + commit.version
        commit = replace(commit, id=str(self.commits), version=version, pop=head)
        fences = self.fences[key][-back:][0]
        done, _ = self.both(
            lambda slot, side: slot.commit(key, replace(commit, fence=fences[side]))
        )
        if isinstance(done, Committed):
            self.version[key], self.head[key] = done.version, done.head

    @rule(key=sessions, back=olders, start=starts())
    def start_call(self, key: SessionKey, back: int, start: Start) -> None:
        """A worker wants to run a body."""
        fences = self.fences[key][-back:][0]
        self.both(lambda slot, side: slot.start_call(key, replace(start, fence=fences[side])))

    @rule(key=sessions, decide=decisions(), known=st.booleans())
    def decide(self, key: SessionKey, decide: Decide, known: bool) -> None:
        """A person decides, after a look at the session as it is or was."""
        view, _ = self.both(lambda slot, _: slot.read(key, parts=()))
        seen = replace(decide, audit_head=view.audit_head) if view and known else decide
        self.both(lambda slot, _: slot.decide(key, seen))

    @rule(key=sessions, back=st.sampled_from([1, 2]), lease=st.sampled_from([LONG, -1]))
    def renew(self, key: SessionKey, back: int, lease: int) -> None:
        """A worker goes on."""
        fences = self.fences[key][-back:][0]
        self.both(lambda slot, side: slot.renew(key, fences[side], lease=lease))

    @rule(
        key=sessions,
        back=st.sampled_from([1, 2]),
        paid=st.dictionaries(names, st.sampled_from(["C|1", None])),
        off=st.booleans(),
    )
    def release(
        self, key: SessionKey, back: int, *, paid: dict[str, str | None], off: bool
    ) -> None:
        """A worker gives the session back."""
        fences = self.fences[key][-back:][0]
        self.both(lambda slot, side: slot.release(key, fences[side], paid=paid, put_off=off))

    @rule(key=sessions, paid=st.dictionaries(names, st.sampled_from(["C|1", None])))
    def posted(self, key: SessionKey, paid: dict[str, str | None]) -> None:
        """Slack took what was owed."""
        self.both(lambda slot, _: slot.posted(key, paid))

    @rule(key=sessions, window=st.integers(0, 3))
    def read(self, key: SessionKey, window: int) -> None:
        """Somebody looks at the newest."""
        self.both(lambda slot, _: slot.read(key, window=window))

    @invariant()
    def look_the_same(self) -> None:
        """Everything there is to see is the same in both."""
        parts = ("events", "state", "approvals", "posts", "audit")
        self.both(lambda slot, _: slot.read(KEYS[0], parts=parts))

    @rule(key=sessions, create=st.booleans(), value=values)
    def apply(self, key: SessionKey, create: bool, value: Any) -> None:
        """Somebody sets state."""
        state = {"s": value, "app:t": value, "user:t": value, "temp:t": value}
        self.both(lambda slot, _: slot.apply(key, state=state, create=create))

    @rule(key=sessions, sure=rarely)
    def delete(self, key: SessionKey, sure: bool) -> None:
        """Somebody forgets a session."""
        if sure:
            self.both(lambda slot, _: _names_of(slot))
            self.both(lambda slot, _: slot.delete(key))
            self.fences[key], self.version[key], self.head[key] = [(0, 0)], 0, None


async def _names_of(slot: Slot) -> set[SessionKey]:
    return set(await slot.list(app="helper"))


async def _opened(url: str) -> Any:
    return connect(url)


@pytest.fixture
def machine(store_server: str) -> type[Machine]:
    """The machine, bound to a store."""
    return type("BoundMachine", (Machine,), {"url": store_server})


def test_both_slots_agree(machine: type[Machine]) -> None:
    """No sequence of calls tells the two slots apart."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert machine.url
