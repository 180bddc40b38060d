"""The pyte model against libghostty-vt over output that nobody wrote: any operations, any sizes, resizes between them.

Left out is where libghostty-vt is alone in what it does, or where no program goes:
- a back tab (CBT) with a wrap pending; there libghostty-vt keeps the wrap pending, in the middle of the row;
- characters without width or of two columns in the DEC graphics set;
- Prepend characters (UAX 29, GB9b) in mode 2027;
- which lines wrapped, after a resize that did not flow them;
- ED 22 on the alternate screen; prompt marks (OSC 133) with ED 2 and with resizes;
- protected cells (DECSCA, SPA) and left and right margins (DECLRMM), which the pyte model does not know.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Screen, make_screen

Operation = bytes | Size

NARROW = ["a", "bc", "hello world", "0123456789", "x" * 7, "é", "ä", "┌──┐", "●", "  ", "\u00a0"]
WIDE = ["日", "日本", "한", "⌚", "👨", "🏽", "🇩🇪"]
ODD = [
    "e\u0301", "\u0301", "⚠\ufe0f", "☝\ufe0f", "☝🏽", "👍🏽", "👩\u200d💻", "🏴\u200d☠\ufe0f", "a\u200bb", "\u200d",
    "\ufe0f", "\ufe0e", "⌚\ufe0e", "#\ufe0f\u20e3", "✳\ufe0f", "❤\ufe0f", "ᄒ\u1161\u11ab", "ᄒ", "\u11ab", "नमस्ते",
    "क्ष", "க்ஷி", "ไทย", "สั", "กำ", "\u0903", "\u3164", "\ufeff", "ﷺ", "🇩", "\u0085",
]  # fmt: skip
CONTROLS = ["\r\n", "\n", "\r", "\b", "\t", "\x0b", "\x0c", "\x07", "\x00"]
ESCAPES = [
    "7", "8", "D", "E", "M", "H", "#8", "c", "=", ">", "6", "9", "l", "[s", "[u", "[3g", "[0g", "[3J", "[2J", "[!p",
    "[?5W", "[W", "[2W", "[r", "]133;L\x07", "]0;t\x07", "]8;;http://x\x1b\\", "P$qm\x1b\\", "_x\x1b\\", "[?s",
    "[?7s", "[?7r",
]  # fmt: skip
MODES = ["?6", "?7", "?25", "?45", "?47", "?1047", "?1048", "?1049", "?3", "?5", "?2026", "4", "20"]
SGR = ["", "0", "1", "7", "31", "41", "48;5;200", "38:2::1:2:3"]
MOVES = "ABCDEFGIHJKLMPSTX`abdef@"

numbers = st.one_of(st.just(""), st.sampled_from(["0", "99", ";3", "2;2"]), st.integers(1, 9).map(str))
sequences = st.builds(lambda number, final: f"\x1b[{number}{final}", numbers, st.sampled_from(MOVES))
places = st.builds(lambda row, column: f"\x1b[{row};{column}H", st.integers(1, 7), st.integers(1, 14))
margins = st.builds(lambda top, height: f"\x1b[{top};{top + height}r", st.integers(1, 6), st.integers(0, 5))
back_tabs = numbers.map(lambda number: f"\x1b[C\x1b[{number}Z")
modes = st.builds(lambda mode, on: f"\x1b[{mode}{on}", st.sampled_from(MODES), st.sampled_from("hhl"))
drawing = st.one_of(
    st.sampled_from([*NARROW, *WIDE, *ODD]),
    st.sampled_from(NARROW),
    st.sampled_from(CONTROLS),
    sequences,
    places,
    margins,
    back_tabs,
    modes,
    st.sampled_from(SGR).map(lambda sgr: f"\x1b[{sgr}m"),
    st.sampled_from(ESCAPES).map(lambda rest: f"\x1b{rest}"),
).map(str.encode)
graphics = st.one_of(
    st.sampled_from([*NARROW, "lqqk", "~`x"]),
    st.sampled_from(
        ["\x1b(0", "\x1b(B", "\x1b)0", "\x1b*0", "\x1b(A", "\x0e", "\x0f", "\x1bn", "\x1bo", "\x1bN", "\x1bO", "\x1b7"]
    ),
    st.sampled_from(["\x1b8", "\r\n", "\x1b[3b", "\x1bc"]),
    places,
).map(str.encode)
sizes = st.builds(Size, st.integers(1, 6), st.integers(2, 12))
resizes = st.builds(Size, st.integers(1, 7), st.integers(2, 14))


def agree(size: Size, operations: list[Operation], *, lines: bool) -> None:
    ours, reference = make_screen(size, "pyte"), make_screen(size, "ghostty")
    for operation in operations:
        for screen in (ours, reference):
            if isinstance(operation, Size):
                screen.resize(operation)
            else:
                screen.feed(operation)
        assert shown(ours, lines=lines) == shown(reference, lines=lines), operation


def shown(screen: Screen, *, lines: bool) -> tuple[Any, ...]:
    """All that is seen; of lines only how they wrap, where their text is rows put together."""
    wraps = [(line.first_row, line.last_row, line.text.rstrip(" ")) for line in screen.lines()] if lines else None
    return list(screen.rows()), screen.cursor, screen.alternate, wraps


@settings(max_examples=500, deadline=None, derandomize=True)
@given(sizes, st.lists(drawing, max_size=25))
def test_agree_on_any_output(size: Size, operations: list[bytes]) -> None:
    agree(size, list(operations), lines=True)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(sizes, st.lists(drawing, max_size=25))
def test_agree_with_grapheme_clusters(size: Size, operations: list[bytes]) -> None:
    agree(size, [b"\x1b[?2027h", *operations], lines=True)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(sizes, st.lists(st.one_of(drawing, drawing, drawing, resizes), max_size=25))
def test_agree_on_resizes(size: Size, operations: list[Operation]) -> None:
    agree(size, operations, lines=False)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(sizes, st.lists(graphics, max_size=20))
def test_agree_on_character_sets(size: Size, operations: list[bytes]) -> None:
    agree(size, list(operations), lines=True)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(sizes, st.lists(st.one_of(drawing, drawing, drawing, resizes), max_size=40))
def test_agree_for_long(size: Size, operations: list[Operation]) -> None:
    agree(size, operations, lines=False)
