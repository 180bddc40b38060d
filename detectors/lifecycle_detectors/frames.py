"""What a rendered row is made of: text, a rule, the side or the edge of a box, a bar.

Owns the glyphs that frames are drawn with. Must not know where a row stands: `layout.py` does.
"""

from __future__ import annotations

import re

_RULE = re.compile(r"^\s*[╭┌╔├╰└╚]?[─━═▔▁╌┄┈▀▄]{2,}")
_RULE_END = re.compile(r"[─━═▔▁╌┄┈▀▄]{2,}\s?[─━═▔▁╌┄┈▀▄]*[╮┐╗┤╯┘╝]?\s*$")
_RULE_GLYPHS = "─━═▔▁╌┄┈▀▄"
_SIDES = "│┃║|▌▐"
_FRAME_GLYPHS = _RULE_GLYPHS + _SIDES + "╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝╠╣╹╻ \t"
_BOX_TOP = re.compile(r"^\s*[╭┌╔╻][─━═▄]{2,}")
_BOX_BOTTOM = re.compile(r"^\s*[╰└╚╹][─━═▀]{2,}")
_BAR = re.compile(r"^\s*[┃▌]")
_BAR_BOTTOM = re.compile(r"^\s*╹▀{2,}")
_GAP = re.compile(r"\s{3,}\S")


def bare(row: str) -> str:
    """Return a row without the sides of a box around it and without outer blanks."""
    text = row.strip()
    if text[:1] and text[0] in _SIDES:
        text = text.lstrip(_SIDES + " ")
    if text[-1:] and text[-1] in _SIDES:
        text = text.rstrip(_SIDES + " ")
    return text.strip()


def is_rule(row: str) -> bool:
    """Tell whether a row is a horizontal rule, alone or with a label in it (`── input ───`).

    A rule with a gap is one that something else was drawn over.
    """
    text = row.strip()
    if len(text) < 3 or text[0] not in _RULE_GLYPHS:
        return False
    if not _RULE.match(text) or _GAP.search(text):
        return False
    drawn = sum(text.count(glyph) for glyph in _RULE_GLYPHS)
    return drawn * 2 >= len(text) or bool(_RULE_END.search(text))


def is_frame(row: str) -> bool:
    """Tell whether a row has nothing but the glyphs of frames."""
    return not row.strip(_FRAME_GLYPHS)


def has_sides(row: str) -> bool:
    """Tell whether a row runs from one side of a box to the other; `├───┤` divides it."""
    text = row.strip()
    return len(text) > 1 and text[0] in _SIDES + "├╠" and text[-1] in _SIDES + "┤╣"


def is_dashed(row: str) -> bool:
    """Tell whether a rule is a dashed one: it divides the inside of a dialog."""
    return row.lstrip()[:1] in ("╌", "┄", "┈")


def is_box_top(row: str) -> bool:
    """Tell whether a row is the upper edge of a box, a title in it or none."""
    return bool(_BOX_TOP.match(row))


def is_box_bottom(row: str) -> bool:
    """Tell whether a row is the lower edge of a box."""
    return bool(_BOX_BOTTOM.match(row))


def is_edge(row: str) -> bool:
    """Tell whether a row is a rule or an edge of a box."""
    return is_rule(row) or is_box_top(row) or is_box_bottom(row)


def has_bar(row: str) -> bool:
    """Tell whether a row has a thick bar at its left side."""
    return bool(_BAR.match(row))


def is_bar_bottom(row: str) -> bool:
    """Tell whether a row is the edge that ends a bar."""
    return bool(_BAR_BOTTOM.match(row))
