"""Bytes on their way to a non-blocking descriptor."""

from __future__ import annotations

import os


class ByteQueue:
    """Bytes that wait to be written; what the descriptor takes at once never waits.

    Its bound is its user's: who finds it longer than that stops reading the other side. Where there is no memory left,
    no byte is lost and none written twice: each statement either fails before it changes anything, or does all of it.

    Attributes:
        next: bytes that come after all that waits; `flush` puts them there. Whoever has bytes sets this in the same
            statement in which they cease to be its own.
    """

    def __init__(self, fd: int) -> None:
        self.next = b""
        self._fd = fd
        self._waiting = b""
        self._written = 0

    def __len__(self) -> int:
        return len(self._waiting) - self._written + len(self.next)

    def write(self, data: bytes) -> None:
        """Write after all that waits, as much as the descriptor takes now; the rest waits.

        Raises:
            OSError: the descriptor's other side is gone; the queue is empty then.
        """
        self.next = data
        self.flush()

    def flush(self) -> None:
        """Write what waits, as much as the descriptor takes now.

        Raises:
            OSError: as `write`.
        """
        if self.next:
            # Adding nothing to bytes gives the same bytes: where nothing waits, nothing is copied.
            self._waiting, self._written, self.next = self._waiting[self._written :] + self.next, 0, b""
        waiting, written = self._waiting, self._written
        try:
            self._written += os.write(self._fd, memoryview(waiting)[written:] if written else waiting)
        except BlockingIOError:
            return
        except OSError:
            self.clear()
            raise
        if self._written == len(waiting):
            self.clear()

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting, self._written, self.next = b"", 0, b""

    def take(self) -> bytes:
        """All that waits, for another to write."""
        data = self._waiting[self._written :] + self.next
        self.clear()
        return data
