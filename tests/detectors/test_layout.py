"""Regions by structure, at any width: composers of each frame, boxes, labelled rules, wrapped lines, the cursor."""

from __future__ import annotations

import re

import pytest

from lifecycle_detectors.frames import bare, is_dashed, is_frame, is_rule
from lifecycle_detectors.layout import BOTTOM_ROWS, NOWHERE, REGIONS, ComposerShape, Layout, Region

WIDTHS = [30, 36, 44, 60, 100, 200, 300]
RULES = ComposerShape(re.compile(r"^❯"), re.compile(r"^❯ \d\."), "rules")
BOX = ComposerShape(re.compile(r"^>(?: |$)"), frame="box")
TOP_RULE = ComposerShape(re.compile(r"^>(?: |$)"), frame="top-rule")
PLAIN = ComposerShape(re.compile(r"^›(?: |$)"))


def lay(
    rows: list[str],
    shape: ComposerShape | None = None,
    cursor: tuple[int, int] = (0, 0),
    lines: list[tuple[int, int]] | None = None,
    undrafted: str = "",
) -> Layout:
    each = [(index, index) for index in range(len(rows))]
    return Layout(rows, cursor, each if lines is None else lines, (shape,) if shape else (), undrafted)


def box(inside: list[str], width: int) -> list[str]:
    return [
        "╭" + "─" * (width - 2) + "╮",
        *("│" + f" {text}".ljust(width - 2) + "│" for text in inside),
        "╰" + "─" * (width - 2) + "╯",
    ]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("│ > hello │", "> hello"),
        ("┃  Build", "Build"),
        ("║ a ║ b ║", "a ║ b"),
        ("   plain  ", "plain"),
        ("│", ""),
        ("", ""),
    ],
)
def test_bare(row: str, text: str) -> None:
    assert bare(row) == text


@pytest.mark.parametrize(
    "row",
    ["───", "  ────────  ", "── input ─────────", "━━━━", "╌╌╌╌", "▔▔▔▔▔▔", "─" * 300, "──────── label ──"],
)
def test_rules(row: str) -> None:
    assert is_rule(row)
    assert is_dashed(row) is row.startswith("╌")


@pytest.mark.parametrize(
    "row",
    ["", "──", "a ─────", "- - - -", "-----", "╭────╮", "│────│", "────────   over a gap   ────", "─ a b c d e f"],
)
def test_no_rules(row: str) -> None:
    assert not is_rule(row)


def test_frames() -> None:
    assert all(is_frame(row) for row in ("", "│    │", "├──┤", "╰───╯", "┃"))
    assert not any(is_frame(row) for row in ("│ a │", "── input ──", "."))


@pytest.mark.parametrize("width", WIDTHS)
def test_composer_between_rules(width: int) -> None:
    rows = ["answer", "", "✻ Working…", "─" * width, "❯ draft", "  second row", "─" * width, "  ? for shortcuts"]
    layout = lay(rows, RULES)
    assert layout.composer == Region(4, 6)
    assert layout.above_composer == Region(0, 3)
    assert layout.region_lines("status_block") == ["answer", "", "✻ Working…"]
    assert layout.region_lines("below_composer") == ["? for shortcuts"]
    assert layout.dialog == layout.panel == NOWHERE


@pytest.mark.parametrize("width", WIDTHS)
def test_composer_in_a_box(width: int) -> None:
    rows = [*box(["an answer"], width), "", "⠋ Thinking", *box(["> draft", "  goes on"], width), " footer"]
    layout = lay(rows, BOX)
    assert layout.composer == Region(6, 8)
    assert layout.above_composer == Region(0, 5)
    assert layout.region_lines("below_composer") == ["footer"]


def test_a_row_below_a_box_is_not_in_it() -> None:
    rows = [*box(["Type your message"], 40), " > footer that looks like a prompt"]
    assert lay(rows, BOX).composer == NOWHERE


def test_composer_below_a_rule() -> None:
    rows = ["answer", "─" * 40, "  shift+tab: mode", "> ", "", "hint"]
    assert lay(rows, TOP_RULE).composer == Region(2, 4), "the mode line belongs to it"
    assert lay(["answer", "", "a", "b", "> quoted"], TOP_RULE).composer == NOWHERE


def test_composer_without_a_frame_is_the_last_row_that_looks_so() -> None:
    rows = ["› first question", "answer", "› ", "", "  model · 12% left"]
    assert lay(rows, PLAIN).composer == Region(2, 3)


def test_a_choice_is_no_composer() -> None:
    rows = ["─" * 40, "❯ 1. Yes", "  2. No", "─" * 40]
    layout = lay(rows, RULES)
    assert layout.composer == NOWHERE
    assert layout.region_lines("dialog")[:2] == ["❯ 1. Yes", "2. No"]


def test_composer_below_a_labelled_rule() -> None:
    shape = ComposerShape(re.compile("^"), frame="rules", label=re.compile(r"^── [a-z]+ ─"))
    rows = ["─" * 50, "quoted", "─" * 50, "── input " + "─" * 41, "draft", "", "─" * 50, "agent  ~/project"]
    assert lay(rows, shape).composer == Region(4, 6)
    assert lay([*rows[:3], "text"], shape).composer == NOWHERE


def test_composer_beside_a_bar() -> None:
    shape = ComposerShape(re.compile("Build|Plan"), frame="bar")
    rows = ["answer", "┃", "┃ draft", "┃", "┃  Build  Model", "╹" + "▀" * 60, "  ctrl+p commands"]
    layout = lay(rows, shape)
    assert layout.composer == Region(1, 5)
    assert layout.region_lines("below_composer") == ["ctrl+p commands"]


@pytest.mark.parametrize("width", WIDTHS)
def test_dialog_below_the_last_edge(width: int) -> None:
    rows = ["answer", *box(["quoted", "box"], width), "text", *box(["Allow?", "❯ 1. Yes", "  2. No"], width)]
    layout = lay(rows, RULES)
    assert [line for line in layout.region_lines("dialog") if not is_frame(line)] == ["Allow?", "❯ 1. Yes", "2. No"]


def test_an_inner_box_belongs_to_the_outer_one() -> None:
    outer = box([*box(["sleep 4"], 20), "Allow execution?", "● 1. Allow once"], 40)
    lines = lay(["answer", *outer], RULES).region_lines("dialog")
    assert "sleep 4" in " ".join(lines)
    assert "answer" not in lines


def test_bottom_has_a_bound_and_keeps_blank_rows() -> None:
    rows = [f"row {n}" for n in range(30)] + ["", "last", "", ""]
    layout = lay(rows)
    assert layout.bottom == Region(30 - BOTTOM_ROWS + 1, 32)
    assert layout.region_lines("last_line") == ["last"]
    assert layout.region_lines("top") == ["row 0"]


def test_wrapped_lines_are_whole() -> None:
    rows = ["Do you want to con", "tinue? [Y/n] ", "", ""]
    layout = lay(rows, cursor=(1, 13), lines=[(0, 1), (2, 2), (3, 3)])
    assert layout.region_lines("cursor_line") == ["Do you want to continue? [Y/n]"]
    assert layout.region_lines("asked") == ["Do you want to continue? [Y/n]"]
    assert layout.region_lines("last_line") == ["Do you want to continue? [Y/n]"]


def test_asked_ends_at_the_cursor() -> None:
    rows = ["demo ❯             main 12:30"]
    assert lay(rows, cursor=(0, 7)).region_lines("asked") == ["demo ❯"]


def test_asked_leaves_the_draft_out() -> None:
    rows = ["Your name: Ada Love"]
    assert lay(rows, cursor=(0, 19), undrafted="Your name:").region_lines("asked") == ["Your name:"]
    assert lay(["demo$ "], cursor=(0, 6), undrafted="Your name:").region_lines("asked") == ["demo$"]


def test_wide_characters_count_as_two_columns() -> None:
    assert lay(["日本語> draft   right"], cursor=(0, 7)).region_lines("asked") == ["日本語>"]


def test_the_box_around_the_cursor() -> None:
    rows = ["text", *box(["Deploy?", "< Yes > < No >"], 40), "below"]
    assert lay(rows, cursor=(3, 5)).region_lines("cursor_box") == ["Deploy?", "< Yes > < No >"]
    assert lay(rows, cursor=(0, 0)).cursor_box == NOWHERE
    assert lay(rows, cursor=(5, 0)).cursor_box == NOWHERE
    divided = [*rows[:2], "├" + "─" * 38 + "┤", *rows[2:]]
    assert lay(divided, cursor=(4, 5)).region_lines("cursor_box")[-1] == "< Yes > < No >"


def test_any_screen_has_every_region() -> None:
    for rows in ([], [""], ["─" * 40] * 5, ["╰──╯", "╭──╮"], ["│"] * 3, ["", "", "x"]):
        for shape in (None, RULES, BOX, TOP_RULE, PLAIN):
            for cursor in ((0, 0), (7, 300)):
                layout = lay(rows, shape, cursor)
                for name in REGIONS:
                    first, last = layout.region(name)
                    assert 0 <= first <= last <= max(len(rows), cursor[0] + 1)
                    assert isinstance(layout.region_lines(name), list)
