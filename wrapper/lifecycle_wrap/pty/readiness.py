"""Waiting until descriptors are ready: poll(2) where it works on terminals, select(2) where it does not (macOS)."""

from __future__ import annotations

import select
import sys

# The bits of poll(2), which are the same on every system.
READ = 1
WRITE = 4


class PollReadiness:
    """Readiness by poll(2)."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._wanted: dict[int, int] = {}

    def want(self, fd: int, events: int) -> None:
        """Wait for `events` (READ, WRITE or both) on `fd` from now on; 0 for none."""
        if self._wanted.get(fd, 0) == events:
            return
        self._wanted[fd] = events
        if events:
            self._poll.register(fd, events)
        else:
            # A descriptor that is registered for nothing would still report its hang-up, over and over.
            self._poll.unregister(fd)

    def wait(self, timeout: float | None) -> dict[int, int]:
        """What is ready within `timeout` seconds (None: no limit).

        Returns:
            For each descriptor that is ready its bits; any other than WRITE says that reading will tell, be it the end.
        """
        return dict(self._poll.poll(None if timeout is None else timeout * 1000))


class SelectReadiness:
    """Readiness by select(2)."""

    def __init__(self) -> None:
        self._wanted: dict[int, int] = {}

    def want(self, fd: int, events: int) -> None:
        """As `PollReadiness.want`."""
        self._wanted[fd] = events

    def wait(self, timeout: float | None) -> dict[int, int]:
        """As `PollReadiness.wait`."""
        readable, writable, _ = select.select(
            [fd for fd, events in self._wanted.items() if events & READ],
            [fd for fd, events in self._wanted.items() if events & WRITE],
            [],
            timeout,
        )
        ready = dict.fromkeys(readable, READ)
        for fd in writable:
            ready[fd] = ready.get(fd, 0) | WRITE
        return ready


def make_readiness() -> PollReadiness | SelectReadiness:
    """The one that works here: macOS's poll(2) does not support terminals, its select(2) does."""
    if sys.platform == "darwin" or not hasattr(select, "poll"):
        return SelectReadiness()
    return PollReadiness()
