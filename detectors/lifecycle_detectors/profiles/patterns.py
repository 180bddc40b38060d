"""Patterns of profiles: compiled once, bounded, and none that can run away.

Python's `re` backtracks: a pattern such as `(a|a)*b` takes time exponential in the text's length, `.*x.*y` cubic. So a
pattern is refused when the most steps that it could take (`backtracking`) are more than `MAX_STEPS`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from .backtracking import Unbounded, steps

MAX_PATTERN = 512
"""Longer than any cue needs; herdr's manifests have the same bound."""
LENGTH = 1000
"""Characters of the text that steps are counted for: a few rows of a wide terminal."""
MAX_STEPS = 50_000_000
"""Of one search in so long a text, counted much too high: some 50 ms in truth, on a text that was made for it. What is
quadratic in the length passes, what is cubic does not."""


class PatternProblem(ValueError):
    """Why a pattern cannot be used; `remedy` says what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def compile_pattern(text: str, *, trusted: bool = False) -> re.Pattern[str]:
    """Compile a profile's pattern.

    Args:
        text: the regular expression.
        trusted: it is one of ours, which the tests hold against the same bounds: counting takes a millisecond.

    Raises:
        PatternProblem: it is empty, too long, not valid, or could run away.
    """
    if not text:
        raise PatternProblem("is empty", "give a regular expression")
    if len(text) > MAX_PATTERN:
        raise PatternProblem(f"has {len(text)} characters", f"at most {MAX_PATTERN}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # else `[[` would put a warning on the user's screen
            compiled = re.compile(text)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise PatternProblem(f"is not a regular expression ({error})", "mend it") from None
    if not trusted:
        try:
            most = most_steps(compiled, LENGTH)
        except Unbounded as part:
            raise PatternProblem(f"has {part}", "write out what it stands for") from None
        except RecursionError:
            raise PatternProblem("has too many groups within groups", "take some of them out") from None
        if most > MAX_STEPS:
            raise PatternProblem("could take too long", "bound its repeats ({0,40} for *), or anchor it (^)")
    return compiled


def most_steps(compiled: re.Pattern[str], length: int) -> float:
    """Return a bound on the steps of a search in any text of a length.

    Raises:
        Unbounded: it has a part that has none.
    """
    parsed = re._parser.parse(compiled.pattern)  # type: ignore[attr-defined]
    return steps(list(parsed), length, _Alphabet(compiled))


class _Alphabet:
    """Says which characters a node for one character matches, as bits: one for each character that makes a difference.

    Those are ASCII, the ends of the pattern's own ranges with their neighbours, and one each of the foreign letters,
    digits, blanks and symbols.
    """

    def __init__(self, compiled: re.Pattern[str]) -> None:
        self._folds = bool(compiled.flags & re.IGNORECASE) or bool(_FOLDS.search(compiled.pattern))
        named = {ord(c) for c in compiled.pattern} | set(_bounds(re._parser.parse(compiled.pattern)))  # type: ignore[attr-defined]
        near = {code + step for code in named for step in (-1, 0, 1) if code > 127}
        self._codes = sorted({*range(128), *map(ord, _FOREIGN), *(code for code in near if 127 < code <= _LAST)})
        self._everything = (1 << len(self._codes)) - 1
        self._known: dict[str, int] = {}

    def __call__(self, name: str, argument: Any) -> int:
        key = f"{name} {argument}"
        if key not in self._known:
            self._known[key] = self._matched(name, argument)
        return self._known[key]

    def _matched(self, name: str, argument: Any) -> int:
        if name in ("ANY", "ANY_ALL"):
            return self._everything
        if name == "IN":
            return self._class(argument)
        literal = self._range(argument, argument)
        return literal if name == "LITERAL" else self._everything & ~self._range(argument, argument, fold=False)

    def _class(self, members: Any) -> int:
        matched = 0
        negated = False
        for operation, argument in members:
            name = str(operation)
            negated = negated or name == "NEGATE"
            if name == "LITERAL":
                matched |= self._range(argument, argument, fold=not negated)
            elif name == "RANGE":
                matched |= self._range(*argument, fold=not negated)
            elif name == "CATEGORY":
                matched |= sum(1 << n for n, code in enumerate(self._codes) if _is_in(str(argument), code))
        return self._everything & ~matched if negated else matched

    def _range(self, first: int, last: int, *, fold: bool = True) -> int:
        matched = 0
        for number, code in enumerate(self._codes):
            if first <= code <= last or (fold and self._folds and _folded_within(chr(code), first, last)):
                matched |= 1 << number
        return matched


_FOLDS = re.compile(r"\(\?[a-zA-Z]*i")
_FOREIGN = "é日٣\u2003─⠋"
_LAST = 0x10FFFF
_CATEGORIES = {
    f"CATEGORY_{negation}{name}": re.compile(pattern)
    for name, both in {"DIGIT": r"\d\D", "SPACE": r"\s\S", "WORD": r"\w\W"}.items()
    for negation, pattern in (("", both[:2]), ("NOT_", both[2:]))
}


@cache
def _is_in(category: str, code: int) -> bool:
    return _CATEGORIES[category].match(chr(code)) is not None


def _folded_within(character: str, first: int, last: int) -> bool:
    return any(len(c) == 1 and first <= ord(c) <= last for c in (character.lower(), character.upper()))


def _bounds(nodes: Any) -> Iterator[int]:
    """The codes of all literals and range ends of a parsed pattern, some numbers that are none among them."""
    if isinstance(nodes, int):
        yield min(int(nodes), _LAST)
    elif not isinstance(nodes, (str, type(None))):
        for node in nodes:
            yield from _bounds(node)
