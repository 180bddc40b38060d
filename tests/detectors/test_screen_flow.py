"""What is told of output from its bytes alone."""

from __future__ import annotations

import random

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import make_screen
from lifecycle_detectors.screen.flow import flow_cut, flow_end, last_clear, last_reset, returns, settings, state

SETTINGS = [
    f"\x1b[{sgr}m".encode() for sgr in ("", "0", "1", "22", "31", "39", "0;7", "44;1", "38;5;9", "48:2::1:2:3", "2")
]
SETTINGS += [b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?2004h"]


@pytest.mark.parametrize("engine", ["pyte", "ghostty"])
def test_the_last_of_equal_settings_is_enough(engine: str) -> None:
    source = random.Random(3)
    for _ in range(200):
        data = b"text\r\n".join(source.choices(SETTINGS, k=source.randint(0, 30)))
        short = settings(data)
        assert len(short) <= sum(map(len, SETTINGS))
        screens = [make_screen(Size(2, 5), engine) for _ in range(2)]  # type: ignore[arg-type]
        screens[0].feed(data + b"\x1b[Hx")
        screens[1].feed(short + b"\x1b[Hx")
        assert screens[0].runs(0)[0].style == screens[1].runs(0)[0].style
        assert screens[0].cursor.visible == screens[1].cursor.visible


@pytest.mark.parametrize(
    "data",
    [
        b"", b"text\r\n\t\b\x07\x0b\x0c\x00\x7f", "日本 é ✳".encode(), b"\xff\xfe\x9b", b"\x1b[31mred\x1b[m", b"\x1b[K",
        b"\x1b[4:3m\x1b[38:2::1:2:3m", b"\x1b[5C\x1b[3G", b"\x1b]0;title\x07", b"\x1b]8;;http://x\x1b\\", b"\x1b[?25l",
    ],
)  # fmt: skip
def test_flows(data: bytes) -> None:
    assert flow_end(data) == len(data)
    assert flow_end(data + b"\x1b[A") == len(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[A", b"\x1b[H", b"\x1b[2J", b"\x1b7", b"\x1bc", b"\x1bM", b"\x1b(0", b"\x0e", b"\x0f", b"\x18",
        b"\x1b[?7l", b"\x1b[?1049h", b"\x1b[4h", b"\x1b]133;A\x07", b"\x1b]0;a\nb\x07", b"\x1b]0;open", b"\x1b[3",
        b"\x1b", b"\x1b[2;3r", b"\x1bP1\x1b\\", b"\x1b[5b", b"\x1b[>4m", b"\x1b[3 q",
    ],
)  # fmt: skip
def test_flows_no_further(data: bytes) -> None:
    assert flow_end(b"text" + data) == 4


def test_a_flow_is_cut_at_a_line_with_enough_lines_after_it() -> None:
    data = b"one\r\ntwo\nthree\r\nfour\r\nfive"
    assert flow_cut(data, len(data), 1) == data.index(b"four")
    assert flow_cut(data, len(data), 2) == data.index(b"two")
    assert flow_cut(data, len(data), 3) == data.index(b"two")
    assert flow_cut(data, len(data), 4) == 0
    assert flow_cut(b"x\r\n\r\n\r\n", 7, 1) == 0


def test_state_is_what_lasts() -> None:
    data = b"text\x1b[31m\x1b[5;5H\x1b[?1049h\x0e\x1b)0\x1b[2J\x1b[3;9r\x1b7\x1b[Ax\x1b[4h\x1b[1m\x1b[1m\x1b8\x1b[?10"
    assert state(data) == (
        b"\x1b[31m\x1b[?1049h\x0e\x1b)0\x1b[3;9r\x1b7\x1b[4h\x1b[1m\x1b8",
        b"\x1b[?10",
    )
    kept, _ = state(data)
    assert state(kept) == (kept, b"")


def test_finds_where_a_screen_begins_anew() -> None:
    assert last_reset(b"a\x1bcb\x1bcd") == 4
    assert last_reset(b"a\x1bcb\x1b\x1bc") == 1
    assert last_reset(b"\x1b[c") == -1
    assert last_clear(b"\x1b[H\x1b[2Ja\x1b[2J\x1b[Hb") == 8
    assert last_clear(b"x\x1b[2J\x1b[3J\x1b[1;1H") == 1
    assert last_clear(b"\x1b[2Jx\x1b[H\x1b[2;1H\x1b[2J\x1b[J") == -1
    assert all(map(returns, (b"\x1b8", b"\x1b[?1049l", b"\x1b[u")))
    assert not returns(b"\x1b7\x1b[?1049h\x1b[su")
