"""What a row of the pyte model is made of: cells, pens, and how wide characters are.

Owns the values only; who writes them where is `model.py`'s. Widths and clusters are those of libghostty-vt,
which are wcwidth's but for what is listed here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from wcwidth import iter_graphemes, wcswidth, wcwidth

from . import Style

BLANK = "\0"
"""Text of a cell that holds nothing. A blank is not a space: it takes no combining character and ends no line."""
TAIL = ""
"""Text of the right half of a wide character (as in pyte)."""
HEAD_GAP = "\1"
"""Text of the last cell of a row whose next, wide character did not fit and wrapped."""
TEXTLESS = (BLANK, HEAD_GAP, TAIL)
BLANKS = BLANK + HEAD_GAP + " "

MAX_CLUSTER = 32
"""Code points in one cell. The longest emoji sequences take 10; more are piled up only by mischief."""


class Cell(NamedTuple):
    """One cell: pyte's `Char` with `dim`, which pyte does not know, at the end."""

    data: str = BLANK
    fg: str = "default"
    bg: str = "default"
    bold: bool = False
    italics: bool = False
    underscore: bool = False
    strikethrough: bool = False
    reverse: bool = False
    blink: bool = False
    dim: bool = False


class Row(list[Cell]):
    """The cells of one row, as many as there are columns."""

    wrapped = False
    """Its text goes on in the next row."""
    continues = False
    """It goes on from the row above."""
    wide = False
    """A wide character was written here at some time."""
    text: str | None = None
    """What it reads, once it was asked for; None after a change."""

    def read(self) -> str:
        """The row's text without the blanks at its end."""
        if self.text is None:
            self.text = "".join([cell[0] for cell in self]).rstrip(BLANKS).replace(BLANK, " ")
        return self.text

    def has_text(self) -> bool:
        """Anything was written here, be it a space."""
        return any(cell[0] not in TEXTLESS for cell in self)

    def read_whole(self) -> str:
        """The row's text to the last column, as a wrapped row has it."""
        return "".join([cell[0] for cell in self]).rstrip(HEAD_GAP).replace(BLANK, " ")


class Pen:
    """What the cursor writes with: the attributes, the cells made with them, and the pens that SGR leads to from here.

    Cells are shared by all places that show the same character in the same way, so a screen costs a pointer a cell.
    """

    __slots__ = ("attributes", "blank", "cells", "next")

    def __init__(self, attributes: Cell, budget: list[int]) -> None:
        self.attributes = attributes
        self.blank = _EMPTY if attributes.bg == "default" else Cell(BLANK, bg=attributes.bg)
        self.cells = _Cells(attributes, budget)
        self.next: dict[object, Pen] = {}


_EMPTY = Cell()


class _Cells(dict[str, Cell]):
    """The cells of one pen by their text, made as they are needed, within a budget that all pens share."""

    def __init__(self, attributes: Cell, budget: list[int]) -> None:
        super().__init__()
        self._attributes = attributes[1:]
        self._budget = budget

    def __missing__(self, text: str) -> Cell:
        if self._budget[0] <= 0:
            self._budget[0] += len(self)
            self.clear()
        cell = Cell(text, *self._attributes)
        self._budget[0] -= 1
        self[text] = cell
        return cell


def style_of(cell: Cell) -> Style:
    """How the cell is drawn, in the words of the protocol."""
    return Style(
        cell.fg,
        cell.bg,
        cell.bold,
        cell.dim,
        cell.italics,
        cell.underscore,
        cell.reverse,
    )


_OTHER_WIDTHS = {
    "\u115f": 0,
    "\u2e3a": 2,
    "\u2e3b": 2,
    "\u302e": 2,
    "\u302f": 2,
    "\ufff9": 1,
    "\ufffa": 1,
    "\ufffb": 1,
    "\U00016ff0": 2,
    "\U00016ff1": 2,
}
"""Assigned characters that libghostty-vt and wcwidth measure differently, beside the spacing marks (Mc)."""


class _Widths(dict[str, int]):
    """Columns that a character takes on its own: 0, 1 or 2; -1 for a C1 control, which is dropped."""

    def __missing__(self, character: str) -> int:
        width = 1 if unicodedata.category(character) == "Mc" else wcwidth(character)
        return _remember(self, character, width)


WIDTHS = _Widths(_OTHER_WIDTHS)

MAY_JOIN = 3


class _ClusterWidths(dict[str, int]):
    """The same in mode 2027, but `MAY_JOIN` for what may become part of the cluster before it."""

    def __missing__(self, character: str) -> int:
        may_join = character > "\xff" and any(joins(before, character) for before in _JOINING)
        return _remember(self, character, MAY_JOIN if may_join else WIDTHS[character])


CLUSTER_WIDTHS = _ClusterWidths()
_JOINING = ("x", "\u0915\u094d", "\u1112", "\uac00", "\uac01", "\U0001f1e9", "\U0001f469\u200d", "\U0001f469")
"""One cluster of each kind that something can be added to (UAX 29, GB6 to GB13)."""


def _remember(widths: dict[str, int], character: str, width: int) -> int:
    if len(widths) >= 16_384:  # a megabyte; texts use a few hundred characters
        widths.clear()
        widths.update(_OTHER_WIDTHS if widths is WIDTHS else {})
    widths[character] = width
    return width


_MODIFIER_BASE = re.compile(
    "[\u261d\u26f9\u270a-\u270d\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc\U0001f442"
    "\U0001f443\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c\U0001f481-\U0001f483"
    "\U0001f485-\U0001f487\U0001f48f\U0001f491\U0001f4aa\U0001f574\U0001f575\U0001f57a\U0001f590"
    "\U0001f595\U0001f596\U0001f645-\U0001f647\U0001f64b-\U0001f64f\U0001f6a3\U0001f6b4-\U0001f6b6"
    "\U0001f6c0\U0001f6cc\U0001f90c\U0001f90f\U0001f918-\U0001f91f\U0001f926\U0001f930-\U0001f939"
    "\U0001f93c-\U0001f93e\U0001f977\U0001f9b5\U0001f9b6\U0001f9b8\U0001f9b9\U0001f9bb"
    "\U0001f9cd-\U0001f9cf\U0001f9d1-\U0001f9dd\U0001fac3-\U0001fac5\U0001faf0-\U0001fafa]"
)
"""Emoji_Modifier_Base of Unicode's emoji-data.txt: the pictographs that take a skin tone."""

SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def joins(cluster: str, character: str) -> bool:
    """The character belongs to the grapheme cluster before it (UAX 29); a skin tone only after what takes one."""
    if character in SKIN_TONES:
        return _MODIFIER_BASE.match(cluster[-1]) is not None
    *_, last = iter_graphemes(cluster + character)
    return len(last) > 1


def keeps_variation(character: str) -> bool:
    """Outside of mode 2027 a variation selector stays after this character: a pictograph (UAX 29, GB11) of one tone."""
    is_pictograph = len(list(iter_graphemes(character + "\u200d\U0001f600"))) == 1
    return is_pictograph and not _MODIFIER_BASE.match(character)


def takes_variation(character: str) -> bool:
    """The character has an emoji and a text form, which VS16 and VS15 choose."""
    width = wcwidth(character)
    return wcswidth(character + "\ufe0f") != width or wcswidth(character + "\ufe0e") != width
