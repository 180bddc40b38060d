r"""What an agent has set that belongs to one of the two screens, or may belong to it.

Terminals differ in what the main and the alternate screen share (xterm: everything but the keyboard flags and the saved
cursor; libghostty: only the margins and the modes), so each is kept on its own and undone on its own. Owns those parts
of `modes.Modes`: kitty's keyboard flags, margins, character sets, cursor shape, protection, and the pen with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .pen import Attributes

MAX_LEVELS = 64
"""Levels of a stack that are counted; terminals keep 8 to 16 and drop the oldest."""

_SLOTS = {"(": "(", ")": ")", "*": "*", "+": "+", "-": ")", ".": "*", "/": "+"}
"""Intermediates that designate a character set, and the one that puts ASCII back into the same slot."""
_ASCII = "B"


class Left(NamedTuple):
    """Something left behind: what undoes it and what sets it again.

    `interactive` marks what only a user interface sets: that it is left says that the interface was not put away.
    """

    undo: bytes
    redo: bytes = b""
    interactive: bool = False


@dataclass
class SavedCursor:
    """What DECSC saves, but for the pen (see `pen`) and the position."""

    charsets: dict[str, str] = field(default_factory=dict)
    shift: bytes = b""
    origin: bool = False


@dataclass
class ScreenModes:
    """What is set on one screen.

    Attributes:
        keyboard: kitty's flags: those of the start, then one level per push.
        margins: parameters of DECSTBM, or empty.
        charsets: what is designated other than ASCII, by slot.
        shift: the locking shift in force, or empty.
        cursor_style: of DECSCUSR; 0 is the terminal's own.
        protected: DECSCA is on.
        saved: what DECSC saved, or None.
    """

    keyboard: list[int] = field(default_factory=lambda: [0])
    margins: bytes = b""
    charsets: dict[str, str] = field(default_factory=dict)
    shift: bytes = b""
    cursor_style: int = 0
    protected: bool = False
    saved: SavedCursor | None = None

    def designate(self, intermediates: str, final: str) -> bool:
        """Take an escape sequence that puts a character set into a slot; False when it is another."""
        slot = _SLOTS.get(intermediates[:1])
        if slot is None:
            return False
        charset = intermediates[1:] + final
        if charset == _ASCII:
            self.charsets.pop(slot, None)
        else:
            self.charsets[slot] = charset
        return True

    def push_keyboard(self, flags: int) -> None:
        """`CSI > flags u`."""
        self.keyboard = [*self.keyboard, flags][-MAX_LEVELS:]

    def pop_keyboard(self, count: int) -> None:
        """`CSI < count u`; more than there are reset all flags."""
        self.keyboard = self.keyboard[: -max(count, 1)] or [0]

    def change_keyboard(self, flags: int, how: int) -> None:
        """`CSI = flags ; how u`: set them, add them (2), or take them away (3)."""
        now = self.keyboard[-1]
        self.keyboard[-1] = now | flags if how == 2 else now & ~flags if how == 3 else flags

    def left(self, pen: Attributes, *, keep_cursor: bool) -> Iterator[Left]:
        """Tell what is left here.

        Args:
            pen: the attributes that are set.
            keep_cursor: margins are undone without moving the cursor, which needs the origin mode to be off.
        """
        pop, push = self.left_keyboard()
        if pop:
            yield Left(pop, push, interactive=True)
        if pen:
            yield Left(b"\x1b[m", b"\x1b[%sm" % b";".join(pen.values()))
        if self.protected:
            yield Left(b'\x1b[0"q', b'\x1b[1"q')
        if self.charsets or self.shift:
            yield Left(*self.left_charsets())
        if self.cursor_style:
            yield Left(b"\x1b[0 q", b"\x1b[%d q" % self.cursor_style)
        if self.margins:
            keep, back = (b"\x1b7", b"\x1b8") if keep_cursor else (b"", b"")
            yield Left(keep + b"\x1b[r" + back, keep + b"\x1b[%sr" % self.margins + back)

    def left_keyboard(self) -> tuple[bytes, bytes]:
        """What undoes and what sets again the keyboard flags, where this screen is shown: exactly what was pushed."""
        first, *levels = self.keyboard
        undo = b"\x1b[<%du" % len(levels) if levels else b""
        redo = b"".join(b"\x1b[>%du" % flags for flags in levels)
        return (undo + b"\x1b[=0;1u", b"\x1b[=%d;1u" % first + redo) if first else (undo, redo)

    def left_charsets(self) -> tuple[bytes, bytes]:
        """What undoes and what sets again the character sets."""
        undo = "".join(f"\x1b{slot}{_ASCII}" for slot in self.charsets)
        redo = "".join(f"\x1b{slot}{charset}" for slot, charset in self.charsets.items())
        return (b"\x0f" if self.shift else b"") + undo.encode(), redo.encode() + self.shift
