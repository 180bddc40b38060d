"""What the user types, as far as it is evidence: when, whether something was entered, and what it was typed behind.

Owns the draft: from the first key to the Enter or Ctrl-C that ends it. Must not keep what is typed; the agent's screen
is looked at only at a draft's first key and at its end.
"""

from __future__ import annotations

from collections.abc import Callable

from . import keyboard
from .evidence import Evidence
from .layout import Layout

Look = Callable[[], Layout | None]


class Draft:
    """Follows the user's keys and notes them in the evidence.

    Args:
        look: lays out what the user sees at this moment, or returns None when that is not known.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._open = False
        self._typing = False
        self._is_command = False
        self._edited = False
        self._line_before: list[str] = []

    def press(self, press: keyboard.Press, evidence: Evidence, now: float) -> bool:
        """Note the user's word; what the terminal says by itself is none.

        Returns:
            Whether the user pressed Enter.
        """
        if isinstance(press, (keyboard.Focus, keyboard.Mouse, keyboard.Report)):
            return False
        evidence.key_at = now
        if isinstance(press, keyboard.Submit):
            self._submit(evidence, now)
            return True
        if isinstance(press, (keyboard.Interrupt, keyboard.Escape)):
            evidence.interrupt_at = now
            if isinstance(press, keyboard.Interrupt):
                self._end(evidence)
        else:
            self._follow(press, evidence)
        return False

    def _submit(self, evidence: Evidence, now: float) -> None:
        evidence.submit_at = now
        if self._open and not self._is_taken_back(evidence):
            evidence.entered.set(evidence.spoke, now)
            evidence.command_at = now if self._is_command else evidence.command_at
        self._end(evidence)

    def _follow(self, press: keyboard.Press, evidence: Evidence) -> None:
        """Note the begin of a draft; a command's slash may come after keys that only cleared what stood there."""
        data = press.data if isinstance(press, keyboard.Key) else b""
        if not self._typing:
            self._is_command = data.startswith(b"/")
        self._typing = data[-1:] >= b" "
        self._edited = self._edited or any(byte < 0x20 or byte == 0x7F for byte in data)
        if not self._open:
            self._open = True
            layout = self._look()
            evidence.undrafted = layout.left_of_cursor if layout is not None else ""
            self._line_before = layout.region_lines("cursor_line") if layout is not None else []

    def _is_taken_back(self, evidence: Evidence) -> bool:
        """Tell whether the cursor's line is again what it was before the draft: nothing of it is left.

        What was typed without a key that takes back is there, though it may not have been echoed yet.
        """
        layout = self._look() if self._edited else None
        if layout is None or not evidence.undrafted:
            return False
        return layout.left_of_cursor == evidence.undrafted and layout.region_lines("cursor_line") == self._line_before

    def _end(self, evidence: Evidence) -> None:
        self._open = self._typing = self._edited = False
        evidence.undrafted = ""
