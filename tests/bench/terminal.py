"""The benchmark's outer terminal: starts a command in a PTY and measures what it does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import termios
import time
import tty
from collections.abc import Mapping, Sequence

import psutil

SECONDS = 60.0


class Terminal:
    """One command in a raw PTY of 100 by 30."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], list(argv), dict(environ))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        tty.setraw(self.fd)

    def read(self) -> bytes:
        """Return the next bytes; empty at the end."""
        ready, _, _ = select.select([self.fd], [], [], SECONDS)
        if not ready:
            raise TimeoutError(f"nothing for {SECONDS:g} s from {psutil.Process(self.pid).cmdline()}")
        try:
            return os.read(self.fd, 1 << 16)
        except OSError:
            return b""

    def read_until(self, token: bytes) -> None:
        """Read until a token has come."""
        tail = b""
        while token not in tail:
            data = self.read()
            if not data:
                raise EOFError(tail[-200:])
            tail = tail[-len(token) :] + data

    def read_for(self, seconds: float) -> None:
        """Read on for a while."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0 and select.select([self.fd], [], [], left)[0]:
            self.read()

    def drain(self) -> int:
        """Read to the end; return how many bytes came."""
        total = 0
        while data := self.read():
            total += len(data)
        return total

    def write(self, data: bytes) -> None:
        """Type."""
        os.write(self.fd, data)

    def processes(self) -> list[psutil.Process]:
        """Return the wrapper's processes: the command's whole tree."""
        root = psutil.Process(self.pid)
        return [root, *root.children(recursive=True)]

    def wait(self) -> float:
        """Wait for the command's end; return its CPU seconds, children that it waited for included."""
        _, _, usage = os.wait4(self.pid, 0)
        os.close(self.fd)
        return usage.ru_utime + usage.ru_stime

    def kill(self) -> None:
        """End it, whatever it does."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.wait()


def voluntary_switches(processes: Sequence[psutil.Process]) -> int:
    """Return how often all threads of the processes have waited for something: the wake-ups."""
    total = 0
    for process in processes:
        for thread in process.threads():
            with open(f"/proc/{process.pid}/task/{thread.id}/status") as status:
                total += next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))
    return total
