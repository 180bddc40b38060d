from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.modes import Modes, Place, Start
from lifecycle_detectors.pen import Pen
from lifecycle_detectors.stream import OutputStream
from tests.detectors.chunking import every_cut, random_cuts
from tests.support.engine import Engine

SIZE = Size(24, 80)
GHOSTTY = Start({1007: True, 1035: True, 1036: True, 2027: False}, b"text")
ST = b"\x1b\\"

# What an agent writes, and what takes it back.
LEFT = {
    "cursor keys": (b"\x1b[?1h", b"\x1b[?1l"),
    "keypad": (b"\x1b=", b"\x1b>"),
    "autowrap": (b"\x1b[?7l", b"\x1b[?7h"),
    "reverse video": (b"\x1b[?5h", b"\x1b[?5l"),
    "cursor hidden": (b"\x1b[?25l", b"\x1b[?25h"),
    "cursor shape": (b"\x1b[5 q", b"\x1b[0 q"),
    "insert": (b"\x1b[4h", b"\x1b[4l"),
    "new line": (b"\x1b[20h", b"\x1b[20l"),
    "mouse": (b"\x1b[?1000;1002h\x1b[?1006h", b"\x1b[?1000l\x1b[?1002l\x1b[?1006l"),
    "focus": (b"\x1b[?1004h", b"\x1b[?1004l"),
    "bracketed paste": (b"\x1b[?2004h", b"\x1b[?2004l"),
    "colour scheme reports": (b"\x1b[?2031h", b"\x1b[?2031l"),
    "size reports": (b"\x1b[?2048h", b"\x1b[?2048l"),
    "synchronized update": (b"\x1b[?2026h", b"\x1b[?2026l"),
    "alternate scroll": (b"\x1b[?1007l", b"\x1b[?1007h"),
    "alternate screen": (b"\x1b[?1049h", b"\x1b[?1049l"),
    "alternate screen of 1996": (b"\x1b7\x1b[?47h", b"\x1b[?47l\x1b8"),
    "keyboard": (b"\x1b[>5u", b"\x1b[<1u"),
    "keyboard twice": (b"\x1b[>5u\x1b[>7u\x1b[>1u\x1b[<u", b"\x1b[<2u"),
    "keyboard set, not pushed": (b"\x1b[=1;1u", b"\x1b[=0;1u"),
    "keyboard added to": (b"\x1b[=1;2u\x1b[=2;2u\x1b[=1;3u", b"\x1b[=0;1u"),
    "keyboard on both screens": (
        b"\x1b[>1u\x1b[?1049h\x1b[>5u\x1b[>7u",
        b"\x1b[<2u\x1b[?1049l\x1b[<1u",
    ),
    "keyboard of the alternate screen, left": (
        b"\x1b[?1049h\x1b[>5u\x1b[?1049l",
        b"\x1b[?47h\x1b[<1u\x1b[?47l",
    ),
    "modified keys": (b"\x1b[>4;2m", b"\x1b[>4m"),
    "pen": (b"\x1b[1;38:2::1:2:3;4:3m", b"\x1b[m"),
    "pen that came back from where 1049 saves it": (b"\x1b[1m\x1b[?1049h\x1b[?1049l\x1b[m\x1b8", b"\x1b[m"),
    "pen that leaving the alternate screen again brings back": (
        b"\x1b[1m\x1b[?1049h\x1b[?1049l\x1b[m\x1b[?1049l",
        b"\x1b[m",
    ),
    "hyperlink": (b"\x1b]8;id=1;http://x" + ST, b"\x1b]8;;" + ST),
    "protection": (b'\x1b[1"q', b'\x1b[0"q'),
    "charset": (b"\x1b(0", b"\x1b(B"),
    "charset in G1, shifted to": (b"\x1b)0\x0e", b"\x0f\x1b)B"),
    "margins": (b"\x1b[3;10r", b"\x1b7\x1b[r\x1b8"),
    "margins of the alternate screen": (b"\x1b[?1049h\x1b[3;10r", b"\x1b[r\x1b[?1049l"),
    "margins taken along": (b"\x1b[?1049h\x1b[3;10r\x1b[?1049l", b"\x1b7\x1b[r\x1b8"),
    "side margins": (b"\x1b[?69h\x1b[3;10s", b"\x1b[?69l"),
    "title stack": (b"\x1b[22;0t\x1b]0;x\x07\x1b[22;2t", b"\x1b[23;2t\x1b[23;0t"),
    "palette": (b"\x1b]4;1;#010203;200;red\x07", b"\x1b]104;1;200" + ST),
    "special colours": (b"\x1b]5;0;red\x07", b"\x1b]105;0" + ST),
    "window's colours": (b"\x1b]10;#fff;#000\x07", b"\x1b]110" + ST + b"\x1b]111" + ST),
    "colours by name": (b"\x1b]21;cursor=red;foreground=?\x07", b"\x1b]21;cursor=" + ST),
    "pointer": (b"\x1b]22;pointer\x07", b"\x1b]22;text" + ST),
    "pointers pushed": (b"\x1b]22;>wait\x07\x1b]22;>help\x07", (b"\x1b]22;<" + ST) * 2),
    "progress": (b"\x1b]9;4;3;\x07", b"\x1b]9;4;0;0" + ST),
}

# What leaves nothing behind, and so is answered by nothing.
NOTHING = {
    "text": "plain ✳ text\r\n".encode(),
    "put back": b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[>1u\x1b[<u\x1b[?2004l\x1b[?25h\x1b[?1049l",
    "reset though it was not set": b"\x1b[?1000;1002;1003;1006l\x1b[?2004l\x1b[?1049l\x1b[<u\x1b>\x1b[r\x1b(B\x0f",
    "pen undone piece by piece": b"\x1b[1;31mred\x1b[39m\x1b[22m \x1b[4:3mwavy\x1b[4:0m \x1b[7mx\x1b[27m",
    "pen restored": b"\x1b7\x1b[31m\x1b(0x\x1b8",
    "pen of the alternate screen": b"\x1b[?1049h\x1b[41m\x1b[2J\x1b[?1049l",
    "text that looks like a pen": b"[31m not a pen",
    "hyperlink closed": b"\x1b]8;;http://x\x07text\x1b]8;;\x07",
    "whole height": b"\x1b[1;24r\x1b[;r",
    "blinking cursor of ncurses": b"\x1b[?12l\x1b[?25h",
    "modes that terminals differ in": b"\x1b[?1034h\x1b[?8l",
    "queries": b"\x1b]11;?\x07\x1b]4;1;?\x07\x1b]22;?pointer\x07\x1b[?u\x1b[?2026$p\x1b[>q\x1b[c",
    "colours reset": b"\x1b]4;1;red\x07\x1b]11;red\x07\x1b]104\x07\x1b]111\x07",
    "full reset": b"\x1b[?1049h\x1b[?2004h\x1b[31m\x1b[>5u\x1b)0\x0e\x1b[5 q\x1b[?25l\x1bc",
    "saved and restored mode": b"\x1b[?1000s\x1b[?1000h\x1b[?1000r",
    "progress cleared": b"\x1b]9;4;1;50\x07\x1b]9;4;0\x07",
    "notification": b"\x1b]9;hello\x07",
}


def stream_of(pieces: Iterable[bytes]) -> OutputStream:
    stream = OutputStream(SIZE)
    for piece in pieces:
        stream.feed(piece)
    return stream


def undone(pieces: Iterable[bytes], place: Place | None = None, without: Collection[str] = ()) -> bytes:
    stream = stream_of(pieces)
    return stream.undo(lambda: place, GHOSTTY, without)


@pytest.mark.parametrize("case", LEFT)
def test_what_is_left_is_undone_over_every_cut(case: str) -> None:
    written, expected = LEFT[case]
    for pieces in every_cut(written):
        assert undone(pieces, place=Place(0, True, 0)) == expected, pieces


@pytest.mark.parametrize("case", NOTHING)
def test_what_leaves_nothing_is_answered_by_nothing(case: str) -> None:
    for pieces in every_cut(NOTHING[case]):
        assert undone(pieces) == b"", pieces


@pytest.mark.parametrize("case", LEFT)
def test_a_real_terminal_is_as_before(case: str) -> None:
    engine = Engine(*SIZE)
    engine.feed(b"$ agent\r\n")
    before = engine.state()
    engine.feed(LEFT[case][0])
    engine.feed(undone([LEFT[case][0]], place=Place(0, True, 0)))
    if "margins" in case:
        engine.feed(b"\x1b[2;1H")  # the agent itself has moved the cursor by setting them
    assert engine.state() == before


@pytest.mark.parametrize("case", LEFT)
def test_what_was_undone_is_set_again(case: str) -> None:
    written, _ = LEFT[case]
    stream = stream_of([written])
    engine = Engine(*SIZE)
    engine.feed(written)
    engine.feed(b"\x1b[?2026l")  # a frame that was cut short is not begun again
    set_before = engine.state() | {"cursor": None}
    engine.feed(stream.undo(lambda: Place(0, True, 0), GHOSTTY))
    engine.feed(stream.modes.redo(start=GHOSTTY))
    set_again = engine.state() | {"cursor": None}
    assert _without_cursor(set_again) == _without_cursor(set_before)


def _without_cursor(state: dict[str, object]) -> dict[str, object]:
    return state | {"dump": re.sub(r"\x1b\[\d+;\d+H", "", str(state["dump"]))}


def test_a_cut_sequence_is_ended_first() -> None:
    for written in (b"\x1b]0;title", b"\x1b[31", b"\x1bP+q", b"\x1b_G", b"\x1b", b"\x1b]8;;http://x\x1b"):
        engine = Engine(*SIZE)
        engine.feed(b"$ agent\r\n")
        before = engine.state()
        engine.feed(written)
        engine.feed(undone([written], place=Place(0, True, 0)))
        engine.feed(b"x\x08\x1b[X")
        assert engine.state() == before, written


def test_the_alternate_screen_is_left_before_the_main_ones_things_are_undone() -> None:
    written = (
        b"\x1b[>1u\x1b[31m\x1b[2;9r\x1b[?1049h\x1b[>5u\x1b[44m\x1b[3;8r\x1b[?6h\x1b(0\x1b[?25l\x1b[?1000h\x1b[?2026h"
    )
    assert undone([written]) == (
        b"\x1b[?2026l\x1b[?1000l\x1b[?6l\x1b[<1u\x1b[m\x1b(B\x1b[r\x1b[?1049l"
        b"\x1b[<1u\x1b[m\x1b7\x1b[r\x1b8\x1b(B\x1b[?25h"
    )


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Place(0, True, 0), b""),
        (Place(5, True, 0), b"\r"),
        (Place(0, False, 0), b"\r\n"),
        (Place(7, False, 0), b"\r\n"),
        (Place(3, True, 4), b"\x1b[4B\r\n"),
        (None, b"\x1b[999B\r\n"),
    ],
)
def test_an_interface_on_the_main_screen_is_left_below(place: Place | None, expected: bytes) -> None:
    assert undone([b"\x1b[?25l"], place=place) == b"\x1b[?25h" + expected
    assert undone([b"\x1b[31m"], place=place) == b"\x1b[m", "a coloured prompt is no interface"
    assert undone([b"\x1b[?1049h\x1b[?25l"], place=place) == b"\x1b[?1049l\x1b[?25h", "leaving it restores the cursor"


def test_modes_that_terminals_differ_in_are_put_back_where_the_start_is_known() -> None:
    written = b"\x1b[?1007l\x1b[?2027h"
    modes = Modes(SIZE)
    stream = stream_of([written])
    assert modes.undo() == b""
    assert stream.modes.undo() == b""
    assert stream.modes.undo(start=Start({1007: True, 2027: True})) == b"\x1b[?1007h"
    assert stream.modes.undo(start=Start({1007: False, 2027: False})) == b"\x1b[?2027l"


def test_what_somebody_else_undoes_is_left_out() -> None:
    written = b"\x1b[22;0t\x1b]9;4;3\x07\x1b[?25l"
    assert undone([written], without=("title", "progress"), place=Place(0, True, 0)) == b"\x1b[?25h"


def test_resets_are_counted() -> None:
    assert stream_of([b"\x1bc\x1b[?25l\x1bc"]).modes.resets == 2


def test_any_mixture_is_undone_in_a_real_terminal() -> None:
    source = random.Random(5)
    for _ in range(500):
        _check_mixture(source)


def _check_mixture(source: random.Random) -> None:
    # No program uses two generations of the alternate screen at once.
    pieces = [written for case, (written, _) in LEFT.items() if "1996" not in case]
    pieces += [*NOTHING.values(), b"\x1b[m", b"\x1b7", b"\x1b8", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?6h"]
    written = b"".join(source.choice(pieces) for _ in range(source.randrange(1, 9)))
    engine = Engine(*SIZE)
    before = engine.state() | {"cursor": None}
    stream = stream_of(random_cuts(written, source))
    engine.feed(written)
    engine.feed(stream.undo(lambda: Place(0, True, 0), GHOSTTY))
    engine.feed(b"\x1b[H\x1b[2J\x1b[3J")
    after = engine.state() | {"cursor": None}
    assert after == before, written


def test_a_pen_is_read_the_same_whole_and_piece_by_piece() -> None:
    source = random.Random(3)
    numbers = ["", *map(str, (*range(10), 21, 22, 24, 27, 31, 39, 45, 49, 53, 55, 97)), "38;5;7", "48;2;1;2;3", "4:3"]
    for _ in range(200):
        written = [";".join(source.choices(numbers, k=source.randrange(1, 4))) for _ in range(source.randrange(20))]
        sequences = [f"\x1b[{parameters}mx".encode() for parameters in written]
        whole, pieces = Pen(), Pen()
        whole.feed(b"".join(sequences), False)
        for sequence in sequences:
            pieces.feed(sequence, source.random() < 0.5)
        assert whole.attributes == pieces.attributes, written


def test_a_cursor_shape_outlives_the_alternate_screen_where_terminals_share_it() -> None:
    stream = OutputStream(SIZE)
    stream.feed(b"\x1b[?1049h\x1b[5 q\x1b[?1049l")
    assert stream.undo(None) == b"\x1b[0 q"
