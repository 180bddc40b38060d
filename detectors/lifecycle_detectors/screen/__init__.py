"""What the terminal shows: the face that every screen model has, and the choice of a model.

Owns the `Screen` protocol and its value types. A model follows one terminal from its first byte on; nothing here or in
a model knows agents or rules. Two models exist: pyte behind our own parser (`pyte.py`), and libghostty-vt
(`ghostty.py`, the optional extra). Both show the same text; libghostty-vt is the reference where terminals
differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from lifecycle_detectors.events import Size

Engine = Literal["auto", "pyte", "ghostty"]

HISTORY_ROWS = 500
"""Rows kept above the main screen. Only a terminal that grows shows them again."""


class Cursor(NamedTuple):
    """Where the cursor stands, counted from 0; after the last column was written it stands on that column."""

    row: int
    column: int
    visible: bool


class Line(NamedTuple):
    """A logical line: a row and the rows that its text wrapped into, joined; `last_row` is inclusive.

    Only wrapping by the terminal counts. An agent that breaks its lines itself has written several lines.
    """

    text: str
    first_row: int
    last_row: int


class Style(NamedTuple):
    """How a cell is drawn.

    Colours are `default`, one of `black red green yellow blue magenta cyan white` (also with `bright` before it), or
    six hexadecimal digits; the numbers 16 to 255 of the palette are given by their xterm value.
    """

    foreground: str = "default"
    background: str = "default"
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False


class Run(NamedTuple):
    """Neighbouring cells of one style: their text, blanks as spaces, and the column of the first."""

    text: str
    column: int
    style: Style


class Screen(Protocol):
    """A model of a terminal's screen.

    No input raises, and memory is bounded whatever is fed. Rows are those of the screen itself, never scrollback.
    """

    @property
    def size(self) -> Size:
        """The terminal's present size."""

    @property
    def cursor(self) -> Cursor:
        """The cursor; its row and column are within the size."""

    @property
    def alternate(self) -> bool:
        """The alternate screen is shown (DECSET 47, 1047 or 1049)."""

    @property
    def generation(self) -> int:
        """Counts the calls of `feed` and `resize` after which the screen or the cursor may look different."""

    @property
    def flows(self) -> bool:
        """Text that came next would be written at the cursor, and line feeds would scroll the rows that it goes to.

        So it is between control sequences, with the cursor within the scrolling region and that as wide as the screen,
        and no backspace leads up a row (mode 45).
        """

    def feed(self, data: bytes) -> None:
        """Follow the terminal's next output, cut anywhere."""

    def resize(self, size: Size) -> None:
        """Follow a change of the terminal's size (both numbers at least 1)."""

    def rows(self) -> Sequence[str]:
        """The text of each row, top first, without the blanks at its end; `size.rows` strings."""

    def lines(self) -> Sequence[Line]:
        """The logical lines, top first; together they cover every row once."""

    def row_changed(self) -> Sequence[int]:
        """Per row, a generation since which its text has been what it is.

        The text is compared when it is asked for: between two looks a row may change and change back unseen.
        """

    def runs(self, row: int) -> Sequence[Run]:
        """The row's cells by style, left to right, up to the last that shows anything."""


def shown(runs: list[Run]) -> list[Run]:
    """Runs without the cells at the end of the row that show nothing."""
    while runs:
        text, column, style = runs.pop()
        if style.background != "default" or style.reverse or style.underline:
            return [*runs, Run(text, column, style)]
        text = text.rstrip(" ")
        if text:
            return [*runs, Run(text, column, style)]
    return runs


def make_screen(size: Size, engine: Engine = "auto") -> Screen:
    """Make an empty screen.

    Args:
        size: the terminal's size.
        engine: `pyte`, `ghostty`, or `auto`: libghostty-vt where it is installed, else pyte.

    Returns:
        The model, with its library imported only now.

    Raises:
        ImportError: `ghostty` is asked for and not installed.
    """
    if engine != "pyte":
        try:
            from .ghostty import GhosttyScreen
        except (ImportError, OSError):
            if engine == "ghostty":
                raise
        else:
            return GhosttyScreen(size)
    from .pyte import PyteScreen

    return PyteScreen(size)
