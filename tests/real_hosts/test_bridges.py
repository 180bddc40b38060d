"""The bridge scripts, as command sinks: in a real tmux, and with stand-ins for zellij and workmux.

The stand-in for workmux takes what version 0.1.278 takes, and refuses all else.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import Call, Setup
from lifecycle_wrap.hosts.command import CommandSink
from tests.support.events import event, release
from tests.support.orders import Orders
from tests.support.terminal import WRAPPER
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

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


@pytest.mark.parametrize("name", ["tmux.sh", "workmux.sh"])
def test_outside_of_tmux_nothing_is_done(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX_PANE", raising=False)
    told = stand_in(tmp_path, monkeypatch)
    bridge(name).publish(event("working"), Call(20))
    assert not told.exists()


WORKMUX = r"""#!/bin/sh
[ $# = 2 ] && [ "$1" = set-window-status ] || exit 2
case $2 in working | waiting | done | clear) ;; *) exit 2 ;; esac
[ -n "$TMUX_PANE" ] || exit 3
[ -z "$(cat)" ] || exit 4 # it takes its stdin for a hook's report
echo "$2" >> "$(dirname "$0")/told"
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a workmux; returns the file in which it notes what it was told."""
    script = folder / "workmux"
    script.write_text(WORKMUX)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder / "told"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_workmux(tmux: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = stand_in(tmp_path, monkeypatch)
    config = tmp_path / "config.toml"
    config.write_text(f'[[lifecycle.commands]]\nname = "workmux"\ncommand = ["{BRIDGES}/workmux.sh"]\n')
    with Orders(tmp_path) as orders:
        pane = tmux.pane([*WRAPPER, "--config", str(config), "--", *orders.argv], PATH=os.environ["PATH"])
        orders.give("state idle")
        wait_until(lambda: tmux.shown(pane).startswith("idle|"), "the first state")
        for number, (order, word) in enumerate(
            (
                ("working", "working"),
                ("blocked:kind=permission", "waiting"),
                ("working", "working"),
                ("idle", "done"),
                ("working", "working"),
            ),
            1,
        ):
            orders.give(f"state {order}")
            wait_until(
                lambda number=number, word=word: (words(told)[-1:], len(words(told))) == ([word], number),
                lambda: f"{words(told)}: {tmux.screen(pane)}",
            )
        orders.give("exit 0")
        wait_until(lambda: words(told)[5:] == ["clear"], lambda: f"the end; {words(told)}")
    wait_until(lambda: tmux.options(pane) == "", lambda: tmux.options(pane))


def words(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_workmux_is_told_nothing_late(tmux: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = stand_in(tmp_path, monkeypatch)
    monkeypatch.setenv("TMUX", f"{tmux.folder}/tmux,0,0")
    monkeypatch.setenv("TMUX_PANE", tmux.pane(["cat"]))
    sink = bridge("workmux.sh")
    early, late = event("idle"), event("blocked")
    sink.publish(late, Call(20))
    sink.publish(early, Call(20))
    assert words(told) == ["waiting"]


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
