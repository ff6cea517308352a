"""What goes into the slot with new events."""

from datetime import timedelta

import pytest
from google.genai import types

from agents import ApprovalPolicy, Event, Settle
from bot.approvals.request import Approval, Copy
from bot.approvals.resolve import Defaults
from bot.approvals.scene import Gap, requester
from tests.bot.approvals.samples import (
    ASKED,
    DEADLINE,
    KEY,
    answering,
    approval,
    asking,
    calling,
    message,
    planned,
    response,
    says,
)

BEFORE = (message(), calling())
WEEK = int(timedelta(days=7) / timedelta(milliseconds=1))
PLACE = {"channel": "C1", "thread_ts": "100.1"}
ANSWERED = (*BEFORE, asking(), answering(confirmed=True))


def kinds(plan) -> list[str]:
    return [post.body["kind"] for post in plan.companions.posts]


def test_a_question_opens_an_approval():
    """A question opens a pending approval of the requester's, with the policy of now."""
    found = planned(asking(), after=BEFORE).companions
    (record,) = found.approvals
    kept = Approval.from_record(record)
    assert (kept.id, kept.call_id, kept.status, kept.rev) == ("3-0", "2-0", "pending", 1)
    assert (kept.session, kept.requester, kept.nonce) == (str(KEY), "UASK", "nonce0")
    assert kept.policy.approvers == ("UBOSS", "UCFO")
    assert (kept.asked_at, kept.deadline) == (ASKED, ASKED + WEEK)
    assert [entry["type"] for entry in found.audit] == ["approval.opened"]
    assert kept.reminders == (ASKED + WEEK * 4 // 5,)
    assert found.index == [("ZADD", "due", ASKED, "3-0")]


def test_a_card_in_a_channel_is_looked_at_at_once():
    """Who is asked and not in the channel is found out by the clock; DMs wait for their time."""
    dues = [planned(asking(), after=BEFORE, channel=each).companions.index for each in ("C9", None)]
    assert dues == [[("ZADD", "due", at, "3-0")] for at in (ASKED, ASKED + WEEK * 4 // 5)]


def test_a_question_is_posted_to_the_approvers_channel():
    """With a channel one card goes there, and a line into the requester's thread."""
    found = planned(asking(), after=BEFORE).companions
    card, line = found.posts
    assert card.body == {"kind": "card", "channel": "CBOSS", "approval": "3-0"}
    assert line.body == {"kind": "asked", **PLACE, "approval": "3-0"}
    kept = Approval.from_record(found.approvals[0])
    assert [copy.post for copy in kept.copies] == [card.id]
    assert kept.notice == line.id


def test_without_a_channel_each_approver_gets_a_card():
    """Without a channel every approver gets a card of their own."""
    found = planned(asking(), after=BEFORE, channel=None).companions
    places = [post.body.get("person") for post in found.posts]
    assert places == ["UBOSS", "UCFO", None]
    assert len({post.id for post in found.posts}) == 3


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(ApprovalPolicy(approvers=("UBOSS",), notify=()), id="nobody is told"),
        pytest.param(ApprovalPolicy(approvers=("finance",)), id="a group nobody can look up"),
    ],
)
def test_a_card_that_nobody_gets_is_in_the_thread(policy):
    """Without a channel and without a person to write to, the card is where it was asked for."""
    told = {"policies": {"reimburse": policy}, "defaults": Defaults(groups={"finance": None})}
    found = planned(asking(), after=BEFORE, channel=None, **told)
    card, line = found.companions.posts
    assert card.body == {"kind": "card", **PLACE, "approval": "3-0"}
    assert line.body["kind"] == "asked"
    (copy,) = Approval.from_record(found.companions.approvals[0]).copies
    assert copy.private


def test_the_model_learns_who_is_asked():
    """While people decide, the model may know whom it waits for and until when."""
    found = planned(asking(), after=BEFORE).companions
    assert found.notes == {
        "2-0": {
            "status": "pending",
            "waiting_for": "approval",
            "asked": ["UBOSS", "UCFO"],
            "until": "2027-01-22T08:00:00+00:00",
        }
    }


def test_the_model_learns_names():
    """Whom people call Bo is Bo for the model too, for what it tells is read by people."""
    found = planned(asking(), after=BEFORE, name={"UBOSS": "Bo", "UCFO": "UCFO"}.__getitem__)
    assert found.companions.notes["2-0"]["asked"] == ["Bo", "UCFO"]


def begun(*pending: str, version: int = 3, **said: object) -> Event:
    """The event of a batch in which these calls have nothing to say yet."""
    told = response(version=version, more=True, **said) if said else Event(version=version)
    fields = {"author": "reimbursement", "invocation_id": "i1", "pending": [*pending]}
    return told.model_copy(update=fields)


def saying(text: str) -> Event:
    """The model says something and calls in the same breath."""
    made = calling()
    parts = [types.Part(text=text), *made.content.parts]
    return made.model_copy(update={"content": types.Content(role="model", parts=parts)})


@pytest.mark.parametrize(
    ("made", "new", "told"),
    [
        pytest.param(calling(), begun("2-0"), True, id="one call"),
        pytest.param(calling(calls=2), begun("2-0", "2-1"), True, id="two calls, told once"),
        pytest.param(calling(), begun("2-0", step=1), True, id="with progress"),
        pytest.param(calling(), begun("2-0", ticket_id="T-1"), False, id="with a ticket"),
        pytest.param(saying("I order it."), begun("2-0"), False, id="the agent said so"),
        pytest.param(saying("  \n"), begun("2-0"), True, id="the agent said nothing but blanks"),
        pytest.param(calling(), response(version=3), False, id="an answer"),
    ],
)
def test_who_asked_hears_that_work_has_begun(made: Event, new: Event, told: bool):
    """Without a word, people ask again, and what they asked for is begun twice."""
    found = planned(new, after=(message(), made)).companions.posts
    text = "Started: “reimburse”. News of it will come here by itself; you need not ask again."
    assert [(post.body["kind"], post.body["text"]) for post in found] == (
        [("notice", text)] if told else []
    )


def test_a_question_that_never_expires_is_never_due():
    """Without a span there is no deadline, nothing in the index and no date in the note."""
    endless = Defaults(approvers=("UBOSS",), ttl=None)
    found = planned(asking(), after=BEFORE, channel=None, defaults=endless)
    assert found.companions.approvals[0].deadline is None
    assert found.companions.index == []
    assert "until" not in found.companions.notes["2-0"]


def test_a_policy_that_cannot_be_resolved_is_told():
    """Of a senseless policy that got past the start requester and operator hear; nobody waits."""
    policy = ApprovalPolicy(approvers=("UBOSS",))
    object.__setattr__(policy, "quorum", "2")
    found = planned(asking(), after=BEFORE, policies={"reimburse": policy})
    assert found.gaps == (Gap(kind="broken_policy", tool="reimburse"),)
    assert found.settling == ("3-0",)
    (post,) = found.companions.posts
    assert "Nobody may approve" in post.body["text"]


def test_questions_of_one_turn_are_apart():
    """Two questions of one event are two approvals with their own nonces and posts."""
    found = planned(asking(calls=("2-0", "2-1")), after=(message(), calling(calls=2)))
    first, second = (Approval.from_record(record) for record in found.companions.approvals)
    assert (first.id, second.id) == ("3-0", "3-1")
    assert first.nonce != second.nonce
    assert kinds(found) == ["card", "asked", "card", "asked"]
    assert len({post.id for post in found.companions.posts}) == 4
    assert found.settling == ()


def test_the_initial_values_come_along():
    """The values that the inputs begin with are in the approval."""
    begun = {"payload_schema": {"type": "object"}, "initial": {"days": 3}}
    found = planned(asking(3, **begun), response(version=4, shown=True), after=BEFORE).companions
    assert Approval.from_record(found.approvals[0]).payload == {"days": 3}
    assert found.settles == []


def test_a_nested_agents_question_is_put():
    """A question inside a nested agent is put to people like any other."""
    found = planned(asking(branch="helper@2-0"), after=BEFORE)
    assert kinds(found) == ["card", "asked"]
    assert found.companions.approvals[0].body["requester"] == "UASK"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param(ApprovalPolicy(approvers=("UASK",)), "Nobody may approve", id="only myself"),
        pytest.param(ApprovalPolicy(approvers=("nosuch",)), "Nobody may approve", id="no such"),
        pytest.param(ApprovalPolicy(quorum=3), "needs 3 approvals and only 2", id="too few"),
    ],
)
def test_nobody_to_ask(policy, words):
    """Without approvers there is no card: the requester is told, and the request is closed next."""
    found = planned(asking(), after=BEFORE, policies={"reimburse": policy})
    (post,) = found.companions.posts
    assert (post.body["kind"], post.body["channel"]) == ("notice", "C1")
    assert words in post.body["text"]
    kept = Approval.from_record(found.companions.approvals[0])
    assert (kept.status, kept.policy.approvers, kept.notice) == ("pending", (), "")
    assert not kept.copies
    assert found.settling == ("3-0",)
    assert found.companions.index == [("ZADD", "due", ASKED, "3-0")]
    assert Gap(kind="no_approvers", tool="reimburse") in found.gaps


def test_names_nobody_knows_are_told_to_the_operator():
    """A name that stands for nobody is a gap, though the others are asked."""
    policy = ApprovalPolicy(approvers=("nosuch", "UBOSS"))
    found = planned(asking(), after=BEFORE, policies={"reimburse": policy})
    assert found.gaps == (Gap(kind="unknown_names", tool="reimburse", names=("nosuch",)),)
    assert kinds(found) == ["card", "asked"]


AGAIN = (*BEFORE, asking(), message("again", version=4, run="i2"), calling(5, run="i2"))


@pytest.mark.parametrize(
    ("new", "after", "settling"),
    [
        pytest.param(response(version=6), AGAIN, ("3-0",), id="its call is answered"),
        pytest.param(
            response(version=6, error="no"),
            AGAIN,
            ("3-0",),
            id="its call is answered with an error",
        ),
        pytest.param(response("5-0", version=6), AGAIN, (), id="another call is answered"),
        pytest.param(response(version=6, shown=True), AGAIN, (), id="what stands for its answer"),
        pytest.param(
            response(version=6),
            (*BEFORE, asking(), answering(confirmed=True), calling(5)),
            (),
            id="it is decided",
        ),
        pytest.param(asking(6, calls=("5-0",), run="i2"), AGAIN, (), id="asked again, by itself"),
    ],
)
def test_an_open_request_whose_call_is_answered(new, after, settling):
    """Nobody waits for it any more, so it is due at once."""
    found = planned(new, after=after, known=[approval()])
    assert found.settling == settling
    at_once = [command[3] for command in found.companions.index if command[2] == ASKED]
    assert ("3-0" in at_once) is bool(settling)


@pytest.mark.parametrize(
    ("asked", "came", "begun"),
    [
        pytest.param({"unknown": True}, "unknown", True, id="nobody knows what its body did"),
        pytest.param({"dynamic": True, "ended": True}, "done", True, id="its body asked"),
        pytest.param(
            {"changes": ("x",), "ended": True},
            "unknown",
            True,
            id="its body was interrupted, and may run again otherwise",
        ),
        pytest.param(
            {"changes": ("x",), "ended": True, "dynamic": True},
            "unknown",
            True,
            id="a body that asks was interrupted",
        ),
        pytest.param({"changes": ("x",)}, "unknown", False, id="it had not begun"),
    ],
)
def test_a_call_asked_about_anew_voids_its_approval(asked, came, begun):
    """When a call is asked about once more, what was agreed before does not count any more."""
    found = planned(
        asking(5, digest="e", **asked), after=ANSWERED, known=(approval(status="approved"),)
    ).companions
    assert found.settles == [
        Settle(id="3-0", sources=("approved",), status="void"),
        Settle(id="3-0", sources=("started",), status=came),
    ]
    shown = [post.id for post in found.posts if post.id.endswith("@n5")]
    assert shown == ["card:3-0:0@n5", "asked:3-0@n5"]
    assert [Approval.from_record(record).begun for record in found.approvals] == [begun]


def test_a_first_question_begins_nothing():
    """A body that runs to ask has done nothing yet that people let it do."""
    (record,) = planned(asking(dynamic=True, ended=True), after=BEFORE).companions.approvals
    assert not Approval.from_record(record).begun


def test_what_began_is_known_to_every_later_question():
    """Also where the newest one was approved and not started."""
    known = approval(status="approved", begun=True)
    found = planned(asking(5, changes=("x",)), after=ANSWERED, known=(known,)).companions
    assert [Approval.from_record(record).begun for record in found.approvals] == [True]


INTERRUPTED = (*ANSWERED, asking(5, digest="e", unknown=True))


@pytest.mark.parametrize(
    ("answer", "said", "became"),
    [
        pytest.param({"outcome": "happened"}, {"ok": True}, {"3-0": "done"}, id="it happened"),
        pytest.param({"outcome": "rejected"}, {"error": "?"}, {"3-0": "cancelled"}, id="leave it"),
        pytest.param(
            {"confirmed": True}, {"ok": True}, {"5-0": "done", "3-0": "done"}, id="it ran again"
        ),
    ],
)
@pytest.mark.parametrize("status", ["started", "unknown"])
def test_what_became_of_an_interrupted_call_is_in_the_audit(answer, said, became, status: str):
    """Whoever let it run reads there what came of it, however people found that out."""
    known = [approval(id="0-0", status="void"), approval(status=status)]
    after = (*INTERRUPTED, answering("5-0", version=6, **answer))
    found = planned(response(version=7, **said), after=after, known=known).companions
    told = {e["approval"]: e["status"] for e in found.audit if e["type"] == "approval.answered"}
    assert told == became


HOME = Copy(post="card:3-0:0", channel="C1", thread_ts="100.1")


@pytest.mark.parametrize(
    ("event", "after", "known", "told"),
    [
        pytest.param(message("40", version=4, run="i2", user="UX"), (asking(),), {}, 1, id="words"),
        pytest.param(message("40", version=4, run="i2"), (), {}, 0, id="nothing is asked"),
        pytest.param(says("Hm."), (asking(),), {}, 0, id="the agent talks"),
        pytest.param(
            message("40", version=5, run="i2"),
            (asking(), answering(confirmed=True)),
            {},
            0,
            id="it is decided",
        ),
        pytest.param(answering(confirmed=True), (asking(),), {}, 0, id="a decision"),
        pytest.param(
            message("40", version=4, run="i2").model_copy(update={"branch": "helper@2-0"}),
            (asking(),),
            {},
            0,
            id="to a nested agent",
        ),
        pytest.param(
            message("40", version=4, run="i2"),
            (asking(),),
            {"copies": (HOME,)},
            0,
            id="the card is where they talk",
        ),
        pytest.param(
            message("40", version=4, run="i2"),
            (asking(),),
            {"copies": tuple(Copy.numbered("3-0", n, f"UX{n}") for n in range(3))},
            3,
            id="three copies",
        ),
        pytest.param(
            message("40", version=5, run="i2"),
            (asking(), message("well", version=4, run="i2")),
            {},
            0,
            id="told already, at the message before",
        ),
        pytest.param(
            message("40", version=5, run="i2"),
            (asking(), says("Hm.")),
            {},
            1,
            id="only the agent talked before",
        ),
        pytest.param(
            message("40", version=9, run="i2"),
            (asking(), message("well", version=4, run="i2"), asking(8)),
            {"id": "8-0"},
            1,
            id="a question that was asked since then",
        ),
    ],
)
def test_people_talk_on(event, after, known, told: int):
    """Whoever writes while people are asked is told of under each card that is elsewhere, once."""
    found = planned(event, after=(*BEFORE, *after), known=(approval(**known),)).companions
    lines = [post for post in found.posts if post.body["kind"] == "moved_on"]
    assert len(lines) == told
    assert all(post.id == f"{post.after}@moved" for post in lines)
    assert all(post.body["by"] == event.user_id for post in lines)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param({"ok": True}, "done", id="done"),
        pytest.param({"status": "paid"}, "done", id="done, with a status"),
        pytest.param({"error": "no money"}, "failed", id="an error"),
        pytest.param({"status": "error"}, "failed", id="a status of error"),
        pytest.param({"status": "unknown", "error": "?"}, "unknown", id="nobody knows"),
    ],
)
def test_a_response_settles_its_approval(said, status):
    """The response of an approved call settles it, and every message about it is shown anew."""
    found = planned(response(**said), after=ANSWERED, known=(approval(status="started"),))
    assert found.companions.settles == [
        Settle(id="3-0", sources=("started",), status=status),
        Settle(id="3-0", sources=("approved",), status="void"),
    ]
    assert [(p.body["kind"], p.after, p.id) for p in found.companions.posts] == [
        ("card_update", "card:3-0:0", "card:3-0:0@v5"),
        ("asked_update", "asked:3-0", "asked:3-0@v5"),
    ]
    assert [(e["type"], e["status"]) for e in found.companions.audit] == [
        ("approval.answered", status)
    ]


def test_an_approval_that_cannot_be_read_is_settled_by_its_id():
    """What became of its call stands in its record and in the audit, though no card can be made."""
    found = planned(response(error="?"), after=ANSWERED, known=()).companions
    read = planned(response(error="?"), after=ANSWERED, known=(approval(status="started"),))
    assert [found.settles, found.audit] == [read.companions.settles, read.companions.audit]
    assert found.posts == []


@pytest.mark.parametrize(
    ("new", "after"),
    [
        pytest.param(response(), BEFORE, id="a call nobody was asked about"),
        pytest.param(
            response(error="no", outcome="rejected"),
            (*BEFORE, asking(), answering(confirmed=False)),
            id="a rejected call",
        ),
        pytest.param(response(more=True), ANSWERED, id="progress"),
        pytest.param(response(version=6), (*ANSWERED, response(version=5)), id="a second response"),
        pytest.param(response("9-9"), ANSWERED, id="a call nobody knows"),
        pytest.param(answering(confirmed=True), (*BEFORE, asking()), id="the answer itself"),
    ],
)
def test_other_responses_settle_nothing(new, after):
    """Only the first answer of a call that people agreed to settles its approval."""
    found = planned(new, after=after, known=(approval(status="started"),)).companions
    assert (found.settles, found.posts, found.audit) == ([], [], [])


@pytest.mark.parametrize("error", [None, "WEIRD"])
def test_an_answer_is_for_whoever_asked(error):
    """Every answer names whose words it answers, whoever decided in between."""
    after = (*BEFORE, asking(), answering(confirmed=True))
    found = planned(says("Paid.", version=6, error_code=error), after=after).companions
    assert {str(post.body["asker"]) for post in found.posts} == {"UASK"}


@pytest.mark.parametrize(
    ("event", "posts"),
    [
        pytest.param(says("Hello"), [("answer", "o:4:0", "Hello")], id="a text"),
        pytest.param(says("  \n "), [], id="only blanks"),
        pytest.param(says("Hello", partial=True), [], id="a partial text"),
        pytest.param(says("Hello", branch="helper@2-0"), [], id="a nested agent's text"),
        pytest.param(message("Hello", version=4), [], id="a person's text"),
        pytest.param(calling(4), [], id="a call"),
        pytest.param(
            says("Cut", error_code="MAX_TOKENS"),
            [("answer", "o:4:0", "Cut"), ("notice", "o:4:1", "too long")],
            id="a text cut off",
        ),
        pytest.param(
            says("", error_code="WEIRD", error_message="key=secret"),
            [("notice", "o:4:1", "went wrong")],
            id="an error says nothing of its cause",
        ),
        pytest.param(
            says("", error_code="WEIRD", branch="helper@2-0"), [], id="a nested agent's error"
        ),
    ],
)
def test_what_is_said_is_posted(event, posts):
    """What the agent says to people goes into its thread, and nothing else does."""
    found = planned(event, after=BEFORE).companions.posts
    assert [(post.body["kind"], post.id) for post in found] == [each[:2] for each in posts]
    assert all(words in post.body["text"] for post, (*_, words) in zip(found, posts, strict=True))
    assert all(PLACE.items() <= post.body.items() for post in found)


@pytest.mark.parametrize(
    ("event", "counted"),
    [
        pytest.param(
            says("Hello", usage={"in": 90, "out": 5, "thoughts": 5, "cached": 30}),
            [("UASK", 100, ASKED)],
            id="what a model said",
        ),
        pytest.param(
            says("Hello", usage={"in": 90}, branch="helper@2-0"),
            [("UASK", 90, ASKED)],
            id="a nested agent's model",
        ),
        pytest.param(says("Hello"), [], id="what cost nothing"),
    ],
)
def test_tokens_are_counted(event, counted):
    """What a model was paid for goes on the account of whoever asked."""

    def count(_key, person: str, *, tokens: int, now: int):
        return [(person, tokens, now)]

    assert planned(event, after=BEFORE, spent=count).companions.index == counted
    assert planned(event, after=BEFORE).companions.index == []


def test_several_events_at_once():
    """A commit of several events carries what each of them brings about."""
    found = planned(says("I ask.", version=3), asking(4), after=BEFORE)
    assert kinds(found) == ["answer", "card", "asked"]


@pytest.mark.parametrize(
    ("events", "run", "person"),
    [
        pytest.param([message()], "i1", "UASK", id="who wrote"),
        pytest.param([message(), answering()], "i1", "UASK", id="not who answered"),
        pytest.param(
            [message(), message(user="UOTHER", version=2, run="i2")],
            "i1",
            "UASK",
            id="not who wrote something else",
        ),
        pytest.param(
            [message(), message(user="UOTHER", version=2, run="i2")],
            "i2",
            "UOTHER",
            id="the second person's own request",
        ),
        pytest.param([message()], "i9", "UASK", id="else whoever wrote last"),
        pytest.param([], "i1", "", id="nobody"),
    ],
)
def test_requester(events, run, person):
    """The requester is the author of the message that began the invocation."""
    assert requester(events, asking(run=run)) == person
    assert DEADLINE > ASKED
