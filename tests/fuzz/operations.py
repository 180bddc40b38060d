"""What is done to a screen, and the smallest part of it that still shows something."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from lifecycle_detectors.events import Size

Operation = bytes | Size
Operations = list[Operation]
T = TypeVar("T")


def reduced(operations: Operations, shows: Callable[[Operations], bool]) -> Operations:
    """Leave out whatever is not needed (delta debugging): whole operations first, then bytes.

    Args:
        operations: what shows it.
        shows: tells whether some of them still do.
    """
    least = _least(operations, shows)
    for number in range(len(least)):
        chosen = least[number]
        if isinstance(chosen, bytes):
            before, after = least[:number], least[number + 1 :]
            kept = _least(list(chosen), lambda some, b=before, a=after: shows([*b, bytes(some), *a]))  # type: ignore[misc]
            least = [*before, bytes(kept), *after]
    return [operation for operation in least if operation != b""]


def _least(parts: list[T], shows: Callable[[list[T]], bool]) -> list[T]:
    length = max(1, len(parts) // 2)
    while length:
        place = 0
        while place < len(parts):
            fewer = parts[:place] + parts[place + length :]
            if shows(fewer):
                parts = fewer
            else:
                place += length
        length //= 2
    return parts


def written(size: Size, operations: Operations) -> bytes:
    """Return them as a file's content."""
    parts = [one.decode("latin-1") if isinstance(one, bytes) else list(one) for one in operations]
    return json.dumps([list(size), *parts]).encode()
