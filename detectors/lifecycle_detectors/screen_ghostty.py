"""The other screen model: libghostty-vt through pyghostty (the optional extra `lifecycle-wrap[ghostty]`).

Owns the translation of the library's terms into ours. It reads bytes itself; none of our parser is between.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from pyghostty._ffi import ffi, lib  # noqa: TID253
from pyghostty.core import Terminal  # noqa: TID253  (this module is imported only where a screen is made)

from .events import Size
from .screen import Cursor, Line, Run, Style

_SCROLLBACK = 500
"""Rows kept above the screen, as in the pyte model: only a terminal that grows shows them again."""
_SPACE = 0x20
"""A cell with it shows nothing else: libghostty-vt keeps what combines with a space, but leaves it out of the text."""
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_LEVELS = (0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)


class GhosttyScreen:
    """A `Screen` that libghostty-vt draws."""

    def __init__(self, size: Size) -> None:
        self._terminal = Terminal(size.columns, size.rows, scrollback=_SCROLLBACK)
        self._size = size
        self._generation = 0
        self._text: list[str] | None = None
        self._seen = [""] * size.rows
        self._changed_at = [0] * size.rows

    @property
    def size(self) -> Size:
        """As in the protocol."""
        return self._size

    @property
    def cursor(self) -> Cursor:
        """As in the protocol."""
        column, row = self._terminal.cursor
        return Cursor(row, column, bool(self._terminal.get("cursor_visible", "bool")))

    @property
    def alternate(self) -> bool:
        """As in the protocol."""
        active = self._terminal.get("active_screen", "GhosttyTerminalScreen")
        return bool(active == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    @property
    def generation(self) -> int:
        """As in the protocol."""
        return self._generation

    def feed(self, data: bytes) -> None:
        """As in the protocol."""
        if data:
            self._terminal.feed(data)
            self._changed()

    def resize(self, size: Size) -> None:
        """As in the protocol."""
        self._size = size
        self._terminal.resize(size.columns, size.rows)
        missing = size.rows - len(self._seen)
        self._seen = self._seen[: size.rows] + [""] * missing
        self._changed_at = self._changed_at[: size.rows] + [0] * missing
        self._changed()

    def rows(self) -> Sequence[str]:
        """As in the protocol."""
        if self._text is None:
            rows = [row.rstrip(" ") for row in self._terminal.text().split("\n")]
            self._text = rows + [""] * (self._size.rows - len(rows))
        return self._text

    def lines(self) -> Sequence[Line]:
        """As in the protocol."""
        lines = []
        parts: list[str] = []
        first = 0
        for number, row in enumerate(self.rows()):
            if number + 1 < self._size.rows and self._is_wrapped(number):
                parts.append(self._whole(number))
            else:
                lines.append(Line("".join([*parts, row]), first, number))
                first = number + 1
                parts = []
        return lines

    def row_changed(self) -> Sequence[int]:
        """As in the protocol."""
        for number, text in enumerate(self.rows()):
            if text != self._seen[number]:
                self._seen[number] = text
                self._changed_at[number] = self._generation
        return tuple(self._changed_at)

    def runs(self, row: int) -> Sequence[Run]:
        """As in the protocol."""
        runs = []
        cells = [(self._cell_text(column, row), self._style(column, row)) for column in range(self._size.columns)]
        column = 0
        for style, group in groupby(cells, key=lambda cell: cell[1]):
            texts = [text for text, _ in group]
            runs.append(Run("".join(texts), column, style))
            column += len(texts)
        while runs and not runs[-1].text.strip(" "):
            runs.pop()
        return runs

    def _changed(self) -> None:
        self._generation += 1
        self._text = None

    def _is_wrapped(self, row: int) -> bool:
        raw = ffi.new("GhosttyRow*")
        lib.ghostty_grid_ref_row(self._terminal.ref(0, row), raw)
        wrapped = ffi.new("bool*")
        lib.ghostty_row_get(raw[0], lib.GHOSTTY_ROW_DATA_WRAP, wrapped)
        return bool(wrapped[0])

    def _whole(self, row: int) -> str:
        return "".join(self._cell_text(column, row) for column in range(self._size.columns))

    def _cell_text(self, column: int, row: int) -> str:
        """The text of a cell: a space where it holds none, nothing for the second half of a wide character."""
        ref = self._terminal.ref(column, row)
        length = ffi.new("size_t*")
        lib.ghostty_grid_ref_graphemes(ref, ffi.NULL, 0, length)
        if length[0]:
            codes = ffi.new("uint32_t[]", length[0])
            lib.ghostty_grid_ref_graphemes(ref, codes, length[0], length)
            return "".join(map(chr, codes)) if codes[0] != _SPACE else " "
        cell = ffi.new("GhosttyCell*")
        lib.ghostty_grid_ref_cell(ref, cell)
        width = ffi.new("GhosttyCellWide*")
        lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_WIDE, width)
        return " " if width[0] == lib.GHOSTTY_CELL_WIDE_NARROW else ""

    def _style(self, column: int, row: int) -> Style:
        style = self._terminal.style(column, row)
        return Style(
            _colour(style["fg"]),
            _colour(style["bg"]),
            style["bold"],
            style["faint"],
            style["italic"],
            style["underline"] != 0,
            style["inverse"],
        )


def _colour(colour: Any) -> str:
    """The colour's name in the protocol; pyghostty gives None, `("palette", number)` or `("rgb", (r, g, b))`."""
    if colour is None:
        return "default"
    kind, value = colour
    if kind == "rgb":
        return bytes(value).hex()
    if value < 16:
        return _NAMES[value] if value < 8 else "bright" + _NAMES[value - 8]
    if value < 232:
        value -= 16
        return bytes(_LEVELS[value // step % 6] for step in (36, 6, 1)).hex()
    return bytes([8 + 10 * (value - 232)] * 3).hex()
