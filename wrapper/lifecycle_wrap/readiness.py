"""Waiting until descriptors are ready: poll(2) where it works on terminals, select(2) where it does not (macOS)."""

from __future__ import annotations

import select
import sys

READ = 1
WRITE = 2


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
            self._poll.register(fd, (select.POLLIN if events & READ else 0) | (select.POLLOUT if events & WRITE else 0))
        else:
            # A descriptor that is registered for nothing would still report its hang-up, over and over.
            self._poll.unregister(fd)

    def wait(self, timeout: float | None) -> dict[int, int]:
        """What is ready within `timeout` seconds (None: no limit); a hang-up or error counts as all that was wanted."""
        ready = self._poll.poll(None if timeout is None else timeout * 1000)
        return {fd: _events(mask, self._wanted[fd]) for fd, mask in ready}


def _events(mask: int, wanted: int) -> int:
    if mask & ~(select.POLLIN | select.POLLOUT):
        return wanted
    return (READ if mask & select.POLLIN else 0) | (WRITE if mask & select.POLLOUT else 0)


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
