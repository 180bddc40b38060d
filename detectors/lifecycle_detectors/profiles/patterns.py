"""Patterns of profiles: compiled once, bounded, and none that can run away.

Python's `re` backtracks. A pattern in which one unbounded repeat stands inside another may take time exponential in the
row's length, so such a pattern is refused; with that gone and the rows bounded by the screen's size, matching is too.
"""

from __future__ import annotations

import re
from typing import Any

MAX_PATTERN = 512
"""Longer than any cue needs; herdr's manifests have the same bound."""


class PatternProblem(ValueError):
    """Why a pattern cannot be used; `remedy` says what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a profile's pattern.

    Raises:
        PatternProblem: it is empty, too long, not valid, or could run away.
    """
    if not text:
        raise PatternProblem("is empty", "give a regular expression")
    if len(text) > MAX_PATTERN:
        raise PatternProblem(f"has {len(text)} characters", f"at most {MAX_PATTERN}")
    try:
        compiled = re.compile(text)
        parsed = re._parser.parse(text)  # type: ignore[attr-defined]
    except re.error as error:
        raise PatternProblem(f"is not a regular expression ({error})", "mend it") from None
    if _nests(parsed, inside=False):
        raise PatternProblem("has an unbounded repeat inside another", "bound one of them, e.g. {0,40} for *")
    return compiled


def _nests(node: Any, *, inside: bool) -> bool:
    """Tell whether an unbounded repeat stands within another one."""
    for operation, argument in node:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = argument
            unbounded = most == re._constants.MAXREPEAT  # type: ignore[attr-defined]
            if (inside and unbounded) or _nests(body, inside=inside or unbounded):
                return True
        elif name == "SUBPATTERN":
            if _nests(argument[3], inside=inside):
                return True
        elif name == "BRANCH":
            if any(_nests(branch, inside=inside) for branch in argument[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT"):
            if _nests(argument[1], inside=inside):
                return True
        elif name == "ATOMIC_GROUP" and _nests(argument, inside=inside):
            return True
    return False
