"""The pytest plugin for authors of profiles, run as they run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TURN = [
    [0.1, "o", "\x1b]0;✓ hermes\x07❯ "],
    [0.2, "m", "state:idle"],
    [5.0, "m", "state:working"],
    [5.0, "o", "\x1b]0;⏳ hermes\x07"],
    [9.0, "m", "state:idle"],
    [9.0, "o", "\x1b]0;✓ hermes\x07"],
    [14.0, "m", "note:exit 0"],
]


def write_cast(path: Path, events: list[list[object]]) -> None:
    header = {"version": 2, "width": 80, "height": 24, "command": "hermes"}
    path.write_text("\n".join(json.dumps(line) for line in [header, *events]) + "\n")


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    return subprocess.run(
        [*command, "--lifecycle-recordings", str(folder), *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_recording_is_a_test(tmp_path: Path) -> None:
    write_cast(tmp_path / "right.cast", TURN)
    (tmp_path / "deeper").mkdir()
    write_cast(tmp_path / "deeper" / "wrong.cast", [*TURN[:2], [5.0, "m", "state:blocked"], *TURN[3:]])
    run = run_pytest(tmp_path)
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "true:     0.20 idle  5.00 blocked  9.00 idle" in run.stdout
    assert "missed:   blocked at 5.00: working at 5.75" in run.stdout
    assert "title-working (title) spoke" in run.stdout
    assert "Traceback" not in run.stdout


def test_without_the_evidence_only_a_false_blocked_fails(tmp_path: Path) -> None:
    write_cast(tmp_path / "silent.cast", TURN)
    assert run_pytest(tmp_path, "--lifecycle-without", "signals").returncode == 0


@pytest.mark.parametrize(
    ("folder", "options", "told"),
    [
        ("nowhere", [], "no such folder"),
        (".", ["--lifecycle-profile", "nobody"], "no profile 'nobody'; known: aider,"),
    ],
)
def test_a_wrong_option_is_told_in_one_line(tmp_path: Path, folder: str, options: list[str], told: str) -> None:
    run = run_pytest(tmp_path, "--lifecycle-recordings", str(tmp_path / folder), *options)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert told in run.stderr


def test_a_file_that_is_no_recording_fails_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "broken.cast").write_text("no JSON\n")
    run = run_pytest(tmp_path)
    assert run.returncode == 1
    assert "broken.cast:1: is no asciicast" in run.stdout
