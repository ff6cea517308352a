"""Whose `user:` state a run sees: that of the person its words came from, and nobody else's."""

import pytest
from google.genai import types

from agents import Agent, Entry, FunctionTool, Runner, SessionKey, SessionService, ToolContext
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.testing import ScriptedModel, call

KEY = SessionKey("root", "thread", "s")


class Thread:
    """A session that several people speak in."""

    def __init__(self, service: SessionService, replies: list) -> None:
        """Nobody has said anything."""
        self.service = service
        self.seen: list[tuple[str, object]] = []
        tools = [self.keep, self.look, FunctionTool(self.ask, require_confirmation=True)]
        self.runner = Runner(
            agent=Agent(name="root", tools=tools),
            session_service=service,
            models=ScriptedModel(replies),
        )

    def keep(self, card: str, tool_context: ToolContext) -> None:
        """Keep somebody's card."""
        tool_context.state["user:card"] = card

    def look(self, tool_context: ToolContext) -> None:
        """See whose card there is."""
        self.seen.append((tool_context.user_id, tool_context.state.get("user:card")))

    def ask(self, tool_context: ToolContext) -> None:
        """See whose card there is, if somebody agrees."""
        self.look(tool_context)

    async def put(self, name: str, part: types.Part, *, user: str, **more: object) -> None:
        """Put something to the session."""
        content = types.Content(role="user", parts=[part]).model_dump(
            mode="json", exclude_none=True
        )
        await self.service.slot.ingest(
            KEY, Entry(id=name, body={"content": content, "user_id": user, **more})
        )

    async def says(self, user: str, **more: object) -> None:
        """Somebody speaks."""
        view = await self.service.slot.read(KEY)
        name = f"{user}{view.version if view else 0}{view.inbox if view else 0}"
        await self.put(name, types.Part(text="go"), user=user, **more)

    async def decides(self, user: str) -> None:
        """Somebody agrees to what was asked last."""
        view = await self.service.slot.read(KEY)
        request = [name for event in view.events for name in event.questions][-1]
        answer = types.FunctionResponse(
            id=request, name=REQUEST_CONFIRMATION, response={"confirmed": True}
        )
        await self.put(f"d{request}", types.Part(function_response=answer), user=user)

    async def serve(self) -> None:
        """The agent does what there is to do."""
        async for _ in self.runner.serve(KEY, owner="worker"):
            pass

    async def card(self, user: str) -> object:
        """A person's card, as it is stored."""
        state = await self.service.get_user_state(app_name="root", user_id=user)
        return state.get("card")


KEEPS = [call("keep", card="ann's"), "Kept."]


async def test_two_entries_under_one_hold(service: SessionService):
    """The next person's turn begins with their own state, though nobody let go of the session."""
    thread = Thread(service, [*KEEPS, call("look"), "None.", call("look"), "Yours."])
    for user in ("ann", "bob", "ann"):
        await thread.says(user)
    await thread.serve()
    assert thread.seen == [("bob", None), ("ann", "ann's")]
    assert [await thread.card(user) for user in ("ann", "bob", "thread")] == ["ann's", None, None]


@pytest.mark.parametrize("between", [None, "cy"], ids=["at once", "after somebody else spoke"])
async def test_a_decision(service: SessionService, between: str | None):
    """What is approved runs for the person who asked for it, whoever approved."""
    replies = [*KEEPS, call("ask"), *["Hi."] * bool(between), "Done."]
    thread = Thread(service, replies)
    for user in ("ann", "bob", between):
        if user:
            await thread.says(user)
            await thread.serve()
    await thread.decides("ann")
    await thread.serve()
    assert thread.seen == [("bob", None)]


async def test_what_one_person_brings(service: SessionService):
    """State that comes with a message is its author's, and is seen in their turn."""
    thread = Thread(service, [call("look"), "1.", call("look"), "2.", call("look"), "3."])
    await thread.says("ann", state_delta={"user:card": "brought"})
    for user in ("bob", "ann"):
        await thread.says(user)
    await thread.serve()
    assert thread.seen == [("ann", "brought"), ("bob", None), ("ann", "brought")]
    assert [await thread.card(user) for user in ("ann", "bob")] == ["brought", None]


async def test_what_a_run_leaves_behind(service: SessionService):
    """A run that is taken over goes on with the state of its person."""
    thread = Thread(service, KEEPS)
    await thread.says("ann")
    await thread.serve()
    async with thread.runner.hold(KEY, owner="other", lease=9000) as held:
        assert held.view("inv-1")["user:card"] == "ann's"
        await held.work_for("of nobody that is known")
        assert "user:card" not in held.view("inv-1")
