"""`explain` names rule, evidence and what was beaten, in text and JSON; `--explain LOG` writes the same live."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from lifecycle_detectors import Catalog, Session, Size, StateChanged, make_screen
from lifecycle_wrap.commands import explain
from lifecycle_wrap.commands.explain import ExplainLog, as_json, as_text, reason_at, reasons
from lifecycle_wrap.commands.replay import new_session, profile_for
from lifecycle_wrap.recordings.recording import open_recording
from tests.support.commands import Commands
from tests.support.terminal import isolated_environment

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
ASKING: list[list[object]] = [
    [0.0, "o", "$ "],
    [2.0, "i", "apt remove sl\r"],
    [2.0, "o", "apt remove sl\r\n\x1b[31mDo you want to continue? [Y/n] \x1b[0m"],
    [8.0, "i", "y\r"],
    [8.0, "o", "y\r\nRemoving\r\n"],
    [12.0, "o", "$ "],
    [15.0, "o", ""],
]


@pytest.fixture
def cast(tmp_path: Path) -> Path:
    file = tmp_path / "demo.cast"
    lines = [json.dumps({"version": 2, "width": 60, "height": 10}), *map(json.dumps, ASKING)]
    file.write_text("\n".join(lines) + "\n")
    return file


def session_for(path: Path) -> Session:
    recording = open_recording(path)
    return new_session(recording, profile_for(recording, Catalog()))


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(isolated_environment(tmp_path / "home"), monkeypatch, capsys)


def test_each_state_with_its_rule_and_evidence(cast: Path) -> None:
    found = [json.loads(as_json(reason)) for reason in reasons(open_recording(cast), session_for(cast))]
    assert [(entry["state"], entry["rule"]) for entry in found] == [
        ("idle", "generic/prompt"),
        ("blocked", "generic/yes-or-no"),
        ("working", "generic/line-entered"),
        ("idle", "generic/prompt"),
    ]
    blocked = found[1]
    assert blocked["source"] == "screen"
    assert blocked["speaks"] == "yes-or-no"
    [evidence] = [finding for finding in blocked["evidence"] if finding["role"] == "all"]
    assert evidence["holds"] is True
    assert evidence["text"] == "Do you want to continue? [Y/n]"
    assert evidence["condition"].startswith('region = "asked", line = ')
    assert 0.1 < evidence["age"] < 1.0
    assert {"rule": "line-entered", "state": "working"} in blocked["beaten"]


def test_the_state_at_a_time(cast: Path) -> None:
    reason = reason_at(open_recording(cast), session_for(cast), 5.0)
    assert (reason.state, reason.rule.id if reason.rule else "") == ("blocked", "yes-or-no")
    before = reason_at(open_recording(cast), session_for(cast), 0.0)
    assert (before.state, before.rule) == ("unknown", None)
    assert "no rule of generic has spoken yet" in as_text(before)


def test_text_is_safe_and_bounded(cast: Path) -> None:
    for reason in reasons(open_recording(cast), session_for(cast)):
        text = as_text(reason)
        assert "\x1b" not in text
        assert all(character.isprintable() for character in text.replace("\n", ""))


@pytest.mark.parametrize("agent", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
def test_a_rule_for_each_state_in_a_recording_of_each_agent(agent: str) -> None:
    path = min((RECORDINGS / agent).glob("*.cast*"), key=lambda file: file.stat().st_size)
    for reason in reasons(open_recording(path), session_for(path)):
        assert reason.rule is not None
        assert reason.rule.state is not None
        entry = json.loads(as_json(reason))
        assert entry["evidence"]
        assert all(len(finding["text"]) <= 200 for finding in entry["evidence"])


def test_the_command(cast: Path, command: Commands) -> None:
    run = command("explain", str(cast))
    assert (run.returncode, run.stderr) == (0, "")
    assert "blocked   generic/yes-or-no  (screen, priority 800)" in run.stdout
    assert "“Do you want to continue? [Y/n]”" in run.stdout
    assert "beat line-entered (working)" in run.stdout
    one = command("explain", "--at", "5", "--json", str(cast))
    assert json.loads(one.stdout)["state"] == "blocked"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.cast"], "nothing.cast"),
        (["--profile", "nothing", "demo.cast"], "known: "),
        (["--at", "x", "demo.cast"], "--at"),
    ],
)
def test_errors_are_one_line_and_a_status(cast: Path, command: Commands, arguments: list[str], told: str) -> None:
    run = command("explain", *arguments)
    assert run.returncode != 0
    assert run.stdout == ""
    assert told in run.stderr
    assert len(run.stderr.splitlines()) == 1


# --- live


def changing(log: ExplainLog, times: int = 1) -> None:
    session = Session(Catalog().get("generic"), Size(10, 60), 100.0, screen=make_screen)
    for turn in range(times):
        for text in ("\x1b]7501;state=working:app=x\x07", "\x1b]7501;state=done:app=x\x07"):
            now = 100.0 + turn * 10
            events = session.receive_output(text.encode(), now)
            while (due := session.next_deadline) is not None:
                events += session.tick(due)
            for event in events:
                if isinstance(event, StateChanged):
                    log.changed(session, event)


def test_the_log_has_a_block_for_each_change(tmp_path: Path) -> None:
    path = tmp_path / "why.log"
    log = ExplainLog(str(path), 100.0)
    changing(log)
    log.close()
    assert log.problem == ""
    text = path.read_text()
    assert "0.200  working   generic/status-working" in text
    assert "idle      generic/status-idle" in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = ExplainLog(str(path), 100.0)
    changing(again)
    again.close()
    assert path.read_text() == text * 2, "it is added to"


def test_a_log_that_cannot_be_opened_is_told_and_does_nothing(tmp_path: Path) -> None:
    log = ExplainLog(str(tmp_path / "no" / "folder.log"), 0.0)
    assert "cannot be written" in log.problem
    assert ";" in log.problem
    assert "\n" not in log.problem
    changing(log)
    log.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_once_and_ends_the_log() -> None:
    log = ExplainLog("/dev/full", 0.0)
    assert log.problem == ""
    changing(log, 2)
    assert "cannot be written" in log.problem


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "LOG_LIMIT", 1000)
    path = tmp_path / "why.log"
    log = ExplainLog(str(path), 0.0)
    changing(log, 20)
    assert 0 < path.stat().st_size <= 1000
