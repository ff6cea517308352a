"""The line under a card mentions everybody who may decide from now on: others hear of nothing."""

from collections.abc import Sequence

import pytest

from agents import Post
from bot.approvals.life import inherited, prompted
from bot.approvals.posts import kind_of, prompts
from bot.approvals.request import Approval, Escalation
from bot.approvals.terms import Policy, Quota
from bot.slack.blocks.line import prompt
from tests.bot.approvals.samples import ASKED, approval

CFO = Escalation(at=ASKED + 1, names=("cfo",), people=("UCFO2",))
BEN = Escalation(at=ASKED + 1, names=("UBEN",), people=("UBEN",))
LATER = Escalation(at=ASKED + 2, names=("UBEN",), people=("UBEN",))
UNKNOWN = Escalation(at=ASKED + 1, names=("S0FIN",), people=("S0FIN",))
NOBODY = Escalation(at=ASKED + 1, names=("cfo",))
TWO = ((Quota(names=("UBOSS",)),), (Quota(names=("ULEX",)),))


def line(before: Approval, after: Approval, kind: str) -> str:
    """The line that is owed under the first card."""
    (post,) = [each for each in prompts(before, after) if kind_of(each) == kind]
    return prompt(after, kind=kind, people=people(post)).text


def people(post: Post) -> list[str]:
    """Who is behind the names, as the post has it."""
    found = post.body["people"]
    assert isinstance(found, list)
    return [*map(str, found)]


@pytest.mark.parametrize(
    ("escalations", "now", "told"),
    [
        pytest.param([CFO], 1, "<@UCFO2>", id="a role"),
        pytest.param([BEN], 1, "<@UBEN>", id="a person"),
        pytest.param([CFO, BEN], 1, "<@UCFO2> and <@UBEN>", id="two at once"),
        pytest.param([CFO, LATER], 9, "<@UCFO2> and <@UBEN>", id="two, after the clock was down"),
        pytest.param([BEN, LATER], 9, "<@UBEN>", id="one person twice"),
        pytest.param([UNKNOWN], 1, "<!subteam^S0FIN>", id="a group that could not be looked up"),
        pytest.param([NOBODY], 1, "cfo", id="a role that nobody is known for"),
    ],
)
def test_an_escalation(escalations: Sequence[Escalation], now: int, told: str):
    """Each who comes in is mentioned, once, whatever name they come in by."""
    before = approval(escalations=tuple(escalations))
    after = prompted(before, now=ASKED + now)
    assert after is not None
    assert line(before, after, "escalation").startswith(f"{told} may decide this as well now")


def test_one_after_the_other():
    """Whoever came in before is not mentioned again with the next."""
    first = prompted(approval(escalations=(CFO, LATER)), now=ASKED + 1)
    assert first is not None
    second = prompted(first, now=ASKED + 2)
    assert second is not None
    assert line(first, second, "escalation").startswith("<@UBEN> may decide")


def test_a_line_that_was_owed_before_it_named_people():
    """What an older release owes names those of the latest escalation."""
    after = prompted(approval(escalations=(CFO,)), now=ASKED + 1)
    assert after is not None
    assert prompt(after, kind="escalation").text.startswith("<@UCFO2> may decide")


@pytest.mark.parametrize(
    ("heirs", "behind", "told"),
    [
        pytest.param(("admins",), ("UADA", "UBEN"), "<@UADA> and <@UBEN>", id="a role"),
        pytest.param(("UADA",), ("UADA",), "<@UADA>", id="a person"),
        pytest.param(("UADA", "admins"), ("UADA", "UBEN"), "<@UADA> and <@UBEN>", id="both"),
        pytest.param(("ULEX",), ("ULEX",), "<@ULEX>", id="somebody whom another rule names"),
        pytest.param(("admins",), ("ULEX",), "admins", id="a role of nobody new"),
    ],
)
def test_a_succession(heirs: tuple[str, ...], behind: tuple[str, ...], told: str):
    """The people behind the default approvers are mentioned, not only named."""
    policy = Policy(approvers=("UBOSS", "ULEX"), rules=TWO)
    before = approval(policy=policy)
    after = inherited(before, heirs, behind, gone=frozenset({"UBOSS"}), rules=(0,))
    assert f"decide: {told} may decide this as well now" in line(before, after, "succession")


def test_the_others_are_not_mentioned_again():
    """A second succession mentions those whom it brings."""
    policy = Policy(approvers=("UBOSS", "ULEX"), rules=TWO)
    boss, both = frozenset({"UBOSS"}), frozenset({"UBOSS", "ULEX"})
    first = inherited(approval(policy=policy), ("UADA",), ("UADA",), gone=boss, rules=(0,))
    second = inherited(first, ("UBEN",), ("UBEN",), gone=both, rules=(1,))
    assert "decide: <@UBEN> may decide" in line(first, second, "succession")
