from __future__ import annotations

import pytest

from lifecycle_wrap.terminal.probe import (
    BEFORE_LIMIT,
    BURST,
    KEY_DELAY,
    LATE,
    LATE_KEY_DELAY,
    LIMIT,
    MOST_OPEN,
    Probe,
)
from tests.detectors.chunking import every_cut

VERSION = b"\x1bP>|ghostty 1.4.0\x1b\\"
STATUS = b"\x1b]7501;?\x1b\\"
ATTRIBUTES = b"\x1b[?62;22c"


def asked(before: bytes = b"") -> Probe:
    probe = Probe()
    probe.saw_output(before)
    assert probe.ask(0.0) == BURST
    return probe


def fed(probe: Probe, pieces: list[bytes], now: float = 0.01) -> bytes:
    return b"".join(probe.filter_input(piece, now) for piece in pieces)


def test_the_burst_asks_three_questions_the_one_that_all_answer_last() -> None:
    assert BURST == b"\x1b[>q\x1b]7501;?\x1b\\\x1b[c"


@pytest.mark.parametrize(
    ("answers", "version", "knows"),
    [
        (VERSION + STATUS + ATTRIBUTES, "ghostty 1.4.0", True),
        (VERSION + ATTRIBUTES, "ghostty 1.4.0", False),
        (b"\x1b]7501;?\x07" + ATTRIBUTES, "", True),
        (ATTRIBUTES, "", False),
        (b"\x1b[?c", "", False),
    ],
)
def test_the_answers_are_taken_out_and_all_else_passes_in_order(answers: bytes, version: str, knows: bool) -> None:
    typed = b"he\x1b[Allo\r\x1b[200~paste\x1b[201~"
    for pieces in every_cut(b"a" + answers + typed):
        probe = asked()
        assert fed(probe, pieces) == b"a" + typed, pieces
        assert (probe.version, probe.knows_status, probe.settled) == (version, knows, True)
        assert probe.deadline is None
        assert not probe.awaits_answers


def test_what_was_answered_before_we_ask_is_no_question_any_more() -> None:
    for pieces in every_cut(b"text\x1b[c"):
        probe = Probe()
        for piece in pieces:
            probe.saw_output(piece)
        assert probe.filter_input(ATTRIBUTES, 0.0) == ATTRIBUTES
        probe.saw_output(b"more")
        assert probe.ask(0.1) == BURST
        assert fed(probe, [ATTRIBUTES], 0.2) == b""
        assert probe.settled


def test_keys_between_the_answers_reach_the_agent_in_order() -> None:
    stream = b"1" + VERSION + b"2\x1b[I3" + STATUS + b"\x1bOP4" + ATTRIBUTES + b"5"
    for pieces in every_cut(stream):
        assert fed(asked(), pieces) == b"12\x1b[I3\x1bOP45", pieces


def test_the_agents_own_questions_before_ours_are_answered_before_ours() -> None:
    questions = b"text\x1b[>0q\x1b]7501;?\x07\x1b[c"
    for pieces in every_cut(questions):
        probe = Probe()
        for piece in pieces:
            probe.saw_output(piece)
        probe.ask(0.0)
        theirs = VERSION + ATTRIBUTES
        assert fed(probe, [theirs + VERSION + ATTRIBUTES]) == theirs, pieces
        assert (probe.version, probe.knows_status) == ("ghostty 1.4.0", False)


def test_questions_that_were_answered_before_ours_do_not_count() -> None:
    probe = Probe()
    probe.saw_output(b"\x1b[c")
    assert probe.filter_input(ATTRIBUTES, 0.0) == ATTRIBUTES
    probe.ask(0.1)
    assert fed(probe, [VERSION + ATTRIBUTES]) == b""


def test_the_agents_questions_after_ours_are_answered_to_it() -> None:
    probe = asked()
    probe.saw_output(b"\x1b[>q\x1b[c")
    ours_and_theirs = VERSION + STATUS + ATTRIBUTES + VERSION + ATTRIBUTES
    assert fed(probe, [ours_and_theirs]) == VERSION + ATTRIBUTES


def test_a_terminal_that_answers_nothing_is_waited_for_once_and_costs_nothing_more() -> None:
    probe = asked()
    assert probe.deadline == LIMIT
    assert probe.on_deadline(LIMIT) == b""
    assert probe.settled
    assert probe.deadline is None
    assert (probe.version, probe.knows_status) == (None, None)


def test_late_answers_are_taken_out_too_and_still_teach() -> None:
    for pieces in every_cut(VERSION + STATUS + ATTRIBUTES + b"x"):
        probe = asked()
        probe.on_deadline(LIMIT)
        assert fed(probe, pieces, now=2.0) == b"x", pieces
        assert (probe.version, probe.knows_status) == ("ghostty 1.4.0", True)


def test_answers_that_nobody_else_has_asked_for_are_ours_however_late() -> None:
    stream = VERSION + STATUS + ATTRIBUTES
    for pieces in every_cut(b"a" + stream + b"b"):
        if any(piece.endswith((b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP")) for piece in pieces):
            continue  # that may be a key, which is not held any more
        probe = asked()
        assert fed(probe, pieces, now=LATE * 100) == b"ab", pieces
        assert (probe.version, probe.knows_status) == ("ghostty 1.4.0", True)


def test_long_after_ours_an_answer_is_the_agents_if_it_has_asked_too() -> None:
    for answers in (ATTRIBUTES, VERSION + ATTRIBUTES):
        probe = asked()
        probe.saw_output(b"\x1b[>q")
        probe.saw_output(b"text\x1b[c")
        assert fed(probe, [b"key", answers], now=LATE) == b"key" + answers
        assert probe.version is None
        assert fed(probe, [VERSION, ATTRIBUTES], now=LATE + 1) == b""
        assert probe.version == "ghostty 1.4.0"
    assert asked().filter_input(ATTRIBUTES, LATE) == b""


def test_questions_that_nobody_ever_answers_fill_no_memory() -> None:
    probe = asked()
    for second in range(1000):
        probe.saw_output(b"\x1b[c" * 100 + b"x" * 1000)
        assert probe.filter_input(b"\x1b[A", LATE + second) == b"\x1b[A"
    assert len(probe._open) == MOST_OPEN
    assert probe._before_size < BEFORE_LIMIT + 2000


@pytest.mark.parametrize("key", [b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP"])
def test_long_after_the_question_no_key_waits(key: bytes) -> None:
    probe = asked()
    probe.on_deadline(LIMIT)
    assert probe.filter_input(key, LATE) == key


@pytest.mark.parametrize("key", [b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP"])
def test_a_key_that_begins_like_an_answer_waits_a_moment_only(key: bytes) -> None:
    probe = asked()
    assert probe.filter_input(key, 0.01) == b""
    assert probe.deadline == 0.01 + KEY_DELAY
    assert probe.on_deadline(0.01 + KEY_DELAY) == key
    probe.on_deadline(LIMIT)
    assert probe.filter_input(key, 1.0) == b""
    assert probe.deadline == 1.0 + LATE_KEY_DELAY
    assert probe.on_deadline(1.0 + LATE_KEY_DELAY) == key


def test_nothing_is_held_once_the_answers_are_there() -> None:
    probe = asked()
    fed(probe, [VERSION + ATTRIBUTES])
    data = b"\x1b"
    assert probe.filter_input(data, 0.02) is data


def test_nothing_is_held_before_the_question() -> None:
    probe = Probe()
    data = b"\x1b[?62"
    assert probe.filter_input(data, 0.0) is data


def test_an_answer_that_never_ends_is_given_to_the_agent() -> None:
    probe = asked()
    assert probe.filter_input(b"\x1bP>|ghos", 0.01) == b""
    assert probe.on_deadline(0.01 + LIMIT) == b"\x1bP>|ghos"
    probe = asked()
    endless = b"\x1bP>|" + b"x" * 600
    assert probe.filter_input(endless, 0.01) == endless
