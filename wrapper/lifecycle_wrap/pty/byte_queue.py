"""Bytes on their way to a non-blocking descriptor."""

from __future__ import annotations

import os


class ByteQueue:
    """Bytes that wait to be written; what the descriptor takes at once never waits.

    Its bound is its user's: who finds it longer than that stops reading the other side.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waiting = bytearray()

    def __len__(self) -> int:
        return len(self._waiting)

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
            del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            return
        except OSError:
            self._waiting.clear()
            raise

    def take(self) -> bytes:
        """All that waits, for another to write."""
        data = bytes(self._waiting)
        self._waiting.clear()
        return data
