"""Signals as one more descriptor of the poll loop.

Owns the dispositions of our process while an agent runs, and how we stop ourselves.
"""

from __future__ import annotations

import os

from lifecycle_wrap.lean import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# The agent's to answer; one that does not end on the first four within the grace is killed.
ENDING = frozenset((signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT))
FORWARDED = ENDING | {signal.SIGTSTP, signal.SIGUSR1, signal.SIGUSR2}
HANDLED = (*FORWARDED, signal.SIGWINCH, signal.SIGCONT)

# A byte in the pipe that is no signal: another thread wants the loop to look up.
WAKE = 0


class SignalPipe:
    """A pipe that gets the number of every handled signal as one byte (`signal.set_wakeup_fd`).

    Attributes:
        fd: descriptor to poll and read.
    """

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        self._unread: set[int] = set()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in HANDLED:
            signal.signal(number, _note)

    def read(self) -> set[int]:
        """The numbers that came since the last call."""
        numbers, self._unread = self._unread | self._drain(), set()
        return numbers

    def _drain(self) -> set[int]:
        try:
            return set(os.read(self.fd, 4096))
        except BlockingIOError:
            return set()

    def close(self) -> None:
        """Give the signals their default actions back."""
        for number in HANDLED:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)

    def wake(self) -> None:
        """Make the loop look up; for other threads."""
        try:
            os.write(self._write, bytes((WAKE,)))
        except BlockingIOError:
            return  # full: it will look up anyway

    def stop_ourselves(self, number: int) -> bool:
        """Stop our whole process group by a terminal stop signal, and return when we are continued.

        The group, as the terminal does it: a shell script that runs us must stop with us. A terminal stop signal,
        because the kernel drops it where nobody could continue us.

        Returns:
            Whether we were stopped. Other signals that came meanwhile are left for `read`.
        """
        self._unread |= self._drain() - {signal.SIGCONT}
        signal.signal(number, signal.SIG_DFL)
        try:
            os.killpg(os.getpgrp(), number)
        finally:
            if number in HANDLED:
                signal.signal(number, _note)
        arrived = self._drain()
        self._unread |= arrived - {signal.SIGCONT}
        return signal.SIGCONT in arrived


def _note(_number: int, _frame: FrameType | None) -> None:
    """Nothing: the number is in the pipe."""
