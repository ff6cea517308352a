"""views.*; pure."""

import json

from bot.playground.grants import Refused, Trigger, require
from bot.playground.methods.call import Call, refuse
from bot.slack.checks import JsonObject, as_object
from bot.slack.validate import view_problems

VIEW_BYTES = 250_000


def open_view(call: Call) -> JsonObject:
    """views.open: a modal for the person of the trigger."""
    view, trigger = _view(call, "modal"), _trigger(call)
    opened = call.workspace.views.open(trigger.person_id, view, now=call.now)
    return {"view": call.workspace.show_view(trigger.person_id, opened)}


def push_view(call: Call) -> JsonObject:
    """views.push: one more modal over the one the trigger came from."""
    view, trigger = _view(call, "modal"), _trigger(call)
    require(trigger.view_id, "invalid_trigger_id")
    call.workspace.views.find(view_id=trigger.view_id)
    opened = call.workspace.views.push(trigger.person_id, view, now=call.now)
    return {"view": call.workspace.show_view(trigger.person_id, opened)}


def update_view(call: Call) -> JsonObject:
    """views.update: a view that is open, by id or external id; `hash` guards it."""
    views = call.workspace.views
    old = views.find(view_id=call.text("view_id"), external_id=call.text("external_id"))
    new = views.update(old, _view(call, old["type"]), now=call.now, expected=call.text("hash"))
    return {"view": call.workspace.show_view(views.owner(new["id"]), new)}


def publish_view(call: Call) -> JsonObject:
    """views.publish: a person's Home; `hash` guards it."""
    person = call.person("user_id")
    view = call.workspace.views.publish(
        person.id, _view(call, "home"), now=call.now, expected=call.text("hash")
    )
    return {"view": call.workspace.show_view(person.id, view)}


def _trigger(call: Call) -> Trigger:
    return call.workspace.grants.exchange(call.text("trigger_id"), now=call.now)


def _view(call: Call, kind: str) -> JsonObject:
    view = as_object(call.json("view"))
    if view is None:
        raise Refused("invalid_arguments")
    require(len(json.dumps(view)) <= VIEW_BYTES, "view_too_large")
    require(view.get("type") == kind, "invalid_arguments")
    refuse(view_problems(view), error="invalid_arguments")
    return view
