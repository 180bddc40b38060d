"""The states of recorded agents: every true change in time, none made up; also without signals or a screen."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from lifecycle_detectors import Catalog, Profile
from lifecycle_wrap.commands.replay import profile_for
from lifecycle_wrap.recordings.recording import Recording, open_recording
from lifecycle_wrap.recordings.scoring import Change, Comparison, compare, difference, score
from tests.support.stage import RECORDINGS

CASTS = sorted(RECORDINGS.glob("*/*.cast*"))
SHARE_WITHOUT_SIGNALS = 0.95
DISPUTED = {
    "programs/bash": "a shell's prompt between two commands is marked working",
    "programs/garbage": "what stands at the prompt after noise is marked otherwise than after a command",
    "programs/less": "a search of 30 ms is marked working, and what follows it",
    "programs/screen-inside": "a whole session is marked working, its prompts and its question too",
    "programs/tmux-inside": "a whole session is marked working, its prompts too",
}
"""Recordings whose markers a person would place otherwise. They run all the same: nothing may raise."""
CATALOG = Catalog()


@cache
def opened(path: Path) -> tuple[Recording, Profile]:
    recording = open_recording(path)
    return recording, profile_for(recording, CATALOG)


def replayed(path: Path, *, screen: bool = True, signals: bool = True) -> Comparison:
    return compare(*opened(path), screen=screen, signals=signals)


def false_blocked(comparison: Comparison) -> list[Change]:
    return [change for change in comparison.score.false if change.state == "blocked"]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.gz').removesuffix('.cast')}"


@pytest.mark.parametrize("path", CASTS, ids=name)
def test_a_recordings_states(path: Path) -> None:
    comparison = replayed(path)
    assert comparison.truth, "a fixture has state markers"
    assert comparison.score.perfect or name(path) in DISPUTED, difference(comparison)
    rules = {rule.id for rule in comparison.profile.rules}
    assert all(change.rule.partition("/")[2] in rules for change in comparison.derived)


def test_states_without_any_signal() -> None:
    """The screen alone is nearly as good, and calls nobody in vain."""
    transitions = hits = 0
    short: list[str] = []
    for path in CASTS:
        comparison = replayed(path, signals=False)
        transitions += comparison.score.transitions
        hits += comparison.score.hits
        if not comparison.score.perfect:
            short.append(difference(comparison, signals=False))
        assert not false_blocked(comparison) or name(path) in DISPUTED, short[-1]
    assert hits >= SHARE_WITHOUT_SIGNALS * transitions, "\n\n".join(short)


def test_states_without_a_screen() -> None:
    """Signals alone miss dialogs, but make none up."""
    for path in CASTS:
        comparison = replayed(path, screen=False)
        assert not false_blocked(comparison), difference(comparison, screen=False)


TRUTH = (
    Change(1.0, "idle"),
    Change(5.0, "working"),
    Change(9.0, "blocked"),
    Change(9.3, "working"),
    Change(20.0, "idle"),
)


def test_scoring_a_perfect_replay() -> None:
    result = score(TRUTH, 30.0, TRUTH)
    assert (result.transitions, result.hits, result.perfect) == (4, 4, True), "0.3 s of blocked are not owed"


@pytest.mark.parametrize(
    ("derived", "missed", "false"),
    [
        pytest.param([(1.4, "idle"), (6.4, "working"), (21.4, "idle")], [], [], id="late, within the limit"),
        pytest.param([(1.4, "idle"), (6.6, "working"), (21.4, "idle")], [5.0], [6.6], id="too late"),
        pytest.param([(1.4, "idle"), (4.8, "working"), (21.0, "idle")], [], [], id="early"),
        pytest.param([(1.4, "idle"), (4.6, "working"), (21.0, "idle")], [], [4.6], id="too early"),
        pytest.param([(1.4, "idle"), (5.2, "working")], [20.0], [], id="missing"),
        pytest.param(
            [(1.4, "idle"), (5.2, "working"), (12.0, "blocked"), (12.5, "working"), (20.5, "idle")],
            [],
            [12.0, 12.5],
            id="made up",
        ),
        pytest.param(
            [(0.2, "working"), (1.4, "idle"), (5.2, "working"), (20.5, "idle"), (29.97, "working")],
            [],
            [],
            id="before and at the end",
        ),
    ],
)
def test_scoring(derived: list[tuple[float, str]], missed: list[float], false: list[float]) -> None:
    result = score(TRUTH, 30.0, [Change(*change) for change in derived])
    assert [miss.change.at for miss in result.missed] == missed
    assert [change.at for change in result.false] == false
