"""The other screen model: libghostty-vt through pyghostty (the optional extra `lifecycle-wrap[ghostty]`).

Owns the translation of the library's terms into ours. It reads bytes itself; none of our parser is between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from pyghostty._ffi import ffi, lib, union_fn  # noqa: TID253
from pyghostty.core import Terminal, init_sized  # noqa: TID253  (imported only where a screen is made)

from lifecycle_detectors.events import Size

from . import HISTORY_ROWS, Cursor, Line, Run, Style, shown
from .rendition import palette

_SPACE = 0x20
"""A cell with it shows nothing else: libghostty-vt keeps what combines with a space, but leaves it out of the text."""
_MAX_CLUSTER = 64
"""Code points that are read of one cell."""
_MARGINS_QUERY = b"\x1bP$qr\x1b\\"
_MARGINS_REPLY = re.compile(rb"\x1bP1\$r(\d+);(\d+)r\x1b\\")
"""DECRQSS for DECSTBM: the library tells its margins to nobody else."""
_NO_FLOW = (45, 69, 1045)
"""Modes in which text flows otherwise: reverse wrap, left and right margins, extended reverse wrap."""


class GhosttyScreen:
    """A `Screen` that libghostty-vt draws."""

    def __init__(self, size: Size) -> None:
        self._terminal = Terminal(size.columns, size.rows, scrollback=HISTORY_ROWS)
        self._view = _View(self._terminal)
        self._terminal.on_reply(self._take_reply)
        self._reply = b""
        self._size = size
        self._generation = 0
        self._looked_at = 0
        self._rows = [""] * size.rows
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

    @property
    def flows(self) -> bool:
        """As in the protocol."""
        if not self._terminal.get("vt_ground", "bool") or any(map(self._terminal.mode, _NO_FLOW)):
            return False
        self._terminal.feed(_MARGINS_QUERY)
        margins = _MARGINS_REPLY.fullmatch(self._reply)
        return margins is not None and int(margins[1]) <= self.cursor.row + 1 <= int(margins[2])

    def feed(self, data: bytes) -> None:
        """As in the protocol."""
        if data:
            self._terminal.feed(data)
            self._generation += 1

    def resize(self, size: Size) -> None:
        """As in the protocol."""
        self._terminal.resize(size.columns, size.rows)
        self._size = size
        self._generation += 1
        missing = size.rows - len(self._rows)
        self._rows = self._rows[: size.rows] + [""] * missing
        self._changed_at = self._changed_at[: size.rows] + [0] * missing

    def rows(self) -> Sequence[str]:
        """As in the protocol."""
        self._look()
        return self._rows

    def lines(self) -> Sequence[Line]:
        """As in the protocol."""
        lines = []
        first = 0
        parts: list[str] = []
        for number, text in enumerate(self.rows()):
            if number + 1 < self._size.rows and self._view.is_wrapped(number):
                parts.append(text + " " * self._view.blanks(number, self._size.columns))
            else:
                lines.append(Line("".join([*parts, text]), first, number))
                first = number + 1
                parts = []
        return lines

    def row_changed(self) -> Sequence[int]:
        """As in the protocol."""
        self._look()
        return tuple(self._changed_at)

    def runs(self, row: int) -> Sequence[Run]:
        """As in the protocol."""
        runs = []
        column = 0
        for style, group in groupby(self._view.cells(row, self._size.columns), key=lambda cell: cell[1]):
            texts = [text for text, _ in group]
            runs.append(Run("".join(texts), column, style))
            column += len(texts)
        return shown(runs)

    def _take_reply(self, reply: bytes) -> None:
        self._reply = reply

    def _look(self) -> None:
        """Read the rows anew, if anything was fed since they were read."""
        if self._looked_at == self._generation:
            return
        self._looked_at = self._generation
        rows = self._view.text(self._size)
        rows += [""] * (self._size.rows - len(rows))
        for number, text in enumerate(rows):
            if text != self._rows[number]:
                self._changed_at[number] = self._generation
        self._rows = rows


class _View:
    """Reads the library's cells; its C values are made once, since making them costs more than reading.

    The library's own account of what changed (its render state) is no help: it leaves out combining marks and wraps.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._grid_ref = union_fn(
            "ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)"
        )
        self._point = ffi.new("GhosttyPointS*")
        self._point.tag = lib.GHOSTTY_POINT_TAG_ACTIVE
        self._ref = init_sized("GhosttyGridRef")
        self._selection = init_sized("GhosttySelection")
        self._options = init_sized("GhosttyTerminalSelectionFormatOptions")
        self._options.emit = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN
        self._options.trim = True
        self._options.selection = self._selection
        self._buffer = ffi.new("uint8_t[]", 16_384)
        self._length = ffi.new("size_t*")
        self._row = ffi.new("GhosttyRow*")
        self._flag = ffi.new("bool*")
        self._cell = ffi.new("GhosttyCell*")
        self._width = ffi.new("GhosttyCellWide*")
        self._style = init_sized("GhosttyStyle")
        self._codes = ffi.new("uint32_t[]", _MAX_CLUSTER)

    def text(self, size: Size) -> list[str]:
        """The screen's rows; the empty ones at the end are left out."""
        self._selection.start = self._at(0, 0)[0]
        self._selection.end = self._at(size.columns - 1, size.rows - 1)[0]
        while True:
            result = lib.ghostty_terminal_selection_format_buf(
                self._terminal._t[0], self._options[0], self._buffer, len(self._buffer), self._length
            )
            if result != lib.GHOSTTY_OUT_OF_SPACE:
                break
            self._buffer = ffi.new("uint8_t[]", self._length[0])
        text: str = ffi.buffer(self._buffer, self._length[0])[:].decode("utf-8", "replace")
        return [line.rstrip(" ") for line in text.split("\n")]

    def is_wrapped(self, row: int) -> bool:
        """The row's text goes on in the next row."""
        lib.ghostty_grid_ref_row(self._at(0, row), self._row)
        lib.ghostty_row_get(self._row[0], lib.GHOSTTY_ROW_DATA_WRAP, self._flag)
        return bool(self._flag[0])

    def blanks(self, row: int, columns: int) -> int:
        """How many blanks and spaces there are at the row's end."""
        count = 0
        for column in reversed(range(columns)):
            text = self._text_at(column, row)
            if text.strip(" "):
                break
            count += len(text)
            if not text and column + 1 < columns:
                break  # the second half of a wide character, not the gap that one left when it wrapped
        return count

    def cells(self, row: int, columns: int) -> Iterator[tuple[str, Style]]:
        """The cells of a row: text (a space for none, nothing for a wide character's second half) and style."""
        for column in range(columns):
            lib.ghostty_grid_ref_style(self._at(column, row), self._style)
            style = _style(self._style)
            text = self._text_at(column, row)
            if text in ("", " "):
                lib.ghostty_grid_ref_cell(self._ref, self._cell)
                style = style._replace(background=_erased_to(self._cell[0], style.background))
            yield text, style

    def _text_at(self, column: int, row: int) -> str:
        ref = self._at(column, row)
        lib.ghostty_grid_ref_graphemes(ref, self._codes, _MAX_CLUSTER, self._length)
        if 0 < self._length[0] <= _MAX_CLUSTER:
            codes = self._codes[0 : self._length[0]]
            return "".join(map(chr, codes)) if codes[0] != _SPACE else " "
        lib.ghostty_grid_ref_cell(ref, self._cell)
        lib.ghostty_cell_get(self._cell[0], lib.GHOSTTY_CELL_DATA_WIDE, self._width)
        return " " if self._width[0] == lib.GHOSTTY_CELL_WIDE_NARROW else ""

    def _at(self, column: int, row: int) -> Any:
        self._point.value.x, self._point.value.y = column, row
        self._grid_ref(self._terminal._t[0], self._point[0], self._ref)
        return self._ref


def _style(style: Any) -> Style:
    return Style(
        _colour(style.fg_color),
        _colour(style.bg_color),
        bool(style.bold),
        bool(style.faint),
        bool(style.italic),
        style.underline != 0,
        bool(style.inverse),
    )


def _colour(colour: Any) -> str:
    """The name of a `GhosttyStyleColor` in the protocol."""
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return palette(colour.value.palette)
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        return _hexadecimal(colour.value.rgb)
    return "default"


def _erased_to(cell: Any, otherwise: str) -> str:
    """The background of a cell that was erased: it is kept in the cell, not in a style."""
    tag, index, rgb = ffi.new("GhosttyCellContentTag*"), ffi.new("uint8_t*"), ffi.new("GhosttyColorRgb*")
    lib.ghostty_cell_get(cell, lib.GHOSTTY_CELL_DATA_CONTENT_TAG, tag)
    if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
        lib.ghostty_cell_get(cell, lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, index)
        return palette(index[0])
    if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
        lib.ghostty_cell_get(cell, lib.GHOSTTY_CELL_DATA_COLOR_RGB, rgb)
        return _hexadecimal(rgb[0])
    return otherwise


def _hexadecimal(colour: Any) -> str:
    return bytes((colour.r, colour.g, colour.b)).hex()
