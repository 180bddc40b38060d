"""175 byte strings and the screens that they make: what libghostty-vt and, but for where it is not named, tmux show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Engine, make_screen
from tests.detectors.chunking import same_over_every_cut

PROBES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "fixtures" / "vt_probes.json").read_text())


@pytest.mark.parametrize("engine", ["pyte", "ghostty"])
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["name"])
def test_shows_what_terminals_show(probe: dict[str, Any], engine: Engine) -> None:
    data = probe["bytes"].encode("latin-1").decode("unicode_escape").encode("latin-1")

    def show(pieces: list[bytes]) -> tuple[Any, ...]:
        screen = make_screen(Size(probe["rows"], probe["cols"]), engine)
        for piece in pieces:
            screen.feed(piece)
        return list(screen.rows()), screen.lines(), screen.cursor

    rows, lines, _ = same_over_every_cut(data, show)
    assert rows == probe["screen"]
    assert [line.first_row for line in lines] == [0, *(line.last_row + 1 for line in lines[:-1])]


def test_there_are_all_of_them() -> None:
    assert len(PROBES) == 175
