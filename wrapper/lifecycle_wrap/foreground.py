"""Which program has the agent's terminal, where the wrapped command is a shell.

Asked along with the output, never by a timer: a program that comes to the foreground prints. Uses psutil, so it
holds on Linux and macOS alike.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle_detectors import ForegroundProcess

INTERVAL = 0.1
"""Seconds between two questions at the least; each is one ioctl."""


class Foreground:
    """Follows the leader of the foreground process group.

    Args:
        agent: the process group of what we started.
        group: tells the terminal's foreground process group, or None when it cannot be told.
    """

    def __init__(self, agent: int, group: Callable[[], int | None]) -> None:
        self._agent = agent
        self._group = group
        self._last = agent
        self._asked_at = float("-inf")

    def changed(self, now: float) -> ForegroundProcess | None:
        """Return the new leader when it is another than last time."""
        if now - self._asked_at < INTERVAL:
            return None
        self._asked_at = now
        leader = self._group()
        if leader is None or leader == self._last:
            return None
        self._last = leader
        return ForegroundProcess(argv=_command_line(leader), is_agent=leader == self._agent)


def _command_line(pid: int) -> tuple[str, ...]:
    import psutil

    try:
        return tuple(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ()
