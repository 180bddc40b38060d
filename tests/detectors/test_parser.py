import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyghostty import Terminal

from lifecycle_detectors.parser import (
    MAX_HEADER,
    MAX_PARAMETERS,
    MAX_STRING,
    MAX_VALUE,
    Control,
    Csi,
    Dcs,
    Escape,
    Osc,
    Parser,
    Print,
    StringSequence,
    Token,
)
from tests.detectors.chunking import random_cuts, random_stream, same_over_every_cut

A, B = Print("a"), Print("b")


def csi(final: str, *params: int | None, private: str = "", intermediates: str = "") -> Csi:
    return Csi(private, tuple((value,) for value in params), intermediates, final)


def read(pieces: list[bytes], *, text: bool = True) -> list[Token]:
    """The tokens of the pieces, adjacent text joined."""
    parser = Parser(text=text)
    joined: list[Token] = []
    for piece in pieces:
        for token in parser.feed(piece):
            if isinstance(token, Print):
                assert token.text
                if joined and isinstance(joined[-1], Print):
                    token = Print(joined.pop().text + token.text)
            joined.append(token)
    return joined


def tokens(data: bytes) -> list[Token]:
    return same_over_every_cut(data, read)


CASES: list[tuple[str, bytes, list[Token]]] = [
    ("text", b"hello", [Print("hello")]),
    ("characters", "✳ é日👩‍💻".encode(), [Print("✳ é日👩‍💻")]),
    ("C1 characters are text", b"a\xc2\x9b31mb\xc2\x85", [Print("a\x9b31mb\x85")]),
    ("C0", b"a\r\n\x07b", [A, Control(13), Control(10), Control(7), B]),
    ("NUL and DEL", b"a\x00\x7fb", [A, Control(0), Control(0x7F), B]),
    ("CAN and SUB in ground", b"a\x18\x1ab", [A, Control(0x18), Control(0x1A), B]),
    ("CSI", b"a\x1b[?1049hb", [A, csi("h", 1049, private="?"), B]),
    ("CSI without parameters", b"\x1b[m", [Csi("", (), "", "m")]),
    ("missing parameters", b"\x1b[;5H\x1b[;H", [csi("H", None, 5), csi("H", None, None)]),
    ("sub-parameters", b"\x1b[38:2::1:2;1m", [Csi("", ((38, 2, None, 1, 2), (1,)), "", "m")]),
    ("intermediates", b"\x1b[2 q\x1b[!p\x1b[?2026$p",
     [csi("q", 2, intermediates=" "), Csi("", (), "!", "p"), csi("p", 2026, private="?", intermediates="$")]),
    ("private alone", b"\x1b[<u\x1b[>4;2m", [Csi("<", (), "", "u"), csi("m", 4, 2, private=">")]),
    ("private mark amid parameters", b"a\x1b[>4;?mb", [Print("ab")]),
    ("parameter after an intermediate", b"a\x1b[3!1mb", [Print("ab")]),
    ("C0 inside CSI", b"a\x1b[2\r;3\x07Cb", [A, Control(13), Control(7), csi("C", 2, 3), B]),
    ("DEL and high bytes inside CSI", b"a\x1b[\x7f3\xc3\xa9\x9bCb", [A, csi("C", 3), B]),
    ("ESC inside CSI", b"a\x1b[3\x1b[1Cb", [A, csi("C", 1), B]),
    ("CAN inside CSI", b"a\x1b[3\x18b", [A, Control(0x18), B]),
    ("SUB inside CSI", b"a\x1b[3\x1ab", [A, Control(0x1A), B]),
    ("unfinished CSI", b"a\x1b[31", [A]),
    ("escapes", b"\x1b7\x1bc\x1b(0\x1b F\x1b#8\x1bk",
     [Escape("", "7"), Escape("", "c"), Escape("(", "0"), Escape(" ", "F"), Escape("#", "8"), Escape("", "k")]),
    ("C0 inside ESC", b"\x1b\x07(\rB", [Control(7), Control(13), Escape("(", "B")]),
    ("a bracket after an intermediate opens nothing", b"\x1b([b", [Escape("(", "["), B]),
    ("OSC with BEL", b"a\x1b]0;t\x07b", [A, Osc(b"0;t", True), B]),
    ("OSC with ST", b"a\x1b]0;t\x1b\\b", [A, Osc(b"0;t", False), B]),
    ("0x9C inside OSC", "a\x1b]0;✳ 未\x07b".encode() + b"\x1b]0;\x9cx\x07",
     [A, Osc("0;✳ 未".encode(), True), B, Osc(b"0;\x9cx", True)]),
    ("C0 inside OSC", b"\x1b]0;a\r\n\x00b\x07", [Osc(b"0;ab", True)]),
    ("empty OSC", b"\x1b]\x07\x1b]\x1b\\", [Osc(b"", True), Osc(b"", False)]),
    ("no Linux palette", b"a\x1b]P1234567b", [A]),
    ("CAN inside OSC", b"a\x1b]0;t\x18b", [A, Control(0x18), B]),
    ("SUB inside OSC", b"a\x1b]0;t\x1ab", [A, Control(0x1A), B]),
    ("ESC inside OSC", b"a\x1b]0;t\x1b[31mb", [A, csi("m", 31), B]),
    ("two ESC inside OSC", b"a\x1b]0;t\x1b\x1b\\b", [A, Escape("", "\\"), B]),
    ("OSC inside OSC", b"\x1b]0;t\x1b]2;u\x07", [Osc(b"2;u", True)]),
    ("DCS", b"a\x1bP1;2$qm\x07\x1b\\b", [A, Dcs("", ((1,), (2,)), "$", "q", b"m\x07"), B]),
    ("DCS with private", b"\x1bP>|XTerm\x1b\\", [Dcs(">", (), "", "|", b"XTerm")]),
    ("DCS with a bad header", b"a\x1bP1\xc3<qz\x1b\\b", [Print("ab")]),
    ("DCS without data", b"a\x1bP\x1b\\b", [A, Escape("", "\\"), B]),
    ("CAN inside DCS", b"a\x1bPqz\x18b", [A, Control(0x18), B]),
    ("CAN inside a DCS header", b"a\x1bP1\x18b", [A, Control(0x18), B]),
    ("ESC inside DCS", b"a\x1bPqz\x1b[Cb", [A, Csi("", (), "", "C"), B]),
    ("OSC inside DCS", b"a\x1bPqz\x1b]0;t\x07b", [A, Osc(b"0;t", True), B]),
    ("APC PM SOS", b"\x1b_G\x07a=1\x1b\\\x1b^p\x1b\\\x1bXs\x9c\x1b\\",
     [StringSequence("APC", b"G\x07a=1"), StringSequence("PM", b"p"), StringSequence("SOS", b"s\x9c")]),
    ("tmux passthrough", b"a\x1bPtmux;\x1b\x1b]0;t\x07\x1b\x1b]9;n\x1b\x1b\\\x07x\x1b\x1b[2J\x1b\\b",
     [A, Osc(b"0;t", True), Osc(b"9;n", False), Control(7), B]),
    ("tmux passthrough inside another",
     b"a\x1bPtmux;\x1b\x1bPtmux;" + b"\x1b" * 4 + b"]0;t" + b"\x1b" * 4 + b"\\\x1b\x1b\\\x1b\\b",
     [A, Osc(b"0;t", False), B]),
    ("tmux passthrough cut short", b"a\x1bPtmux;\x1b\x1b]0;t\x07\x1b[1mb", [A, csi("m", 1), B]),
    ("not quite tmux", b"a\x1bPtmux\x1b\x1b]0;t\x07b", [A, Osc(b"0;t", True), B]),
    ("value over the limit", b"\x1b[99999999999C", [csi("C", MAX_VALUE)]),
    ("many parameters", b"\x1b[" + b"1;" * 40 + b"m", [csi("m", *[1] * MAX_PARAMETERS)]),
    ("many sub-parameters", b"\x1b[" + b"1:" * 40 + b"m", [Csi("", ((1,) * MAX_PARAMETERS,), "", "m")]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_tokens(data: bytes, expected: list[Token]) -> None:
    assert tokens(data) == expected


@pytest.mark.parametrize("data", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_without_text_only_drawing_is_missing(data: bytes) -> None:
    def draws(token: Token) -> bool:
        match token:
            case Print():
                return True
            case Control(code):
                return code not in (7, 14, 15)
            case Csi("", _, "", final):
                return final in "@ABCDEFGHIJKLMPSTXZ`abdefgm"
            case Csi("?", ((2026,),), "", "h" | "l"):
                return True
        return False

    expected = [token for token in read([data]) if not draws(token)]
    assert same_over_every_cut(data, lambda pieces: read(pieces, text=False)) == expected


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe", b"\xe2\x82", b"a\xe2\x82b", b"\xf0\x80\x80b", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x92",
     b"\xc3\xc3\xa9", b"\xe2\x1b[m\x82\xac", b"\xe2\x82\x07\xac", b"\xc0\xaf\xe0\x9f\xbf", b"\xe2\x82\x7f\xac"],
)  # fmt: skip
def test_invalid_utf8_is_replaced_by_maximal_subparts(data: bytes) -> None:
    controls = bytes.maketrans(b"\x07\x7f", b"\x00\x00")
    whole = data.replace(b"\x1b[m", b"\x00").translate(controls)
    expected = whole.decode("utf-8", "replace").replace("\0", "")
    # A character that is still open at the end is held, not replaced.
    printed = "".join(token.text for token in tokens(data + b"\x00") if isinstance(token, Print))
    assert printed == expected


def test_at_ground_is_exact_after_every_byte() -> None:
    def at_ground(data: bytes, *, text: bool) -> str:
        parser = Parser(text=text)
        marks = ""
        for index in range(len(data)):
            parser.feed(data[index : index + 1])
            marks += "^" if parser.at_ground else "."
        return marks

    for data, expected in {
        b"ab": "^^",
        "é✳👩".encode(): ".^..^...^",
        b"\xff\xe2\x82a": "^..^",
        b"\x1b[1ma": "...^^",
        b"\x1b(0a": "..^^",
        b"\x1b[1\x18a": "...^^",
        b"\x1b]0;\x9c\x07a": ".....^^",
        b"\x1b]0\x1b\\a": "....^^",
        b"\x1bPq\x07\x1b\\a": ".....^^",
        b"\x1bPtmux;\x1b\x1b\\\x1b\\a": "..........." + "^^",
        b"\x1b_G\x1b[ma": ".....^^",
        b"\x1b\x1b7a": "..^^",
        b"\x1b[\xc3\xa9ma": "....^^",
    }.items():
        assert at_ground(data, text=True) == expected, data
        assert at_ground(data, text=False) == expected, data


@pytest.mark.parametrize("data", [case[1] for case in CASES if "tmux" not in case[0] and b"\x9c" not in case[1]])
def test_at_ground_agrees_with_libghostty(data: bytes) -> None:
    """Not compared: tmux's passthrough, which is tmux's own, and the C1 byte 9C, which libghostty takes outside OSC."""
    terminal, parser = Terminal(), Parser(text=False)
    for index in range(len(data)):
        terminal.feed(data[index : index + 1])
        parser.feed(data[index : index + 1])
        assert parser.at_ground == (terminal.feed_until_ground(b"") == 0), data[: index + 1]
    terminal.close()


@pytest.mark.parametrize("text", [True, False])
def test_synchronized_update(text: bool) -> None:
    def after(pieces: list[bytes]) -> bool:
        parser = Parser(text=text)
        for piece in pieces:
            parser.feed(piece)
        return parser.in_synchronized_update

    for data, expected in {
        b"": False,
        b"\x1b[?2026h": True,
        b"a\x1b[?25;2026hb2026": True,
        b"\x1b[?2026hframe\x1b[?2026l": False,
        b"\x1b[?2026h\x1b[?2026l\x1b[?2026h": True,
        b"\x1b[?2026h\x1b[?2026$p\x1b[2026l\x1b[>2026l": True,
        b"\x1b[?2026h\x1bc": False,
        b"\x1b[?12026h": False,
        b"\x1b[?2026h\x1b[?12026l\x1b[?20260l": True,
        b"\x1b[?1;02026;7h": True,
        b"\x1b[?2026\x072026h": False,
        b"\x1b]0;\x1b[?2026h\x07": True,
        b"\x1b]0;[?2026h\x07": False,
    }.items():
        assert same_over_every_cut(data, after) is expected, data


def test_reset_forgets_an_unfinished_sequence() -> None:
    for unfinished in (b"\x1b[3", b"\x1b]0;t", b"\x1bPq", b"\xe2\x82", b"\x1b[?2026h"):
        parser = Parser()
        parser.feed(unfinished)
        parser.reset()
        assert parser.at_ground
        assert not parser.in_synchronized_update
        assert parser.feed(b"a\x07") == [A, Control(7)]


@pytest.mark.parametrize("text", [True, False])
def test_what_is_over_a_limit_is_dropped_to_its_end(text: bool) -> None:
    long = {
        b"\x1b]0;%s\x07": MAX_STRING,
        b"\x1b]0;%s\x1b\\": MAX_STRING,
        b"\x1bPq%s\x1b\\": MAX_STRING,
        b"\x1b_%s\x1b\\": MAX_STRING,
        b"\x1bPtmux;%s\x1b\\": MAX_STRING,
        b"\x1b[?%sh": MAX_HEADER,
        b"\x1bP%sqdata\x1b\\": MAX_HEADER,
    }
    for form, limit in long.items():
        data = form % (b"1" * (limit + 1)) + b"\x07"
        for size in (len(data), 4096, 1000, 7):
            pieces = [data[start : start + size] for start in range(0, len(data), size)]
            assert read(pieces, text=text) == [Control(7)], form
    parser = Parser(text=text)
    parser.feed(b"\x1b]0;")
    for _ in range(64):
        parser.feed(b"x" * MAX_STRING)
    assert len(parser._payload) <= MAX_STRING + 1


def test_a_string_at_the_limit_is_kept() -> None:
    data = b"0;" + b"x" * (MAX_STRING - 2)
    assert read([b"\x1b]" + data + b"\x07"]) == [Osc(data, True)]


@given(st.lists(st.binary(max_size=12)))
def test_any_bytes_any_chunks(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    for text in (True, False):
        assert read(pieces, text=text) == read([data], text=text)


def test_random_and_mutated_streams_raise_nothing() -> None:
    source = random.Random(7501)
    for _ in range(40_000):  # `python -m tests.fuzz parser` goes on from here
        data = random_stream(source)
        text = source.random() < 0.5
        assert read(random_cuts(data, source), text=text) == read([data], text=text), data
