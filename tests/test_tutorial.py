"""The README's tutorial, from an agent that no profile knows to a profile that passes: its own commands and profile."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect

from lifecycle_wrap.recordings.recording import MARKER, OUTPUT, RecordedEvent, open_recording
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import DEADLINE

ROOT = Path(__file__).parents[1]
TUTORIAL = (
    (ROOT / "README.md").read_text(encoding="utf-8").partition("## An agent we do not know")[2].partition("\n## ")[0]
)


def commands() -> list[str]:
    """Return the commands of the tutorial in their order."""
    return re.findall(r"`((?:mkdir mine; )?lifecycle-wrap [^`]+)`", TUTORIAL)


def play(command: str, folder: Path, environ: dict[str, str]) -> None:
    """Be the user of step 1: one prompt, one permission, one answer."""
    terminal = pexpect.spawn("sh", ["-c", command], cwd=folder, env=environ, timeout=DEADLINE)  # type: ignore[arg-type]
    cast = folder / "mine" / "turn.cast"
    for awaited, typed in (("my-agent 1.0", "hello\r"), ("1. Yes", "1"), ("All done", "bye\r")):
        terminal.expect_exact(awaited)
        terminal.expect(pexpect.TIMEOUT, timeout=1.6)  # the user reads, for longer than a state must stand
        terminal.send(typed)
    terminal.expect(pexpect.EOF)
    assert cast.exists()


def correct(cast: Path) -> None:
    """Be the user of step 2: put the markers where the states really changed."""
    header = cast.read_text(encoding="utf-8").splitlines()[0]
    state, lines = "", [header]
    for event in open_recording(cast):
        if event.kind == MARKER and event.text.startswith("state:"):
            continue
        now = truth(event, state)
        if now != state:
            lines.append(json.dumps([event.at, "m", f"state:{now}"]))
            state = now
        lines.append(json.dumps(event))
    cast.write_text("\n".join(lines) + "\n", encoding="utf-8")


def truth(event: RecordedEvent, before: str) -> str:
    if event.kind != OUTPUT:
        return before
    for state, sign in (("working", "Thinking"), ("blocked", "1. Yes"), ("idle", "my-agent 1.0"), ("idle", "All done")):
        if sign in event.text:
            return state
    return before


def test_the_tutorial(tmp_path: Path) -> None:
    environ = isolated_environment(tmp_path)
    bin = tmp_path / "bin"
    bin.mkdir()
    agent = [sys.executable, str(ROOT / "tests" / "support" / "unknown_agent.py")]
    for name, argv in (("lifecycle-wrap", WRAPPER), ("my-agent", agent)):
        (bin / name).write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
        (bin / name).chmod(0o755)
    environ["PATH"] = f"{bin}:{environ['PATH']}"

    def run(command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), command + done.stdout + done.stderr
        return done.stdout

    record, timeline, explain, check, score = commands()
    play(record, tmp_path, environ)
    correct(tmp_path / "mine" / "turn.cast")
    assert "profile generic" in run(timeline)
    assert "generic/" in run(explain)

    profile = re.findall(r"^```toml\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)[0]
    place = tmp_path / ".config" / "lifecycle-wrap" / "profiles" / "my-agent.toml"
    place.parent.mkdir(parents=True)
    place.write_text(profile, encoding="utf-8")
    assert "0 errors, 0 warnings" in run(check)
    assert "5 of 5 changes in time, 0 false" in run(score)
    assert "profile my-agent" in run(timeline)
