"""A terminal taken over for a full-screen command of ours, and given back as it was found.

Owns modes, alternate screen, cursor and signals of that time. Signals become words in `take_signals`, so that nothing
interrupts a write in the middle and every way out is the ordinary one; SIGKILL alone cannot be helped.
"""

from __future__ import annotations

import os
import signal
import termios
from contextlib import suppress
from types import FrameType

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
_LEAVE = b"\x1b[?25h\x1b[?1049l"

_WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGTSTP)
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


class FullScreen:
    """The terminal on our standard output, and the keys from standard input where that is one too.

    A context manager: entering takes the terminal over, leaving gives it back.

    Attributes:
        wake: descriptor that can be read when a signal has come.
        keys: descriptor to read keys from; None without a terminal to read from.
    """

    def __init__(self) -> None:
        self.wake, self._wake_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self._wake_end, False)
        self.keys: int | None = 0 if os.isatty(0) else None
        self._found: list[object] | None = None
        self._pending: list[int] = []
        self._shown = ""
        self._handlers: dict[int, object] = {}
        self._wake_before = -1

    def __enter__(self) -> FullScreen:
        self._wake_before = signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)
        for number in _WATCHED:
            self._handlers[number] = signal.signal(number, self._note)
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._wake_before)
        os.close(self.wake)
        os.close(self._wake_end)

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        try:
            columns, rows = os.get_terminal_size(1)
        except OSError:
            columns, rows = 0, 0
        return columns or 80, rows or 24

    def show(self, lines: list[str]) -> None:
        """Draw the whole screen, the lines from its top; each must fit into a row. Nothing where nothing is new."""
        frame = "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J"
        if frame != self._shown:
            self._shown = frame
            self._write(frame.encode(errors="replace"))

    def take_signals(self) -> list[int]:
        """Return the signals that have come since the last call, and do what a stop asks for."""
        with suppress(BlockingIOError):
            os.read(self.wake, 4096)
        taken, self._pending = self._pending, []
        if signal.SIGTSTP in taken:
            self._stop()
        if signal.SIGWINCH in taken:
            self._shown = ""  # the terminal may have moved what was there
        return taken

    def _note(self, number: int, _: FrameType | None) -> None:
        self._pending.append(number)

    def _stop(self) -> None:
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._note)  # here again after SIGCONT
        self._take()

    def _take(self) -> None:
        if self.keys is not None:
            found = termios.tcgetattr(self.keys)
            self._found = list(found)
            found[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self.keys, termios.TCSADRAIN, found)
        self._shown = ""
        self._write(_ENTER)

    def _give_back(self) -> None:
        self._write(_LEAVE)
        if self.keys is not None and self._found is not None:
            try:
                termios.tcsetattr(self.keys, termios.TCSADRAIN, self._found)  # type: ignore[arg-type]
            except termios.error:
                return  # hung up

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            return  # hung up: the signal ends us
