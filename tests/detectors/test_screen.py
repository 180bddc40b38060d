"""What a screen tells of itself, the same from both models."""

from __future__ import annotations

import sys

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Cursor, Engine, Line, Run, Screen, Style, make_screen

SIZE = Size(4, 10)


@pytest.fixture(params=["pyte", "ghostty"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def screen(engine: Engine) -> Screen:
    return make_screen(SIZE, engine)


def test_starts_empty(screen: Screen) -> None:
    assert screen.size == SIZE
    assert list(screen.rows()) == [""] * 4
    assert screen.lines() == [Line("", row, row) for row in range(4)]
    assert screen.cursor == Cursor(0, 0, True)
    assert not screen.alternate
    assert [list(screen.runs(row)) for row in range(4)] == [[]] * 4


def test_rows_have_no_blanks_at_their_end(screen: Screen) -> None:
    screen.feed(b"ab   \r\n  c\x1b[5Cd  ")
    assert list(screen.rows()) == ["ab", "  c     d", "", ""]


def test_joins_what_the_terminal_wrapped_and_nothing_else(screen: Screen) -> None:
    screen.feed(b"0123456789ab\r\n0123456789\r\nc")
    assert screen.lines() == [Line("0123456789ab", 0, 1), Line("0123456789", 2, 2), Line("c", 3, 3)]


def test_a_wide_character_that_wraps_leaves_no_gap_in_the_line(screen: Screen) -> None:
    screen.feed("abcdefghi日本".encode())
    assert list(screen.rows())[:2] == ["abcdefghi", "日本"]
    assert screen.lines()[0] == Line("abcdefghi日本", 0, 1)


def test_blanks_within_a_wrapped_line_are_spaces(screen: Screen) -> None:
    screen.feed(b"ab\x1b[1;10Hxy")
    assert screen.lines()[0] == Line("ab       xy", 0, 1)


def test_an_erased_row_wraps_no_longer(screen: Screen) -> None:
    screen.feed(b"0123456789ab\x1b[1;3H\x1b[K")
    assert screen.lines()[:2] == [Line("01", 0, 0), Line("ab", 1, 1)]


def test_the_cursor_stays_within_the_screen_and_may_be_hidden(screen: Screen) -> None:
    screen.feed(b"0123456789")
    assert screen.cursor == Cursor(0, 9, True)
    screen.feed(b"\x1b[?25l\x1b[99;99H")
    assert screen.cursor == Cursor(3, 9, False)
    screen.feed(b"\x1b[?25h")
    assert screen.cursor.visible


@pytest.mark.parametrize(
    ("sequence", "place"),
    [
        (b"\x1b[3;;H", (2, 0)),
        (b"\x1b[;F", (0, 0)),
        (b"\x1b[;u", (0, 0)),
        (b"\x1b[5u", (0, 0)),
        (b"\x1b[2j", (1, 2)),
        (b"\x1b[k", (0, 4)),
        (b"\x1b[1;2A", (1, 4)),
    ],
)
def test_rare_forms_of_sequences(screen: Screen, sequence: bytes, place: tuple[int, int]) -> None:
    screen.feed(b"\r\nabcd" + sequence)
    assert screen.cursor[:2] == place


def test_tells_which_screen_is_shown(screen: Screen) -> None:
    screen.feed(b"main\x1b[?1049h\x1b[Hother")
    assert screen.alternate
    assert screen.rows()[0] == "other"
    screen.feed(b"\x1b[?1049l")
    assert not screen.alternate
    assert screen.rows()[0] == "main"


def test_tells_since_when_a_row_reads_as_it_does(screen: Screen) -> None:
    screen.feed(b"a\r\nb")
    first = screen.generation
    assert list(screen.row_changed()) == [first, first, 0, 0]
    screen.feed(b"\x1b[2;1Hc")
    second = screen.generation
    assert second > first
    assert list(screen.row_changed()) == [first, second, 0, 0]
    screen.feed(b"\x1b[1;1Ha")
    assert list(screen.row_changed()) == [first, second, 0, 0]


def test_scrolling_changes_the_rows_whose_text_is_another(screen: Screen) -> None:
    screen.feed(b"same\r\nsame\r\nsame\r\nlast")
    before = list(screen.row_changed())
    screen.feed(b"\r\nlast")
    now = screen.generation
    assert list(screen.rows()) == ["same", "same", "last", "last"]
    assert list(screen.row_changed()) == [before[0], before[1], now, before[3]]


def test_the_generation_counts_no_silence(screen: Screen) -> None:
    screen.feed(b"a")
    before = screen.generation
    screen.feed(b"")
    assert screen.generation == before
    screen.feed(b"\x1b[2;2H")
    assert screen.generation > before


def test_resizing_keeps_the_bottom_and_flows_the_text(screen: Screen) -> None:
    screen.feed(b"one\r\ntwo\r\nthree\r\n$ 456789")
    screen.resize(Size(2, 10))
    assert list(screen.rows()) == ["three", "$ 456789"]
    assert len(screen.row_changed()) == 2
    screen.resize(Size(2, 5))
    assert screen.lines() == [Line("$ 456789", 0, 1)]
    screen.resize(Size(4, 10))
    assert list(screen.rows()) == ["one", "two", "three", "$ 456789"]


def test_resizing_on_the_alternate_screen_keeps_the_main_one(screen: Screen) -> None:
    screen.feed(b"one\r\ntwo\x1b[?1049h\x1b[Hfull screen")
    screen.resize(Size(3, 6))
    assert list(screen.rows()) == ["full s", "n", ""]
    screen.feed(b"\x1b[?1049l")
    assert list(screen.rows()) == ["one", "two", ""]


@pytest.mark.parametrize(
    ("sgr", "style"),
    [
        ("1", Style(bold=True)),
        ("2", Style(dim=True)),
        ("1;2;22", Style()),
        ("3;4;7", Style(italic=True, underline=True, reverse=True)),
        ("4:3", Style(underline=True)),
        ("4;4:0", Style()),
        ("31;42", Style("red", "green")),
        ("33;103", Style("yellow", "brightyellow")),
        ("95;105", Style("brightmagenta", "brightmagenta")),
        ("38;5;1;48;5;12", Style("red", "brightblue")),
        ("38;5;174;48;5;244", Style("d78787", "808080")),
        ("38;2;1;2;3", Style("010203")),
        ("38:2::1:2:3;1", Style("010203", bold=True)),
        ("38:2:1:2:3", Style("010203")),
        ("38:5:174", Style("d78787")),
        ("58;5;1", Style()),
        ("58:2::1:2:3;31", Style("red")),
        ("58;2;5;5;5;1", Style(bold=True)),
        ("2;31;0;1", Style(bold=True)),
        ("31;39;42;49", Style()),
        ("", Style()),
        ("31;;1", Style(bold=True)),
    ],
)
def test_tells_how_cells_are_drawn(screen: Screen, sgr: str, style: Style) -> None:
    screen.feed(f"a\x1b[{sgr}mbc\x1b[0m d".encode())
    runs = screen.runs(0)
    if style == Style():
        assert runs == [Run("abc d", 0, style)]
    else:
        assert runs == [Run("a", 0, Style()), Run("bc", 1, style), Run(" d", 3, Style())]


def test_runs_tell_columns_of_wide_characters_and_erased_colours(screen: Screen) -> None:
    screen.feed("日\x1b[31m本\x1b[0m\x1b[44m\x1b[1K\x1b[0mx".encode())
    assert screen.runs(0) == [Run("    ", 0, Style(background="blue")), Run("x", 4, Style())]


def test_runs_end_with_what_can_be_seen(screen: Screen) -> None:
    screen.feed(b"a\x1b[44m\x1b[K\x1b[0m\r\nb\x1b[7m  \x1b[0m  \r\n\x1b[31mc  ")
    assert screen.runs(0) == [Run("a", 0, Style()), Run(" " * 9, 1, Style(background="blue"))]
    assert screen.runs(1) == [Run("b", 0, Style()), Run("  ", 1, Style(reverse=True))]
    assert screen.runs(2) == [Run("c", 0, Style("red"))]


def test_flows_only_between_sequences_and_within_the_margins(screen: Screen) -> None:
    assert screen.flows
    screen.feed(b"\x1b[3")
    assert not screen.flows
    screen.feed(b"1m")
    assert screen.flows
    screen.feed(b"\x1b[2;3r\x1b[4;1H")
    assert not screen.flows
    screen.feed(b"\x1b[2;1H")
    assert screen.flows
    screen.feed(b"\x1b[?45h")
    assert not screen.flows


def test_takes_libghostty_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(make_screen(SIZE)).__name__ == "GhosttyScreen"
    monkeypatch.delitem(sys.modules, "lifecycle_detectors.screen.ghostty", raising=False)
    monkeypatch.setitem(sys.modules, "pyghostty", None)
    monkeypatch.setitem(sys.modules, "pyghostty.core", None)
    assert type(make_screen(SIZE)).__name__ == "PyteScreen"
    with pytest.raises(ImportError):
        make_screen(SIZE, "ghostty")
