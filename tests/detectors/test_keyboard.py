import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle_detectors.keyboard import (
    MAX_REPORT,
    MAX_SEQUENCE,
    Escape,
    Focus,
    Interrupt,
    Key,
    Keyboard,
    Mouse,
    Paste,
    Press,
    Report,
    ReportKind,
    Submit,
)
from tests.detectors.chunking import random_cuts, random_stream, same_over_every_cut


def read(pieces: list[bytes]) -> list[Press]:
    """The presses of the pieces, adjacent keys joined."""
    keyboard = Keyboard()
    joined: list[Press] = []
    for piece in pieces:
        for press in keyboard.feed(piece):
            if isinstance(press, Key) and joined and isinstance(joined[-1], Key):
                press = Key(joined.pop().data + press.data)
            joined.append(press)
    return joined


def presses(data: bytes) -> list[Press]:
    return same_over_every_cut(data, read)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"hello\r", [Key(b"hello"), Submit()]),
        ("é✳\x7f\t\n".encode(), [Key("é✳\x7f\t\n".encode())]),
        (b"\x03", [Interrupt()]),
        (b"\x04\x1a", [Key(b"\x04\x1a")]),
        (b"\x1b[A\x1bOB\x1b[15~\x1b[1;5C\x1b[Z", [Key(b"\x1b[A\x1bOB\x1b[15~\x1b[1;5C\x1b[Z")]),
        (b"\x1bOM", [Submit()]),
        (b"\x1bx\x1b\r\x1b\x7f\x1b\x03", [Key(b"\x1bx\x1b\r\x1b\x7f\x1b\x03")]),
        (b"\x1b\x1b[A", [Escape(), Key(b"\x1b[A")]),
        (b"\x1b[200~a\rb\x03\x1b[A\x1b[201~\r", [Paste(7), Submit()]),
        (b"\x1b[200~\x1b[201~x", [Paste(0), Key(b"x")]),
        (b"\x1b[I\x1b[O", [Focus(True), Focus(False)]),
        (b"\x1b[<0;3;4M\x1b[<0;3;4m", [Mouse(b"\x1b[<0;3;4M"), Mouse(b"\x1b[<0;3;4m")]),
        (b"\x1b[M\x20\x21\xffx", [Mouse(b"\x1b[M\x20\x21\xff"), Key(b"x")]),
        (b"\x1b[32;3;4M", [Mouse(b"\x1b[32;3;4M")]),
    ],
)
def test_legacy_keys_pastes_focus_and_mouse(data: bytes, expected: list[Press]) -> None:
    assert presses(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x1b[27u", Escape()),
        (b"\x1b[27;1u", Escape()),
        (b"\x1b[27;129u", Escape()),
        (b"\x1b[27;1:1u", Escape()),
        (b"\x1b[27;2u", Key(b"\x1b[27;2u")),
        (b"\x1b[13u", Submit()),
        (b"\x1b[13;1:2u", Submit()),
        (b"\x1b[57414u", Submit()),
        (b"\x1b[13;65u", Submit()),
        (b"\x1b[13;2u", Key(b"\x1b[13;2u")),
        (b"\x1b[99;5u", Interrupt()),
        (b"\x1b[99;133u", Interrupt()),
        (b"\x1b[1089::99;5u", Interrupt()),
        (b"\x1b[99;6u", Key(b"\x1b[99;6u")),
        (b"\x1b[99u", Key(b"\x1b[99u")),
        (b"\x1b[97;1;97u", Key(b"\x1b[97;1;97u")),
        (b"\x1b[1;1:1A", Key(b"\x1b[1;1:1A")),
        (b"\x1b[27;5;99~", Interrupt()),
        (b"\x1b[27;2;13~", Key(b"\x1b[27;2;13~")),
        (b"\x1b[27;1;27~", Escape()),
        (b"\x1b[13~", Key(b"\x1b[13~")),
    ],
)
def test_kitty_keys_and_modify_other_keys(data: bytes, expected: Press) -> None:
    assert presses(data) == [expected]


@pytest.mark.parametrize(
    "data", [b"\x1b[13;1:3u", b"\x1b[27;1:3u", b"\x1b[99;5:3u", b"\x1b[1;1:3A", b"\x1b[3;1:3~", b"\x1b[57441;2:3u"]
)
def test_a_release_is_no_press(data: bytes) -> None:
    assert presses(data) == [Report(ReportKind.KEY_RELEASE, data)]


@pytest.mark.parametrize("data", [b"\x1b[57441u", b"\x1b[57442;5u", b"\x1b[57358u"])
def test_a_bare_modifier_is_no_word(data: bytes) -> None:
    assert presses(data) == [Report(ReportKind.MODIFIER, data)]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x1b[?62;4;22c", "da1"),
        (b"\x1b[?c", "da1"),
        (b"\x1b[>1;10;0c", "da2"),
        (b"\x1b[12;40R", "cpr"),
        (b"\x1b[?12;40;1R", "cpr"),
        (b"\x1b[0n", "dsr"),
        (b"\x1b[?997;1n", "dsr"),
        (b"\x1b[?2026;2$y", "decrpm"),
        (b"\x1b[4;1$y", "decrpm"),
        (b"\x1b[?5u", "kitty-keyboard"),
        (b"\x1b[8;30;100t", "window"),
        (b"\x1b[48;30;100;600;1000t", "window"),
        (b"\x1b[>4;2m", "other"),
        (b"\x1b[1;2&w", "other"),
        (b"\x1bP>|XTerm(390)\x1b\\", "xtversion"),
        (b"\x1bP1+r544e=78\x1b\\", "dcs"),
        (b"\x1bP!|00000000\x1b\\", "dcs"),
        (b"\x1b]11;rgb:0000/0000/0000\x07", "osc"),
        (b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "osc"),
        (b"\x1b]7501;?\x1b\\", "program-status"),
        (b"\x1b]7501;?\x07", "program-status"),
        (b"\x1b_Gi=31;OK\x1b\\", "apc"),
    ],
)
def test_reports_are_not_the_users_word(data: bytes, kind: str) -> None:
    assert presses(data) == [Report(ReportKind(kind), data)]
    assert presses(b"a" + data + b"\r") == [Key(b"a"), Report(ReportKind(kind), data), Submit()]


@pytest.mark.parametrize("held", [b"\x1b", b"\x1b[", b"\x1bO", b"\x1b]", b"\x1bP", b"\x1b_"])
def test_what_may_be_a_key_is_one_after_a_moment(held: bytes) -> None:
    keyboard = Keyboard()
    assert not keyboard.pending
    assert keyboard.feed(b"a" + held) == [Key(b"a")]
    assert keyboard.pending
    assert keyboard.flush() == [Escape() if held == b"\x1b" else Key(held)]
    assert not keyboard.pending
    assert keyboard.flush() == []
    assert keyboard.feed(b"A\r") == [Key(b"A"), Submit()]


@pytest.mark.parametrize("begun", [b"\x1b[?6", b"\x1b]11;rgb", b"\x1b]11;x\x1b", b"\x1b[200~abc\x1b", b"\x1b[M "])
def test_what_must_be_a_sequence_is_not_flushed(begun: bytes) -> None:
    keyboard = Keyboard()
    assert keyboard.feed(begun) == []
    assert not keyboard.pending
    assert keyboard.flush() == []


def test_a_key_cuts_a_report_short() -> None:
    assert presses(b"\x1bPabc\rx\x03") == [Report(ReportKind.DCS, b"\x1bPabc"), Submit(), Key(b"x"), Interrupt()]
    assert presses(b"\x1b]\rx") == [Key(b"\x1b]"), Submit(), Key(b"x")]
    assert presses(b"\x1b]1;x\x1b[A") == [Report(ReportKind.OSC, b"\x1b]1;x"), Key(b"\x1b[A")]
    assert presses(b"\x1b[1\r\x1b[2\x1b[A") == [Key(b"\x1b[1"), Submit(), Key(b"\x1b[2\x1b[A")]


def test_a_huge_report_is_read_over() -> None:
    keyboard = Keyboard()
    found: list[Press] = []
    for piece in [b"\x1b]52;c;", *[b"A" * 10_000] * 100, b"\x1b\\\r"]:
        found += keyboard.feed(piece)
    (report, submit) = found
    assert submit == Submit()
    assert isinstance(report, Report)
    assert report.kind is ReportKind.OSC
    assert len(report.data) == MAX_REPORT + len(b"\x1b\\")


def test_a_huge_paste_is_counted() -> None:
    keyboard = Keyboard()
    assert keyboard.feed(b"\x1b[200~") == []
    for _ in range(100):
        assert keyboard.feed(b"x" * 10_000) == []
    assert keyboard.feed(b"\x1b[201~") == [Paste(1_000_000)]


def test_a_sequence_over_the_limit_is_text() -> None:
    within = b"\x1b[" + b"1" * (MAX_SEQUENCE - 3) + b"u"
    assert presses(within + b"\r") == [Key(within), Submit()]
    over = b"\x1b[" + b"?" * MAX_SEQUENCE + b"c"
    assert presses(over + b"\r") == [Key(over), Submit()]


@given(st.lists(st.binary(max_size=8)))
def test_any_bytes_any_chunks(pieces: list[bytes]) -> None:
    assert read(pieces) == read([b"".join(pieces)])


def test_random_streams_raise_nothing() -> None:
    source = random.Random(27)
    for _ in range(20_000):
        data = random_stream(source)
        assert read(random_cuts(data, source)) == read([data]), data
