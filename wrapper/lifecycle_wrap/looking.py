"""The face of what looks at a session, and the one that sees nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Observer:
    """What looks at a session; this one looks at nothing, and a real one overrides what it needs.

    All methods but `prepare` run on the pump's thread. `now` is in monotonic seconds. An exception out of any of them
    switches the observer off for the rest of the session.

    Attributes:
        to_agent: bytes for the agent; the pump takes them after each call.
        to_outer: bytes for the outer terminal, the same way; the observer sees to it that they may go out there.
        deadline: when `on_deadline` is due, or None.
        notices: lines for the user's stderr once the terminal is a shell's again.
    """

    def __init__(self) -> None:
        self.to_agent = bytearray()
        self.to_outer = bytearray()
        self.deadline: float | None = None
        self.notices: list[str] = []

    def prepare(self) -> None:
        """Load what is not needed at once; called on the loading thread while the observer is at work already."""

    @property
    def awaits_answers(self) -> bool:
        """The outer terminal was asked something, and its answers would be read by a shell if we left now."""
        return False

    def take_terminal(self, now: float) -> None:
        """The outer terminal is in raw mode and ours: it may be asked and written to."""

    def give_terminal(self) -> None:
        """The outer terminal is about to be left: nothing more may be asked, and nothing written but by `leave`."""

    def started(self, pid: int, foreground_group: Callable[[], int | None]) -> None:
        """The agent runs as `pid`; `foreground_group` tells its terminal's foreground process group at any time."""

    def output(self, data: bytes, now: float) -> bytes:
        """Bytes of the agent, before they are forwarded: returns what goes out now. Must be cheap."""
        return data

    def input(self, data: bytes, now: float) -> bytes:
        """Bytes of the outer terminal, before they are forwarded: returns what the agent gets now. Must be cheap."""
        return data

    def input_gone(self, data: bytes, now: float) -> None:
        """Bytes of the outer terminal that the agent has got already, before this observer was there."""

    def flush_output(self) -> bytes:
        """Give up what `output` holds back."""
        return b""

    def flush_input(self) -> bytes:
        """Give up what `input` holds back."""
        return b""

    def look(self, data: bytes, now: float) -> None:
        """Bytes of the agent, as it wrote them, after they were forwarded."""

    def look_input(self, data: bytes, now: float) -> None:
        """Bytes of the outer terminal, after they were forwarded."""

    def resized(self, rows: int, columns: int, now: float) -> None:
        """The terminal has another size."""

    def stopped(self, now: float) -> None:
        """The agent has stopped (job control), and we are about to."""

    def continued(self, now: float) -> None:
        """The agent is about to be continued."""

    def on_deadline(self, now: float) -> None:
        """The deadline has come."""

    def child_exited(self, code: int | None, signal: int | None, now: float) -> None:
        """The agent has ended, with an exit code or by a signal. Must be quick; its bytes still go out."""

    def leave(self) -> bytes:
        """The outer terminal is about to be a shell's: bytes that put back what the agent and we have changed in it."""
        return b""

    def come_back(self, now: float) -> bytes:
        """The outer terminal is ours again after `leave`: bytes that set it as it was for the agent."""
        return b""

    def withdraw(self) -> bytes:
        """The observer has failed: bytes that take back what it shows in the outer terminal, if they may go out now."""
        return b""

    def follow(self, data: bytes, position: int) -> None:
        """Keep no more than what `leave` needs; called in place of all else but `leave` once the observer has failed.

        Args:
            data: bytes of the agent.
            position: how many of its bytes came before them; those that were read already do not count twice.
        """

    def close(self) -> None:
        """The end: the terminal is restored. May take a bounded time."""


class Blind(Observer):
    """Sees nothing, in place of an observer that could not be loaded; it leaves the terminal in the way that fits all.

    Args:
        changed: something may have been changed in the terminal.
    """

    def __init__(self, changed: bool = False) -> None:
        super().__init__()
        self._changed = changed

    def look(self, data: bytes, now: float) -> None:
        """Note whether the terminal may have been changed at all."""
        self._changed = self._changed or b"\x1b" in data

    def follow(self, data: bytes, position: int) -> None:
        """As `look`."""
        self._changed = self._changed or b"\x1b" in data

    def leave(self) -> bytes:
        """Reset what programs leave behind."""
        if not self._changed:
            return b""
        import os

        from .terminal.reset import RESET, reset_bytes

        try:
            return reset_bytes(os.environ)
        except Exception:  # no memory, or no descriptor, to load the table of terminals
            return RESET
