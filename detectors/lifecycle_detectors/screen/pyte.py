"""The default screen model: pyte's screen, corrected (`model.py`), behind our own parser.

Owns the face only: what is asked of the cells, and when each row last changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pyte import modes as mo  # noqa: TID253  (this module is imported only where a screen is made)

from lifecycle_detectors.events import Size
from lifecycle_detectors.parser import Parser

from . import Cursor, Line, Run, shown
from .cells import BLANK, Cell, style_of
from .commands import apply
from .model import Model


class PyteScreen:
    """A `Screen` that needs pyte only."""

    def __init__(self, size: Size) -> None:
        self._parser = Parser()
        self._model = Model(size.columns, size.rows)
        self._generation = 0
        self._touched_at = [0] * size.rows
        self._seen = [""] * size.rows
        self._changed_at = [0] * size.rows
        self._state = self._visible_state()

    @property
    def size(self) -> Size:
        """As in the protocol."""
        return Size(self._model.lines, self._model.columns)

    @property
    def cursor(self) -> Cursor:
        """As in the protocol."""
        model = self._model
        return Cursor(model.cursor.y, min(model.cursor.x, model.columns - 1), mo.DECTCEM in model.mode)

    @property
    def alternate(self) -> bool:
        """As in the protocol."""
        return self._model.alternate

    @property
    def generation(self) -> int:
        """As in the protocol."""
        return self._generation

    @property
    def flows(self) -> bool:
        """As in the protocol."""
        return self._parser.at_ground and self._model.flows

    def feed(self, data: bytes) -> None:
        """As in the protocol."""
        apply(self._model, self._parser.feed(data))
        self._note_changes()

    def resize(self, size: Size) -> None:
        """As in the protocol."""
        self._model.resize(size.rows, size.columns)
        missing = size.rows - len(self._seen)
        self._seen = self._seen[: size.rows] + [""] * missing
        self._changed_at = self._changed_at[: size.rows] + [0] * missing
        self._note_changes()

    def rows(self) -> Sequence[str]:
        """As in the protocol."""
        return [row.read() for row in self._model.buffer]

    def lines(self) -> Sequence[Line]:
        """As in the protocol."""
        lines = []
        first = 0
        parts: list[str] = []
        last = self._model.lines - 1
        for number, row in enumerate(self._model.buffer):
            if row.wrapped and number < last:
                parts.append(row.read_whole())
            else:
                lines.append(Line("".join([*parts, row.read()]), first, number))
                first = number + 1
                parts = []
        return lines

    def row_changed(self) -> Sequence[int]:
        """As in the protocol."""
        for number, text in enumerate(self.rows()):
            if text != self._seen[number]:
                self._seen[number] = text
                self._changed_at[number] = self._touched_at[number]
        return tuple(self._changed_at)

    def runs(self, row: int) -> Sequence[Run]:
        """As in the protocol."""
        runs = []
        column = 0
        for _, group in groupby(self._model.buffer[row], key=_attributes):
            cells = list(group)
            text = "".join(cell.data for cell in cells)
            runs.append(Run(text.rstrip("\1").replace(BLANK, " "), column, style_of(cells[0])))
            column += len(cells)
        return shown(runs)

    def _note_changes(self) -> None:
        model = self._model
        state = self._visible_state()
        if not (model.touched or model.moved or state != self._state):
            return
        self._state = state
        self._generation += 1
        if model.moved:
            self._touched_at = [self._generation] * model.lines
        else:
            for number in model.touched:
                self._touched_at[number] = self._generation
        model.touched.clear()
        model.moved = False

    def _visible_state(self) -> tuple[Cursor, bool]:
        return self.cursor, self.alternate


def _attributes(cell: Cell) -> tuple[object, ...]:
    return cell[1:]
