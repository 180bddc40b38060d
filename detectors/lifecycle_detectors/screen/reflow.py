"""What becomes of the rows when the terminal takes another size.

Owns the rules, which are libghostty-vt's (`PageList.resize`): wrapped lines of the main screen flow to the new width,
the alternate screen is cut; a screen that gets lower first gives up blank rows below the text, one that gets higher
takes rows back from above when the cursor is at the bottom. Works on the rows above the screen and on it as one list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .cells import BLANK, HEAD_GAP, TAIL, Cell, Row

_EMPTY = Cell()


@dataclass(slots=True)
class Mark:
    """A place that keeps its cell: `row` counts from the first row above the screen."""

    row: int
    column: int


@dataclass(slots=True)
class Sheet:
    """All rows of a screen, and how many of the last ones are on the screen itself."""

    rows: list[Row]
    lines: int
    columns: int

    @property
    def top(self) -> int:
        """The index of the screen's first row."""
        return len(self.rows) - self.lines

    def resize(self, lines: int, columns: int, cursor: Mark, others: list[Mark], *, flow: bool) -> None:
        """Take another size; the marks are moved with their cells.

        Args:
            lines: rows on the screen from now on.
            columns: cells in a row from now on.
            cursor: the cursor's place.
            others: places that matter too (the saved cursor).
            flow: wrapped lines flow; else rows are cut or lengthened.
        """
        cursor_line = cursor.row - self.top
        others = [*others, Mark(0, 0)]  # libghostty-vt keeps the first row: it has a mark of its own there
        marks = [cursor, *others]
        if not flow and columns != self.columns:
            self._cut(columns, marks)
        if columns > self.columns:
            self._flow(columns, cursor, others, cursor_line)
        self._change_lines(lines, cursor_line, marks)
        if columns < self.columns:
            self._flow(columns, cursor, others, cursor_line)

    def _grow(self, count: int) -> None:
        self.rows += [Row([_EMPTY] * self.columns) for _ in range(count)]

    def _cut(self, columns: int, marks: Iterable[Mark]) -> None:
        missing = [_EMPTY] * (columns - self.columns)
        for row in self.rows:
            if row[-1].data == HEAD_GAP:
                row[-1] = _EMPTY
            row[columns:] = missing
            row.text = None
            if missing:
                row.wrapped = row.continues = False
        for mark in marks:
            mark.column = min(mark.column, columns - 1)
        self.columns = columns

    def _change_lines(self, lines: int, cursor_line: int, marks: Iterable[Mark]) -> None:
        if lines < self.lines:
            fixed = max(mark.row for mark in marks)
            for _ in range(self.lines - lines):
                if len(self.rows) - 1 <= fixed or self.rows[-1].has_text():
                    break
                self.rows.pop()
        elif cursor_line < self.lines - 1:
            self._grow(lines - self.lines)
        self.lines = lines
        self._grow(lines - len(self.rows))

    def _flow(self, columns: int, cursor: Mark, others: list[Mark], cursor_line: int) -> None:
        # The rows below the cursor stay below it, but for those that its own text comes to need.
        below = max(self.lines - cursor_line - 1, 0)
        wraps = self._wraps_above(cursor)
        flow = _Flow(columns)
        for number, row in enumerate(self.rows):
            flow.add(
                row,
                cursor if cursor.row == number else None,
                [mark for mark in others if mark.row == number],
            )
        flow.move_marks()
        self.rows = flow.rows
        self.columns = columns
        self._grow(self.lines - len(self.rows))
        line = cursor.row - self.top
        if line >= 0:
            below = max(below - max(self._wraps_above(cursor) - wraps, 0), 0)
            self._grow(max(below - max(self.lines - line - 1, 0), 0))

    def _wraps_above(self, cursor: Mark) -> int:
        return sum(row.continues for row in self.rows[self.top : cursor.row + 1])


class _Flow:
    """Writes rows into rows of another width."""

    def __init__(self, columns: int) -> None:
        self.rows = [Row([_EMPTY] * columns)]
        self._columns = columns
        self._x = 0
        self._full = False
        self._breaks = 0
        """Line ends to write before the next text: those after the last text never are."""
        self._moves: list[tuple[Mark, int, int]] = []

    def add(self, row: Row, cursor: Mark | None, others: list[Mark]) -> None:
        """Write the next row, and note where its marks come to."""
        width = len(row)
        if not row.wrapped:
            while width and row[width - 1] == _EMPTY:
                width -= 1
        for mark in others:
            if mark.column >= width:
                mark.column = min(mark.column, self._columns - 1 - self._x)
            width = max(width, mark.column + 1)
        if cursor:
            width = max(width, cursor.column + 1)
        if not width:
            if not row.continues:
                self._breaks += 1
            return
        for _ in range(self._breaks):
            self._next_row()
        self._breaks = 0
        marks = [*others, cursor] if cursor else others
        x = 0
        while x < width:
            if self._full:
                self.rows[-1].wrapped = True
                self._next_row()
                self.rows[-1].continues = True
            self._note(marks, x)
            x += self._write(row, x, marks)
        if not row.wrapped:
            self._breaks = 1

    def move_marks(self) -> None:
        """Put the marks where their cells have come to."""
        for mark, row, column in self._moves:
            mark.row, mark.column = row, column

    def _note(self, marks: Iterable[Mark], x: int) -> None:
        for mark in marks:
            if mark.column == x and not any(mark is moved for moved, _, _ in self._moves):
                self._moves.append((mark, len(self.rows) - 1, self._x))

    def _write(self, row: Row, x: int, marks: Iterable[Mark]) -> int:
        """Write the cell in column `x`; returns how many columns of the row are done with it."""
        cell = row[x]
        if cell.data == HEAD_GAP:
            return 1
        if self._columns == 1:
            if cell.data == TAIL:
                return 1
            if x + 1 < len(row) and row[x + 1].data == TAIL:
                self._put(cell._replace(data=BLANK))
                self._note(marks, x + 1)
                return 2
        elif self._x == self._columns - 1 and x + 1 < len(row) and row[x + 1].data == TAIL:
            self._put(_EMPTY._replace(data=HEAD_GAP))
            return 0
        self._put(cell)
        return 1

    def _put(self, cell: Cell) -> None:
        row = self.rows[-1]
        row[self._x] = cell
        row.wide = row.wide or cell.data == TAIL
        if self._x == self._columns - 1:
            self._full = True
        else:
            self._x += 1

    def _next_row(self) -> None:
        self.rows.append(Row([_EMPTY] * self._columns))
        self._x = 0
        self._full = False
