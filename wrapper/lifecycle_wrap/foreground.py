"""Which program has the agent's terminal, where the wrapped command is a shell, or a program that no profile knows.

Such a program may be a script that starts the agent, or becomes it by `exec`. Asked along with the output, never by a
timer: a program that comes to the foreground prints. Reads /proc where there is one, for psutil takes long to import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from lifecycle_detectors import ForegroundProcess
from lifecycle_detectors.profiles import is_script

INTERVAL = 0.1
"""Seconds between two questions at the least; each is an ioctl and the reading of a file or two."""
DEPTH = 4
"""Of scripts that call scripts."""
MAX_CHILDREN = 64
"""Command lines of which is remembered whether they are an agent's."""
MAX_ARGUMENTS = 1 << 16
"""Bytes of a command line that are looked at."""


class Foreground:
    """Follows the program that leads the foreground process group; in place of a script, an agent that it runs.

    Args:
        agent: the process group of what we started.
        argv: its command line.
        group: tells the terminal's foreground process group, or None when it cannot be told.
        knows: tells whether a command line is that of an agent.
    """

    def __init__(
        self,
        agent: int,
        argv: Sequence[str],
        group: Callable[[], int | None],
        knows: Callable[[tuple[str, ...]], bool],
    ) -> None:
        self._agent = agent
        self._argv = tuple(argv)
        self._group = group
        self._knows = lru_cache(MAX_CHILDREN)(knows)
        self._last = (agent, self._argv)
        self._asked_at = float("-inf")

    def changed(self, now: float) -> ForegroundProcess | None:
        """Return the program when it is another than last time."""
        if now - self._asked_at < INTERVAL:
            return None
        self._asked_at = now
        leader = self._group()
        if leader is None:
            return None
        found = (leader, self._program(leader))
        if found == self._last or (leader == self._agent and not found[1]):
            return None
        self._last = found
        return ForegroundProcess(argv=found[1], is_agent=found == (self._agent, self._argv))

    def _program(self, pid: int) -> tuple[str, ...]:
        leader = argv = _command_line(pid)
        for _ in range(DEPTH):
            child = _first_child(pid) if is_script(argv) else None
            if child is None:
                break
            pid, argv = child, _command_line(child)
        return argv if argv != leader and self._knows(argv) else leader


def _command_line(pid: int) -> tuple[str, ...]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return tuple(map(os.fsdecode, filter(None, file.read(MAX_ARGUMENTS).split(b"\0"))))
    except FileNotFoundError:
        return () if os.path.exists("/proc/self/cmdline") else _command_line_by_psutil(pid)
    except OSError:
        return ()


def _command_line_by_psutil(pid: int) -> tuple[str, ...]:
    import psutil

    try:
        return tuple(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ()


def _first_child(pid: int) -> int | None:
    """Return the oldest child of a process, where the system tells it without a look at all processes."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return int(file.read(32).split()[0])
    except (OSError, ValueError, IndexError):
        return None
