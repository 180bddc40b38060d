"""Who quotes a dialog, a spinner or an ending shows none: in an answer, a tool's output, a draft and a pager."""

from __future__ import annotations

import pytest
from lifecycle_detectors import State

from tests.support.cues import ALL, LINES, WORKING
from tests.support.stage import Stage, idle_stage, stages

PROFILES = list(stages())
LONG_ENOUGH = 3.5
"""Seconds: longer than any settle time and any rest that a rule waits for."""


@pytest.fixture(params=[True, False], ids=["signals", "no-signals"])
def signals(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=PROFILES)
def stage(request: pytest.FixtureRequest, signals: bool) -> Stage:
    at_rest = idle_stage(request.param, signals=signals)
    if not signals and at_rest.state is State.UNKNOWN:
        pytest.skip("told by signals alone")
    assert at_rest.state is State.IDLE
    return at_rest


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


def test_an_answer_that_quotes_cues(stage: Stage) -> None:
    for page in pages(stage.size.rows):
        stage.write_above([f"  {line}" for line in page])
        still_idle(stage, page[-4:])


def test_an_answer_at_the_margin_that_quotes_cues(stage: Stage) -> None:
    for page in pages(stage.size.rows):
        stage.write_above(page)
        still_idle(stage, page[-4:])


@pytest.mark.parametrize("side", ["│ ", "┃  ", "  ⎿  ", "● ", "    "])
def test_a_tools_output_that_quotes_cues(stage: Stage, side: str) -> None:
    for page in pages(stage.size.rows)[::3]:
        stage.write_above([f"{side}{line}" for line in page])
        still_idle(stage, page[-4:])


def test_spinner_rows_that_are_printed_one_after_the_other(stage: Stage) -> None:
    """A list of a spinner's frames that scrolls by is no spinner."""
    frames = [f"  {frame} {cue[0][2:]}" for cue in WORKING for frame in "⠋⠙⠹⠸⠼⠴"]
    for last in range(1, len(frames)):
        stage.write_above(frames[max(0, last - stage.size.rows) : last])
        stage.wait(0.1)
    still_idle(stage, frames[-1])


def test_a_draft_that_quotes_cues(stage: Stage) -> None:
    for line in LINES:
        stage.type(line.encode())
        stage.write_draft(line)
        still_idle(stage, line)
        stage.type(b"\x15")
        stage.write_draft("")
        stage.wait(0.5)


@pytest.mark.parametrize("prompt", [":", "(END)", "--More--(40%)", " lines 1-29/400 7%"])
def test_a_pager_that_shows_cues(stage: Stage, prompt: str) -> None:
    rows = stage.size.rows
    stage.draw(b"\x1b[?1049l\x1b[?1049h")
    for page in pages(rows)[::4]:
        shown = [*[""] * rows, *page][-(rows - 1) :]
        stage.draw(("\x1b[2J\x1b[H" + "\r\n".join(shown) + f"\r\n\x1b[7m{prompt}\x1b[27m").encode())
        still_idle(stage, page[-4:])
