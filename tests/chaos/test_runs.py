"""A few chaos runs each time; `python -m tests.chaos` does thousands."""

from __future__ import annotations

import pytest

from tests.chaos.alignment import came_through
from tests.chaos.plan import CHANCES, draw
from tests.chaos.run import run


@pytest.mark.parametrize("seed", range(1, 7))
def test_the_laws_hold(seed: int) -> None:
    assert run(seed).violations == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1001, 1101))
def test_the_laws_hold_often(seed: int) -> None:
    assert run(seed).violations == ()


def test_the_same_seed_is_the_same_run() -> None:
    for seed in range(20):
        assert draw(seed) == draw(seed)
    assert len({draw(seed).stream for seed in range(20)}) == 20


@pytest.mark.parametrize("fault", CHANCES)
def test_only_what_is_asked_for_happens(fault: str) -> None:
    assert draw(1, only=(fault,)).faults == {fault}


SENT = b"\x1b[1mone\x1b[m two\r\n" * 20


def test_what_came_through_whole_is_seen() -> None:
    assert came_through(SENT, SENT + b"\x1b[?25h") == (len(SENT), "")


@pytest.mark.parametrize("place", [0, 1, 2, 3, 57, 200])
def test_a_gap_at_a_stop_is_skipped_wherever_it_is(place: int) -> None:
    ours = b"\x1b[?2004l\x1b[?25h\x1b[?2004h"
    assert came_through(SENT, SENT[:place] + ours + SENT[place:], stops=1) == (len(SENT), "")


@pytest.mark.parametrize("place", [0, 1, 57, 200])
def test_a_byte_that_is_lost_or_added_is_seen(place: int) -> None:
    lost, _ = came_through(SENT, SENT[:place] + SENT[place + 1 :])
    added, _ = came_through(SENT, SENT[:place] + b"?" + SENT[place:])
    assert lost < len(SENT)
    assert added == place


def test_text_in_a_gap_is_seen() -> None:
    _, wrong = came_through(SENT, SENT[:57] + b"\x1b[?25hnot ours" + SENT[57:], stops=1)
    assert "not ours" in wrong
