"""The bridge scripts, as command sinks: the one for tmux in a real tmux, the other with a script for zellij."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import Call, Setup
from lifecycle_wrap.hosts.command import CommandSink
from tests.support.events import event, release
from tests.support.tmux_server import Tmux

BRIDGES = Path(__file__).parents[2] / "fixtures" / "bridges"

pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq here")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    server.kill()


def bridge(name: str) -> CommandSink:
    return CommandSink(Setup({}), Command("bridge", (str(BRIDGES / name),), 20.0))


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_tmux(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = tmux.pane(["cat"])
    monkeypatch.setenv("TMUX", f"{tmux.folder}/tmux,0,0")
    monkeypatch.setenv("TMUX_PANE", pane)
    sink = bridge("tmux.sh")
    shown = "#{@agent_state}|#{@agent_message}"
    first = event("working", session_id='";$(touch x)`')
    early, late = event("idle"), event("blocked")
    for told, expected in (
        (first, "working|Working"),
        (late, "blocked|Waiting for approval"),
        (early, "blocked|Waiting for approval"),
    ):
        sink.publish(told, Call(20))
        assert tmux("display-message", "-p", "-t", pane, shown) == expected
    sink.release(release(), Call(20))
    assert tmux.options(pane) == ""


def test_tmux_outside_of_tmux_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX_PANE", raising=False)
    bridge("tmux.sh").publish(event("working"), Call(20))


def test_zellij(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = tmp_path / "calls"
    script = tmp_path / "zellij"
    script.write_text(f'#!/bin/sh\ncase "$*" in *--help) echo "  --pane-id";; *) echo "$*" >> {calls};; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("ZELLIJ_PANE_ID", "3")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    sink = bridge("zellij.sh")
    first, early, late = event("working"), event("idle"), event("blocked")
    for told in (first, late, early):
        sink.publish(told, Call(20))
    sink.release(release(), Call(20))
    assert calls.read_text().splitlines() == [
        "action rename-pane --pane-id terminal_3 agent: working",
        "action rename-pane --pane-id terminal_3 agent: blocked",
        "action undo-rename-pane --pane-id terminal_3",
    ]
    assert not list(tmp_path.glob("agent-sequence*"))
