"""Characters that a terminal draws rather than prints: lines, corners and blocks, as SVG path data.

Owns their shapes only. A font's own glyphs leave gaps between the rows, for its line is not as high as a terminal's.
The double lines and the rarer mixtures are left to the font.
"""

from __future__ import annotations

from typing import NamedTuple

_ALL_ARMS = ("lr", "ud", "rd", "ld", "ru", "lu", "udr", "udl", "lrd", "lru", "lrud", "l", "u", "r", "d")
_LIGHT, _HEAVY = "─│┌┐└┘├┤┬┴┼╴╵╶╷", "━┃┏┓┗┛┣┫┳┻╋╸╹╺╻"
_ARMS = {
    **dict(zip(_LIGHT, _ALL_ARMS, strict=True)),
    **dict(zip(_HEAVY, _ALL_ARMS, strict=True)),
    **dict.fromkeys("╌┄┈", "lr"),
    **dict.fromkeys("╎┆┊", "ud"),
}
_DASHED = frozenset("╌┄┈╎┆┊")
_ROUND = {"╭": (1, 1), "╮": (-1, 1), "╰": (1, -1), "╯": (-1, -1)}
"""Where the arms of a corner go: right or left, down or up."""

_QUADRANTS = {"a": (0, 0, 4, 4), "b": (4, 0, 4, 4), "c": (0, 4, 4, 4), "d": (4, 4, 4, 4)}
_BLOCKS = {
    "█": [(0, 0, 8, 8)],
    "▀": [(0, 0, 8, 4)],
    "▐": [(4, 0, 4, 8)],
    "▔": [(0, 0, 8, 1)],
    "▕": [(7, 0, 1, 8)],
    **{glyph: [(0, 8 - eighths, 8, eighths)] for eighths, glyph in enumerate("▁▂▃▄▅▆▇", start=1)},
    **{glyph: [(0, 0, 8 - lost, 8)] for lost, glyph in enumerate("▉▊▋▌▍▎▏", start=1)},
    **{
        glyph: [_QUADRANTS[name] for name in names]
        for glyph, names in zip("▖▗▘▙▚▛▜▝▞▟", ("c", "d", "a", "acd", "ad", "abc", "abd", "b", "bc", "bcd"), strict=True)
    },
}
"""Left, top, width and height, in eighths of the cell."""

DRAWN = frozenset(_ARMS) | frozenset(_ROUND) | frozenset(_BLOCKS)
"""The characters that `shape` knows."""


class Shape(NamedTuple):
    """A drawn character: path data, and the stroke's width in pixels, 0 for an area to fill."""

    path: str
    stroke: float
    dashed: bool = False


def shape(glyph: str, count: int, x: float, y: float, width: float, height: float) -> Shape:
    """Return the shape of a character of `DRAWN` that stands `count` times in a row.

    Args:
        glyph: the character.
        count: how often.
        x: the first cell's left side.
        y: its upper side.
        width: of one cell.
        height: of one cell.
    """
    if glyph in _BLOCKS:
        return Shape(_areas(_BLOCKS[glyph], count, x, y, width, height), 0)
    if _ARMS.get(glyph) == "lr":
        path = f"M{x:g} {y + height / 2:g}h{width * count:g}"
    else:
        cells = (x + number * width for number in range(count))
        path = "".join(_corner(glyph, left, y, width, height) for left in cells)
    return Shape(path, 2 if glyph in _HEAVY else 1, glyph in _DASHED)


def _areas(parts: list[tuple[int, int, int, int]], count: int, x: float, y: float, width: float, height: float) -> str:
    whole = [part for part in parts if part[2] == 8]
    cells = [(part, number, 1) for part in parts if part[2] != 8 for number in range(count)]
    return "".join(
        f"M{x + width * (number + left / 8):g} {y + height * top / 8:g}"
        f"h{width * repeated * across / 8:g}v{height * down / 8:g}h{-width * repeated * across / 8:g}z"
        for (left, top, across, down), number, repeated in [*((part, 0, count) for part in whole), *cells]
    )


def _corner(glyph: str, x: float, y: float, width: float, height: float) -> str:
    middle_x, middle_y = x + width / 2, y + height / 2
    if glyph in _ROUND:
        right, down = _ROUND[glyph]
        half = width / 2
        start = f"M{middle_x + right * half:g} {middle_y:g}"
        bend = f"q{-right * half:g} 0 {-right * half:g} {down * half:g}"
        return f"{start}{bend}V{y + height if down > 0 else y:g}"
    ends = {"l": f"H{x:g}", "r": f"H{x + width:g}", "u": f"V{y:g}", "d": f"V{y + height:g}"}
    return "".join(f"M{middle_x:g} {middle_y:g}{ends[arm]}" for arm in _ARMS[glyph])
