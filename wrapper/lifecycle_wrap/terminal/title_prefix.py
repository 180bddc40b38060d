"""`title = "state"`: the agent's state before the window's title.

Owns the marks, what becomes of the agent's own titles meanwhile, and how the title is left. A title is written only
when what it says has changed: the frames of an agent's spinner are not passed on.
"""

from __future__ import annotations

from lifecycle_detectors import State
from lifecycle_detectors.osc import clean_text
from lifecycle_detectors.parser import Osc
from lifecycle_wrap.projection import without_spinner

from .terminals import UNKNOWN, Terminal

MARKS: dict[str, dict[State, str]] = {
    "state": {State.IDLE: "○", State.WORKING: "●", State.BLOCKED: "▲"},
    "text": {State.IDLE: "[idle]", State.WORKING: "[working]", State.BLOCKED: "[blocked]"},
}
"""Per value of the key; one column wide each, so that tabs do not jump."""
MAX_TITLE = 256
"""Code points; terminals show fewer."""
PUSH, POP = b"\x1b[22;0t", b"\x1b[23;0t"


class TitlePrefix:
    """The window's title with the state before it.

    Args:
        marks: of `MARKS`, or None where titles are left alone.
        command: what stands for the title while the agent has set none.
    """

    def __init__(self, marks: dict[State, str] | None, command: str) -> None:
        self._marks = marks
        self._command = command
        self._terminal = UNKNOWN
        self._state: State | None = None
        self._text = ""
        self._last_text = ""
        self._shown: str | None = None
        self._pushed = False

    deadline: float | None = None

    def use(self, terminal: Terminal) -> None:
        """Take the terminal that was found."""
        self._terminal = terminal

    def take_state(self, state: State) -> None:
        """Take a new state."""
        self._state = state

    def take_agents(self, osc: Osc, may_write: bool) -> bytes | None:
        """Take the agent's title (OSC 0 or 2); returns what goes out in its place, None for itself."""
        if self._marks is None:
            return None
        written = osc.data.partition(b";")[2].decode("utf-8", "replace")
        self._text = without_spinner(clean_text(written, MAX_TITLE))
        self._last_text = self._text or self._last_text
        if not may_write:
            return None
        if self._state is not None:
            return self.update(0.0)
        push = self._push()
        return push + b"\x1b]" + osc.data + (b"\x07" if osc.bel else b"\x1b\\") if push else None

    def update(self, now: float) -> bytes:
        """Return what is to be written now."""
        if self._marks is None or self._state is None:
            return b""
        title = f"{self._marks[self._state]} {self._text or self._command}"
        if title == self._shown:
            return b""
        self._shown = title
        return self._push() + self._write(title)

    def leave(self) -> bytes:
        """Give the title back: from the terminal's stack, else the last one that the agent had; never an empty one."""
        was_shown, self._shown = self._shown, None
        if self._pushed:
            self._pushed = False
            return POP
        return b"" if was_shown is None else self._write(self._last_text or self._command)

    def forget(self) -> None:
        """The terminal may show another title now."""
        self._shown = None

    def _push(self) -> bytes:
        if self._pushed or not self._terminal.title_stack:
            return b""
        self._pushed = True
        return PUSH

    def _write(self, title: str) -> bytes:
        return b"\x1b]2;" + title.encode() + self._terminal.terminator
