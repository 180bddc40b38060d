"""A terminal's screen: pyte's, with what it lacks and what it gets wrong put right.

Owns the modes, the main and the alternate screen, the saved cursors, resets and resizes; writing is
`writer.py`'s, the grid `grid.py`'s, and `commands.py` says which sequence calls what.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from pyte import modes as mo  # noqa: TID253  (this module is imported only where a screen is made)
from pyte.screens import Cursor, Margins  # noqa: TID253

from . import HISTORY_ROWS
from .cells import Pen, Row
from .grid import DEFAULT
from .reflow import Mark, Sheet
from .writer import Charsets, Writer

_ANSI_MODES = frozenset({4, 20})
"""Insert (IRM) and new line (LNM)."""
_PRIVATE_MODES = frozenset({6, 7, 25, 45, 47, 1047, 1048, 1049, 2027})
"""Origin, autowrap, cursor, reverse wrap, the alternate screen, the saved cursor, grapheme clusters."""
_DEFAULT_MODES = frozenset({mo.DECAWM, mo.DECTCEM})


@dataclass(slots=True)
class _Saved:
    """What DECSC keeps."""

    x: int
    y: int
    pen: Pen
    origin: bool
    charsets: Charsets


@dataclass(slots=True)
class _Page:
    """What the main and the alternate screen have each for themselves."""

    rows: list[Row]
    cursor: Cursor
    pen: Pen
    saved: _Saved | None = None
    history: deque[Row] | None = None


class Model(Writer):
    """A terminal's screen of `columns` by `lines` cells.

    Attributes:
        alternate: the alternate screen is shown.
    """

    def reset(self) -> None:
        """RIS: everything as at the start."""
        self.mode = set(_DEFAULT_MODES)
        self.saved_modes: dict[int, bool] = {}
        self.margins = Margins(0, self.lines - 1)
        self.tabstops = set(range(8, self.columns, 8))
        self.charsets = Charsets()
        self.last_character = ""
        self._forget_pens()
        self.pen = self._pens[DEFAULT]
        self.cursor = Cursor(0, 0)
        self.alternate = False
        self._other: _Page | None = None
        self._saved: _Saved | None = None
        self.history = deque(maxlen=HISTORY_ROWS)
        self.buffer = [self._new_row() for _ in range(self.lines)]
        self.moved = True

    def save_cursor(self) -> None:
        """DECSC: one slot a screen."""
        cursor = self.cursor
        self._saved = _Saved(cursor.x, cursor.y, self.pen, mo.DECOM in self.mode, self.charsets.copy())

    def restore_cursor(self) -> None:
        """DECRC: as saved, and again as often as it is asked; home where nothing was saved."""
        saved = self._saved or _Saved(0, 0, self._default_pen(), False, Charsets())
        self.pen = saved.pen
        self.charsets = saved.charsets.copy()
        self._switch(mo.DECOM, saved.origin)
        self.cursor.x = min(saved.x, self.columns)
        self.cursor.y = min(saved.y, self.lines - 1)

    def switch_modes(self, modes: Iterable[int], on: bool, *, private: bool) -> None:
        """SM, RM, DECSET and DECRST, of the modes that count here."""
        for mode in modes:
            if mode not in (_PRIVATE_MODES if private else _ANSI_MODES):
                continue
            self._switch(mode << 5 if private else mode, on)
            if not private:
                continue
            if mode == 6:
                self.cursor_position()
            elif mode in (47, 1047, 1049):
                self._switch_screen(mode, on)
            elif mode == 1048:
                if on:
                    self.save_cursor()
                else:
                    self.restore_cursor()

    def keep_modes(self, modes: Iterable[int]) -> None:
        """XTSAVE."""
        self.saved_modes.update({mode: mode << 5 in self.mode for mode in modes if mode in _PRIVATE_MODES})

    def return_modes(self, modes: Iterable[int]) -> None:
        """XTRESTORE."""
        for mode in modes:
            self.switch_modes([mode], self.saved_modes.get(mode, mode << 5 in _DEFAULT_MODES), private=True)

    def _switch(self, mode: int, on: bool) -> None:
        if on:
            self.mode.add(mode)
        else:
            self.mode.discard(mode)

    def _switch_screen(self, mode: int, on: bool) -> None:
        if mode == 1049 and on:
            self.save_cursor()
        if mode == 1047 and not on and self.alternate:
            self.erase_in_display(2)
        old = self.cursor
        old_pen = self.pen
        if on != self.alternate:
            page = _Page(self.buffer, self.cursor, self.pen, self._saved, self.history)
            new = self._other or _Page([], Cursor(0, 0), self._default_pen())
            self._other = page
            self.buffer, self.cursor, self.pen = new.rows, new.cursor, new.pen
            self._saved, self.history = new.saved, new.history
            self.alternate = on
            if not self.buffer:
                self.buffer = [Row([self._default_pen().blank] * self.columns) for _ in range(self.lines)]
            self.moved = True
            if mode == 1049 and on:
                self.erase_in_display(2)
            if mode != 1049 or on:
                self.cursor.x, self.cursor.y, self.pen = old.x, old.y, old_pen
        elif mode == 1049 and on:
            self.erase_in_display(2)
        if mode == 1049 and not on:
            self.restore_cursor()

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size."""
        lines, columns = max(lines or self.lines, 1), max(columns or self.columns, 1)
        if (lines, columns) == (self.lines, self.columns):
            return
        flow = mo.DECAWM in self.mode
        page = _Page(self.buffer, self.cursor, self.pen, self._saved, self.history)
        for each in [page, self._other] if self._other else [page]:
            if each.rows:
                self._resize_page(each, lines, columns, flow=flow and each.history is not None)
        self.buffer = page.rows
        if columns != self.columns:
            self.tabstops = set(range(8, columns, 8))
        self.lines, self.columns = lines, columns
        self.margins = Margins(0, lines - 1)
        self.moved = True

    def _resize_page(self, page: _Page, lines: int, columns: int, *, flow: bool) -> None:
        above = list(page.history or ())
        sheet = Sheet(above + page.rows, self.lines, self.columns)
        places: list[Cursor | _Saved] = [page.cursor]
        if page.saved:
            places.append(page.saved)
        pending = [place.x >= self.columns for place in places]
        marks = [Mark(len(above) + place.y, min(place.x, self.columns - 1)) for place in places]
        sheet.resize(lines, columns, marks[0], marks[1:], flow=flow)
        for place, mark, waits in zip(places, marks, pending, strict=True):
            place.y, place.x = mark.row - sheet.top, mark.column + waits
            if place.y < 0:
                place.y, place.x = 0, int(waits and place is page.cursor)
        page.rows = sheet.rows[sheet.top :]
        if page.history is not None:
            page.history.clear()
            page.history.extend(sheet.rows[: sheet.top])
