"""The real program in a terminal of its own, around an agent that a test gives orders."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType

from tests.support.terminal import WRAPPER
from tests.support.waiting import wait_until


def is_gone(pid: int) -> bool:
    """Tell whether a process is gone, or only waits to be reaped by whoever is its parent now."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return not state.strip() or state.startswith("Z")


class Wrapped:
    """`lifecycle-wrap [options] -- agent` as the leader of a new session on a new PTY.

    Attributes:
        pid: our program's process.
        output: everything that came out so far.
        status: its exit code once it has ended, negative for a signal.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        options: Sequence[str] = (),
        program: Sequence[str] = WRAPPER,
    ) -> None:
        self.output = bytearray()
        self.status: int | None = None
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            command = [*program, *options, "--", *argv]
            os.execvpe(command[0], command, dict(environ))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def type(self, data: bytes) -> None:
        """Type on the terminal's keyboard."""
        os.write(self._master, data)

    def signal(self, number: int) -> None:
        """Signal our program."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        wait_until(lambda: self.status is not None, lambda: f"the end; the output is {bytes(self.output[-300:])!r}")
        assert self.status is not None
        return self.status

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self._master)
        self._master = -1

    def __enter__(self) -> Wrapped:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._reader.join(20)
        if self._master >= 0:
            os.close(self._master)

    def _read(self) -> None:
        """Take the output until the program has ended, then what is left of it."""
        status = None
        while status is None:
            self._take(0.02)
            pid, wait_status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(wait_status)
        while self._take(0):
            pass
        self.status = status

    def _take(self, seconds: float) -> bool:
        with contextlib.suppress(OSError, ValueError):
            if select.select([self._master], [], [], seconds)[0]:
                data = os.read(self._master, 1 << 16)
                self.output += data
                return bool(data)
        return False
