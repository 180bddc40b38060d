"""A grid of cells with a cursor, on pyte's screen.

Owns the rows, the cursor, the margins and the attributes: moving, scrolling and erasing, as libghostty-vt does them,
since pyte's ways lose text where wide characters are cut, lines wrap or margins are set. pyte gives the skeleton
(`buffer`, `cursor`, `margins`, `mode`, `tabstops`). As in pyte, `cursor.x == columns` means that the last column was
written and the next character wraps first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pyte import modes as mo  # noqa: TID253  (this module is imported only where a screen is made)
from pyte.screens import Margins, Screen  # noqa: TID253

from .cells import BLANK, HEAD_GAP, TAIL, WIDTHS, Cell, Pen, Row

MAX_CELLS = 32_768
"""Distinct cells (character and attributes) made before their memory is dropped: some 6 MB."""
_PEN = 16
"""How many cells' memory a pen takes."""
REVERSE_WRAP = 45 << 5
"""The number of DECSET 45 in pyte's `mode`, where private modes are shifted."""
DEFAULT = Cell()


class Grid(Screen):
    """Rows of cells, `columns` wide and `lines` high.

    Attributes:
        pen: what the cursor writes with.
        history: the rows above the main screen; None for the alternate one, which keeps none.
        touched: rows whose cells were written since the caller last cleared it.
        moved: rows changed their places since the caller last cleared it.
    """

    buffer: list[Row]  # type: ignore[assignment]  # pyte's is a dict of dicts
    margins: Margins
    pen: Pen
    history: deque[Row] | None

    def __init__(self, columns: int, lines: int) -> None:
        self.touched: set[int] = set()
        self.moved = False
        super().__init__(columns, lines)
        self.margins = Margins(0, lines - 1)

    @property
    def default_char(self) -> Cell:  # type: ignore[override]  # a Char with one more attribute
        """The attributes after SGR 0."""
        return DEFAULT

    @property
    def flows(self) -> bool:
        """The cursor is in the scrolling region, and only line feeds lead out of its row."""
        return self.margins.top <= self.cursor.y <= self.margins.bottom and REVERSE_WRAP not in self.mode

    def _forget_pens(self) -> None:
        self._budget = [MAX_CELLS]
        self._pens = {DEFAULT: Pen(DEFAULT, self._budget)}

    def use_attributes(self, key: object, attributes: Callable[[], Cell]) -> None:
        """Change the pen to that of `attributes()`, remembered under `key` for the next time from this pen."""
        pen = self.pen.next.get(key)
        if pen is None:
            if self._budget[0] < 0:
                self._forget_pens()
            wanted = attributes()
            pen = self._pens.get(wanted)
            if pen is None:
                pen = self._pens[wanted] = Pen(wanted, self._budget)
                self._budget[0] -= _PEN
            self._budget[0] -= 1
            self.pen.next[key] = pen
        self.pen = pen

    def _default_pen(self) -> Pen:
        return self._pens[DEFAULT]

    # Moving

    def _settle(self) -> None:
        """Forget a pending wrap."""
        if self.cursor.x >= self.columns:
            self.cursor.x = self.columns - 1

    def cursor_up(self, count: int | None = None) -> None:
        """CUU: up, but not over the top margin."""
        self._settle()
        top = self.margins.top if self.cursor.y >= self.margins.top else 0
        self.cursor.y = max(self.cursor.y - (count or 1), top)

    def cursor_down(self, count: int | None = None) -> None:
        """CUD: down, but not over the bottom margin."""
        self._settle()
        bottom = self.margins.bottom if self.cursor.y <= self.margins.bottom else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)

    def cursor_forward(self, count: int | None = None) -> None:
        """CUF: right, within the row."""
        self._settle()
        self.cursor.x = min(self.cursor.x + (count or 1), self.columns - 1)

    def cursor_back(self, count: int | None = None) -> None:
        """CUB and BS: left, with mode 45 also into rows above that wrapped."""
        cursor = self.cursor
        count = count or 1
        if REVERSE_WRAP not in self.mode or mo.DECAWM not in self.mode:
            self._settle()
            cursor.x = max(cursor.x - count, 0)
            return
        if cursor.x >= self.columns:
            cursor.x = self.columns - 1
            count -= 1
        elif cursor.x == 0 and cursor.y <= self.margins.top:
            cursor.y = self.margins.top
            return
        while count:
            moved = min(cursor.x, count)
            cursor.x -= moved
            count -= moved
            if not count or cursor.y in (0, self.margins.top) or not self.buffer[cursor.y - 1].wrapped:
                return
            cursor.y -= 1
            cursor.x = self.columns - 1
            count -= 1

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        """CUP: to a place counted from 1, in origin mode from the top margin on and not below the bottom one."""
        top, bottom = self.margins if mo.DECOM in self.mode else (0, self.lines - 1)
        self.cursor.y = min(top + (line or 1) - 1, bottom)
        self.cursor.x = min((column or 1) - 1, self.columns - 1)

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """DECSTBM, with rows counted from 1; the cursor goes home. A region of less than two rows is refused."""
        first = max(top or 1, 1)
        last = min(bottom or self.lines, self.lines)
        if first < last:
            self.margins = Margins(first - 1, last - 1)
            self.cursor_position()

    def tab(self) -> None:
        """HT: to the next tab stop, else the last column."""
        x = self.cursor.x
        if x < self.columns - 1:
            self.cursor.x = min((stop for stop in self.tabstops if stop > x), default=self.columns - 1)

    def tab_back(self) -> None:
        """CBT: to the tab stop before, else the first column."""
        self._settle()
        x = self.cursor.x
        self.cursor.x = max((stop for stop in self.tabstops if stop < x), default=0)

    def set_tab_stop(self) -> None:
        """HTS."""
        self.tabstops.add(min(self.cursor.x, self.columns - 1))

    def clear_tab_stop(self, how: int = 0) -> None:
        """TBC."""
        if self.cursor.x < self.columns or how:
            super().clear_tab_stop(how)
        else:
            self.tabstops.discard(self.columns - 1)

    def fresh_line(self) -> None:
        """OSC 133 A and L: to the start of a line, if not there yet."""
        if self.cursor.x:
            self._settle()
            self.cursor.x = 0
            self.index()

    # Scrolling

    def index(self) -> None:
        """IND and LF: down, scrolling at the bottom margin."""
        self._settle()
        top, bottom = self.margins
        cursor = self.cursor
        if cursor.y != bottom:
            if cursor.y < self.lines - 1:
                cursor.y += 1
            return
        gone = self.buffer.pop(top)
        if self.history is not None and top == 0:
            self.history.append(gone)
        self.buffer.insert(bottom, self._new_row())
        self.moved = True

    def linefeed(self) -> None:
        """LF, VT and FF: down, in mode 20 to the first column too."""
        self.index()
        if mo.LNM in self.mode:
            self.cursor.x = 0

    def reverse_index(self) -> None:
        """RI: up, scrolling at the top margin."""
        if self.cursor.y == self.margins.top:
            self.scroll_down(1)
        else:
            self.cursor_up(1)

    def scroll_up(self, count: int) -> None:
        """SU: the region's rows go up; those of the main screen's top go into its history."""
        top, bottom = self.margins
        count = min(count, bottom - top + 1)
        if top == 0 and (self.history is not None or bottom == self.lines - 1):
            if self.history is not None:
                self.history.extend(self.buffer[:count])
            self.buffer[: bottom + 1] = self.buffer[count : bottom + 1] + self._new_rows(count)
            self.moved = True
        else:
            self._shift(top, count)

    def scroll_down(self, count: int) -> None:
        """SD: the region's rows go down."""
        self._shift(self.margins.top, -count)

    def insert_lines(self, count: int | None = None) -> None:
        """IL: rows from the cursor's on go down within the region."""
        self._shift_at_cursor(-(1 if count is None else count))

    def delete_lines(self, count: int | None = None) -> None:
        """DL: rows from the cursor's on go, and those below move up within the region."""
        self._shift_at_cursor(1 if count is None else count)

    def _shift_at_cursor(self, count: int) -> None:
        if count and self.margins.top <= self.cursor.y <= self.margins.bottom:
            self._shift(self.cursor.y, count)
            self.cursor.x = 0

    def _shift(self, first: int, count: int) -> None:
        """Move the rows from `first` to the bottom margin up by `count`, or down where it is negative."""
        end = self.margins.bottom + 1
        if count:
            rows = self.buffer[first:end]
            distance = min(abs(count), len(rows))
            kept = rows[distance:] if count > 0 else rows[: len(rows) - distance]
            for row in rows:
                row.wrapped = row.continues = False
                last = row[-1].data
                if last != BLANK and (last == HEAD_GAP or WIDTHS[last[:1] or " "] == 2):
                    # The other half of the character is in another row, or was cut off by a resize.
                    row[-1] = DEFAULT
                    row.text = None
            fresh = self._new_rows(distance)
            self.buffer[first:end] = kept + fresh if count > 0 else fresh + kept
            self.moved = True

    def _new_row(self) -> Row:
        return Row([self.pen.blank] * self.columns)

    def _new_rows(self, count: int) -> list[Row]:
        return [self._new_row() for _ in range(count)]

    # Erasing

    def insert_characters(self, count: int | None = None) -> None:
        """ICH: blanks at the cursor, what stands there moves right."""
        self._settle()
        x, row = self.cursor.x, self.buffer[self.cursor.y]
        count = min(count or 1, self.columns - x)
        if row[x].data == TAIL:
            row[x - 1] = row[x] = self.pen.blank
        keep = self.columns - count
        if keep > x and row[keep].data == TAIL:
            row[keep - 1] = self.pen.blank
        row[x:] = [self.pen.blank] * count + row[x:keep]
        self._changed(row)

    def delete_characters(self, count: int | None = None) -> None:
        """DCH: what stands right of the deleted characters moves left."""
        if count == 0:
            return
        self._settle()
        x, row = self.cursor.x, self.buffer[self.cursor.y]
        count = min(count or 1, self.columns - x)
        for boundary in (x, x + count, self.columns):
            self._split(row, boundary)
        row[x:] = row[x + count :] + [self.pen.blank] * count
        self._end_wrap()
        self._changed(row)

    def erase_characters(self, count: int | None = None) -> None:
        """ECH."""
        self._settle()
        x, row = self.cursor.x, self.buffer[self.cursor.y]
        end = min(x + (count or 1), self.columns)
        if end < self.columns and row[end].data == TAIL:
            end += 1
        self._split(row, x)
        self._split(row, end)
        self._end_wrap()
        row[x:end] = [self.pen.blank] * (end - x)
        self._changed(row)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """EL: to the end (0), from the start (1), whole (2)."""
        if how not in (0, 1, 2):
            return
        self._settle()
        x, row = self.cursor.x, self.buffer[self.cursor.y]
        start, end = (0, x + 1) if how == 1 else (x if how == 0 else 0, self.columns)
        if how != 1:
            self._end_wrap()
        if row[start].data == TAIL:
            start -= 1
        if end < self.columns and row[end].data == TAIL:
            end += 1
        row[start:end] = [self.pen.blank] * (end - start)
        self._changed(row)

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        """ED: below (0), above (1), all (2); 3 is the scrollback, 22 scrolls the text away."""
        y = self.cursor.y
        if how == 0:
            self.erase_in_line(0)
            self._erase_rows(y + 1, self.lines)
        elif how == 1:
            self.erase_in_line(1)
            self._erase_rows(0, y)
        elif how == 2:
            self._settle()
            self._erase_rows(0, self.lines)
        elif how == 3 and self.history is not None:
            self.history.clear()
        elif how == 22:
            self._scroll_text_away()

    def _scroll_text_away(self) -> None:
        used = max(
            (number + 1 for number, row in enumerate(self.buffer) if any(cell != DEFAULT for cell in row)), default=0
        )
        if self.history is not None:
            self.history.extend(self.buffer[:used])
        self.buffer[:] = self.buffer[used:] + [Row([DEFAULT] * self.columns) for _ in range(used)]
        self._settle()
        self.cursor.y -= used
        if self.cursor.y < 0:
            self.cursor.x = self.cursor.y = 0
        self.moved = True

    def _erase_rows(self, first: int, end: int) -> None:
        if first < end:
            self.buffer[first:end] = self._new_rows(end - first)
            self.touched.update(range(first, end))

    def _end_wrap(self) -> None:
        """The cursor's row goes on in the next one no longer."""
        y = self.cursor.y
        row = self.buffer[y]
        if row.wrapped:
            row.wrapped = False
            if y + 1 < self.lines:
                self.buffer[y + 1].continues = False
            if row[-1].data == HEAD_GAP:
                row[-1] = self.pen.blank

    def _changed(self, row: Row) -> None:
        row.text = None
        self.touched.add(self.cursor.y)

    def alignment_display(self) -> None:
        """DECALN: the screen full of E."""
        self.margins = Margins(0, self.lines - 1)
        self.mode.discard(mo.DECOM)
        self.cursor_position()
        self.use_attributes("DECALN", lambda: Cell(BLANK, self.pen.attributes.fg, self.pen.attributes.bg))
        self.buffer = [Row([self.pen.cells["E"]] * self.columns) for _ in range(self.lines)]
        self.moved = True

    # Wide characters

    def _part(self, row: Row, start: int, end: int) -> None:
        """Columns `start` to `end` get other characters: clear what remains of wide ones that they cut."""
        if start < 2 and (is_wide(row, 0) or (end > 1 and is_wide(row, 1))):
            self._close_gap_above()
        if row[start].data == TAIL:
            row[start - 1] = self.pen.blank
        if end < len(row) and row[end].data == TAIL:
            row[end] = self.pen.blank

    def _close_gap_above(self) -> None:
        """A wide character at the row's start goes: a gap that it left above when it wrapped is a blank like others."""
        if self.cursor.y > 0:
            _close_gap(self.buffer[self.cursor.y - 1])

    def _split(self, row: Row, x: int) -> None:
        """What is left and right of column `x` will be parted: clear a wide character that stands on both sides."""
        if x == self.columns:
            if row.wrapped and row[-1].data == HEAD_GAP:
                row[-1] = self.pen.blank
            return
        if x < 2 and row.continues and is_wide(row, 0):
            if self.cursor.y or not self.history:
                self._close_gap_above()
            else:
                _close_gap(self.history[-1])
        if row[x].data == TAIL:
            row[x - 1] = row[x] = self.pen.blank


def is_wide(row: Row, x: int) -> bool:
    """The character in column `x` takes the next one too."""
    return x + 1 < len(row) and row[x + 1].data == TAIL


def _close_gap(row: Row) -> None:
    if row[-1].data == HEAD_GAP:
        row[-1] = DEFAULT
