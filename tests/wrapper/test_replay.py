"""Replays: the same states as live, on any Python's clock, with the profile that fits, and errors in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from lifecycle_detectors import Catalog, SessionEnded, State, StateChanged
from lifecycle_wrap.commands.replay import as_json, as_row, new_session, profile_for, state_changes, walk
from lifecycle_wrap.recordings.recording import open_recording
from tests.support.commands import Commands
from tests.support.terminal import isolated_environment

CATALOG = Catalog()
EVENTS: list[list[object]] = [
    [0.0, "o", "$ "],
    [2.0, "i", "make\r"],
    [2.0, "o", "make\r\n"],
    [2.1, "o", "\x1b]9;4;1;20\x1b\\building\r\n"],
    [5.0, "o", "\x1b]7501;state=blocked:kind=question:app=x\x1b\\"],
    [6.0, "r", "40x10"],
    [7.0, "o", "\x1b]7501;state=done:app=x\x1b\\"],
    [9.0, "m", "note:exit 0 signal None"],
]
HEADER = {"version": 2, "width": 60, "height": 10}


def write(path: Path, events: list[list[object]], **header: object) -> Path:
    lines = [json.dumps({**HEADER, **header}), *map(json.dumps, events)]
    data = ("\n".join(lines) + "\n").encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(isolated_environment(tmp_path / "home"), monkeypatch, capsys)


def states(path: Path) -> list[tuple[float, State]]:
    recording = open_recording(path)
    session = new_session(recording, profile_for(recording, CATALOG))
    return [(round(change.at, 2), change.state) for change in state_changes(recording, session)]


def test_each_deadline_is_met_at_its_own_time(tmp_path: Path) -> None:
    found = states(write(tmp_path / "demo.cast", EVENTS))
    assert found == [(0.2, State.IDLE), (2.2, State.WORKING), (5.2, State.BLOCKED), (8.05, State.IDLE)]


@pytest.mark.parametrize("name", ["demo.cast", "demo.cast.gz"])
def test_versions_and_compression_tell_the_same(tmp_path: Path, name: str) -> None:
    expected = states(write(tmp_path / "plain.cast", EVENTS))
    assert states(write(tmp_path / name, EVENTS)) == expected
    intervals, before = [], 0.0
    for at, kind, text in EVENTS:
        assert isinstance(at, float)
        intervals.append([at - before, kind, text])
        before = at
    version_3 = write(tmp_path / f"three-{name}", intervals, version=3, term={"cols": 60, "rows": 10})
    assert states(version_3) == expected


def test_times_that_run_backwards_do_no_harm(tmp_path: Path) -> None:
    assert states(write(tmp_path / "demo.cast", [[3.0, "o", "$ "], [1.0, "o", ""], [9.0, "o", ""]])) == [
        (3.2, State.IDLE)
    ]


def test_the_end_is_told_with_the_exit_status(tmp_path: Path) -> None:
    for kind, text, code in (
        ("m", "note:exit 3 signal None", 3),
        ("m", "note:exit None signal 9", None),
        ("x", "2", 2),
    ):
        recording = open_recording(write(tmp_path / "demo.cast", [[0.0, "o", "x"], [1.0, kind, text]]))
        events = list(walk(recording, new_session(recording, CATALOG.get("generic"))))
        assert isinstance(events[-1], SessionEnded)
        assert events[-1].status.code == code


@pytest.mark.parametrize(
    ("folder", "header", "profile"),
    [
        ("x", {"command": "/usr/bin/claude --resume"}, "claude"),
        ("claude", {"command": "npx @openai/codex"}, "codex"),
        ("x", {"title": "codex demo"}, "codex"),
        ("claude-2.1.197", {}, "claude"),
        ("open-interpreter", {"title": "turn"}, "interpreter"),
        ("pi-1.6", {"title": "startup-idle"}, "pi"),
        ("programs", {"title": "bash"}, "shell"),
        ("programs", {"title": "less"}, "generic"),
        ("x", {}, "generic"),
        ("x", {"command": "", "title": ":"}, "generic"),
    ],
)
def test_the_profile_that_fits(tmp_path: Path, folder: str, header: dict[str, str], profile: str) -> None:
    recording = open_recording(write(tmp_path / folder / "any.cast", EVENTS, **header))
    assert profile_for(recording, CATALOG).name == profile


def test_printed_forms(tmp_path: Path) -> None:
    recording = open_recording(write(tmp_path / "demo.cast", EVENTS))
    changes = list(state_changes(recording, new_session(recording, CATALOG.get("generic"))))
    assert json.loads(as_json(changes[0])) == {
        "t": 0.2, "state": "idle", "rule": "generic/prompt", "source": "screen",
    }  # fmt: skip
    assert as_row(changes[2]).split() == [
        "5.200", "blocked", "generic/status-question", "status", "Waiting", "for", "user", "input",
    ]  # fmt: skip


def test_the_command(tmp_path: Path, command: Commands) -> None:
    file = write(tmp_path / "demo.cast", EVENTS)
    run = command("replay", "--json", str(file))
    assert (run.returncode, run.stderr) == (0, "")
    assert [json.loads(line)["state"] for line in run.stdout.splitlines()] == ["idle", "working", "blocked", "idle"]
    signals_only = command("replay", "--json", "--no-screen", str(file))
    assert [json.loads(line)["state"] for line in signals_only.stdout.splitlines()] == ["working", "blocked", "idle"]
    screen_only = command("replay", "--json", "--no-signals", str(file))
    assert "blocked" not in screen_only.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.cast"], "nothing.cast"),
        (["--profile", "nothing", "demo.cast"], "known: aider"),
        (["broken.cast"], "broken.cast:2: "),
    ],
)
def test_errors_are_one_line_and_a_status(tmp_path: Path, command: Commands, arguments: list[str], told: str) -> None:
    write(tmp_path / "demo.cast", EVENTS)
    (tmp_path / "broken.cast").write_text(json.dumps(HEADER) + "\n[1, \n")
    run = command("replay", *arguments)
    assert run.returncode != 0
    assert run.stdout == ""
    assert told in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_every_state_names_its_rule(tmp_path: Path) -> None:
    recording = open_recording(write(tmp_path / "demo.cast", EVENTS))
    profile = CATALOG.get("generic")
    known = {f"generic/{rule.id}" for rule in profile.rules}
    changes = [event for event in walk(recording, new_session(recording, profile)) if isinstance(event, StateChanged)]
    assert changes
    assert {change.rule for change in changes} <= known
