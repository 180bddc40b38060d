"""The name by which tools that look at the terminal's foreground process find us: the agent's.

A multiplexer names windows after that process, and readers of panes tell an agent by it; the interpreter that runs us
tells them nothing. Linux reads a process's arguments out of its memory, so what is written there is what all read; on
other systems, and where that is forbidden, the name stays as it was.
"""

from __future__ import annotations

import os

# In /proc/PID/stat, counted from the state, which comes after the name in brackets (proc_pid_stat(5)).
_ARG_START = 45
_ARG_END = 46


def show_as(command: str) -> None:
    """Put the agent's command word in the place of our interpreter's, before all other arguments.

    Args:
        command: what the agent is started as; a path counts by its last part.
    """
    try:
        with open("/proc/self/cmdline", "rb") as file:
            shown = file.read()
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, size = int(fields[_ARG_START]), int(fields[_ARG_END]) - int(fields[_ARG_START])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            if memory.read(size) != shown:
                return
            name = os.fsencode(command.rstrip("/").rpartition("/")[2])
            arguments = name + shown[shown.index(b"\0") :]
            memory.seek(start)
            memory.write(arguments[: size - 1].ljust(size, b"\0"))
    except (OSError, ValueError, IndexError, MemoryError):
        return
