"""What the scripts are given and what they answer, as the port's types and back.

Values travel as JSON texts inside the one JSON argument of a script, because a script stores texts
and never makes JSON. Answers of scripts are lists; hashes in them are flat: name, text, name, text.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

from agents.runtime.events import Event
from agents.runtime.slot.port import (
    Begun,
    Commit,
    Decide,
    Entry,
    Json,
    OpenCall,
    Post,
    Record,
    Start,
    View,
)
from agents.runtime.slot.wire import link, starts_turn, text, written

_ARGUMENT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Arguments = dict[str, Any]
Answer = Sequence[Any]


def argument(given: Arguments) -> str:
    """The argument of a script: what is None, False or no list is left out, so Lua reads nil."""
    told = {
        name: value
        for name, value in given.items()
        if value is not None and value is not False and value != []
    }
    return _ARGUMENT.encode(told)


def of_commit(commit: Commit) -> Arguments:
    """The arguments of commit.lua."""
    companions = commit.companions
    return {
        "id": commit.id,
        "fence": commit.fence,
        "version": commit.version,
        "pop": commit.pop,
        "release": commit.release,
        "user": commit.user,
        "events": [
            _event(e, version) for version, e in enumerate(commit.events, commit.version + 1)
        ],
        "state": flat(commit.state),
        "shared": shared(commit.app_state, commit.user_state, commit.user),
        "opened": [[cid, _call(call), text(call.note)] for cid, call in commit.opened.items()],
        "notes": [[cid, text(note)] for cid, note in companions.notes.items()],
        "closed": list(commit.closed),
        "ended": list(commit.ended),
        "results": [[step, text(result)] for step, result in commit.results.items()],
        "runs": [
            [name, "" if run is None else text(run)] for name, run in commit.invocations.items()
        ],
        "approvals": [_record(record) for record in companions.approvals],
        "settles": [
            {"id": settle.id, "sources": list(settle.sources), "status": settle.status}
            for settle in companions.settles
        ],
        "posts": _posts(companions.posts),
        "audit": _chained(companions.audit),
    }


def of_start(start: Start) -> Arguments:
    """The arguments of start_call.lua."""
    return {
        "fence": start.fence,
        "cid": start.cid,
        "step": start.step,
        "request": start.request,
        "digest": start.digest,
        "recorded": start.recorded,
        "audit": [] if start.audit is None else _chained([start.audit]),
    }


def of_decide(decide: Decide) -> Arguments:
    """The arguments of decide.lua."""
    entry = decide.entry
    return {
        "record": _record(decide.record),
        "source": decide.source,
        "cid": decide.cid,
        "late_ok": decide.late_ok,
        "entry": None if entry is None else [entry.id, text(entry.body)],
        "posts": _posts(decide.posts),
        "audit": _chained(decide.audit, head=decide.audit_head),
        "head": decide.audit_head,
    }


def paid(posts: Mapping[str, str | None]) -> list[list[str]]:
    """Posts to strike off, with their places."""
    return [[post, place or ""] for post, place in posts.items()]


def flat(state: Json) -> list[str]:
    """State as name, text, name, text, …; `temp:` keys are left out."""
    kept = ((name, value) for name, value in state.items() if not name.startswith("temp:"))
    return [part for name, value in kept for part in (name, text(value))]


def shared(app: Json, users: Json, user: str | None) -> str | None:
    """Changes of `app:` and `user:` state on their way to their own slots."""
    if not app and not users:
        return None
    return text({"app": flat(app), "users": flat(users), "user": user})


def begun(answer: Answer, state: Json, *, user: str) -> Begun:
    """The answer of begin.lua; `state` is the whole of it, `user:` keys are those of `user`."""
    _, fence, version, now, attempt, deaths, head, events = answer[:8]
    _, runs, open_, notes, journal, out, owed, _, _, created, before = answer[8:]
    return Begun(
        fence=fence,
        before=before,
        created=int(created),
        version=version,
        head=entry(head),
        attempt=attempt,
        deaths=deaths,
        events=[Event.model_validate_json(event) for event in events],
        state=state,
        user=user,
        invocations=parsed(runs),
        open=_calls(open_, notes),
        results={
            step: json.loads(note[1:]) for step, note in pairs(journal) if note.startswith("=")
        },
        started=frozenset(step for step, note in pairs(journal) if note.startswith(">")),
        posts=_owed(out, owed),
        now=now,
    )


def nothing_begun(now: int, state: Json, *, user: str) -> Begun:
    """How a session that is not there begins."""
    return begun(["begun", 0, 0, now, 0, 0, *([()] * 11), 0, 0], state, user=user)


def view(answer: Answer, state: Json) -> View:
    """The answer of read.lua; `state` is the whole of it."""
    version, now, created, updated, inbox, open_, notes, events = answer[:8]
    _, approvals, out, owed, places, audit, owner, lease, head = answer[8:]
    return View(
        version=version,
        created=int(created) / 1000,
        updated=int(updated) / 1000,
        events=[Event.model_validate_json(event) for event in events],
        state=state,
        open=_calls(open_, notes),
        approvals=_approvals(approvals),
        posts=_owed(out, owed),
        places=dict(pairs(places)),
        audit=[(json.loads(kept[64:]), kept[:64]) for kept in audit],
        inbox=inbox,
        owner=owner,
        lease=lease,
        audit_head=head,
        now=now,
    )


def value(kept: str) -> Any:
    """The value of a JSON text."""
    return json.loads(kept)


def entry(head: Answer) -> Entry | None:
    """An inbox entry as the scripts give it: nothing, or id and body."""
    return Entry(id=head[0], body=json.loads(head[1])) if head else None


def record(name: str, fields: Answer) -> Record:
    """An approval as the scripts give it: status, rev, digest, deadline, run_by, body.

    A body that is no JSON object is none: it is read as empty, so that it hides no other approval.
    """
    status, rev, digest, deadline, run_by, body = fields
    return Record(
        id=name,
        status=status,
        rev=int(rev),
        digest=digest,
        deadline=int(deadline) if deadline else None,
        run_by=int(run_by) if run_by else None,
        body=_object(body),
    )


def _object(text: str) -> Json:
    try:
        found: Json | list[Any] | str | float | None = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def pairs(hash_: Answer) -> Iterable[tuple[str, str]]:
    """A flat hash as pairs."""
    return zip(hash_[::2], hash_[1::2], strict=True)


def parsed(hash_: Answer) -> dict[str, Any]:
    """A flat hash whose texts are JSON."""
    return {name: json.loads(value) for name, value in pairs(hash_)}


def _event(event: Event, version: int) -> list[Any]:
    numbered = event if event.version == version else event.model_copy(update={"version": version})
    summary = event.actions.compaction is not None
    return [written(numbered), event.invocation_id, starts_turn(event), summary]


def _call(call: OpenCall) -> str:
    fields: Json = {"name": call.name, "kind": call.kind, "version": call.version}
    return text(fields if call.request is None else {**fields, "request": call.request})


def _calls(open_: Answer, notes: Answer) -> dict[str, OpenCall]:
    told = parsed(notes)
    return {cid: _open(call, told[cid]) for cid, call in parsed(open_).items()}


def _open(call: Mapping[str, Any], note: Json) -> OpenCall:
    """An open call, of which a newer release may have written down more than this one knows."""
    known = {name: call[name] for name in ("name", "kind", "version", "request") if name in call}
    return OpenCall(**known, note=note)


def _record(record: Record) -> Arguments:
    fields: Arguments = {
        "id": record.id,
        "status": record.status,
        "rev": record.rev,
        "digest": record.digest,
        "body": text(record.body),
    }
    times = {"deadline": record.deadline, "run_by": record.run_by}
    return fields | {name: time for name, time in times.items() if time is not None}


def _approvals(fields: Answer) -> dict[str, Record]:
    found: dict[str, dict[str, str]] = {}
    for name, value in pairs(fields):
        field, _, approval = name.partition(" ")
        found.setdefault(approval, {})[field] = value
    names = ("status", "rev", "digest", "deadline", "run_by", "body")
    return {name: record(name, [kept[field] for field in names]) for name, kept in found.items()}


def _chained(entries: Iterable[Json], *, head: str | None = None) -> list[list[str]]:
    """Audit entries with the hashes that follow `head`; without it the store makes them."""
    texts = [text(entry) for entry in entries]
    if head is None:
        return [[each] for each in texts]
    hashes = accumulate(texts, link, initial=head)
    return [[each, hash_] for each, hash_ in zip(texts, islice(hashes, 1, None), strict=True)]


def _posts(posts: Iterable[Post]) -> list[list[str]]:
    return [[post.id, text({"after": post.after, "body": post.body})] for post in posts]


def _owed(out: Answer, order: Answer) -> list[Post]:
    kept: Mapping[str, Any] = parsed(out)
    return [Post(id=name, body=kept[name]["body"], after=kept[name]["after"]) for name in order]
