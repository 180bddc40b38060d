"""Reading TOML tables key by key, each mistake one clear error.

Owns `ProfileError` and `Table`. Must not know what a profile holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from .patterns import PatternProblem, compile_pattern

MAX_SECONDS = 3600.0

T = TypeVar("T")


class ProfileError(Exception):
    """A profile that cannot be used. `str()` is one line: file, place, what is wrong, what to do."""

    def __init__(self, file: str, place: str, problem: str, remedy: str) -> None:
        where = f"{file}: {place}" if place else file
        super().__init__(f"{where}: {problem}; {remedy}")


class Table:
    """A TOML table that is read key by key; what is left over is an unknown key.

    Args:
        file: the profile's file, for errors.
        place: where the table stands in it.
        value: what the TOML parser gave.
        trusted: its patterns are ours, see `compile_pattern`.

    Every method raises `ProfileError` where the value is not what it has to be.
    """

    def __init__(self, file: str, place: str, value: Any, *, trusted: bool = False) -> None:
        self.file = file
        self.place = place
        self._trusted = trusted
        if not isinstance(value, Mapping):
            raise self.error("", "is not a table", "write it as a TOML table")
        self._left = dict(value)
        self._known: list[str] = []

    def inner(self, place: str, value: Any) -> Table:
        """Return a table of the same file."""
        return Table(self.file, place, value, trusted=self._trusted)

    def error(self, key: str, problem: str, remedy: str) -> ProfileError:
        """Return the error for a key of this table."""
        place = ".".join(part for part in (self.place, key) if part)
        return ProfileError(self.file, place, problem, remedy)

    def take(self, key: str, kind: type[T] | tuple[type[T], ...], default: T) -> T:
        """Return the value of a key, which then counts as read, or `default`."""
        self._known.append(key)
        if key not in self._left:
            return default
        value = self._left.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            names = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
            raise self.error(key, f"is a {type(value).__name__}", f"give a {names}")
        return value

    def has(self, key: str) -> bool:
        """Tell whether a key is there and not read yet."""
        return key in self._left

    def text(self, key: str, default: str = "") -> str:
        """Read a string."""
        return self.take(key, str, default)

    def seconds(self, key: str) -> float | None:
        """Read a number from 0 to `MAX_SECONDS`; None where it is missing."""
        value = self.take(key, (int, float), None)
        if value is None:
            return None
        if isinstance(value, bool) or not 0 <= value <= MAX_SECONDS:
            raise self.error(key, f"is {value}", f"give seconds from 0 to {MAX_SECONDS:g}")
        return float(value)

    def strings(self, key: str) -> tuple[str, ...]:
        """Read a list of non-empty strings."""
        values: list[Any] = self.take(key, list, [])
        for value in values:
            if not isinstance(value, str) or not value:
                raise self.error(key, "has an entry that is no text", "give a list of non-empty strings")
        return tuple(values)

    def names(self, key: str, allowed: frozenset[str]) -> frozenset[str]:
        """Read a non-empty list of words that are allowed there."""
        values = self.strings(key)
        for value in values:
            if value not in allowed:
                raise self.error(key, f"has unknown value {value!r}", f"use {', '.join(sorted(allowed))}")
        if not values:
            raise self.error(key, "is empty", f"use {', '.join(sorted(allowed))}")
        return frozenset(values)

    def pattern(self, key: str) -> re.Pattern[str]:
        """Read a regular expression."""
        text = self.text(key)
        try:
            return compile_pattern(text, trusted=self._trusted)
        except PatternProblem as problem:
            raise self.error(key, str(problem), problem.remedy) from None

    def finish(self) -> None:
        """Refuse what was not read."""
        for key in self._left:
            import difflib

            near = difflib.get_close_matches(key, self._known, 1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(sorted(self._known))}"
            raise self.error(key, "is not a known key", remedy)
