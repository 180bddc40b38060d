"""The plainest loop in Python between a terminal and an agent: the benchmark's measure of what is ours.

usage: python tests/bench/loop.py COMMAND [ARGUMENT ...]

It waits, reads and writes in both directions, loses nothing, and looks at nothing.
"""

from __future__ import annotations

import os
import pty
import select
import sys
import tty

CHUNK = 8 << 10
MOST_WAITING = 64 << 10


def main() -> int:
    """Run the command and return its exit code."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    tty.setraw(0)
    for fd in (master, 1):
        os.set_blocking(fd, False)
    try:
        _copy(master)
    except OSError:  # the command has ended
        os.set_blocking(1, True)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _copy(master: int) -> None:
    poll = select.poll()
    waiting = b""
    while True:
        poll.register(0, select.POLLIN)
        poll.register(master, select.POLLIN if len(waiting) < MOST_WAITING else 0)
        poll.register(1, select.POLLOUT if waiting else 0)
        ready = dict(poll.poll())
        if 0 in ready:
            os.write(master, os.read(0, CHUNK))
        if master in ready:
            waiting += os.read(master, CHUNK)
        if waiting:
            try:
                waiting = waiting[os.write(1, waiting) :]
            except BlockingIOError:
                continue


if __name__ == "__main__":
    sys.exit(main())
