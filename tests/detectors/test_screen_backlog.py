"""Output that waits: in order, bounded, and with what cannot be seen any more left out."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import HISTORY_ROWS, Cursor, Engine, Line, Run, Screen, make_screen
from lifecycle_detectors.screen import backlog as screen_backlog
from lifecycle_detectors.screen.backlog import ScreenBacklog
from lifecycle_detectors.stream import OutputStream
from tests.detectors.compare_screens import read_recording
from tests.detectors.test_screen_recordings import RECORDINGS

SIZE = Size(30, 100)
SLICE = 4096
MOST = 512 * 1024
BEHIND = 32 * 1024
Piece = bytes | Size


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the real limits, so that an eighth of the output shows what they do."""
    for name in ("MOST", "BEHIND", "WORTH", "TRY_EACH"):
        monkeypatch.setattr(screen_backlog, name, getattr(screen_backlog, name) // 8)
    assert (screen_backlog.MOST, screen_backlog.BEHIND) == (MOST, BEHIND)


class Counted:
    """A screen that tells how much it was fed."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.fed = 0

    def feed(self, data: bytes) -> None:
        self.fed += len(data)
        self._screen.feed(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._screen, name)


def state(screen: Screen) -> tuple[list[str], list[Line], Cursor, bool, list[list[Run]]]:
    runs = [list(screen.runs(row)) for row in range(screen.size.rows)]
    return list(screen.rows()), list(screen.lines()), screen.cursor, screen.alternate, runs


def through_backlog(
    pieces: Iterable[Piece], size: Size = SIZE, engine: Engine = "pyte", *, told: bool = False, late: bool = False
) -> tuple[Counted, ScreenBacklog]:
    """Feed a backlog.

    Args:
        pieces, size, engine: what goes through it, to which screen.
        told: it is told which pieces only draw.
        late: the screen is there only when all has come.
    """
    screen = Counted(make_screen(size, engine))
    there = not late
    backlog = ScreenBacklog(lambda _: screen if there else None, size)
    stream = OutputStream(size)
    for piece in pieces:
        if isinstance(piece, Size):
            backlog.resize(piece)
        else:
            stream.feed(piece)
            backlog.push(piece, only_draws=told and stream.only_drew)
    there = True
    while backlog.work(SLICE):
        pass
    assert backlog.pending == 0
    return screen, backlog


def whole(pieces: Iterable[Piece], size: Size = SIZE, engine: Engine = "pyte") -> Screen:
    screen = make_screen(size, engine)
    for piece in pieces:
        if isinstance(piece, Size):
            screen.resize(piece)
        else:
            screen.feed(piece)
    return screen


def total(pieces: Iterable[Piece]) -> int:
    return sum(len(piece) for piece in pieces if not isinstance(piece, Size))


def lines(count: int, make: Callable[[int], bytes]) -> list[bytes]:
    return [b"".join(map(make, range(first, min(first + 100, count)))) for first in range(0, count, 100)]


def recording(name: str) -> list[bytes]:
    _, events = read_recording(RECORDINGS / "programs" / f"{name}.cast.gz")
    return [text.encode() for _, kind, text in events if kind == "o"][:50]


def some(count: int, text: bytes) -> bytes:
    return text * random.Random(count).randint(0, 40)


def numbered(count: int) -> list[bytes]:
    return lines(count, lambda n: b"line %d\r\n" % n)


FLOODS: dict[str, list[Piece]] = {
    "cat of a file, then a prompt": [*recording("flood-cat"), b"\r\n\x1b[32m$ \x1b[0m"],
    "yes, then a prompt": [*recording("flood-yes"), b"^C\r\n$ "],
    "colours that last": lines(3000, lambda n: b"\x1b[%dmline %d\x1b[%d;1mx\r\n" % (31 + n % 7, n, 41 + n % 5)),
    "a background that fills rows": [b"\x1b[44m", *lines(4000, lambda n: b"line %d\x1b[K\r\n" % n), b"\x1b[0mend"],
    "wrapped lines": [*lines(2000, lambda n: b"%d " % n + some(n, b"word ") + b"\r\n"), b"$ "],
    "lines of several screens": [*lines(110, lambda n: b"%d " % n + b"0123456789" * 400 + b"\r\n"), b"$ "],
    "wide characters": lines(2500, lambda n: b"%d" % n + some(n, "日本語".encode()) + "é\u0301\r\n".encode()),
    "titles between": [*lines(3000, lambda n: b"\x1b]0;%d\x07line %d\r\n" % (n, n)), b"end"],
    "a spinner in each line": lines(2500, lambda n: b"|\b/\b-\b\\\b\x1b[2Kline %d\x1b[5Gx\r\n" % n),
    "line drawing": [b"\x1b(0", *numbered(8000)],
    "no wrapping": [b"\x1b[?7l", *lines(2000, lambda n: b"line %d" % n + some(n, b" word") + b"\r\n")],
    "inserting": [b"\x1b[4h", *numbered(8000)],
    "on the alternate screen": [b"main\x1b[?1049h", *numbered(8000)],
    "within margins": [b"top\x1b[3;20r\x1b[9;1H", *numbered(8000)],
    "the cursor hidden": [*numbered(5000), b"\x1b[?25l", *numbered(1000)],
    "before a resize": [*numbered(8000), Size(20, 60), b"end"],
    "after a resize": [Size(20, 60), *numbered(8000), b"end"],
    "before a reset": [*lines(4000, lambda n: b"line %d\x1b[A\x1b[4;9r\r\n" % n), Size(20, 60), b"old\x1bcnew"],
    "then a full-screen program": [*numbered(6000), b"\x1b[?1049h\x1b[2J\x1b[5;5Hhere\x1b[9;9r"],
}

# Here nothing may be left out, whatever it costs.
STUBBORN: dict[str, list[Piece]] = {
    "the cursor goes up": lines(4000, lambda n: b"line %d\x1b[A\r\n" % n),
    "below the margins": [b"\x1b[3;20r\x1b[25;1H", *lines(8000, lambda n: b"line %d\r\n" % (10**8 >> n % 20))],
    "no carriage returns": lines(8000, lambda n: b"line %d\n" % n),
    "inside a title": [b"\x1b]0;title", *numbered(8000), b"\x07end"],
    "backspaces that lead up": [b"\x1b[?45h", *lines(1500, lambda n: b"%d" % n + b"x" * 99 + b"\b" * 120 + b"\r\n")],
    "a prompt's marks": lines(4000, lambda n: b"line %d\x1b]133;A\x07\r\n" % n),
    "blank lines, then a repetition": [b"x", *lines(40_000, lambda n: b"\r\n"), b"\x1b[3b"],
    "one endless line": [b"0123456789" * 10_000],
    "a cut sequence": [b"\x1b[3", *lines(4000, lambda n: b"1;1Hline %d\r\n\x1b[3" % n), b"1m"],
}


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("engine", ["pyte", "ghostty"])
@pytest.mark.parametrize("name", FLOODS)
def test_shows_the_same_after_skipping(name: str, engine: Engine, told: bool) -> None:
    pieces = FLOODS[name]
    assert total(pieces) > BEHIND
    screen, backlog = through_backlog(pieces, engine=engine, told=told)
    expected = whole(pieces, engine=engine)
    assert state(screen) == state(expected)  # type: ignore[arg-type]
    assert not backlog.lost
    assert screen.fed < 0.8 * total(pieces)
    for size in (Size(45, 100), Size(45, 70), Size(12, 130)):
        expected.resize(size)
        backlog.resize(size)
        backlog.work(1)
        assert state(screen) == state(expected)  # type: ignore[arg-type]


DRAWINGS: dict[str, list[Piece]] = {
    "a cursor that goes up": lines(4000, lambda n: b"line %d\x1b[A\x1b[3%dm\r\n" % (n, n % 8)),
    "rows in any order": lines(5000, lambda n: b"\x1b[%d;%dHx\x1b[L\x1b[2X" % (1 + n % 30, 1 + n % 70)),
    "no carriage returns": lines(8000, lambda n: b"line %d\n" % n),
    "synchronized updates": lines(4000, lambda n: b"\x1b[?2026h\x1b[Hline %d\x1b[?2026l\r\n" % n),
    "a cut sequence": lines(4000, lambda n: b"1;1Hline %d\r\n\x1b[3" % n),
}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("engine", ["pyte", "ghostty"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_what_only_draws_is_left_out_before_a_flow(name: str, engine: Engine, late: bool) -> None:
    pieces = [*DRAWINGS[name], b"m", *numbered(1000)]
    assert BEHIND < total(pieces) < MOST
    screen, backlog = through_backlog(pieces, engine=engine, told=True, late=late)
    assert screen.fed < 0.8 * total(pieces)
    expected = whole(pieces, engine=engine)
    assert state(screen) == state(expected)  # type: ignore[arg-type]
    for size in (Size(45, 100), Size(12, 130)):
        expected.resize(size)
        backlog.resize(size)
        backlog.work(1)
        assert state(screen) == state(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("name", STUBBORN)
def test_leaves_nothing_out_that_may_be_seen(name: str, told: bool) -> None:
    pieces = STUBBORN[name]
    assert BEHIND < total(pieces) < MOST
    screen, backlog = through_backlog(pieces, told=told)
    assert state(screen) == state(whole(pieces))  # type: ignore[arg-type]
    assert screen.fed == total(pieces)
    assert not backlog.lost


@pytest.mark.parametrize("told", [False, True])
def test_any_flow_from_any_state(monkeypatch: pytest.MonkeyPatch, told: bool) -> None:
    for name, value in (("BEHIND", 500), ("TRY_EACH", 100), ("WORTH", 50)):
        monkeypatch.setattr(screen_backlog, name, value)
    source = random.Random(7)
    before = b"\x1b[2;4r|\x1b[?6h|\x1b[?7l|\x1b[4h|\x1b[31;44m|\x1b[3;9H|\x1b[9;1H|text|\r\n\r\n\r\n|\x1b7".split(b"|")
    before += "\x1b[?1049h|\x1b[20h|\x1b(0|日本|\x1b[?45h|\x1b[?2027h|\x1b[3|\x1b]0;t".encode().split(b"|")
    flow = "a|word |0123456789|é日|\r\n|\r\n|\r\n|\n|\r|\t|\b|\x1b[1m|\x1b[m|\x1b[42m|\x1b[0;7m|\x1b[K".encode().split(
        b"|"
    )
    flow += "\x1b[3C|\x1b[2G|\x1b]0;t\x07|\x1b[?25l|\x1b[?25h|\x0b|\u0301|\x07".encode().split(b"|")
    after = b"end|\x1b[A|\x1b[5b|\x1b8|\x1b[?1049l|\x1b[2J|\x1b[J".split(b"|")
    skipped = 0
    for _ in range(120):
        size = Size(source.randint(2, 6), source.randint(4, 14))
        pieces = source.choices(before, k=source.randint(0, 4)) + source.choices(flow, k=source.choice((300, 2000)))
        pieces += source.choices(after, k=2)
        screen, _ = through_backlog(pieces, size, told=told)
        assert state(screen) == state(whole(pieces, size))  # type: ignore[arg-type]
        skipped += screen.fed < total(pieces)
    assert skipped > 25


def test_keeps_output_and_resizes_in_order() -> None:
    pieces: list[Piece] = [b"one", Size(3, 20), b"\r\ntwo\x1b[99;99H", Size(9, 9), Size(5, 30), b"\x1b[99;99Hend"]
    screen, _ = through_backlog(pieces)
    assert state(screen) == state(whole(pieces))  # type: ignore[arg-type]


def test_is_fed_in_slices() -> None:
    screen = Counted(make_screen(SIZE, "pyte"))
    backlog = ScreenBacklog(lambda _: screen, SIZE)
    backlog.push(b"x" * 1000)
    backlog.resize(Size(5, 5))
    assert backlog.pending == 1001
    assert backlog.work(300)
    assert screen.fed == 300
    assert not backlog.work(700) or not backlog.work(1)
    assert screen.fed == 1000
    assert screen.size == Size(5, 5)
    assert not backlog.work(1)


def test_bytes_that_come_one_by_one_take_no_more_room() -> None:
    backlog = ScreenBacklog(lambda size: make_screen(size, "pyte"), SIZE)
    for _ in range(5000):
        backlog.push(b"x")
    assert backlog.pending == 5000
    assert len(backlog._waiting) == 1


NOISE = lines(12_500, lambda n: b"line %d\x1b[%d;%dHx\x1b[A\r\n" % (n, 1 + n % 30, 1 + n % 70))


@pytest.fixture(scope="module", params=["pyte", "ghostty"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param  # type: ignore[no-any-return]


def test_gives_up_rather_than_grow(engine: Engine) -> None:
    screen = Counted(make_screen(SIZE, engine))
    backlog = ScreenBacklog(lambda _: screen, SIZE)
    for piece in NOISE:
        backlog.push(piece)
        assert backlog.pending <= MOST
    assert total(NOISE) > MOST * 0.5
    for piece in NOISE:
        backlog.push(piece)
        assert backlog.pending <= MOST
    assert backlog.lost
    backlog.work(SLICE)
    assert screen.fed < BEHIND


def test_modes_from_before_it_was_known_again_are_not_left_out_as_drawing(engine: Engine) -> None:
    modes, clear = b"\x1b[4;20r\x1b[?7l", b"\x1b[2J\x1b[H"
    pieces = [*NOISE, *NOISE, modes, *numbered(9000), clear, *numbered(9000)]
    screen, backlog = through_backlog(pieces, engine=engine, told=True, late=True)
    assert not backlog.lost
    assert state(screen) == state(whole(pieces, engine=engine))  # type: ignore[arg-type]


def test_modes_without_end_do_not_pile_up_while_it_is_lost(engine: Engine) -> None:
    screen = make_screen(SIZE, engine)
    backlog = ScreenBacklog(lambda _: screen, SIZE)
    for piece in [*NOISE, *NOISE]:
        backlog.push(piece)
    assert backlog.lost
    for number in range(100):
        backlog.push(b"\x1b[%d;20r\x1b[?25l\x1b[4h" % (1 + number % 9) * (SLICE // 16))
        assert backlog.pending < 4 * SLICE
    assert backlog.lost
    assert not screen.cursor.visible


@pytest.mark.parametrize(
    "rest",
    [
        b"\x1b[2J\x1b[Hknown again\r\n",
        b"\x1b[H\x1b[2Jknown again\r\n",
        b"\x1b[2J\x1b[3J\x1b[1;1Hknown again" + b"\n" * 40 + b"x",
        b"\x1b[?1049h\x1b[2J\x1b[Hknown again",
        b"old\x1b[1;31m\x1b[Ax\x1bcknown again",
    ],
)
def test_is_known_again_after_a_clear(engine: Engine, rest: bytes) -> None:
    modes = b"\x1b[?7l\x1b[41m\x1b[4;20r\x1b[?25l\x1b(0\x1b[4h\x1b[3m"
    pieces = [*NOISE, modes, *NOISE, rest[:3], rest[3:]]
    screen, backlog = through_backlog(pieces, engine=engine)
    assert not backlog.lost
    assert state(screen) == state(whole(pieces, engine=engine))  # type: ignore[arg-type]


@pytest.mark.parametrize("back", [b"\x1b[?1049l", b"\x1b8", b"\x1b[u"])
def test_what_was_lost_before_a_clear_stays_unknown(back: bytes) -> None:
    screen, backlog = through_backlog([*NOISE, *NOISE, b"\x1b[?1049h\x1b[2J\x1b[H", back])
    assert backlog.lost
    backlog.push(b"\x1b[2J\x1b[Hknown again")
    assert not backlog.work(SLICE)
    assert not backlog.lost
    assert screen.rows()[0] == "known again"
    backlog.push(back[:1])
    backlog.work(SLICE)
    assert not backlog.lost
    backlog.push(back[1:])
    backlog.work(SLICE)
    assert backlog.lost


def test_a_mode_cut_while_lost_still_counts() -> None:
    screen, backlog = through_backlog([*NOISE, *NOISE])
    assert backlog.lost
    for piece in (b"text\x1b[?10", b"49htext\x1b", b"[?2", b"5ltext"):
        backlog.push(piece)
        backlog.work(SLICE)
    assert screen.alternate
    assert not screen.cursor.visible


def test_the_history_is_as_long_as_a_skip_takes_it_to_be() -> None:
    screen = make_screen(Size(2, 10), "pyte")
    screen.feed(b"".join(b"%d\r\n" % number for number in range(HISTORY_ROWS + 50)))
    screen.resize(Size(HISTORY_ROWS + 100, 10))
    assert len([row for row in screen.rows() if row]) == HISTORY_ROWS + 1
