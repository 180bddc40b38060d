"""Recordings as pictures: spans, the drawing in the terminal and the SVG."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from lifecycle_wrap.recordings.picture import CELL_WIDTH, MARGIN, PALETTE
from lifecycle_wrap.recordings.timeline import Span, axis, cells, ticks
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def cast(tmp_path: Path) -> Path:
    """A recording of ten seconds: idle, working from 2 s on, blocked from 6 s on, marked so."""
    file = tmp_path / "demo" / "three-states.cast"
    file.parent.mkdir()
    events: list[list[object]] = []
    for at, state in ((0.0, "idle"), (2.0, "working"), (6.0, "blocked")):
        events.append([at, "m", f"state:{state}"])
        events.append([at, "o", f"\x1b]7501;state={state}\x1b\\\x1b[1;31m<{state}> & more\x1b[0m\r\n"])
    events.append([10.0, "o", "end"])
    lines = [json.dumps({"version": 2, "width": 40, "height": 5}), *map(json.dumps, events)]
    file.write_text("\n".join(lines) + "\n")
    return file


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = isolated_environment(folder, COLUMNS="60")
    return subprocess.run([*WRAPPER, "replay", *arguments], env=environ, capture_output=True, text=True, timeout=60)


def test_a_cell_shows_the_most_urgent_of_its_states() -> None:
    spans = [Span(0, 5, "idle"), Span(5, 5.1, "blocked"), Span(5.1, 10, "working")]
    assert cells(spans, 10, 5) == ["idle", "idle", "blocked", "working", "working"]


@pytest.mark.parametrize("end", [0.0, 0.3, 1.0, 9.99, 24.0, 60.0, 1234.5, 86400.0])
def test_the_axis_names_round_seconds_within_its_width(end: float) -> None:
    assert len(axis(end, 60)) <= 60
    assert 1 <= len(ticks(end)) <= 8
    assert ticks(end)[-1] <= end
    assert ticks(24.0) == [0, 5, 10, 15, 20]


def test_the_timeline_shows_derived_and_true_states_and_their_sources(cast: Path, tmp_path: Path) -> None:
    output = run(tmp_path, "--timeline", str(cast)).stdout
    rows = {line.split()[0]: line.split()[1] for line in output.splitlines() if line.startswith(("derived", "true"))}
    assert [glyph for glyph in "·░▓█" if glyph in rows["derived"]] == list("·░▓█")
    assert rows["true"].index("▓") == pytest.approx(len(rows["true"]) * 0.2, abs=1)
    assert "status (generic/status-blocked)" in output
    assert max(map(len, output.splitlines())) <= 62


def test_the_svg_has_a_bar_for_each_span_and_the_screen_with_its_colours(cast: Path, tmp_path: Path) -> None:
    picture = tmp_path / "out.svg"
    assert run(tmp_path, "--svg", str(picture), "--at", "7", str(cast)).returncode == 0
    root = ElementTree.fromstring(picture.read_text(encoding="utf-8"))
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert [title.split()[2] for title in titles if "marker" not in title and "unknown" not in title] == [
        "idle",
        "working",
        "blocked",
    ]
    shown = [text.text for text in root.iter(f"{SVG}text") if text.get("fill") == "#ff7b72"]
    assert shown == ["<idle> & more", "<working> & more", "<blocked> & more"]


def test_each_piece_of_the_screen_has_its_place(tmp_path: Path) -> None:
    """So that a renderer with another font keeps boxes closed and columns in line."""
    file = tmp_path / "box.cast"
    row = "│ 漢字é̂   ok   │██"
    lines = [{"version": 2, "width": 40, "height": 3}, [0.0, "o", f"\x1b[38;5;9m{row}"], [1.0, "o", ""]]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    picture = tmp_path / "out.svg"
    assert run(tmp_path, "--svg", str(picture), "--at", "1", str(file)).returncode == 0
    root = ElementTree.fromstring(picture.read_text(encoding="utf-8"))
    cells = [
        ((float(text.get("x", "")) - MARGIN) / CELL_WIDTH, text.text, float(text.get("textLength", "")) / CELL_WIDTH)
        for text in root.iter(f"{SVG}text")
        if text.get("textLength")
    ]
    assert cells == [(2, "漢", 2), (4, "字", 2), (6, "é̂", 1), (10, "ok   ", 5)]
    lines_drawn = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("stroke") == PALETTE["brightred"]]
    assert [path.partition(" ")[0] for path in lines_drawn[:2]] == ["M20", "M140"]
    (block,) = (path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("shape-rendering"))
    assert block == "M144 16h16v17h-16z"


def test_the_picture_of_the_readme_is_what_its_command_draws(tmp_path: Path) -> None:
    """When this fails: the command is in the README's table for developers."""
    root = Path(__file__).parents[2]
    drawn = tmp_path / "claude.svg"
    done = run(
        tmp_path,
        "--svg",
        str(drawn),
        "--at",
        "10",
        str(root / "fixtures" / "recordings" / "claude" / "approve-bash.cast"),
    )
    assert done.returncode == 0
    shown, kept = (
        [text.text for text in ElementTree.parse(file).getroot().iter(f"{SVG}text")]
        for file in (drawn, root / "fixtures" / "pictures" / "claude.svg")
    )
    assert shown == kept


SLOW_REPLAY = """
import itertools, sys
from pathlib import Path
from lifecycle_wrap.recordings.progress import with_progress
from lifecycle_wrap.recordings.recording import open_recording
recording = open_recording(Path(sys.argv[1]))
print(len(list(with_progress(recording, itertools.count().__next__))) == len(list(recording)))
"""
"""Replays by a clock on which each event takes a second."""


def test_a_replay_that_takes_long_shows_how_far_it_is_on_a_terminal_only(cast: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", SLOW_REPLAY, str(cast)]
    environ = isolated_environment(tmp_path)
    shown, status = run_to_the_end(argv, environ)
    assert status == 0
    assert b"replaying" in shown
    assert b"True" in shown
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_picture_that_cannot_be_written_is_told_in_one_line(cast: Path, tmp_path: Path) -> None:
    failed = run(tmp_path, "--svg", str(tmp_path / "no" / "out.svg"), str(cast))
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert "out.svg: cannot be written" in failed.stderr
