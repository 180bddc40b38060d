"""pyte's screen, with what it lacks and what it gets wrong put right.

Owns the cells, the cursor and the modes of the pyte model; `screen_commands.py` says which sequence calls what. pyte
gives the colours of SGR, the tab stops and the skeleton of attributes (`buffer`, `cursor`, `margins`, `mode`); writing,
erasing, scrolling, wide characters, the alternate screen and resizing are done here as libghostty-vt does them, since
pyte's ways lose text there. `cursor.x == columns` means, as in pyte, that the next character wraps first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pyte import modes as mo  # noqa: TID253  (this module is imported only where a screen is made)
from pyte.charsets import VT100_MAP  # noqa: TID253
from pyte.screens import Cursor, Margins, Screen  # noqa: TID253

from .screen_cells import (
    BLANK,
    CLUSTER_WIDTHS,
    HEAD_GAP,
    MAX_CLUSTER,
    MAY_JOIN,
    SKIN_TONES,
    TAIL,
    TEXTLESS,
    WIDTHS,
    Cell,
    Pen,
    Row,
    joins,
    keeps_variation,
    takes_variation,
)
from .screen_reflow import Mark, Sheet

HISTORY_ROWS = 500
"""Rows kept above the main screen. Only a terminal that grows shows them again."""
MAX_CELLS = 32_768
"""Distinct cells (character and attributes) made before their memory is dropped: some 6 MB."""

_BARE = (*TEXTLESS, " ")
"""Texts of cells that take no combining character; on a space libghostty-vt keeps it, but never shows it."""
_CLUSTERS = 2027 << 5
_REVERSE_WRAP = 45 << 5
_DEFAULT_MODES = frozenset({mo.DECAWM, mo.DECTCEM})


class _Charset(dict[int, str]):
    """A 94-character set for `str.translate`; what lies beyond Latin-1 is a space in it."""

    def __missing__(self, code: int) -> str:
        return chr(code) if code < 0x100 else " "


CHARSETS: dict[str, _Charset | None] = {
    "B": None,
    "0": _Charset({code: VT100_MAP[code] for code in range(0x60, 0x7F)} | {ord("h"): "␤"}),
    "A": _Charset({ord("#"): "£"}),
}


@dataclass(slots=True)
class _Charsets:
    """Which sets G0 to G3 hold (None: ASCII and Unicode), and which of them is in use."""

    sets: list[_Charset | None] = field(default_factory=lambda: [None] * 4)
    active: int = 0
    once: int | None = None

    def copy(self) -> _Charsets:
        return _Charsets(self.sets.copy(), self.active, self.once)


@dataclass(slots=True)
class _Saved:
    """What DECSC keeps."""

    x: int
    y: int
    pen: Pen
    origin: bool
    charsets: _Charsets


@dataclass(slots=True)
class _Page:
    """What the main and the alternate screen have each for themselves."""

    rows: list[Row]
    cursor: Cursor
    pen: Pen
    saved: _Saved | None = None
    history: deque[Row] | None = None


class Model(Screen):
    """A terminal's screen of `columns` by `lines` cells.

    Attributes:
        alternate: the alternate screen is shown.
        touched: rows whose cells were written since the caller last cleared it.
        moved: rows changed their places since the caller last cleared it.
    """

    buffer: list[Row]  # type: ignore[assignment]  # pyte's is a dict of dicts
    margins: Margins

    def __init__(self, columns: int, lines: int) -> None:
        self.touched: set[int] = set()
        self.moved = False
        super().__init__(columns, lines)
        self.margins = Margins(0, lines - 1)

    @property
    def default_char(self) -> Cell:  # type: ignore[override]  # a Char with one more attribute
        """The attributes after SGR 0."""
        return _DEFAULT

    def reset(self) -> None:
        """RIS: everything as at the start."""
        self.mode = set(_DEFAULT_MODES)
        self.saved_modes: dict[int, bool] = {}
        self.margins = Margins(0, self.lines - 1)
        self.tabstops = set(range(8, self.columns, 8))
        self.charsets = _Charsets()
        self._mapping: _Charset | None = None
        self.last_character = ""
        self._forget_pens()
        self.pen = self._pens[_DEFAULT]
        self.cursor = Cursor(0, 0)
        self.alternate = False
        self._other: _Page | None = None
        self._saved: _Saved | None = None
        self._history: deque[Row] | None = deque(maxlen=HISTORY_ROWS)
        self.buffer = [self._new_row() for _ in range(self.lines)]
        self.moved = True

    # Attributes

    def _forget_pens(self) -> None:
        self._budget = [MAX_CELLS]
        self._pens = {_DEFAULT: Pen(_DEFAULT, self._budget)}

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
                self._budget[0] -= 1
            self._budget[0] -= 1
            self.pen.next[key] = pen
        self.pen = pen

    # Writing

    def draw(self, data: str) -> None:
        """Write text at the cursor: printable characters, of any width."""
        charsets = self.charsets
        while data and charsets.once is not None:
            self._mapping = charsets.sets[charsets.once]
            if WIDTHS[data[0]] > 0:
                charsets.once = None
            self._draw(data[0])
            data = data[1:]
        self._mapping = charsets.sets[charsets.active]
        self._draw(data)

    def _draw(self, data: str) -> None:
        if data.isascii():
            self._write(data)
            return
        widths = CLUSTER_WIDTHS if _CLUSTERS in self.mode else WIDTHS
        start = 0
        for end, kind in enumerate(map(widths.__getitem__, data)):
            if kind == 1:
                continue
            self._write(data[start:end])
            start = end + 1
            character = data[end]
            if kind == MAY_JOIN:
                if self._join(character):
                    continue
                kind = WIDTHS[character]
            if kind == 0:
                self._attach(character)
            elif kind == 1:
                self._write(character)
            elif kind == 2:
                self._write_wide(character)
        self._write(data[start:])

    def _mapped(self, text: str) -> str:
        return text.translate(self._mapping) if self._mapping else text

    def _write(self, text: str) -> None:
        """Write characters of one column each."""
        if not text:
            return
        self.last_character = text[-1]
        text = self._mapped(text)
        insert = mo.IRM in self.mode
        cursor = self.cursor
        columns = self.columns
        start, length = 0, len(text)
        while start < length:
            x = cursor.x
            if x >= columns:
                if mo.DECAWM in self.mode:
                    self._wrap()
                    x = 0
                else:
                    # Without wrapping each character replaces the one in the last column.
                    start = length - 1
                    x = columns - 1
            count = min(length - start, columns - x)
            if insert:
                count = 1
                if x + 1 < columns:
                    cursor.x = x
                    self.insert_characters(1)
            end = x + count
            row = self.buffer[cursor.y]
            if row.wide:
                self._part(row, x, end)
            row[x:end] = map(self.pen.cells.__getitem__, text[start : start + count])
            row.text = None
            self.touched.add(cursor.y)
            cursor.x = end
            start += count

    def _write_wide(self, character: str) -> None:
        self.last_character = character
        cursor = self.cursor
        columns = self.columns
        wraps = mo.DECAWM in self.mode
        if cursor.x >= columns and wraps:
            self._wrap()
        if columns < 2:
            self._write(BLANK)
            return
        if mo.IRM in self.mode and cursor.x + 2 < columns:
            self.insert_characters(2)
        if cursor.x >= columns - 1:
            if not wraps:
                return
            row = self.buffer[cursor.y]
            self._part(row, columns - 1, columns)
            row[-1] = self.pen.cells[HEAD_GAP]
            self._changed(row)
            self._wrap()
        self._put_wide(self._mapped(character))

    def _put_wide(self, text: str) -> None:
        cursor = self.cursor
        row, x = self.buffer[cursor.y], cursor.x
        if x or not _is_wide(row, 0):
            self._part(row, x, x + 2)
        row[x : x + 2] = self.pen.cells[text], self.pen.cells[TAIL]
        row.wide = True
        self._changed(row)
        cursor.x = x + 2

    def _wrap(self) -> None:
        self.buffer[self.cursor.y].wrapped = True
        self.index()
        self.cursor.x = 0
        self.buffer[self.cursor.y].continues = True

    def _part(self, row: Row, start: int, end: int) -> None:
        """Columns `start` to `end` get other characters: clear what remains of wide ones that they cut."""
        if start < 2 and (_is_wide(row, 0) or (end > 1 and _is_wide(row, 1))):
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
        if x < 2 and row.continues and _is_wide(row, 0):
            if self.cursor.y or not self._history:
                self._close_gap_above()
            else:
                _close_gap(self._history[-1])
        if row[x].data == TAIL:
            row[x - 1] = row[x] = self.pen.blank

    def _before(self) -> int:
        """The column of the character before the cursor, -1 if there is none."""
        x = self.cursor.x
        if x >= self.columns and mo.DECAWM not in self.mode:
            x = self.columns - 1
        x -= 1
        if x > 0 and self.buffer[self.cursor.y][x].data == TAIL:
            x -= 1
        return x

    def _attach(self, character: str) -> None:
        """Put a character without width onto the one before the cursor."""
        x = self._before()
        if _CLUSTERS in self.mode or x < 0:
            return
        row = self.buffer[self.cursor.y]
        base = row[x].data
        if base in _BARE:
            return
        if character in "\ufe0e\ufe0f" and not keeps_variation(base[0]):
            return
        self._append(row, x, character)

    def _append(self, row: Row, x: int, character: str) -> None:
        cell = row[x]
        if len(cell.data) < MAX_CLUSTER:
            row[x] = cell._replace(data=cell.data + character)
            self._changed(row)

    def _join(self, character: str) -> bool:
        """Put the character into the grapheme cluster before the cursor, if it belongs to it (mode 2027)."""
        row = self.buffer[self.cursor.y]
        x = self._before()
        if mo.DECAWM not in self.mode and self.cursor.x >= self.columns - 1 and row[-1].data not in TEXTLESS:
            x = self.columns - 1
        if x < 0:
            return False
        cluster = row[x].data
        if cluster in _BARE or not joins(cluster, character):
            return False
        is_wide = _is_wide(row, x)
        if character in "\ufe0e\ufe0f":
            if not takes_variation(cluster[-1]):
                return True
            wide: bool | None = character == "\ufe0f"
        else:
            wide = True if WIDTHS[character] > 0 and character not in SKIN_TONES else None
        if wide is True and not is_wide:
            moved = self._widen(row, x)
            if moved is None:
                return True
            row, x = moved
        elif wide is False and is_wide:
            row[x + 1] = row[x + 1]._replace(data=BLANK)
            self.cursor.x = min(x + 1, self.columns - 1)
        self._append(row, x, character)
        return True

    def _widen(self, row: Row, x: int) -> tuple[Row, int] | None:
        """Make the cluster at column `x` wide; returns where it is then, None where it cannot be done."""
        if x == self.columns - 1:
            if mo.DECAWM not in self.mode or self.columns < 2:
                return None
            cluster = row[x].data
            row[x] = self.pen.cells[HEAD_GAP]
            self._changed(row)
            self._wrap()
            self._put_wide(cluster)
            return self.buffer[self.cursor.y], 0
        self._part(row, x + 1, x + 2)
        row[x + 1] = self.pen.cells[TAIL]
        row.wide = True
        self.cursor.x = x + 2
        return row, x

    def repeat(self, count: int) -> None:
        """REP: write the last character again."""
        if self.last_character:
            self.draw(self.last_character * count)

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
        if _REVERSE_WRAP not in self.mode or mo.DECAWM not in self.mode:
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

    def save_cursor(self) -> None:
        """DECSC: one slot a screen."""
        cursor = self.cursor
        self._saved = _Saved(cursor.x, cursor.y, self.pen, mo.DECOM in self.mode, self.charsets.copy())

    def restore_cursor(self) -> None:
        """DECRC: as saved, and again as often as it is asked; home where nothing was saved."""
        saved = self._saved or _Saved(0, 0, self._default_pen(), False, _Charsets())
        self.pen = saved.pen
        self.charsets = saved.charsets.copy()
        self._switch(mo.DECOM, saved.origin)
        self.cursor.x = min(saved.x, self.columns)
        self.cursor.y = min(saved.y, self.lines - 1)

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
        if self._history is not None and top == 0:
            self._history.append(gone)
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
        if top == 0 and (self._history is not None or bottom == self.lines - 1):
            if self._history is not None:
                self._history.extend(self.buffer[:count])
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
                    row[-1] = _DEFAULT
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
        elif how == 3 and self._history is not None:
            self._history.clear()
        elif how == 22:
            self._scroll_text_away()

    def _scroll_text_away(self) -> None:
        used = max(
            (number + 1 for number, row in enumerate(self.buffer) if any(cell != _DEFAULT for cell in row)), default=0
        )
        if self._history is not None:
            self._history.extend(self.buffer[:used])
        self.buffer[:] = self.buffer[used:] + [Row([_DEFAULT] * self.columns) for _ in range(used)]
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
        self._switch(mo.DECOM, False)
        self.cursor_position()
        self.use_attributes("DECALN", lambda: Cell(BLANK, self.pen.attributes.fg, self.pen.attributes.bg))
        self.buffer = [Row([self.pen.cells["E"]] * self.columns) for _ in range(self.lines)]
        self.moved = True

    # Modes and screens

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """DECSTBM, with rows counted from 1; the cursor goes home. A region of less than two rows is refused."""
        first = max(top or 1, 1)
        last = min(bottom or self.lines, self.lines)
        if first < last:
            self.margins = Margins(first - 1, last - 1)
            self.cursor_position()

    def switch_modes(self, modes: Iterable[int], on: bool, *, private: bool) -> None:
        """SM, RM, DECSET and DECRST."""
        for mode in modes:
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
        self.saved_modes.update({mode: mode << 5 in self.mode for mode in modes})

    def return_modes(self, modes: Iterable[int]) -> None:
        """XTRESTORE."""
        for mode in modes:
            self.switch_modes([mode], self.saved_modes.get(mode, mode << 5 in _DEFAULT_MODES), private=True)

    def _switch(self, mode: int, on: bool) -> None:
        if on:
            self.mode.add(mode)
        else:
            self.mode.discard(mode)

    def _default_pen(self) -> Pen:
        return self._pens[_DEFAULT]

    def _switch_screen(self, mode: int, on: bool) -> None:
        if mode == 1049 and on:
            self.save_cursor()
        if mode == 1047 and not on and self.alternate:
            self.erase_in_display(2)
        old = self.cursor
        old_pen = self.pen
        if on != self.alternate:
            page = _Page(self.buffer, self.cursor, self.pen, self._saved, self._history)
            new = self._other or _Page([], Cursor(0, 0), self._default_pen())
            self._other = page
            self.buffer, self.cursor, self.pen = new.rows, new.cursor, new.pen
            self._saved, self._history = new.saved, new.history
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

    def fresh_line(self) -> None:
        """OSC 133 A and L: to the start of a line, if not there yet."""
        if self.cursor.x:
            self._settle()
            self.cursor.x = 0
            self.index()

    # Resizing

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size."""
        lines, columns = max(lines or self.lines, 1), max(columns or self.columns, 1)
        if (lines, columns) == (self.lines, self.columns):
            return
        flow = mo.DECAWM in self.mode
        page = _Page(self.buffer, self.cursor, self.pen, self._saved, self._history)
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


_DEFAULT = Cell()


def _close_gap(row: Row) -> None:
    if row[-1].data == HEAD_GAP:
        row[-1] = _DEFAULT


def _is_wide(row: Row, x: int) -> bool:
    return x + 1 < len(row) and row[x + 1].data == TAIL
