"""The agent's output, read in bursts."""

from __future__ import annotations

import os

# Reads of the agent's side (4 KiB at most on Linux) are joined up to this much before one write. With more, the agent,
# we and the terminal take turns instead of working side by side: a flood passes slower, and keys in it wait longer.
BURST = 8 << 10
# A read that brings less than this has most likely emptied the kernel's buffer; asking again would cost a system call.
SHORT_READ = 1 << 10


class BurstReader:
    """Reads a non-blocking descriptor. Where there is no memory left, no byte is lost: all that was read is here.

    Attributes:
        read_already: what was read and nobody has taken; who takes it clears this in the same statement.
    """

    def __init__(self, fd: int) -> None:
        self.read_already = b""
        self._fd = fd
        self._last = b""

    def read(self, limit: int) -> bool:
        """Read what there is, up to about `limit` bytes; returns whether there may ever be more."""
        while len(self.read_already) < limit:
            try:
                self._last = os.read(self._fd, BURST)
            except BlockingIOError:
                break
            except OSError:
                self._last = b""
            size = len(self._last)
            if not size:
                return False
            self.read_already, self._last = self.read_already + self._last, b""
            if size < SHORT_READ and limit <= BURST:
                break
        return True

    def take(self) -> bytes:
        """All that was read, for another to forward."""
        data, self.read_already, self._last = self.read_already + self._last, b"", b""
        return data
