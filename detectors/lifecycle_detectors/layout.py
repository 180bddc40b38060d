"""The live regions of a screen, found by structure.

Owns `Layout`: where the composer is, what stands above and below it, and which rows are a dialog. Must not know any
agent: what a composer's prompt looks like comes from the profile (`ComposerShape`). Works on rendered rows, so it holds
for any width and height; no region has a fixed number of rows but `bottom`, which says so.

Regions by name (a profile's rules use these words):

| name | rows |
| --- | --- |
| `screen` | all |
| `composer` | the input area: its prompt row and what belongs to it, without its frame |
| `above_composer` | everything above the composer |
| `status_block` | the last `STATUS_PARAGRAPHS` paragraphs above the composer, at most `STATUS_ROWS` rows |
| `below_composer` | everything below it: footers and status lines |
| `dialog` | where there is no composer: the rows beside a bar at the bottom, else from the last frame edge (a rule or |
|  | a box's top) that has text below it |
| `panel` | as `dialog`, but from the last edge that runs over the whole width and is not the inside of a box |
| `framed` | what stands between the last two rules: the composer or a dialog in its frame |
| `bottom` | the last rows with text, at most `BOTTOM_ROWS` |
| `cursor_line` | the logical line that the cursor stands in |
| `asked` | of that line what the agent wrote left of the cursor: without the user's draft and a prompt at the right |
| `cursor_box` | the inside of the box that the cursor stands in |
| `last_line` | the last logical line with text |
| `top` | the first row with text |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from .frames import (
    bare,
    has_bar,
    has_sides,
    is_bar_bottom,
    is_box_bottom,
    is_box_top,
    is_dashed,
    is_edge,
    is_rule,
)

REGIONS = frozenset(
    {
        "screen",
        "composer",
        "above_composer",
        "status_block",
        "below_composer",
        "dialog",
        "panel",
        "framed",
        "bottom",
        "cursor_line",
        "asked",
        "cursor_box",
        "last_line",
        "top",
    }
)

BOTTOM_ROWS = 20
"""`bottom` is meant for agents that draw inline and leave old rows above: a dialog's choices and its hint take this
many rows on a screen of 30 columns."""

STATUS_ROWS = 12
"""What stands directly above or below the composer is no higher, a status line of the user's and wrapping included."""

STATUS_PARAGRAPHS = 2
"""The row that tells of work, and one more: queued messages and hints come between it and the composer."""

MODE_LINES = 2
"""A line that tells the mode may stand between the composer's rule and its prompt; it wraps on narrow screens."""


class Region(NamedTuple):
    """Rows `first` to `last` (exclusive) of the screen; empty when `first == last`."""

    first: int
    last: int


NOWHERE = Region(0, 0)


@dataclass(frozen=True, slots=True)
class ComposerShape:
    """What an agent's input area looks like.

    Attributes:
        prompt: found (searched) in the composer's first row, box sides removed.
        not_prompt: never found in that row (a numbered choice of a dialog looks like a prompt to some).
        frame: `rules` (a horizontal rule right above and one below), `top-rule` (one above), `box`, `bar` (rows with a
            bar at their left side, closed by a thick edge below; `prompt` is found in any of them), or `none`.
        footer: found in every row with text below the composer, sides and indentation included; an earlier prompt in
            the transcript is none then.
        label: with `rules`: found in the rule above.
    """

    prompt: re.Pattern[str]
    not_prompt: re.Pattern[str] | None = None
    frame: str = "none"
    footer: re.Pattern[str] | None = None
    label: re.Pattern[str] | None = None


FRAMES = frozenset({"rules", "top-rule", "box", "bar", "none"})


def _first_columns(row: str, columns: int) -> str:
    """Return the part of a row that stands in its first columns."""
    if row.isascii():
        return row[:columns]
    from .screen.cells import WIDTHS  # wcwidth behind it is a fifth of all that is loaded

    width = 0
    for index, character in enumerate(row):
        if width >= columns:
            return row[:index]
        width += WIDTHS[character]
    return row


class Layout:
    """The regions of one screen.

    Args:
        rows: rendered rows, top to bottom.
        cursor: the row and the column where the cursor is.
        lines: `(first_row, last_row)` (inclusive) of each logical line, top to bottom.
        composers: the shapes that the agent's composer may have.
        undrafted: what stood left of the cursor when the user began to type, or an empty string.
    """

    def __init__(
        self,
        rows: Sequence[str],
        cursor: tuple[int, int],
        lines: Sequence[tuple[int, int]],
        composers: Sequence[ComposerShape],
        undrafted: str = "",
    ) -> None:
        self.rows = rows
        self._cursor_row, self._cursor_column = cursor
        self._undrafted = undrafted
        self._lines = lines
        self._shapes = composers

    @cached_property
    def _rules(self) -> list[int]:
        return [i for i, row in enumerate(self.rows) if is_rule(row)]

    @cached_property
    def end(self) -> int:
        """The row after the last one with text."""
        for index in range(len(self.rows) - 1, -1, -1):
            if self.rows[index].strip():
                return index + 1
        return 0

    @cached_property
    def composer(self) -> Region:
        """The composer's rows, or `NOWHERE`."""
        for shape in self._shapes:
            found = self._find_composer(shape)
            if found != NOWHERE:
                return found
        return NOWHERE

    def _find_composer(self, shape: ComposerShape) -> Region:
        if shape.frame == "rules":
            return self._between_rules(shape)
        if shape.frame == "bar":
            return self._beside_bar(shape)
        for index in range(self.end - 1, -1, -1):
            first = self._top_of_frame(index, shape) if self._is_prompt(index, shape) else None
            if first is not None:
                found = Region(first, self._composer_end(index))
                return found if self._has_footer(found.last, shape) else NOWHERE
            if shape.frame != "none" and is_box_top(self.rows[index]):  # what is above a box was said earlier
                break
        return NOWHERE

    def _is_prompt(self, index: int, shape: ComposerShape) -> bool:
        row = self.rows[index].rstrip() if shape.frame == "none" else bare(self.rows[index])
        if not shape.prompt.search(row):
            return False
        return shape.not_prompt is None or not shape.not_prompt.search(row)

    def _top_of_frame(self, index: int, shape: ComposerShape) -> int | None:
        """Return the first row inside the frame whose prompt is at `index`, or None where it has no frame."""
        if shape.frame == "none":
            return index
        texts = 0
        for above in range(index - 1, -1, -1):
            if is_rule(self.rows[above]) or is_box_top(self.rows[above]):
                return above + 1
            if is_box_bottom(self.rows[above]):
                return None  # the end of another box
            texts += bool(self.rows[above].strip())
            if texts > MODE_LINES:
                return None
        return None

    def _has_footer(self, first: int, shape: ComposerShape) -> bool:
        if shape.footer is None:
            return True
        rows = [row for row in self.rows[first : self.end] if row.strip()]
        return len(rows) <= STATUS_ROWS and all(shape.footer.search(row) for row in rows)

    def _composer_end(self, first: int) -> int:
        """A draft of several rows goes on until a blank row or a frame."""
        last = first + 1
        while last < self.end and self.rows[last].strip() and not is_edge(self.rows[last]):
            last += 1
        return last

    @cached_property
    def framed(self) -> Region:
        """What stands between the last two rules; `NOWHERE` without two."""
        rules = [i for i in self._rules if not is_dashed(self.rows[i])]
        return Region(rules[-2] + 1, rules[-1]) if len(rules) > 1 else NOWHERE

    def _between_rules(self, shape: ComposerShape) -> Region:
        rules = [i for i in self._rules if not is_dashed(self.rows[i])]
        for upper, lower in reversed(list(pairwise(rules))):
            alike = self.rows[upper].lstrip()[0] == self.rows[lower].lstrip()[0]
            if shape.label is not None and not shape.label.search(self.rows[upper]):
                continue
            if alike and lower - upper > 1 and self._is_prompt(upper + 1, shape):
                return Region(upper + 1, lower)
        return NOWHERE

    def _beside_bar(self, shape: ComposerShape) -> Region:
        for last in range(self.end - 1, -1, -1):
            if not is_bar_bottom(self.rows[last]):
                continue
            first = self._bar_start(last)
            if any(self._is_prompt(index, shape) for index in range(first, last)):
                return Region(first, last)
        return NOWHERE

    def _bar_start(self, end: int) -> int:
        """Return the first of the rows with a bar that end at `end`; `end` itself where there are none."""
        first = end
        while first > 0 and has_bar(self.rows[first - 1]):
            first -= 1
        return first

    @cached_property
    def above_composer(self) -> Region:
        """Everything above the composer and its frame; `NOWHERE` without a composer."""
        if self.composer == NOWHERE:
            return NOWHERE
        last = self.composer.first
        while last > 0 and is_edge(self.rows[last - 1]):
            last -= 1
        return Region(0, last)

    @cached_property
    def status_block(self) -> Region:
        """The last `STATUS_PARAGRAPHS` paragraphs above the composer."""
        last = self.above_composer.last
        while last > 0 and not bare(self.rows[last - 1]):
            last -= 1
        first = last
        paragraphs = 1
        while first > 0 and last - first < STATUS_ROWS:
            if not bare(self.rows[first - 1]) and bare(self.rows[first]):
                paragraphs += 1
                if paragraphs > STATUS_PARAGRAPHS:
                    break
            first -= 1
        return Region(first, last)

    @cached_property
    def below_composer(self) -> Region:
        """Everything below the composer and its frame; `NOWHERE` without a composer."""
        if self.composer == NOWHERE:
            return NOWHERE
        first = self.composer.last
        while first < self.end and is_edge(self.rows[first]):
            first += 1
        return Region(first, self.end)

    @cached_property
    def dialog(self) -> Region:
        """Where no composer is: the rows beside a bar, or what stands below the last frame edge with text below it."""
        if self.composer != NOWHERE:
            return NOWHERE
        first = self._bar_start(self.end)
        return Region(first if first < self.end else self._last_edge(boxes=True), self.end)

    @cached_property
    def panel(self) -> Region:
        """Where no composer is: what stands below the last rule, boxes not looked at."""
        if self.composer != NOWHERE:
            return NOWHERE
        return Region(self._last_edge(boxes=False), self.end)

    def _last_edge(self, *, boxes: bool) -> int:
        """Find the last edge that has two rows of text below it; an inner box is part of the outer one."""
        depth = 0
        texts = 0
        for index in range(self.end - 1, -1, -1):
            row = self.rows[index]
            if is_box_bottom(row) or is_box_bottom(bare(row)):
                depth += 1
            elif is_box_top(row) or is_box_top(bare(row)):
                depth -= 1
                if boxes and depth <= 0 and texts >= 2:
                    return index + 1
            elif is_rule(row) and not is_dashed(row):
                if texts >= 2 and depth <= 0:
                    return index + 1
            elif row.strip():
                texts += 1
        return 0

    @cached_property
    def bottom(self) -> Region:
        """The last `BOTTOM_ROWS` rows with text and the blank ones between them."""
        texts = 0
        first = self.end
        while first > 0 and texts < BOTTOM_ROWS:
            first -= 1
            texts += bool(self.rows[first].strip())
        return Region(first, self.end)

    @cached_property
    def cursor_line(self) -> Region:
        """The logical line that the cursor stands in."""
        return self._line_at(self._cursor_row)

    @property
    def asked(self) -> Region:
        """The rows of `asked_text`."""
        return self.cursor_line

    @cached_property
    def asked_text(self) -> str:
        """What the agent wrote left of the cursor in the cursor's line."""
        written = self.left_of_cursor
        return self._undrafted if self._undrafted and written.startswith(self._undrafted) else written

    @cached_property
    def left_of_cursor(self) -> str:
        """The cursor's logical line up to the cursor, bare."""
        first, last = self.cursor_line
        if first == last:
            return ""
        before = "".join(self.rows[first : self._cursor_row])
        return bare(before + _first_columns(self.rows[self._cursor_row], self._cursor_column))

    @cached_property
    def cursor_box(self) -> Region:
        """The rows between the edges of the box around the cursor; `NOWHERE` when it stands in none."""
        first = last = self._cursor_row
        if not 0 <= first < len(self.rows):
            return NOWHERE
        while first >= 0 and has_sides(self.rows[first]):
            first -= 1
        while last < len(self.rows) and has_sides(self.rows[last]):
            last += 1
        if first < 0 or last >= len(self.rows) or not is_box_top(self.rows[first]):
            return NOWHERE
        return Region(first + 1, last) if is_box_bottom(self.rows[last]) else NOWHERE

    @cached_property
    def last_line(self) -> Region:
        """The last logical line with text."""
        return self._line_at(self.end - 1) if self.end else NOWHERE

    def _line_at(self, row: int) -> Region:
        for first, last in self._lines:
            if first <= row <= last:
                return Region(first, last + 1)
        return Region(row, row + 1) if 0 <= row < len(self.rows) else NOWHERE

    @cached_property
    def screen(self) -> Region:
        """All rows with text."""
        return Region(0, self.end)

    @cached_property
    def top(self) -> Region:
        """The first row with text."""
        for index in range(self.end):
            if self.rows[index].strip():
                return Region(index, index + 1)
        return NOWHERE

    def region(self, name: str) -> Region:
        """Return a region by its name in `REGIONS`."""
        found = getattr(self, name)
        assert isinstance(found, Region)
        return found

    def region_lines(self, name: str) -> list[str]:
        """Return a region's logical lines, bare and each run of blanks made one.

        A region that starts in the middle of a line gets its part of it.
        """
        if name == "asked":
            return [" ".join(self.asked_text.split())]
        first, last = self.region(name)
        found = []
        for start, stop in self._lines:
            if stop < first or start >= last:
                continue
            part = self.rows[max(start, first) : min(stop + 1, last)]
            found.append(" ".join(bare("".join(part)).split()))
        return found
