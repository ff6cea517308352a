"""Slack's texts as one person reads them: names, zones, markup, and nothing active."""

from typing import Any

import pytest

from bot.playground import Workspace
from bot.playground.people import ANA, BEN, PAT, Person
from bot.playground.reader import Reader

NOW = 1_796_000_000.0  # Monday, 30 November 2026, 00:53 UTC


def reader(person: Person = ANA) -> Reader:
    """A person who reads in a new workspace."""
    return Reader(Workspace(now=NOW), person, now=NOW)


def words(nodes: Any) -> str:
    """All text of some nodes."""
    if isinstance(nodes, str):
        return nodes
    parts = nodes[2] if len(nodes) == 3 and isinstance(nodes[1], dict) else nodes
    return "".join(words(each) for each in parts)


MRKDWN = [
    pytest.param("plain", ["plain"], id="plain"),
    pytest.param("*b* _i_ ~s~", [["b", {}, ["b"]], " ", ["i", {}, ["i"]], " ", ["s", {}, ["s"]]]),
    pytest.param("*a _b_*", [["b", {}, ["a ", ["i", {}, ["b"]]]]], id="nested"),
    pytest.param("2*3*4 snake_case_name", ["2*3*4 snake_case_name"], id="inside words"),
    pytest.param("`*x* &lt;`", [["code", {}, ["*x* <"]]], id="code is as it is"),
    pytest.param("```a\n*b*```", [["pre", {}, ["a\n*b*"]]], id="fence"),
    pytest.param("&gt; a\n&gt; b", [["blockquote", {}, ["a\nb"]]], id="quote"),
    pytest.param("&lt;b&gt; &amp;amp;", ["<b> &amp;"], id="unescaped once"),
    pytest.param(":warning: :nobody:", ["⚠", " ", ":nobody:"], id="emoji"),
    pytest.param(
        "<https://a.example|here>",
        [["a", {"href": "https://a.example", "target": "_blank", "rel": "noreferrer"}, ["here"]]],
        id="link",
    ),
    pytest.param("<javascript:alert(1)|here>", ["here"], id="no script behind a link"),
    pytest.param(f"<@{ANA.id}>", [["span.mention.mine", {}, ["@Ana Alvarez"]]], id="me"),
    pytest.param(f"<@{BEN.id}>", [["span.mention", {}, ["@Ben Brandt"]]], id="somebody"),
    pytest.param("<@U0NOBODY>", [["span.mention", {}, ["@U0NOBODY"]]], id="nobody"),
    pytest.param("<!here>", [["span.mention", {}, ["@here"]]], id="everybody"),
    pytest.param("<!subteam^S0LOCALMGR1>", [["span.mention", {}, ["@managers"]]], id="a group"),
]


@pytest.mark.parametrize(("source", "nodes"), MRKDWN)
def test_mrkdwn(source: str, nodes: list[Any]) -> None:
    """Slack's markup becomes elements, everything else stays text."""
    assert reader().mrkdwn(source) == nodes


MARKDOWN = [
    pytest.param("# Title", [["b", {}, ["Title"]]], id="heading"),
    pytest.param(
        "**b** *i* ~~s~~", [["b", {}, ["b"]], " ", ["i", {}, ["i"]], " ", ["s", {}, ["s"]]]
    ),
    pytest.param("- one\n* two", ["• one\n• two"], id="list"),
    pytest.param("`**x**`", [["code", {}, ["**x**"]]], id="code"),
    pytest.param("> said", [["blockquote", {}, ["said"]]], id="quote"),
]


@pytest.mark.parametrize(("source", "nodes"), MARKDOWN)
def test_markdown(source: str, nodes: list[Any]) -> None:
    """A markdown block reads like Slack's own markup."""
    assert reader().markdown(source) == nodes


DATES = [
    pytest.param(ANA, "{date_short_pretty} at {time}", 0, "today at 01:53", id="in Berlin"),
    pytest.param(BEN, "{date_short_pretty} at {time}", 0, "today at 19:53", id="in New York"),
    pytest.param(ANA, "{date_pretty}", 86_400, "tomorrow", id="tomorrow"),
    pytest.param(ANA, "{date_long_pretty}", -86_400, "yesterday", id="yesterday"),
    pytest.param(ANA, "{date_short_pretty}", 864_000, "10 Dec", id="this year"),
    pytest.param(ANA, "{date_short_pretty}", 8_640_000, "10 Mar 2027", id="another year"),
    pytest.param(ANA, "{date}", 0, "30 November 2026", id="in words"),
    pytest.param(ANA, "{date_num} {time_secs}", 0, "2026-11-30 01:53:20", id="in numbers"),
    pytest.param(ANA, "{ago}", 0, "{ago}", id="a form nobody knows"),
]


@pytest.mark.parametrize(("person", "form", "later", "told"), DATES)
def test_a_time_is_the_reader_s(person: Person, form: str, later: int, told: str) -> None:
    """Each reader sees a time in their own zone; the fallback is there to be looked at."""
    token = f"<!date^{int(NOW) + later}^{form}|the fallback>"
    assert reader(person).mrkdwn(token) == [["time", {"title": "the fallback"}, [told]]]


@pytest.mark.parametrize("seconds", ["soon", "9" * 20])
def test_a_time_that_is_none(seconds: str) -> None:
    """What cannot be read as a time shows its fallback."""
    assert reader().mrkdwn(f"<!date^{seconds}^{{time}}|later>") == ["later"]


def test_a_channel_one_may_not_see() -> None:
    """A link leads to a channel one sees; of another only the label is told."""
    workspace = Workspace(now=NOW)
    general = workspace.channel("general").id
    inside, outside = (
        Reader(workspace, each, now=NOW).mrkdwn(f"<#{general}|general>") for each in (ANA, PAT)
    )
    assert inside == [["a.mention", {"href": "#/ana/general"}, ["#general"]]]
    assert outside == [["span.mention", {}, ["#general"]]]


def test_rich_text() -> None:
    """Lists, quotes, preformatted text and every kind of piece; an unknown one is told."""
    section = [
        {"type": "text", "text": "<b>", "style": {"bold": True, "code": True}},
        {"type": "user", "user_id": BEN.id},
        {"type": "broadcast", "range": "here"},
        {"type": "emoji", "name": "tada"},
        {"type": "link", "url": "https://a.example"},
        {"type": "usergroup", "usergroup_id": "S0"},
        {"type": "date", "timestamp": int(NOW), "format": "{time}"},
        {"type": "color", "value": "#fff"},
    ]
    items = [{"type": "rich_text_section", "elements": section[:1]}]
    elements = [
        {"type": "rich_text_section", "elements": section},
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": items},
        {"type": "rich_text_quote", "elements": section[:1]},
        {"type": "rich_text_hologram"},
    ]
    [block] = reader().blocks([{"type": "rich_text", "elements": elements}])
    first, ordered, quote, unknown = block["nodes"]
    assert first[2][0] == ["code", {}, [["b", {}, ["<b>"]]]]
    assert words(first) == (
        "<b>@Ben Brandt@here🎉https://a.example@S001:53{'type': 'color', 'value': '#fff'}"
    )
    assert (ordered[0], ordered[1], words(ordered)) == ("ol", {"data-indent": 1}, "<b>")
    assert (quote[0], words(unknown)) == ("blockquote", "{'type': 'rich_text_hologram'}")


def test_a_message_says_when() -> None:
    """A message has its day and time in words; one without blocks has its text as nodes."""
    told = reader().message({"ts": f"{NOW:.6f}", "text": "*hi*", "latest_reply": f"{NOW + 60:.6f}"})
    assert (told["day"], told["time"], told["latest_time"]) == ("today", "01:53", "01:54")
    assert told["nodes"] == [["b", {}, ["hi"]]]


def test_an_unknown_block_stays() -> None:
    """A block the page does not know keeps its JSON, texts included."""
    strange = {"type": "hologram", "text": {"type": "plain_text", "text": ":x:"}}
    assert reader().blocks([strange]) == [strange]


def test_a_view() -> None:
    """A modal's title and buttons are read like its blocks; what is not there stays None."""
    title = {"type": "plain_text", "text": "Form :tada:", "emoji": True}
    view = {"title": title, "submit": None, "close": None, "blocks": [{"type": "divider"}]}
    told = reader().view(view)
    assert told["title"]["nodes"] == ["Form 🎉"]
    assert (told["submit"], told["blocks"]) == (None, [{"type": "divider"}])
