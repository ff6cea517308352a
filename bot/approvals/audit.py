"""The audit entries of approvals, and a session's chain of them as JSON Lines.

What a person typed is in the approval's record alone, which is forgotten with its session. The
audit, which is exported and kept, has its SHA-256: whoever has the words can prove them.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from bot.approvals.request import Approval

Json = dict[str, JsonValue]


def opened(approval: Approval) -> Json:
    """People were asked: who, about which call, until when."""
    return {
        **_entry("approval.opened", approval, at=approval.asked_at),
        "call": approval.call_id,
        "agent": approval.agent,
        "tool": approval.tool,
        "contract": approval.contract,
        "requester": approval.requester,
        **({"behind": list(approval.behind)} if approval.behind else {}),
        "policy": approval.policy.model_dump(mode="json", exclude_defaults=True),
        "deadline": approval.deadline,
    }


def voted(approval: Approval) -> Json:
    """Somebody voted; whether that decided it is told by the next entry.

    `payload_sha256` is of what they entered as canonical JSON, `reason_sha256` of their reason.
    """
    vote = approval.votes[-1]
    return {
        **_entry("approval.voted", approval, at=vote.at),
        "person": vote.person,
        "confirmed": vote.confirmed,
        "payload_sha256": None if vote.payload is None else _sha256(_canonical(vote.payload)),
        "reason_sha256": None if vote.reason is None else _sha256(vote.reason),
        "names": list(vote.names),
        "own_request": vote.person in approval.askers,
    }


def prompted(before: Approval, after: Approval, *, now: int) -> list[Json]:
    """People were reminded, others may decide as well from now on, or fewer or more must reject."""
    entries: list[Json] = []
    if after.policy.rejections != before.policy.rejections:
        needed: Json = {"rejections": after.policy.rejections}
        entries.append(_entry("approval.eased", after, at=now) | needed)
    if after.reminded > before.reminded:
        entries.append(_entry("approval.reminded", after, at=now))
    for each in after.escalations[before.escalated : after.escalated]:
        named: Json = {"names": list(each.names)}
        entries.append(_entry("approval.escalated", after, at=now) | named)
    if after.heirs != before.heirs:
        heirs: Json = {"names": list(after.heirs)}
        entries.append(_entry("approval.passed_on", after, at=now) | heirs)
    return entries


def recounted(before: Approval, after: Approval, *, now: int) -> list[Json]:
    """Which approvals given before no longer count, because their people have lost the right."""
    entries: list[Json] = []
    for was, vote in zip(before.votes, after.votes, strict=False):
        if vote != was:
            told: Json = {"person": vote.person, "names": [*vote.names], "counts": vote.counts}
            entries.append(_entry("approval.recounted", after, at=now) | told)
    return entries


def started(approval: Approval, *, now: int) -> Json:
    """The approved call starts: the last entry before its body runs."""
    return {
        **_entry("approval.started", approval, at=now),
        "call": approval.call_id,
        "tool": approval.tool,
    }


def decided(approval: Approval, *, now: int) -> Json:
    """An approval is not pending any more: what came out, and by whom."""
    return {
        **_entry("approval.decided", approval, at=now),
        "status": approval.status,
        "why": approval.why,
        "by": approval.decided_by,
    }


def refused(approval: Approval, *, person: str, act: str, code: str, now: int) -> Json:
    """Somebody tried what they are not allowed to do."""
    said: Json = {"person": person, "act": act, "code": code}
    return {**_entry("approval.refused", approval, at=now), **said}


def answered(approval: str, *, digest: str, status: str, version: int, now: int) -> Json:
    """The call of an approval, by its id, has its response, in the event `version`."""
    return {
        "type": "approval.answered",
        "at": now,
        "approval": approval,
        "digest": digest,
        "status": status,
        "version": version,
    }


def lines(session: str, chain: Iterable[tuple[Json, str]]) -> Iterator[str]:
    """A session's audit as JSON Lines: `{session, entry, hash, prev}`.

    `chain` are the slot's entries with their hashes, oldest first.
    """
    prev = ""
    for entry, digest in chain:
        line = {"session": session, "entry": entry, "hash": digest, "prev": prev}
        yield json.dumps(line, sort_keys=True)
        prev = digest


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(kind: str, approval: Approval, *, at: int) -> Json:
    """What every entry about an approval says; `at` in milliseconds of the store's clock."""
    return {
        "type": kind,
        "at": at,
        "approval": approval.id,
        "digest": approval.digest,
        "rev": approval.rev,
    }
