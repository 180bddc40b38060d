"""The real program in a terminal that libghostty-vt draws and answers for, started as a shell's job."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import tty
from collections.abc import Mapping, Sequence
from types import TracebackType

from tests.support.engine import Engine
from tests.support.waiting import wait_until

_OURS = re.compile(rb"\x1b\[(?P<stack>22|23)(?:;\d+)*t|\x1b\]7501;\?(?:\x07|\x1b\\)")
_OURS_BEGINS = re.compile(rb"\x1b(?:\[(?:2(?:[23](?:;\d*)*)?)?|\](?:7(?:5(?:0(?:1(?:;(?:\?\x1b?)?)?)?)?)?)?)?\Z")
_STATUS = b"\x1b]7501;?\x1b\\"


class TitledEngine:
    """The engine with what most terminals have and it has not: a title stack, and an answer to the OSC 7501 query.

    Args:
        engine: what draws.
        knows_status: it answers the OSC 7501 query.
    """

    def __init__(self, engine: Engine, knows_status: bool = False) -> None:
        self.engine = engine
        self._knows_status = knows_status
        self._titles: list[str] = []
        self._begun = b""

    def feed(self, data: bytes) -> None:
        """Read; a sequence may be cut anywhere."""
        data, start = self._begun + data, 0
        begins = _OURS_BEGINS.search(data)
        self._begun = begins.group() if begins else b""
        data = data.removesuffix(self._begun)
        for operation in _OURS.finditer(data):
            self.engine.feed(data[start : operation.end()])
            start = operation.end()
            if operation["stack"] is None:
                self.engine.replies += [_STATUS] if self._knows_status else []
            elif operation["stack"] == b"22":
                self._titles.append(self.engine.title())
            elif self._titles:
                self.engine.feed(f"\x1b]2;{self._titles.pop()}\x1b\\".encode())
        self.engine.feed(data[start:])


class RealTerminal:
    """A terminal with a shell that runs one command as its foreground job.

    It starts as Ghostty itself does, with grapheme clusters on (DECSET 2027).

    Args:
        argv: the command.
        environ: its environment.
        answers: the terminal answers queries.
        answers_after: seconds that it takes for that.
        version: what it answers to XTVERSION.
        knows_status: it answers the OSC 7501 query, as the engine does not.
        title: the window's title before.

    Attributes:
        engine: what draws; only to be looked at in `settled`.
        output: every byte that came out.
        sent: every byte that went in: keys and answers.
        before: the engine's state when the command was started.
        pid: the command's process.
        status: its exit code once it has ended, negative for a signal.
        stopped: the command is stopped.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        answers: bool = True,
        answers_after: float = 0.0,
        version: str = "ghostty 1.3.1",
        knows_status: bool = False,
        title: str = "the shell's",
        rows: int = 30,
        columns: int = 100,
    ) -> None:
        self.engine = Engine(rows, columns)
        self.output = bytearray()
        self.sent = bytearray()
        self.status: int | None = None
        self.stopped = False
        self._closing = False
        self._stalled = False
        self._answers = answers
        self._answers_after = answers_after
        self._version = version
        self._titled = TitledEngine(self.engine, knows_status)
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._titled.feed(f"\x1b[?2027h\x1b]2;{title}\x07$ first command\r\nits output\r\n$ agent\r\n".encode())
        self.before = self.engine.state() | {"title": self.engine.title()}
        self._told, told = os.pipe()
        orders, self._orders = os.pipe()
        self._shell, self.master = pty.fork()
        if self._shell == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            try:
                _be_a_shell(argv, environ, told, orders)
            finally:
                os._exit(70)  # whatever happens, this is no second test run
        os.close(told)
        os.close(orders)
        wait_until(lambda: select.select([self._told], [], [], 0)[0], "the shell")
        pid, self._device = os.read(self._told, 64).split()
        self.pid = int(pid)
        self.attributes = termios.tcgetattr(self.master)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        os.write(self._orders, b"start\n")

    def type(self, data: bytes) -> None:
        """Type on the keyboard."""
        self._send(data)

    def resize(self, rows: int, columns: int) -> None:
        """Change the terminal's size."""
        with self._lock:
            self.engine.terminal.resize(columns, rows)
            reports, self.engine.replies[:] = b"".join(self.engine.replies), []
        if reports:
            self._send(reports)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def stall(self) -> None:
        """Read nothing any more, as a terminal does that is stopped."""
        self._stalled = True

    def read_on(self) -> None:
        """Read again."""
        self._stalled = False

    def resume(self) -> None:
        """Continue the stopped command in the foreground, as `fg` does."""
        self.stopped = False
        os.write(self._orders, b"fg\n")

    def shows(self, text: str) -> bool:
        """Tell whether the screen shows a text, or the title is it."""
        with self._lock:
            return text in self.engine.text() or text == self.engine.title()

    def wait_for(self, text: str) -> None:
        """Wait until the screen or the title shows it."""
        wait_until(lambda: self.shows(text) or self.status is not None, lambda: f"{text!r} in {self.screen()!r}")

    def wait_for_bytes(self, data: bytes) -> None:
        """Wait until these bytes have come out."""
        wait_until(lambda: data in self.output, lambda: f"{data!r} in {bytes(self.output[-500:])!r}")

    def wait_for_count(self, data: bytes, count: int) -> None:
        """Wait until these bytes have come out so often."""
        wait_until(
            lambda: self.output.count(data) >= count, lambda: f"{count} times {data!r} in {bytes(self.output[-500:])!r}"
        )

    def screen(self) -> str:
        """Return what the screen shows."""
        with self._lock:
            return self.engine.text()

    def progress(self) -> int | None:
        """Return the state of the progress that is shown; None where none ever was."""
        with self._lock:
            return self.engine.progress[-1][0] if self.engine.progress else None

    def state(self) -> dict[str, object]:
        """Return all that can be left behind."""
        with self._lock:
            return self.engine.state() | {"title": self.engine.title()}

    def wait(self) -> int:
        """Wait for the end; all output is read then."""
        wait_until(lambda: self.status is not None, lambda: f"the end; last came {bytes(self.output[-300:])!r}")
        self._reader.join(20)
        assert self.status is not None
        return self.status

    def feed(self, data: bytes) -> None:
        """Let the shell print something."""
        with self._lock:
            self._titled.feed(data)

    def run(self, argv: Sequence[str], environ: Mapping[str, str]) -> int:
        """Run another command in the terminal when the first one has ended; returns its exit code."""
        with open(self._device, "r+b", buffering=0) as terminal:
            code = subprocess.run(argv, env=dict(environ), stdin=terminal, stdout=terminal, check=False).returncode
            self._drain()
        return code

    def unread(self) -> bytes:
        """Return what a shell would now read as typed."""
        with open(self._device, "r+b", buffering=0) as terminal:
            tty.setraw(terminal.fileno(), termios.TCSANOW)
            return terminal.read(4096) or b"" if select.select([terminal], [], [], 0)[0] else b""

    def hang_up(self) -> None:
        """Close the terminal."""
        with self._lock:
            os.close(self.master)
            self.master = -1

    def __enter__(self) -> RealTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        for pid in (self.pid, self._shell):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._reader.join(20)
        os.waitpid(self._shell, 0)
        for fd in (self.master, self._told, self._orders):
            with contextlib.suppress(OSError):
                os.close(fd)

    def _read(self) -> None:
        """Take output and the shell's news until the command has ended and all is read."""
        while self.status is None and not self._closing:
            with contextlib.suppress(OSError, ValueError):
                watched = [self._told] if self._stalled else [self.master, self._told]
                ready = select.select([fd for fd in watched if fd >= 0], [], [], 0.05)[0]
                if self.master in ready:
                    self._take()
                if self._told in ready:
                    self._hear(os.read(self._told, 64))
        self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while select.select([self.master], [], [], 0.05)[0] and self._take():
                pass

    def _hear(self, news: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile; the news is none the less true
            while self._take_now():
                pass
        for word in news.split():
            if word == b"stopped":
                self.stopped = True
            else:
                self.status = int(word)

    def _take_now(self) -> bool:
        return bool(self.master >= 0 and select.select([self.master], [], [], 0)[0]) and self._take()

    def _take(self) -> bool:
        with self._lock:  # while it is read nobody closes it: its number may be another file's at once
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                return False
            self._titled.feed(data)
            self.output += data
            replies, self.engine.replies[:] = b"".join(self.engine.replies), []
            replies = replies.replace(b"libghostty", self._version.encode())
        if self._answers and replies and self.master >= 0:
            self._answer(replies)
        return bool(data)

    def _answer(self, replies: bytes) -> None:
        if not self._answers_after:
            self._send(replies)
            return
        timer = threading.Timer(self._answers_after, self._send, (replies,))
        timer.daemon = True
        timer.start()

    def _send(self, data: bytes) -> None:
        with self._sending:
            os.write(self.master, data)
            self.sent += data


def _be_a_shell(argv: Sequence[str], environ: Mapping[str, str], told: int, orders: int) -> None:
    """Run the command as the foreground job of a job control shell; never returns."""
    for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    go, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.read(go, 1)
        for number in range(1, signal.NSIG):
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        os.closerange(3, 100)
        os.execvpe(argv[0], list(argv), dict(environ))
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    os.tcsetpgrp(0, pid)
    os.write(told, f"{pid} {os.ttyname(0)}\n".encode())
    os.read(orders, 16)
    os.write(start, b"x")
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        with contextlib.suppress(OSError):
            os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            break
        os.write(told, b"stopped\n")
        os.read(orders, 16)
        os.tcsetpgrp(0, pid)
        os.killpg(pid, signal.SIGCONT)
    os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os.read(orders, 16)
