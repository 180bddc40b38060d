"""Patterns of profiles: what could run away is refused, what is taken keeps within its bound, counted step by step."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle_detectors.profiles import builtin_names, load_builtin
from lifecycle_detectors.profiles.patterns import (
    LENGTH,
    MAX_STEPS,
    PatternProblem,
    compile_pattern,
    most_steps,
)

# --- patterns that could run away

RUNAWAYS = [
    r"(a+)+$",
    r"(a*)*",
    r"(?:[a-z]+\s?)+x",
    r"(a|b+)*c",
    r"(?=(a+)+)b",
    r"((a{1,}){2,})",
    r"(.*,)*x",
    r"(?P<x>a+)+",
    r"(?i:(a+)*)",
    r"(a|a)*b",
    r"(?:ab|[a-c]b)+$",
    r"^(?:a{1,40}){0,9}$",
    r"(a?){50}a{50}",
    r"a?" * 200 + "b",
    r"a*a*a*a*b",
    r"(?:x+x+)+y",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(?:\w+\s?)*$",
    r".*x.*y",
    r"(?:.{0,30}a){1,20}b",
    r"^(?=.*x.*y.*z)",
    r"^(?:(?=.*x)a)*.*.*b",
    r"(?i)[a-z]*[A-Z]*[a-z]*[A-Z]*1",
    r"(.)\1",
    r"(a)?(?(1)b|c)",
    "(?:" * 60 + "ab" + "c)+" * 60,
    "(a{2}" * 70 + "){2}" * 42 + ")" * 28,
]


@pytest.mark.parametrize("pattern", RUNAWAYS)
def test_a_pattern_that_could_run_away_is_refused(pattern: str) -> None:
    with pytest.raises(PatternProblem) as caught:
        compile_pattern(pattern)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "pattern",
    [
        r"a+b+",
        r"(?:a|b){0,20}",
        r"x.{0,200}y",
        r"(?:ab)+",
        r"a++b",
        r"foo.*bar",
        r"^.*x.*y",
        r".*",
        r"(\w+ )*$",
        r"(?:, \w+)*",
        r"\s*\d+\s*foo",
        r"^(?:\w+, )*\w+$",
        r"(?i)^(?:yes|no|y|n)\b.*",
        r"[⠀-⣿] .*…",
    ],
)
def test_a_pattern_that_cannot_is_taken(pattern: str) -> None:
    assert compile_pattern(pattern).pattern == pattern


def test_a_doubtful_class_is_refused_and_no_warning_reaches_the_screen() -> None:
    with warnings.catch_warnings(record=True) as caught, pytest.raises(PatternProblem, match="nested set"):
        compile_pattern("[[a]")
    assert caught == []


COUNTED_TOO_HIGH = 9
"""Of ours, those whose bound is above the limit, though no row makes them take long: the next test."""


def test_the_built_in_patterns_are_within_the_bound_of_others() -> None:
    patterns = {
        condition.pattern.pattern
        for name in builtin_names()
        for rule in load_builtin(name).rules
        for condition in rule.conditions
    }
    above = [pattern for pattern in patterns if pattern and most_steps(re.compile(pattern), LENGTH) > MAX_STEPS]
    assert len(above) <= COUNTED_TOO_HIGH, above


@pytest.mark.parametrize("name", builtin_names())
def test_built_in_patterns_are_quick_on_hostile_rows(name: str) -> None:
    """A row has at most as many characters as the screen has cells in a line; a pattern must not take long on any."""
    rows = ["a" * 600, "(" * 600, "y/n" * 200, "> " * 300, "─" * 600, " a:" * 200, "[y/n" * 150, "Enter " * 100 + "!"]
    for rule in load_builtin(name).rules:
        for condition in rule.conditions:
            began = time.process_time()
            for row in rows:
                condition.pattern.search(row)
            assert time.process_time() - began < 1.0, f"{rule.id}: {condition.pattern.pattern}"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab()*+?|[]{}1,\\^$.<>=!:", max_size=20))
def test_no_pattern_does_more_than_be_refused(pattern: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except PatternProblem:
        return
    assert isinstance(compiled, re.Pattern)


class _Spent(Exception):
    """The steps that may be counted are counted."""


class Matcher:
    """Searches as `re` does, without any of its shortcuts, and counts: each character that is looked at is a step."""

    def __init__(self, pattern: str, text: str, most: int) -> None:
        self.steps = 0
        self._most = most
        self._text = text
        self._nodes = list(re._parser.parse(pattern))  # type: ignore[attr-defined]

    def search(self) -> bool:
        return any(any(True for _ in self._match(self._nodes, at)) for at in range(len(self._text) + 1))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise _Spent

    def _match(self, nodes: Sequence[Any], at: int) -> Iterator[int]:
        if not nodes:
            yield at
            return
        for end in self._node(str(nodes[0][0]), nodes[0][1], at):
            yield from self._match(nodes[1:], end)

    def _node(self, name: str, argument: Any, at: int) -> Iterator[int]:
        if name == "BRANCH":
            for branch in argument[1]:
                yield from self._match(list(branch), at)
        elif name == "SUBPATTERN":
            yield from self._match(list(argument[3]), at)
        elif name == "MAX_REPEAT":
            yield from self._repeat(argument, at, 0)
        elif name == "AT":
            begins = str(argument).startswith("AT_BEGINNING")
            if at == (0 if begins else len(self._text)):
                yield at
        elif name in ("ASSERT", "ASSERT_NOT"):
            if any(True for _ in self._match(list(argument[1]), at)) == (name == "ASSERT"):
                yield at
        elif at < len(self._text):
            self._step()
            if _fits(name, argument, self._text[at]):
                yield at + 1

    def _repeat(self, argument: Any, at: int, done: int) -> Iterator[int]:
        least, most, body = argument
        if done < most:
            for end in self._match(list(body), at):
                if end > at or done < least:
                    yield from self._repeat(argument, end, done + 1)
        if done >= least:
            yield at


def _fits(name: str, argument: Any, character: str) -> bool:
    code = ord(character)
    if name == "LITERAL":
        return bool(argument == code)
    if name == "ANY":
        return True
    assert name == "IN"
    return any(one == code if str(kind) == "LITERAL" else one[0] <= code <= one[1] for kind, one in argument)


atoms = st.sampled_from(["a", "b", "c", ".", "[ab]", "[a-c]", "ab", "abc", "a", "b"])
repeats = st.sampled_from(["", "", "*", "+", "?", "{0,3}", "{2,5}", "{0,30}", "{2}"])


def _branches(parts: list[str], repeat: str) -> str:
    return f"(?:{'|'.join(parts)}){repeat}"


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda parts: "".join(parts), st.lists(inner, min_size=1, max_size=4)),
        st.builds(
            lambda parts, repeat: f"(?:{'|'.join(parts)}){repeat}", st.lists(inner, min_size=1, max_size=3), repeats
        ),
        st.builds(lambda part, sign: f"(?{sign}{part})", inner, st.sampled_from("=!")),
    )


written = st.recursive(st.builds(lambda atom, repeat: atom + repeat, atoms, repeats), _grown, max_leaves=8)
texts = st.builds(
    lambda pieces, times, last: ("".join(pieces) * times)[:40] + last,
    st.lists(st.sampled_from(["a", "b", "c", "ab", "ba", "aab", "abc"]), min_size=1, max_size=3),
    st.integers(1, 40),
    st.sampled_from(["", "b", "c", "d"]),
)
COUNTED = 20_000


@settings(max_examples=400, deadline=None)
@given(written, st.sampled_from(["", "^"]), st.sampled_from(["", "$", "d"]), texts)
def test_no_search_takes_more_steps_than_the_bound(pattern: str, begin: str, end: str, text: str) -> None:
    whole = begin + pattern + end
    bound = most_steps(re.compile(whole), len(text))
    matcher = Matcher(whole, text, COUNTED)
    try:
        found = matcher.search()
    except _Spent:
        assert bound >= COUNTED
    else:
        assert found == (re.search(whole, text) is not None)
        assert matcher.steps <= bound
