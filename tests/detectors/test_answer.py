import random

import pytest

from lifecycle_detectors.answer import ANSWER, KEY_DELAY, PATIENCE, StatusQueryAnswer
from tests.detectors.chunking import every_cut, random_cuts

DA1 = b"\x1b[?62;4;22c"
BEFORE = b"\x1bP>|XTerm(390)\x1b\\\x1b[?5u"


def asked(times: int = 1) -> StatusQueryAnswer:
    answer = StatusQueryAnswer()
    for _ in range(times):
        answer.saw_query(0.0)
    return answer


def reply(answer: StatusQueryAnswer, pieces: list[bytes]) -> bytes:
    """What the agent gets when the pieces come at once."""
    return b"".join(answer.filter_input(piece, 0.01) for piece in pieces)


@pytest.mark.parametrize(
    ("data", "expected", "outer_answers"),
    [
        (DA1, ANSWER + DA1, False),
        (BEFORE + DA1 + b"\x1b[?2026;2$y", BEFORE + ANSWER + DA1 + b"\x1b[?2026;2$y", False),
        (b"ab\x1b[A" + DA1 + b"\r", b"ab\x1b[A" + ANSWER + DA1 + b"\r", False),
        (b"\x1b[?c", ANSWER + b"\x1b[?c", False),
        (BEFORE + ANSWER + DA1, BEFORE + ANSWER + DA1, True),
        (b"\x1b]7501;?\x07" + DA1, b"\x1b]7501;?\x07" + DA1, True),
        (DA1 + DA1, ANSWER + DA1 + DA1, False),
        (b"\x1b[?6n" + b"\x1b[>1c" + b"\x1b[3c", b"\x1b[?6n\x1b[>1c\x1b[3c", None),
        (b"\x1b]7501;state=idle\x07\x1b]750", b"\x1b]7501;state=idle\x07\x1b]750", None),
    ],
)
def test_one_answer(data: bytes, expected: bytes, outer_answers: bool | None) -> None:
    for pieces in every_cut(data):
        answer = asked()
        assert reply(answer, pieces) + answer.flush() == expected
        assert answer.outer_answers is outer_answers


def test_every_query_gets_one_answer() -> None:
    answer = asked(times=2)
    assert reply(answer, [ANSWER, DA1, ANSWER, DA1]) == ANSWER + ANSWER + DA1 + DA1
    assert answer.outer_answers
    answer = asked(times=2)
    assert reply(answer, [DA1, DA1]) == ANSWER * 2 + DA1 * 2
    answer.saw_query(5.0)
    assert answer.filter_input(DA1, 5.1) == ANSWER + DA1


def test_without_a_reply_we_answer_alone() -> None:
    answer = asked()
    assert answer.deadline == PATIENCE
    assert answer.on_deadline(PATIENCE - 0.1) == b""
    assert answer.on_deadline(PATIENCE) == ANSWER
    assert answer.outer_answers is False
    assert answer.deadline is None
    assert answer.on_deadline(PATIENCE + 0.1) == b""
    assert answer.filter_input(DA1, PATIENCE + 0.2) == DA1


def test_a_late_answer_of_the_outer_terminal_is_taken_out() -> None:
    whole = b"a" + ANSWER + b"b"
    # Cut behind its ESC or its bracket it comes through: these may be keys, which are not held where no query is open.
    for cut in [0, 1, *range(4, len(whole))]:
        answer = asked()
        assert answer.on_deadline(PATIENCE) == ANSWER
        assert answer.filter_input(whole[:cut], 1.5) + answer.filter_input(whole[cut:], 1.6) == b"ab"
        assert answer.outer_answers
        assert answer.filter_input(ANSWER, 1.7) == ANSWER


def test_however_late_the_agent_gets_no_answer_twice_and_its_next_query_one() -> None:
    answer = asked()
    assert answer.on_deadline(PATIENCE) == ANSWER
    assert answer.filter_input(ANSWER, 3600.0) == b""
    answer = asked()
    assert answer.on_deadline(PATIENCE) == ANSWER
    answer.saw_query(3600.0)
    assert answer.filter_input(ANSWER + ANSWER + DA1, 3600.1) == ANSWER + DA1


@pytest.mark.parametrize("key", [b"\x1b", b"\x1b[", b"\x1b]"])
def test_a_key_is_held_only_briefly_and_only_while_a_query_is_open(key: bytes) -> None:
    answer = asked()
    assert answer.filter_input(b"a" + key, 0.5) == b"a"
    assert answer.deadline == 0.5 + KEY_DELAY
    assert answer.on_deadline(0.5 + KEY_DELAY / 2) == b""
    assert answer.on_deadline(0.5 + KEY_DELAY) == key
    assert answer.deadline == PATIENCE
    assert answer.on_deadline(PATIENCE) == ANSWER
    assert answer.filter_input(key, 1.1) == key
    assert answer.deadline is None


def test_an_answer_is_not_put_into_a_reply() -> None:
    answer = asked()
    assert answer.filter_input(b"a\x1b[?62;", 0.9) == b"a"
    assert answer.on_deadline(PATIENCE) == ANSWER + b"\x1b[?62;"
    assert answer.filter_input(b"4c", 1.1) == b"4c"


def test_what_looks_like_a_reply_is_given_back() -> None:
    answer = asked()
    assert answer.filter_input(b"\x1b[?62", 0.1) == b""
    assert answer.filter_input(b"\x1b[A", 0.2) == b"\x1b[?62\x1b[A"
    assert answer.filter_input(b"\x1b]7501", 0.3) == b""
    assert answer.filter_input(b"2;x\x07", 0.4) == b"\x1b]75012;x\x07"
    assert answer.filter_input(b"\x1b[?" + b"1" * 200, 0.5) == b"\x1b[?" + b"1" * 200


@pytest.mark.parametrize("data", [b"text", b"\x1b", DA1, ANSWER, b"\x1b[?6", b"\x1b]7501"])
def test_without_a_query_the_same_object_passes(data: bytes) -> None:
    answer = StatusQueryAnswer()
    assert answer.filter_input(data, 0.0) is data
    assert answer.deadline is None
    assert answer.outer_answers is None


def test_flush_gives_what_is_held_and_the_query_is_still_answered() -> None:
    answer = asked()
    assert answer.filter_input(b"\x1b[?6", 0.1) == b""
    assert answer.flush() == b"\x1b[?6"
    assert answer.deadline == PATIENCE
    assert answer.filter_input(DA1, 0.2) == ANSWER + DA1


def test_what_the_agent_has_got_already_counts_as_answered_but_for_device_attributes() -> None:
    answer = asked(times=2)
    answer.saw_input(DA1 + b"x" + ANSWER)
    assert answer.outer_answers is True
    assert answer.filter_input(DA1, 0.2) == ANSWER + DA1


def test_random_input_loses_nothing() -> None:
    source = random.Random(6)
    snippets = [b"x", b"\x1b", b"\x1b[A", b"\x1b[?6", b";4", b"c", b"\x1b]7501;", b"?", b"\r", b"\x1b[?1;2n", b"\x9c"]
    for _ in range(20_000):
        data = b"".join(source.choices(snippets, k=source.randrange(1, 10)))
        answer = asked(source.randrange(3))
        got = b"".join(answer.filter_input(piece, 0.01) for piece in random_cuts(data, source)) + answer.flush()
        assert got.replace(ANSWER, b"") == data
