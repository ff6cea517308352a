"""Bugs that are planted as those of `bugs` are: what is forgotten, and what nobody is told."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.runtime import calling, history, lease
from agents.runtime.slot import codec, line, redis
from bot import detour, index
from bot.approvals import audit, life, succession
from bot.slack import clicks, endings, replies, retractions
from tests.faults.bugs import edit


def retry_after_ignored() -> None:
    """Nobody waits as long as Slack wants, and nobody else hears of it."""
    ending = endings.ending

    def hasty(error: Any) -> object:
        result = ending(error)
        return replace(result, after_s=0.01) if isinstance(result, endings.Retry) else result

    async def nothing(*_told: object, **_options: object) -> None:
        return None

    endings.ending = hasty
    index.Index.hold_off = nothing
    index.Index.held_off = lambda *_told: 0.0


def results_thrown_away() -> None:
    """What came of a body is not kept while others of its batch run."""

    async def run(self: calling.Calling, tool: Any, bound: Any) -> object:
        if self.agent.nested(self.call.name) is not None:
            user = self.held.user(self.call.invocation)
            return calling.entered(self.call, bound, user=user)
        return await self._ran(tool, bound)

    calling.Calling._run = run


def notes_lost() -> None:
    """Who presses too late hears nothing."""
    clicks.Clicks.tell = lambda *_told, **_options: None


def history_malformed() -> None:
    """A model reads calls without responses while people think."""
    response = history._Reader._response
    history._Reader._response = lambda self, call, event: (
        [] if call.id in self.story.open else response(self, call, event)
    )


def reason_lost() -> None:
    """A model does not hear why somebody said no."""
    life._reason = lambda *_told: None


def no_heartbeat() -> None:
    """A lease is never renewed."""
    lease._Heartbeat._beat = lambda _self: None


def audit_without_person() -> None:
    """The audit does not say who voted."""
    voted = audit.voted

    def nameless(*told: Any, **options: Any) -> Mapping[str, Any]:
        return {**voted(*told, **options), "person": "somebody"}

    audit.voted = nameless


def shared_state_lost() -> None:
    """What is for all sessions never comes to where all look for it."""

    async def nothing(*_told: object) -> None:
        return None

    redis.RedisSlot._merge = nothing


def own_state_lost() -> None:
    """What a tool writes into the state is not stored."""
    of_commit = codec.of_commit
    codec.of_commit = lambda commit: of_commit(
        replace(commit, state={}, app_state={}, user_state={})
    )


def started_too_late() -> None:
    """An approved call starts though its time is over."""
    edit("start_call", "and now >= stored.run_by", "and false")


def token_is_final() -> None:
    """What Slack refuses because of the token is struck off."""
    endings._FINAL, endings._OF_APP = endings._FINAL | endings._OF_APP, frozenset[str]()


def refused_is_let_be() -> None:
    """What Slack does not take where it belongs is said nowhere else; nobody looks who saw it."""

    async def take(*_told: object, **_options: object) -> object:
        return endings.Posted("")

    async def look(*_told: object) -> bool:
        return True

    detour.Detour.take, succession.Succession.look = take, look


def stays_with_replica() -> None:
    """Who is connected stays so, though the server is no primary any more."""
    del line._ToThePrimary.read_response


def deletions_ignored() -> None:
    """Who deletes what they asked is asked about all the same."""

    async def take(*_told: object) -> None:
        return None

    retractions.Retractions.take = take


def anchored_twice() -> None:
    """Each clock posts an anchor of its own, and looks for no other."""

    async def anchoring(_lists: object) -> bool:
        return True

    async def find(*_told: object, **_options: object) -> None:
        return None

    index.Lists.anchoring, replies.Replies.find = anchoring, find


def places_pass() -> None:
    """Where a card stands is forgotten after many more posts, whatever becomes of its question."""
    for name in ("posted", "release"):
        edit(name, "if after or not waits then pass(id) end", "pass(id)")
