"""Bytes on their way to a non-blocking descriptor."""

from __future__ import annotations

import os

# What has been written is dropped from what waits in steps of this many bytes: each time, the rest is copied.
DROPPED = 64 << 10


class ByteQueue:
    """Bytes that wait to be written; what the descriptor takes at once never waits.

    Its bound is its user's: who finds it longer than that stops reading the other side. Where there is no memory left,
    what was written is still never written twice.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waiting = bytearray()
        self._written = 0

    def __len__(self) -> int:
        return len(self._waiting) - self._written

    def write(self, data: bytes) -> None:
        """Write after all that waits, as much as the descriptor takes now; the rest waits.

        Raises:
            OSError: the descriptor's other side is gone; the queue is empty then.
        """
        if self._waiting:
            self._waiting += data
            self.flush()
            return
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        if written < len(data):
            self._waiting += data[written:]

    def flush(self) -> None:
        """Write what waits, as much as the descriptor takes now.

        Raises:
            OSError: as `write`.
        """
        try:
            with memoryview(self._waiting) as everything, everything[self._written :] as rest:
                self._written += os.write(self._fd, rest)
        except BlockingIOError:
            return
        except OSError:
            self.take()
            raise
        if not self:
            self.take()
        elif self._written >= DROPPED:
            self._waiting, self._written = self._waiting[self._written :], 0

    def take(self) -> memoryview:
        """All that waits, for another to write."""
        data = memoryview(self._waiting)[self._written :]
        self._waiting, self._written = bytearray(), 0
        return data
