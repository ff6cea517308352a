"""Who has to agree, frozen when a question is asked, and what votes amount to; pure."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, JsonValue

_PERSON = re.compile(r"[UW][A-Z0-9]{2,}")
_GROUP = re.compile(r"S[A-Z0-9]{2,}")


OPERATOR = "operator "
"""How the names of operators begin in a record; no person's id begins so."""


def is_person(name: str) -> bool:
    """Whether a name is the id of a person; all others are groups and roles."""
    return _PERSON.fullmatch(name) is not None


def is_group(name: str) -> bool:
    """Whether a name is the id of a user group."""
    return _GROUP.fullmatch(name) is not None


class Frozen(BaseModel):
    """A record that does not change once it is made.

    Fields that a newer release wrote, and this one does not know, stay in it.
    """

    model_config = ConfigDict(frozen=True, extra="allow")


class Quota(Frozen):
    """A number of people, each of whom stands for one of these names."""

    names: tuple[str, ...]
    count: int = 1


class Vote(Frozen):
    """What one person said, and when (milliseconds, the store's clock).

    `names` are the groups and roles of the policy that the person stood for at that moment, without
    those that they are known to have lost since. An approval that `counts` no more is of somebody
    who is known to have lost the right; they may give it again once they have it again.
    """

    person: str
    confirmed: bool
    at: int
    payload: dict[str, JsonValue] | None = None
    reason: str | None = None
    names: tuple[str, ...] = ()
    counts: bool = True


class Policy(Frozen):
    """Who may decide, frozen when the question was asked.

    `approvers` are the people who were known to be entitled, or groups whose members were not. Each
    of `rules` needs one of its quotas; without rules `quorum` of the approvers are needed. So many
    `rejections` close it, fewer than were `wanted` while not so many people are left; 0: as many.
    `notified` get a card, None means the approvers; they stood for `notify`.

    `passed_on` are the numbers of the rules in which others stand in for people who are gone. Those
    can count for several of these rules, so it takes so many different `people` for them together
    as it took before.
    """

    approvers: tuple[str, ...]
    quorum: int = 1
    self_approval: bool = False
    rules: tuple[tuple[Quota, ...], ...] = ()
    rejections: int = 1
    wanted: int = 0
    reason_required: bool = False
    notified: tuple[str, ...] | None = None
    notify: tuple[str, ...] = ()
    passed_on: tuple[int, ...] = ()
    people: int = 0

    @property
    def demands(self) -> tuple[tuple[Quota, ...], ...]:
        """The rules; a mere quorum makes one rule."""
        return self.rules or ((Quota(names=self.approvers, count=self.quorum),),)

    @property
    def names(self) -> frozenset[str]:
        """Every name that gives a right to decide."""
        if not self.rules:
            return frozenset(self.approvers)
        return frozenset(name for rule in self.rules for quota in rule for name in quota.names)

    @property
    def groups(self) -> frozenset[str]:
        """The names among them that stand for several people."""
        return frozenset(name for name in self.names if not is_person(name))

    @property
    def together(self) -> Quota:
        """How many different people all rules that were passed on need together."""
        rules = (self.demands[number] for number in self.passed_on)
        names = dict.fromkeys(name for rule in rules for quota in rule for name in quota.names)
        return Quota(names=tuple(names), count=self.people)

    @property
    def is_simple(self) -> bool:
        """Whether a number says it all: that many of those who were asked."""
        among = {name for rule in self.demands for quota in rule for name in quota.names}
        return [len(rule) for rule in self.demands] == [1] and among == {*self.approvers}

    def entitles(self, person: str, names: Iterable[str] = ()) -> bool:
        """Whether a person who stands for these names may decide."""
        entitled = self.names
        return person in entitled or not entitled.isdisjoint(names)

    def without(self, people: frozenset[str], unheard: frozenset[str]) -> "Policy":
        """The same policy when these people are not asked any more; `unheard` give no right."""
        rules = tuple(
            tuple(quota.model_copy(update={"names": _left(quota.names, unheard)}) for quota in rule)
            for rule in self.demands
        )
        return self.model_copy(update={"rules": rules, "approvers": _left(self.approvers, people)})

    def widened(
        self, names: Sequence[str], people: Sequence[str], *, rules: Collection[int] | None = None
    ) -> "Policy":
        """The same policy when these names may decide as well, each vote as good as another.

        They count for the `rules` of these numbers, None for all of them.
        """
        demands = tuple(
            rule if rules is not None and n not in rules else _wider(rule, names)
            for n, rule in enumerate(self.demands)
        )
        approvers = tuple(dict.fromkeys((*self.approvers, *people)))
        return self.model_copy(update={"rules": demands, "approvers": approvers})


def _wider(rule: tuple[Quota, ...], names: Sequence[str]) -> tuple[Quota, ...]:
    return tuple(
        quota.model_copy(update={"names": tuple(dict.fromkeys((*quota.names, *names)))})
        for quota in rule
    )


def _left(names: Iterable[str], gone: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)


def newest(votes: Iterable[Vote]) -> Mapping[str, Vote]:
    """The last vote of each person, which alone counts."""
    return {vote.person: vote for vote in votes}


def in_favour(votes: Iterable[Vote], payload: dict[str, JsonValue] | None) -> tuple[Vote, ...]:
    """The votes that count and approve with exactly this payload: others are counted apart."""
    found = approving(votes)
    return tuple(vote for vote in found if same(vote.payload, payload))


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two people entered the same: 1 is not True, though Python says so."""
    return one is other or (one == other and spelled(one) == spelled(other))


def spelled(value: JsonValue) -> str:
    """What somebody entered as text, the same for the same."""
    return json.dumps(value, sort_keys=True)


def approving(votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """The last votes of people that approve and count, whatever their payload."""
    return tuple(vote for vote in newest(votes).values() if vote.confirmed and vote.counts)


def reached(policy: Policy, votes: Sequence[Vote]) -> bool:
    """Whether these votes in favour, one a person, are enough for each of the rules.

    Somebody whom two rules name, or who stands for names in both, counts for both: whoever writes
    them has it so. Where others stand in for several of them it still takes as many people.
    """
    met = all(any(standing(quota, votes) >= quota.count for quota in r) for r in policy.demands)
    return met and standing(policy.together, votes) >= policy.people


def standing(quota: Quota, votes: Iterable[Vote]) -> int:
    """How many of the votes count for a quota."""
    names = frozenset(quota.names)
    return sum(vote.person in names or not names.isdisjoint(vote.names) for vote in votes)


def needed(policy: Policy, votes: Sequence[Vote] = ()) -> int:
    """How many people have to agree at the least, those with these equal votes among them.

    Whom a group stands for is not known here: one person may be enough for several rules.
    """
    missing = [
        (min(max(0, quota.count - standing(quota, votes)) for quota in rule), _named(rule))
        for rule in policy.demands
    ]
    asked = [(count, names) for count, names in missing if count]
    apart = all(map(is_person, (name for _, names in asked for name in names)))
    apart = apart and sum(len(n) for _, n in asked) == len({n for _, names in asked for n in names})
    counts = [count for count, _ in asked]
    more = policy.people - standing(policy.together, votes)
    return len(votes) + max(sum(counts) if apart else max(counts, default=0), more)


def different(rules: Iterable[Sequence[Quota]]) -> int:
    """How many different people some rules mean: those that share no name mean others."""
    apart: list[tuple[frozenset[str], int]] = []
    for rule in rules:
        names, count = _named(rule), min(quota.count for quota in rule)
        alike = [each for each in apart if not names.isdisjoint(each[0])]
        apart = [each for each in apart if each not in alike]
        whole = names.union(*(each[0] for each in alike))
        apart.append((whole, max([count, *(each[1] for each in alike)])))
    return sum(count for _, count in apart)


def total(policy: Policy, votes: Sequence[Vote] = ()) -> str:
    """How many it takes, those with these equal votes among them: with several rules at least."""
    return f"{'' if policy.is_simple else 'at least '}{needed(policy, votes)}"


def _named(rule: Sequence[Quota]) -> frozenset[str]:
    return frozenset(name for quota in rule for name in quota.names)
