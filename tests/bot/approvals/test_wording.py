"""What a policy asks for, in words: nobody can read them in two ways, wherever they stand."""

from collections.abc import Sequence

import pytest

from bot.approvals.terms import Policy, Quota, Vote, total
from bot.approvals.wording import demands, rules

A, B, C = "UAMY", "UBEN", "UCAT"


def policy(*written: Sequence[tuple[tuple[str, ...], int]], approvers=(A, B), **more) -> Policy:
    """A policy of rules, each with its quotas: names and how many of them."""
    rules = tuple(tuple(Quota(names=n, count=c) for n, c in rule) for rule in written)
    return Policy(approvers=approvers, rules=rules, **more)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(policy(), "", id="anybody of those asked"),
        pytest.param(policy(quorum=2), "2 have to approve", id="so many of those asked"),
        pytest.param(policy([((A, B), 1)]), "", id="the same as a rule"),
        pytest.param(policy([((A, B), 2)]), "2 have to approve", id="a number as a rule"),
        pytest.param(policy([(("cfo",), 1)]), "it takes 1 from cfo", id="a role"),
        pytest.param(policy([(("cfo",), 2)]), "it takes 2 from cfo", id="two of a role"),
        pytest.param(policy([((A,), 1)]), "it takes UAMY", id="one of those asked"),
        pytest.param(
            policy([(("cfo", B), 1)]), "it takes any 1 of (cfo, UBEN)", id="a role or somebody"
        ),
        pytest.param(
            policy([((A, B), 2)], approvers=(A, B, C)), "it takes all of (UAMY, UBEN)", id="all"
        ),
        pytest.param(
            policy([((A, "cfo"), 2)]), "it takes any 2 of (UAMY, cfo)", id="a role is no person"
        ),
        pytest.param(
            policy([(("cfo",), 1), (("finance",), 2)]),
            "it takes 1 from cfo or 2 from finance",
            id="one of these or two of those",
        ),
        pytest.param(
            policy([((A,), 1), (("finance",), 2)]),
            "it takes UAMY or 2 from finance",
            id="somebody or two of those",
        ),
        pytest.param(
            policy([(("cfo", B), 1), (("finance", C), 2)]),
            "it takes any 1 of (cfo, UBEN) or any 2 of (finance, UCAT)",
            id="two ways with several names",
        ),
        pytest.param(
            policy([((A,), 1)], [((B,), 1)]), "it takes UAMY; and also UBEN", id="two rules"
        ),
        pytest.param(
            policy([(("cfo",), 1), (("finance",), 2)], [((B, C), 1)]),
            "it takes either 1 from cfo or 2 from finance; and also any 1 of (UBEN, UCAT)",
            id="an alternative and a rule",
        ),
        pytest.param(
            policy([((B,), 1)], [((A,), 1), (("finance",), 2)]),
            "it takes UBEN; and also either UAMY or 2 from finance",
            id="a rule and an alternative",
        ),
        pytest.param(
            policy([((A,), 1)], [((B,), 1)], [((C,), 1)]),
            "it takes UAMY; and also UBEN; and also UCAT",
            id="three rules",
        ),
        pytest.param(
            policy([((), 1), (("finance",), 2)]),
            "it takes 2 from finance",
            id="a way without names",
        ),
        pytest.param(policy([((), 1)]), "it takes nobody", id="no way"),
    ],
)
def test_what_it_takes(found: Policy, words: str):
    """Names that count for one demand stand together, and no `and` joins what an `or` means."""
    assert demands(found, list) == words
    assert rules(found, list) == (words if "it takes" in words else "")


@pytest.mark.parametrize(
    ("found", "votes", "words"),
    [
        pytest.param(policy(quorum=2), (), "2", id="so many of those asked"),
        pytest.param(
            policy([(("cfo",), 1), (("finance",), 2)]), (), "at least 1", id="one way may be longer"
        ),
        pytest.param(
            policy([(("cfo",), 1), (("finance",), 2)]),
            (Vote(person=A, confirmed=True, at=1, names=("finance",)),),
            "at least 2",
            id="one of finance",
        ),
        pytest.param(policy([(("a",), 1)], [(("b",), 1)]), (), "at least 1", id="perhaps the same"),
    ],
)
def test_how_many_it_takes(found: Policy, votes: Sequence[Vote], words: str):
    """Where rules differ a number is the least that it can come to, and is called so."""
    assert total(found, votes) == words
