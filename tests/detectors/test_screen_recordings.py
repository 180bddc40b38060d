"""The pyte model against libghostty-vt over real recordings: at every marker and at the end, the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.detectors.compare_screens import differences

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
PATHS = sorted(path for path in RECORDINGS.rglob("*.cast*") if path.is_file())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(RECORDINGS)))
def test_shows_the_same_as_libghostty(path: Path) -> None:
    assert list(differences(path)) == []


def test_there_are_recordings_with_resizes_and_of_programs() -> None:
    names = {f"{path.parent.name}/{path.name.partition('.')[0]}" for path in PATHS}
    assert names >= {
        f"programs/{name}" for name in ("vim", "bash", "tmux-inside", "textual-demo", "unicode", "garbage")
    }
