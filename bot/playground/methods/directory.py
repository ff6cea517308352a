"""auth.test, users.*, usergroups.*, team.info, bots.info; pure."""

from bot.playground.grants import Refused
from bot.playground.methods.call import Call
from bot.playground.people import (
    BOT,
    BOT_ID,
    TEAM_DOMAINS,
    TEAM_ID,
    TEAM_NAME,
    Person,
    UserGroup,
    bot_profile,
    user_object,
)
from bot.slack.checks import JsonObject


def auth_test(_call: Call) -> JsonObject:
    """auth.test: whose token this is."""
    return {
        "url": f"https://{TEAM_DOMAINS[TEAM_ID]}.slack.com/",
        "team": TEAM_NAME,
        "user": BOT.name,
        "team_id": TEAM_ID,
        "user_id": BOT.id,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def user_info(call: Call) -> JsonObject:
    """users.info; the locale only when asked for."""
    return {"user": _user(call, call.person())}


def user_list(call: Call) -> JsonObject:
    """users.list: everybody, people of other companies too."""
    people = [_user(call, each) for each in call.workspace.people.values()]
    return call.page("members", people, default=1000) | {"cache_ts": int(call.now)}


def user_by_email(call: Call) -> JsonObject:
    """users.lookupByEmail: colleagues only."""
    for person in call.workspace.people.values():
        colleague = person.team_id == TEAM_ID and not person.deleted
        if colleague and person.email == call.text("email").lower():
            return {"user": _user(call, person)}
    raise Refused("users_not_found")


def group_list(call: Call) -> JsonObject:
    """usergroups.list."""
    with_users = call.flag("include_users")
    groups = call.workspace.groups.values()
    return {"usergroups": [_group(each, with_users=with_users) for each in groups]}


def group_members(call: Call) -> JsonObject:
    """usergroups.users.list: ids."""
    group = call.workspace.groups.get(call.text("usergroup"))
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": list(group.members)}


def team_info(_call: Call) -> JsonObject:
    """team.info: our own workspace."""
    return {"team": {"id": TEAM_ID, "name": TEAM_NAME, "domain": TEAM_DOMAINS[TEAM_ID]}}


def bot_info(call: Call) -> JsonObject:
    """bots.info: ourselves, the only bot here."""
    if call.text("bot") not in ("", BOT_ID):
        raise Refused("bot_not_found")
    return {"bot": bot_profile()}


def _user(call: Call, person: Person) -> JsonObject:
    locale = {"locale": person.locale} if call.flag("include_locale") else {}
    return user_object(person, now=call.now) | locale


def _group(group: UserGroup, *, with_users: bool) -> JsonObject:
    entry: JsonObject = {
        "id": group.id,
        "team_id": TEAM_ID,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "date_delete": 0,
        "user_count": len(group.members),
    }
    return entry | ({"users": list(group.members)} if with_users else {})
