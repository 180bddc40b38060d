"""Half an hour of an agent's life in a few seconds; `python -m tests.soak` lives through a working day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.__main__ import GROWTH_LIMIT
from tests.soak.body import live
from tests.soak.life import recordings
from tests.soak.mind import drifts


@pytest.mark.slow
def test_the_real_program_keeps_its_size(tmp_path: Path) -> None:
    body = live("claude", 1.5 * 3600, 200, tmp_path, interval=0.2)
    assert body.status == 0
    assert body.output > 1 << 20
    assert body.growth() < 2 * GROWTH_LIMIT
    for column in ("descriptors", "threads"):
        first, last, _ = body.counts(column)
        assert first == last


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_state_does_not_drift(agent: str) -> None:
    count, found = drifts(recordings(agent), 3600)
    assert count > 20
    assert found == []
