import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle_detectors.controls import CAN
from lifecycle_detectors.osc_filter import MAX_HELD, OscFilter
from lifecycle_detectors.parser import Control, Osc, Parser, Print, Token
from tests.detectors.chunking import random_cuts, random_stream, same_over_every_cut

REPORT = b"\x1b]7501;state=idle:app=x\x1b\\"
QUERY = b"\x1b]7501;?\x07"


def keep_queries(sequence: Osc) -> bytes | None:
    return None if sequence.data == b"7501;?" else b""


def filtered(pieces: list[bytes], numbers: tuple[int, ...] = (7501,), decide: object = keep_queries) -> bytes:
    assert callable(decide)
    osc_filter = OscFilter(numbers, decide)
    return b"".join([osc_filter.filter(piece) for piece in pieces] + [osc_filter.flush()])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"plain", b"plain"),
        (b"a" + REPORT + b"b", b"ab"),
        (b"a\x1b]7501;state=idle\x07b", b"ab"),
        (REPORT + REPORT + b"\x1b[m" + REPORT, b"\x1b[m"),
        (b"a" + QUERY + b"b" + REPORT, b"a" + QUERY + b"b"),
        ("✳é".encode() + REPORT + "日".encode(), "✳é日".encode()),
        (b"\x1b]0;t\x07" + REPORT + b"\x1b]9;4;3;\x07", b"\x1b]0;t\x07\x1b]9;4;3;\x07"),
        (b"a\x1b]7501\x07b", b"ab"),
        # other numbers
        (b"\x1b]750;x\x07\x1b]75010;x\x07", b"\x1b]750;x\x07\x1b]75010;x\x07"),
        (b"\x1b]17501;x\x07\x1b]7;7501;\x07", b"\x1b]17501;x\x07\x1b]7;7501;\x07"),
        # aborted by CAN, SUB or ESC: no sequence, so it stays
        (b"\x1b]7501;x\x18b", b"\x1b]7501;x\x18b"),
        (b"\x1b]7501;x\x1ab", b"\x1b]7501;x\x1ab"),
        (b"\x1b]7501;x\x1b[mb", b"\x1b]7501;x\x1b[mb"),
        (b"\x1b]7501;x" + REPORT + b"b", b"\x1b]7501;x\x18b"),
        (b"\x1b\x1b]7501;x\x07b", b"\x1b\x18b"),
        # what a taken sequence cut short stays cut short
        (b"\x1b]0;t" + REPORT + b"b\x07", b"\x1b]0;t\x18b\x07"),
        (b"\x1bPqx" + REPORT + b"b", b"\x1bPqx\x18b"),
        (b"\x1b_Gx\x07" + REPORT + b"b", b"\x1b_Gx\x07\x18b"),
        (b"\x1b[3" + REPORT + b"1m", b"\x1b[3\x181m"),
        (b"\x1b(" + REPORT + b"0", b"\x1b(\x180"),
        (b"\x1b[3" + QUERY + b"1m", b"\x1b[3" + QUERY + b"1m"),
        (b"\x1b[31m\x1b7\x1b(0\x1bPqx\x1b\\\x1b[1\x18" + REPORT + b"b", b"\x1b[31m\x1b7\x1b(0\x1bPqx\x1b\\\x1b[1\x18b"),
        # tmux's passthrough is not for us, and begins no sequence of ours
        (b"\x1bPtmux;\x1b\x1b]7501;state=idle\x07\x1b\\b", b"\x1bPtmux;\x1b\x1b]7501;state=idle\x07\x1b\\b"),
        (b"\x1bPtmux;\x1b\x1b]7501;x\x1b\x1b\\\x1b\\" + REPORT, b"\x1bPtmux;\x1b\x1b]7501;x\x1b\x1b\\\x1b\\"),
        (b"\x1bPtmux;\x1b\x1b]0;t" + REPORT + b"b", b"\x1bPtmux;\x1b\x1b]0;t\x18b"),
        (b"\x1bPtmux;x\x18\x1b]7501;x\x07b", b"\x1bPtmux;x\x18b"),
        (b"\x1bPtmu;" + REPORT + b"b", b"\x1bPtmu;\x18b"),
        # unfinished at the end
        (b"a\x1b]75", b"a\x1b]75"),
        (b"a\x1b]7501;state=i", b"a\x1b]7501;state=i"),
        (b"a\x1b", b"a\x1b"),
        (b"\x1bPtmux;\x1b", b"\x1bPtmux;\x1b"),
    ],
)  # fmt: skip
def test_taken_out(data: bytes, expected: bytes) -> None:
    assert same_over_every_cut(data, filtered) == expected


def test_replaced() -> None:
    def working(sequence: Osc) -> bytes | None:
        return b"\x1b]9;4;4;100\x1b\\" if sequence.data.startswith(b"9;4;") else None

    data = b"\x1b]9;hi\x07a\x1b]9;4;3;\x07b\x1b]99;x\x07\x1b[1\x1b]9;4;0\x1b\\c\x1b]7501;x\x07"
    expected = b"\x1b]9;hi\x07a\x1b]9;4;4;100\x1b\\b\x1b]99;x\x07\x1b[1\x18\x1b]9;4;4;100\x1b\\c\x1b]7501;x\x07"
    assert same_over_every_cut(data, lambda pieces: filtered(pieces, (9, 7501), working)) == expected


def test_the_decision_sees_the_sequence() -> None:
    seen = []

    def decide(sequence: Osc) -> bytes | None:
        seen.append(sequence)
        return None

    for pieces in ([QUERY + REPORT], [bytes([byte]) for byte in QUERY + REPORT]):
        seen.clear()
        assert filtered(pieces, decide=decide) == QUERY + REPORT
        assert seen == [Osc(b"7501;?", True), Osc(b"7501;state=idle:app=x", False)]


@pytest.mark.parametrize(
    "data", [b"text", b"", b"\x1b[31mx\x1b[0m" * 100, "✳日".encode(), b"\x1b]0;t\x07\x1bPqx\x1b\\"]
)
def test_what_nothing_is_done_to_comes_back_as_the_same_object(data: bytes) -> None:
    assert OscFilter({7501}, keep_queries).filter(data) is data


@pytest.mark.parametrize(
    ("data", "held"),
    [
        (b"a\x1b", b"\x1b"),
        (b"a\x1b]", b"\x1b]"),
        (b"a\x1b]7", b"\x1b]7"),
        (b"a\x1b]75", b"\x1b]75"),
        (b"a\x1b]7501", b"\x1b]7501"),
        (b"a\x1b]7501;state", b"\x1b]7501;state"),
        (b"a\x1b]7501;state=idle\x1b", b"\x1b]7501;state=idle\x1b"),
        (b"a\x1bPtmux", b"\x1bPtmux"),
        (b"a\x1bPtmux;", b""),
        (b"a\x1b]76", b""),
        (b"a\x1b]0;t", b""),
        (b"a\x1b[", b""),
        (b"a\x1bPq", b""),
        (b"a\xe2\x9c", b""),
    ],
)
def test_only_a_possible_beginning_is_held(data: bytes, held: bytes) -> None:
    osc_filter = OscFilter({7501}, keep_queries)
    assert osc_filter.filter(data) == data.removesuffix(held)
    assert osc_filter.flush() == held
    assert osc_filter.flush() == b""


def test_a_sequence_over_the_limit_passes() -> None:
    head, tail = b"\x1b]7501;", b"\x1b\\"
    fits = head + b"x" * (MAX_HELD - len(head) - len(tail)) + tail
    for data, expected in ((fits, b""), (head + b"x" + fits[len(head) :], head + b"x" + fits[len(head) :])):
        for size in (len(data), 1000, 1):
            pieces = [data[start : start + size] for start in range(0, len(data), size)]
            assert filtered([*pieces, REPORT, b"b"]) == expected + b"b"
    endless = OscFilter({7501}, keep_queries)
    for _ in range(100):
        endless.filter(b"\x1b]7501;" + b"x" * 1000)
        assert len(endless._held) <= MAX_HELD


def tokens(data: bytes) -> list[Token]:
    joined: list[Token] = []
    for token in Parser().feed(data):
        if isinstance(token, Print) and joined and isinstance(joined[-1], Print):
            token = Print(joined.pop().text + token.text)
        joined.append(token)
    return joined


def without_reports(data: bytes) -> list[Token]:
    """What the parser reads in `data`, but for the reports and for CAN, which the filter may put in."""
    return [
        token
        for token in tokens(data)
        if token != Control(CAN) and not (isinstance(token, Osc) and _is_report(token.data))
    ]


def _is_report(data: bytes) -> bool:
    return data.partition(b";")[0] == b"7501" and data != b"7501;?"


def test_the_rest_means_what_it_meant() -> None:
    source = random.Random(4)
    for _ in range(20_000):
        # Only ASCII: a character that a report cut in two is whole without it. And no controls in tmux's header.
        data = random_stream(source).translate(None, bytes([*range(7), *range(8, 0x18), *range(0x7F, 0x100)]))
        data = data.replace(b"\x1bP\x07", b"")
        out = filtered(random_cuts(data, source))
        assert out == filtered([data]), data
        assert flat(without_reports(out)) == flat(without_reports(data)), (data, out)


def flat(read: list[Token]) -> list[object]:
    return [part for token in read for part in (token.text if isinstance(token, Print) else [token])]


@given(st.lists(st.sampled_from([b"\x1b", b"]", b"7501", b";", b"\\", b"\x07", b"Ptmux;", b"x", b"\x18", b"[", b"m"])))
def test_any_chunks(pieces: list[bytes]) -> None:
    assert filtered(pieces) == filtered([b"".join(pieces)])


@given(st.lists(st.binary(max_size=8)))
def test_nothing_is_lost_when_all_is_kept(pieces: list[bytes]) -> None:
    assert filtered(pieces, (0, 7, 9, 7501), lambda _: None) == b"".join(pieces)
