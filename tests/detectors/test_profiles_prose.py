"""Who quotes a dialog, a spinner or an ending shows none: in an answer, a tool's output, a draft and a pager."""

from __future__ import annotations

import pytest

from lifecycle_detectors import State
from tests.support.cues import ALL, LINES, WORKING
from tests.support.stage import Stage, idle_stage, stages, work_stage

PROFILES = list(stages())
LONG_ENOUGH = 3.5
"""Seconds: longer than any settle time and any rest that a rule waits for."""


SIDES = ("  ", "", "│ ", "┃  ", "  ⎿  ", "● ", "    ")
"""What stands before a row of an answer or of a tool's output."""
PAGERS = (":", "(END)", "--More--(40%)", " lines 1-29/400 7%")


def at_rest(profile: str, *, signals: bool) -> Stage:
    stage = idle_stage(profile, signals=signals)
    if not signals and stage.state is State.UNKNOWN:
        pytest.skip("told by signals alone")
    assert stage.state is State.IDLE
    return stage


def still_idle(stage: Stage, what: object) -> None:
    """Let time pass; nothing must have changed."""
    stage.wait(LONG_ENOUGH)
    told = [(change.state, change.rule) for change in stage.changes]
    assert (stage.state, told) == (State.IDLE, []), f"{told} at {what}"


def pages(rows: int) -> list[list[str]]:
    """All cues over and over, each of them once the last on its page."""
    found = []
    for last in range(len(ALL)):
        page: list[str] = []
        for cue in reversed(ALL[: last + 1]):
            page = [*cue, *page]
            if len(page) >= rows:
                break
        found.append(page)
    return found


@pytest.mark.parametrize("signals", [True, False], ids=["signals", "no-signals"])
@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_or_a_tools_output_that_quotes_cues(profile: str, signals: bool) -> None:
    stage = at_rest(profile, signals=signals)
    for number, side in enumerate(SIDES):
        stage.write_above([])
        stage.wait(5.0)
        for page in pages(stage.size.rows)[number % 3 :: 3]:
            stage.write_above([side + line for line in page])
            still_idle(stage, [side, page[-4:]])


@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_in_the_middle_of_a_turn_that_quotes_cues(profile: str) -> None:
    for cue in range(0, len(ALL), 9):
        stage = work_stage(profile)
        if stage is None or stage.state is not State.WORKING:
            pytest.skip("no recording of a long turn")
        stage.write_above([f"  {line}" for line in pages(stage.size.rows)[cue]])
        stage.wait(0.8)
        assert (stage.state, stage.changes) == (State.WORKING, []), ALL[cue]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_list_of_a_spinners_frames_that_scrolls_by(profile: str) -> None:
    stage = at_rest(profile, signals=True)
    frames = [f"  {frame} {cue[0][2:]}" for cue in WORKING for frame in "⠋⠙⠹⠸"]
    for last in range(1, len(frames)):
        stage.write_above(frames[max(0, last - stage.size.rows) : last])
        stage.wait(0.1)
    still_idle(stage, frames[-1])


@pytest.mark.parametrize("profile", PROFILES)
def test_a_draft_that_quotes_cues(profile: str) -> None:
    stage = at_rest(profile, signals=True)
    for line in LINES:
        stage.type(line.encode())
        stage.write_draft(line)
        still_idle(stage, line)
        stage.type(b"\x15")
        stage.write_draft("")
        stage.wait(0.5)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_pager_that_shows_cues(profile: str) -> None:
    stage = at_rest(profile, signals=True)
    rows = stage.size.rows
    stage.draw(b"\x1b[?1049l\x1b[?1049h")
    for number, page in enumerate(pages(rows)):
        prompt = PAGERS[number % len(PAGERS)]
        shown = [*[""] * rows, *page][-(rows - 1) :]
        stage.draw(("\x1b[2J\x1b[H" + "\r\n".join(shown) + f"\r\n\x1b[7m{prompt}\x1b[27m").encode())
        still_idle(stage, [prompt, page[-4:]])
