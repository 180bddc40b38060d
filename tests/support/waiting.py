"""Waiting for something to become true, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE = 20.0
"""Seconds; far more than anything takes on a busy machine."""


def wait_until(condition: Callable[[], object], what: str | Callable[[], str], seconds: float = DEADLINE) -> None:
    """Return as soon as `condition` holds.

    Args:
        condition: what is waited for.
        what: its description, or what tells the present situation when time is up.
        seconds: the limit.

    Raises:
        AssertionError: it did not hold within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.005)
