r"""How many steps a regular expression may take on a text that was made to hurt it.

Owns the bound only. Python's `re` backtracks: what it does is walk the paths through the pattern, and a path goes on
only where the next characters fit. The bound counts those paths from the parsed pattern, never too few:

- A repeat of one character has as many ends as it has lengths, but only those at which what follows can begin: one, if
  the repeated characters are none with which it begins (`\w+ `); every third, if it is `foo` (`.*foo`).
- A branch has the paths of those alternatives that can begin on the same characters.
- A repeat of more has the paths of its body to the power of its rounds, so that (a+)+ and (a|a)* have no bound worth
  the name, and `(?:, \w+)*` has one.
- A search begins anew wherever the pattern's first characters are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

TOO_MANY = 1e30
"""Stands for more steps than anyone counts."""
_DEEPEST = 4
"""Repeats within repeats; more have no sensible use, and each is counted four times."""
_LONGEST_RUN = 32
"""Characters that are looked at of what follows."""

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "ANY_ALL", "IN")
_LOOKS = ("ASSERT", "ASSERT_NOT")

Characters = Callable[[str, Any], int]
"""The characters that a node for one character matches, as the bits of a number."""


class Unbounded(Exception):
    """The pattern has a part whose steps cannot be bounded; the text names it."""


class _Next(NamedTuple):
    """What follows: `run`, the characters that it begins with, a set for each place; `ends` where it may be nothing."""

    run: tuple[int, ...]
    ends: bool


class _Cost(NamedTuple):
    """Of a part, from one place in the text: how many paths come through, and the steps of all of them."""

    paths: float
    steps: float


_END = _Next((), True)


def steps(nodes: Sequence[tuple[Any, Any]], length: int, characters: Characters) -> float:
    """Return how many steps a search may take.

    Args:
        nodes: the pattern, as `re._parser.parse` gives it.
        length: characters of the text.
        characters: what a node for one character matches; two sets with no common bit match nothing in common.

    Raises:
        Unbounded: it refers back to what a group has matched.
    """
    return _Counter(length, characters).search(list(nodes))


class _Counter:
    def __init__(self, length: int, characters: Characters, depth: int = 0) -> None:
        self._length = length
        self._characters = characters
        self._depth = depth

    def search(self, nodes: list[tuple[Any, Any]]) -> float:
        if len(nodes) == 1 and str(nodes[0][0]) == "BRANCH":
            return sum(self.search(list(branch)) for branch in nodes[0][1][1])
        cost = self._sequence(nodes, _END)
        if nodes and str(nodes[0][0]) == "AT" and str(nodes[0][1]).startswith("AT_BEGINNING"):
            return cost.steps
        begin = self._begin(nodes, _END)
        places = self._length / _period(begin.run) + 1 if begin.run else self._length + 1
        looked_at = (self._length + 1) * max(1, len(begin.run))
        return float(looked_at + min(places, self._length + 1) * cost.steps)

    def _sequence(self, nodes: Sequence[tuple[Any, Any]], after: _Next) -> _Cost:
        paths, total = 1.0, 1.0
        for number, node in enumerate(nodes):
            cost = self._node(node, self._begin(nodes[number + 1 :], after))
            total += paths * cost.steps
            paths *= cost.paths
        return _Cost(min(paths, TOO_MANY), min(total, TOO_MANY))

    def _node(self, node: tuple[Any, Any], after: _Next) -> _Cost:
        name, argument = str(node[0]), node[1]
        if name in _REPEATS:
            return self._repeat(name, argument, after)
        if name == "BRANCH":
            return self._branch(argument[1], after)
        if name == "SUBPATTERN":
            return self._sequence(argument[3], after)
        if name == "ATOMIC_GROUP":
            return self._sequence(argument, after)._replace(paths=1.0)
        if name in _LOOKS:
            return self._sequence(argument[1], _END)._replace(paths=1.0)
        if name.startswith("GROUPREF"):
            raise Unbounded("a reference to a group")
        return _Cost(1.0, 1.0)

    def _branch(self, branches: Sequence[Sequence[tuple[Any, Any]]], after: _Next) -> _Cost:
        costs = [self._sequence(branch, after) for branch in branches]
        begins = [self._begin(branch, after).run for branch in branches]
        paths = max(
            sum(cost.paths for cost, other in zip(costs, begins, strict=True) if not _exclusive(begin, other))
            for begin in begins
        )
        return _Cost(paths, sum(cost.steps for cost in costs))

    def _repeat(self, name: str, argument: Any, after: _Next) -> _Cost:
        least, most, body = argument
        if len(body) == 1 and str(body[0][0]) in _SINGLE:
            inside = self._characters(str(body[0][0]), body[0][1])
            lengths = min(int(most), self._length) - min(int(least), self._length) + 1
            tried = 1 + _first_unlike(inside, after.run)
            cost = _Cost(_ends(lengths, inside, after), float(min(int(most), self._length) + lengths * tried))
        else:
            cost = self._rounds(int(least), int(most), body, after)
        return cost._replace(paths=1.0) if name == "POSSESSIVE_REPEAT" else cost

    def _rounds(self, least: int, most: int, body: Sequence[tuple[Any, Any]], after: _Next) -> _Cost:
        shortest = min(self._shortest(body), self._length)
        if most == 1:
            out = self._sequence(body, after)
            alone = bool(after.run) and _exclusive(self._begin(body, after).run, after.run)
            return _Cost(max(out.paths, 1.0) if alone else out.paths + 1.0, 1.0 + out.steps)
        if shortest == 0 or self._depth == _DEEPEST:
            return _Cost(TOO_MANY, TOO_MANY)
        rounds = min(most, self._length // shortest)
        behind = self._begin(body, _END)
        whole = _Counter(self._length, self._characters, self._depth + 1)
        on, out = whole._sequence(body, behind), whole._sequence(body, after)
        if on.paths > 1:
            walked = on.paths**rounds if rounds * _digits(on.paths) < _digits(TOO_MANY) else TOO_MANY
            return _Cost(min(walked * out.paths, TOO_MANY), min(walked * (on.steps + out.steps), TOO_MANY))
        # One way from round to round: all rounds together are as long as the text, unless they look ahead.
        length = self._length if _looks(body) else self._length // max(rounds, 1) + 1
        part = _Counter(length, self._characters, self._depth + 1)
        on_part, out_part = part._sequence(body, behind), part._sequence(body, after)
        alone = bool(after.run) and not self._all(body) & after.run[0]
        ends = out.paths if alone else out.paths + rounds * out_part.paths
        total = on.steps + out.steps + rounds * (on_part.steps + out_part.steps + 1 + len(after.run))
        return _Cost(min(ends, TOO_MANY), min(total, TOO_MANY))

    def _begin(self, nodes: Sequence[tuple[Any, Any]], after: _Next) -> _Next:
        """Return what a part begins with, and what follows it as far as the part is certain."""
        run: list[int] = []
        for number, (operation, argument) in enumerate(nodes):
            name = str(operation)
            rest = nodes[number + 1 :]
            if name in _SINGLE:
                run.append(self._characters(name, argument))
            elif name == "AT":
                after = after._replace(ends=False)  # it may not hold there
            elif name in _LOOKS:
                return _Next(tuple(run), False)
            elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
                inner = argument[3] if name == "SUBPATTERN" else argument
                return _joined(run, self._begin([*inner, *rest], after))
            elif name in _REPEATS and int(argument[0]) > 0 and len(argument[2]) == 1:
                least = min(int(argument[0]), _LONGEST_RUN)
                if int(argument[1]) == int(argument[0]):
                    return _joined(run, self._begin([*list(argument[2]) * least, *rest], after))
                return _joined(run, self._begin(list(argument[2]) * least, _Next((), False)))
            elif name in _REPEATS or name == "BRANCH":
                return _joined(run, self._any(name, argument, rest, after))
            if len(run) >= _LONGEST_RUN:
                return _Next(tuple(run), False)
        return _joined(run, after)

    def _any(self, name: str, argument: Any, rest: Sequence[tuple[Any, Any]], after: _Next) -> _Next:
        """Return the first characters of what may be one thing or another."""
        branches = list(argument[1]) if name == "BRANCH" else [argument[2]]
        behind = self._begin(rest, after)
        begins = [self._begin(branch, behind) for branch in branches]
        if name != "BRANCH" and int(argument[0]) == 0:
            begins.append(behind)
        if any(not begin.run for begin in begins):
            return _Next((), any(begin.ends for begin in begins))
        first = 0
        for begin in begins:
            first |= begin.run[0]
        return _Next((first,), any(begin.ends for begin in begins))

    def _shortest(self, nodes: Sequence[tuple[Any, Any]]) -> int:
        return sum(self._shortest_of(str(operation), argument) for operation, argument in nodes)

    def _shortest_of(self, name: str, argument: Any) -> int:
        if name in _SINGLE:
            return 1
        if name in _REPEATS:
            return int(argument[0]) * self._shortest(argument[2])
        if name == "BRANCH":
            return min(self._shortest(branch) for branch in argument[1])
        if name == "SUBPATTERN":
            return self._shortest(argument[3])
        return self._shortest(argument) if name == "ATOMIC_GROUP" else 0

    def _all(self, nodes: Sequence[tuple[Any, Any]]) -> int:
        """Return every character that a part may match."""
        together = 0
        for name, argument in _singles(nodes):
            together |= self._characters(name, argument)
        return together


def _singles(nodes: Sequence[tuple[Any, Any]]) -> Iterator[tuple[str, Any]]:
    for operation, argument in nodes:
        name = str(operation)
        if name in _SINGLE:
            yield name, argument
        elif name in _REPEATS:
            yield from _singles(argument[2])
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _singles(branch)
        elif name == "SUBPATTERN":
            yield from _singles(argument[3])
        elif name == "ATOMIC_GROUP":
            yield from _singles(argument)


def _looks(nodes: Sequence[tuple[Any, Any]]) -> bool:
    """Tell whether a part looks ahead."""
    text = str(nodes)
    return any(name in text for name in _LOOKS)


def _ends(lengths: int, inside: int, after: _Next) -> float:
    """Return at how many of its ends a repeat of one character can be followed by what follows it."""
    if after.ends and not after.run:
        return 1.0  # the first end is a match, and the search is over
    if not after.run:
        return float(lengths)
    unlike = _first_unlike(inside, after.run)
    if unlike < len(after.run):
        return float(min(lengths, unlike + 1))
    return min(float(lengths), lengths / _period(after.run) + 1)


def _first_unlike(inside: int, run: Sequence[int]) -> int:
    """Return how much of a run can stand among some characters."""
    return next((place for place, expected in enumerate(run) if not inside & expected), len(run))


def _joined(run: Sequence[int], after: _Next) -> _Next:
    return _Next((*run, *after.run)[:_LONGEST_RUN], after.ends and not run)


def _period(run: Sequence[int]) -> int:
    """Return how far apart two places must be where the same run fits."""
    return next(
        (shift for shift in range(1, len(run)) if all(a & b for a, b in zip(run, run[shift:], strict=False))), len(run)
    )


def _exclusive(one: Sequence[int], other: Sequence[int]) -> bool:
    return any(not a & b for a, b in zip(one, other, strict=False))


def _digits(number: float) -> int:
    return len(str(int(number)))
