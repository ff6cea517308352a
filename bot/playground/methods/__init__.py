"""Slack's Web API as functions of a call: method name -> what runs, what it must be given."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bot.playground.methods import chat, conversations, directory, views
from bot.playground.methods.call import Call
from bot.slack.shapes import JsonObject

Method = Callable[[Call], JsonObject]

METHODS: Mapping[str, tuple[Method, tuple[str, ...]]] = MappingProxyType(
    {
        "auth.test": (directory.auth_test, ()),
        "assistant.threads.setStatus": (chat.set_status, ("channel_id", "thread_ts", "status")),
        "bots.info": (directory.bot_info, ()),
        "chat.delete": (chat.delete, ("channel", "ts")),
        "chat.getPermalink": (chat.get_permalink, ("channel", "message_ts")),
        "chat.postEphemeral": (chat.post_ephemeral, ("channel", "user")),
        "chat.postMessage": (chat.post_message, ("channel",)),
        "chat.update": (chat.update, ("channel", "ts")),
        "conversations.history": (conversations.history, ("channel",)),
        "conversations.info": (conversations.info, ("channel",)),
        "conversations.join": (conversations.join, ("channel",)),
        "conversations.list": (conversations.list_all, ()),
        "conversations.members": (conversations.members, ("channel",)),
        "conversations.open": (conversations.open_dm, ()),
        "conversations.replies": (conversations.replies, ("channel", "ts")),
        "reactions.add": (chat.add_reaction, ("channel", "name", "timestamp")),
        "team.info": (directory.team_info, ()),
        "usergroups.list": (directory.group_list, ()),
        "usergroups.users.list": (directory.group_members, ("usergroup",)),
        "users.info": (directory.user_info, ("user",)),
        "users.list": (directory.user_list, ()),
        "users.lookupByEmail": (directory.user_by_email, ("email",)),
        "views.open": (views.open_view, ("trigger_id", "view")),
        "views.publish": (views.publish_view, ("user_id", "view")),
        "views.push": (views.push_view, ("trigger_id", "view")),
        "views.update": (views.update_view, ("view",)),
    }
)

__all__ = ["METHODS", "Call", "Method"]
