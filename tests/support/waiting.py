"""Waiting for something to become true, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE = 20.0
"""Seconds; far more than anything takes on a busy machine."""


def wait_until(condition: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Return as soon as `condition` holds.

    Raises:
        AssertionError: it did not hold within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.005)
