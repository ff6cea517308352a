"""Events of a session, written down in a line each; versions count from 1."""

from google.genai import types

from agents import Event, Question, Story, ToolConfirmation
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.events import EventActions
from agents.runtime.outcome import request_part


def part(value: str | types.Part | types.FunctionResponse) -> types.Part:
    """A text, or a part as it is."""
    if isinstance(value, types.FunctionResponse):
        return types.Part(function_response=value)
    return types.Part(text=value) if isinstance(value, str) else value


def content(*values: str | types.Part | types.FunctionResponse, role: str = "user"):
    """What is said in one message."""
    return types.Content(role=role, parts=[part(value) for value in values])


def said(text: str = "go", *, inv: str = "i1", user: str = "ann", branch: str | None = None):
    """A person's words, or the first words of a nested agent."""
    return Event(
        author="user", user_id=user, invocation_id=inv, branch=branch, content=content(text)
    )


def spoke(
    *calls: str,
    text: str = "",
    agent: str = "root",
    inv: str = "i1",
    lasting: tuple[str, ...] = (),
    branch: str | None = None,
) -> Event:
    """A model's words or calls, `cid name` each; those in `lasting` are long-running."""
    made = [
        types.Part(function_call=types.FunctionCall(id=cid, name=name, args={}))
        for cid, name in (call.split() for call in calls)
    ]
    parts = [part(text), *made] if text else made
    return Event(
        author=agent,
        invocation_id=inv,
        branch=branch,
        content=types.Content(role="model", parts=parts),
        long_running_tool_ids=set(lasting) or None,
    )


def response(call: str, more: bool = False, **value: object) -> types.FunctionResponse:
    """The response to `cid name`."""
    cid, name = call.split()
    return types.FunctionResponse(id=cid, name=name, response=value, will_continue=more or None)


def answered(
    *responses: types.FunctionResponse,
    agent: str = "root",
    inv: str = "i1",
    waiting: tuple[str, ...] = (),
    asked: tuple[str, ...] = (),
    pending: tuple[str, ...] = (),
    quiet: bool = False,
    transfer: str | None = None,
    branch: str | None = None,
) -> Event:
    """What came of calls; `asked` are answered by placeholders only, `pending` by nothing yet."""
    return Event(
        author=agent,
        invocation_id=inv,
        branch=branch,
        content=content(*responses) if responses else None,
        pending=list(pending),
        actions=EventActions(
            skip_summarization=quiet or None,
            transfer_to_agent=transfer,
            requested_tool_confirmations={cid: ToolConfirmation() for cid in asked},
        ),
    )


def asks(request: str, call: str, *, agent: str = "root", branch: str | None = None, **question):
    """The question `request` about the call `cid name`."""
    cid, name = call.split()
    wire = types.FunctionCall(id=cid, name=name, args={})
    return Event(
        author=agent,
        invocation_id="i1",
        branch=branch,
        content=types.Content(
            role="model", parts=[request_part(request, call=wire, question=ToolConfirmation())]
        ),
        questions={request: Question(call_id=cid, tool=name, agent=agent, **question)},
        long_running_tool_ids={request},
    )


def answers(request: str, *, branch: str | None = None, inv: str = "i1", **answer: object) -> Event:
    """A person's answer to a question."""
    told = types.FunctionResponse(id=request, name=REQUEST_CONFIRMATION, response=answer)
    return Event(
        author="user", user_id="boss", invocation_id=inv, branch=branch, content=content(told)
    )


def news(*responses: types.FunctionResponse, inv: str = "i1", quiet: bool = False) -> Event:
    """Results of calls from outside."""
    return Event(
        author="user",
        user_id="desk",
        invocation_id=inv,
        content=content(*responses),
        actions=EventActions(skip_summarization=quiet or None),
    )


def story(*events: Event) -> Story:
    """The events at their versions, folded."""
    return Story(e.model_copy(update={"version": at}) for at, e in enumerate(events, start=1))
