"""What the bot's answer to a form or a command does to the workspace; pure."""

import json
from dataclasses import dataclass, field

from bot.playground.channels import Channel
from bot.playground.grants import Refused
from bot.playground.inputs import placed
from bot.playground.messages import complete, posted
from bot.playground.people import Person
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject, as_object
from bot.slack.validate import view_problems


@dataclass(frozen=True)
class FormAnswer:
    """Whether Slack makes sense of an answer, and the errors to show by block id."""

    understood: bool = True
    errors: dict[str, str] = field(default_factory=dict[str, str])


def to_form(workspace: Workspace, view: JsonObject, body: str, *, now: float) -> FormAnswer:
    """Show errors, or close, replace or cover the submitted view, as its answer says."""
    answer = _object(body)
    if answer.get("response_action") == "errors":
        return _errors(view, answer.get("errors") or {})
    try:
        _move(workspace, view, answer, now=now)
    except Refused:
        return FormAnswer(understood=False)
    return FormAnswer()


def to_command(
    workspace: Workspace, person: Person, channel: Channel, *, body: str, now: float
) -> None:
    """Show the answer to a command, to the person alone unless it is for the channel."""
    answer = _object(body) or {"text": body}
    if not answer.get("text") and not answer.get("blocks"):
        return
    blocks = complete(answer.get("blocks", []), lambda: workspace.new_id("b"))
    message = posted(answer.get("text", ""), blocks)
    if answer.get("response_type") == "in_channel":
        workspace.post(channel, message, now=now)
    else:
        workspace.whisper(channel, person, message, now=now)


def _errors(view: JsonObject, errors: dict[str, str]) -> FormAnswer:
    ids = {each.block_id for each in placed(view["blocks"]) if each.block["type"] == "input"}
    if not errors or not set(errors) <= ids:
        return FormAnswer(understood=False)
    return FormAnswer(errors=errors)


def _move(workspace: Workspace, view: JsonObject, answer: JsonObject, *, now: float) -> None:
    views, person_id = workspace.views, workspace.views.owner(view["id"])
    new: JsonObject = answer.get("view") or {}
    match answer.get("response_action"):
        case None:
            views.close(person_id)
        case "clear":
            views.close(person_id, everything=True)
        case "update" if not view_problems(new):
            views.update(view, new, now=now)
        case "push" if not view_problems(new):
            views.push(person_id, new, now=now)
        case _:
            raise Refused("invalid_arguments")
    workspace.show_view(person_id, view)


def _object(body: str) -> JsonObject:
    try:
        return as_object(json.loads(body)) or {} if body else {}
    except ValueError:
        return {}
