"""Text written into the grid: character sets, wrapping, wide characters and grapheme clusters.

Owns what `draw` does. Characters take the columns that libghostty-vt gives them: alone, or in mode 2027 by cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyte import modes as mo  # noqa: TID253  (this module is imported only where a screen is made)
from pyte.charsets import VT100_MAP  # noqa: TID253

from .cells import (
    BLANK,
    CLUSTER_WIDTHS,
    HEAD_GAP,
    MAX_CLUSTER,
    MAY_JOIN,
    SKIN_TONES,
    TAIL,
    TEXTLESS,
    WIDTHS,
    Row,
    joins,
    keeps_variation,
    takes_variation,
)
from .grid import Grid, is_wide

CLUSTERS = 2027 << 5
"""The number of DECSET 2027 in pyte's `mode`."""
_BARE = (*TEXTLESS, " ")
"""Texts of cells that take no combining character; on a space libghostty-vt keeps it, but never shows it."""


class Charset(dict[int, str]):
    """A 94-character set for `str.translate`; what lies beyond Latin-1 is a space in it."""

    def __missing__(self, code: int) -> str:
        return chr(code) if code < 0x100 else " "


CHARSETS: dict[str, Charset | None] = {
    "B": None,
    "0": Charset({code: VT100_MAP[code] for code in range(0x60, 0x7F)} | {ord("h"): "␤"}),
    "A": Charset({ord("#"): "£"}),
}
"""The sets by the final byte that names them; None is ASCII, and with it all of Unicode."""


@dataclass(slots=True)
class Charsets:
    """Which sets G0 to G3 hold, and which of them is in use, always and for the next character only."""

    sets: list[Charset | None] = field(default_factory=lambda: [None] * 4)
    active: int = 0
    once: int | None = None

    def copy(self) -> Charsets:
        """The same, apart from this."""
        return Charsets(self.sets.copy(), self.active, self.once)


class Writer(Grid):
    """A grid that text is written into.

    Attributes:
        charsets: what characters mean.
        last_character: what REP repeats.
    """

    charsets: Charsets
    last_character: str
    _mapping: Charset | None = None

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
        widths = CLUSTER_WIDTHS if CLUSTERS in self.mode else WIDTHS
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
        if x or not is_wide(row, 0):
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

    def repeat(self, count: int) -> None:
        """REP: write the last character again."""
        if self.last_character:
            self.draw(self.last_character * count)

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
        if CLUSTERS in self.mode or x < 0:
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
        was_wide = is_wide(row, x)
        if character in "\ufe0e\ufe0f":
            if not takes_variation(cluster[-1]):
                return True
            wide: bool | None = character == "\ufe0f"
        else:
            wide = True if WIDTHS[character] > 0 and character not in SKIN_TONES else None
        if wide is True and not was_wide:
            moved = self._widen(row, x)
            if moved is None:
                return True
            row, x = moved
        elif wide is False and was_wide:
            row[x + 1] = row[x + 1]._replace(data=BLANK)
            self._changed(row)
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
        self._changed(row)
        self.cursor.x = x + 2
        return row, x
