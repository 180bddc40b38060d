"""An outer terminal for tests: a PTY whose master the test holds, with a program of ours inside."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
import tty
from collections.abc import Mapping, Sequence

from tests.support.waiting import DEADLINE

WRAPPER = [sys.executable, "-m", "lifecycle_wrap"]


def isolated_environment(folder: os.PathLike[str], **more: str) -> dict[str, str]:
    """Return an environment in which a wrapped run finds nothing of the machine's user."""
    base = os.fspath(folder)
    return {
        "PATH": os.environ["PATH"],
        "HOME": base,
        "XDG_RUNTIME_DIR": base,
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.getcwd(),
        **more,
    }


def run_to_the_end(
    argv: Sequence[str], environ: Mapping[str, str], *, rows: int = 30, columns: int = 100, seconds: float = DEADLINE
) -> tuple[bytes, int]:
    """Run a program in a raw terminal that answers nothing; return all its bytes and its exit code."""
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        tty.setraw(0)
        os.execvpe(argv[0], list(argv), dict(environ))
    try:
        output = read_to_the_end(master, time.monotonic() + seconds)
        return output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(master)


def read_to_the_end(master: int, deadline: float) -> bytes:
    """Read a terminal until the program in it has ended; `deadline` is in monotonic seconds."""
    parts = []
    while True:
        ready, _, _ = select.select([master], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"no end in time; the last bytes are {b''.join(parts)[-200:]!r}"
        try:
            data = os.read(master, 1 << 16)
        except OSError:
            data = b""
        if not data:
            return b"".join(parts)
        parts.append(data)
