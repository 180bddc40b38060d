"""No input raises, and memory has a bound."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Engine, Screen, make_screen
from lifecycle_detectors.screen import grid as screen_grid
from tests.detectors.chunking import random_cuts, random_stream
from tests.detectors.compare_screens import read_recording
from tests.detectors.test_screen_recordings import RECORDINGS

SIZE = Size(30, 100)
MEGABYTE = 1 << 20


def ask_everything(screen: Screen) -> None:
    rows, lines, cursor = screen.rows(), screen.lines(), screen.cursor
    assert len(rows) == len(screen.row_changed()) == screen.size.rows
    assert [row for line in lines for row in range(line.first_row, line.last_row + 1)] == list(range(len(rows)))
    assert 0 <= cursor.row < screen.size.rows
    assert 0 <= cursor.column < screen.size.columns
    for row in range(screen.size.rows):
        screen.runs(row)


@pytest.mark.parametrize("engine", ["pyte", "ghostty"])
@pytest.mark.parametrize("seed", range(40))
def test_any_bytes(engine: Engine, seed: int) -> None:
    source = random.Random(seed)
    screen = make_screen(Size(source.randint(1, 6), source.randint(1, 12)), engine)
    for _ in range(40):
        data = source.randbytes(40) if source.random() < 0.3 else random_stream(source)
        for piece in random_cuts(data, source):
            screen.feed(piece)
        if source.random() < 0.3:
            screen.resize(Size(source.randint(1, 6), source.randint(1, 12)))
        ask_everything(screen)


@pytest.mark.parametrize("name", ["programs/vim.cast.gz", "programs/mc.cast", "programs/htop.cast", "codex/turn.cast"])
def test_mutated_recordings(name: str) -> None:
    source = random.Random(name)
    size, events = read_recording(RECORDINGS / name)
    for _ in range(2):
        screen = make_screen(size, "pyte")
        for _, kind, text in events:
            if kind != "o":
                continue
            data = bytearray(text.encode("utf-8", "surrogateescape"))
            for _ in range(len(data) // 30):
                data[source.randrange(len(data))] = source.randrange(256)
            screen.feed(bytes(data))
        ask_everything(screen)


def test_a_storm_of_resizes_ends_where_one_would() -> None:
    source = random.Random(1)
    text = b"\r\n".join(b"line %d " % number * source.randint(1, 9) for number in range(200))
    for _ in range(5):
        screens = [make_screen(SIZE, engine) for engine in ("pyte", "ghostty")]
        sizes = [Size(source.randint(2, 60), source.randint(2, 120)) for _ in range(25)]
        for screen in screens:
            screen.feed(text)
            for size in sizes:
                screen.resize(size)
                screen.feed(b"x")
        assert screens[0].rows() == screens[1].rows()
        assert screens[0].cursor == screens[1].cursor


def text(codes: Iterable[int]) -> bytes:
    return "".join(map(chr, codes)).encode()


FLOODS = {
    "lines": [b"%d: %d\r\n" % (number, number) * 2000 for number in range(4)],
    "colours": [b"".join(b"\x1b[38;2;%d;%d;1mx" % (a, b) for a in range(100)) for b in range(100)],
    "characters": [text(range(first, first + 6000)) for first in (0x4E00, 0xAC00, *range(0x20000, 0x2A000, 6000))],
    "coloured characters": [b"\x1b[38;5;%dm" % number + text(range(0x4E00, 0x5800)) for number in range(16, 40)],
    "one cluster": [b"e" + "\u0301".encode() * 20_000] * 2,
    "clusters": [b"\x1b[?2027h" + "क\u094d".encode() * 3000] * 2,
    "sequences": [b"".join(b"\x1b[%d;%dH" % (a, number) for a in range(5000)) for number in range(5)],
    "modes": [b"".join(b"\x1b[?%ds" % mode for mode in range(20_000))],
    "strings": [b"\x1b]0;" + b"x" * 60_000] * 60,
    "screens": [b"\x1b[?1049h\x1b7\x1b[?1049l\x1b7" * 1000] * 3,
    "tabs": [b"\x1bH\x1b[C" * 10_000] * 2,
}
"""Output of a kind each, that could make a careless model keep more and more."""


@pytest.mark.parametrize("name", FLOODS)
def test_memory_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_grid, "MAX_CELLS", 4000)  # else the flood must be larger than a test can trace
    screen = make_screen(SIZE, "pyte")
    screen.feed(b"\r\n" * 600)
    tracemalloc.start()
    try:
        for piece in FLOODS[name]:
            screen.feed(piece)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    ask_everything(screen)
    assert grown < 12 * MEGABYTE


def test_a_huge_count_costs_no_more_than_the_screen() -> None:
    screen = make_screen(SIZE, "pyte")
    for final in "@ABCDEFGHIJKLMPSTXZ`abdef":
        screen.feed(b"x\x1b[99999999999999999999%c" % ord(final))
    ask_everything(screen)
