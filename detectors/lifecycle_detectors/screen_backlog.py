"""Output that the screen model has not been fed yet.

Owns the order of output and resizes, and the bound on what waits. The model is fed in slices after the bytes were
forwarded, so it never delays them.
"""

from __future__ import annotations

from collections import deque

from .events import Size
from .screen import Screen


class ScreenBacklog:
    """Feeds a screen piece by piece.

    Args:
        screen: the model; from now on it is fed by nothing else.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._waiting: deque[bytes | Size] = deque()
        self._pending = 0

    @property
    def pending(self) -> int:
        """How much waits: bytes, and one for each resize."""
        return self._pending

    @property
    def lost(self) -> bool:
        """Output had to be left out, and the screen does not show what the terminal shows."""
        return False

    def push(self, data: bytes) -> None:
        """Take output, to be fed later."""
        self._waiting.append(data)
        self._pending += len(data)

    def resize(self, size: Size) -> None:
        """Take a change of the size, which counts for the output after it."""
        self._waiting.append(size)
        self._pending += 1

    def work(self, limit: int) -> bool:
        """Feed at most `limit` bytes; returns whether more is waiting."""
        while self._waiting and limit > 0:
            first = self._waiting.popleft()
            if isinstance(first, Size):
                self._screen.resize(first)
                self._pending -= 1
                continue
            if len(first) > limit:
                self._waiting.appendleft(first[limit:])
                first = first[:limit]
            self._screen.feed(first)
            self._pending -= len(first)
            limit -= len(first)
        return bool(self._waiting)
