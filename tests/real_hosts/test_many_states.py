"""Ten thousand states at once: each host comes to show the last one, and few of those before it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import Host, Setup
from lifecycle_wrap.hosts.command import CommandSink
from lifecycle_wrap.hosts.herdr import Herdr
from lifecycle_wrap.hosts.records import list_sessions
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.hosts.tmux import Tmux as TmuxHost
from lifecycle_wrap.projection import Kind, LifecycleEvent
from tests.support.events import event, release, started
from tests.support.fake_herdr import FakeHerdr, Pane
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

STATES = 10_000
PANE = "w1:p1"
MOST_GROWTH = 256 * 1024


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_each_host_sees_the_last_one(tmp_path: Path) -> None:
    notes, script = tmp_path / "notes", tmp_path / "sink"
    script.write_text(f"#!/bin/sh\ncat >> {notes}\n")
    script.chmod(0o755)
    tmux = Tmux(tmp_path)
    with tempfile.TemporaryDirectory(prefix="he") as folder:
        server = FakeHerdr(Path(folder) / "s")
        server.panes[PANE] = Pane(shell_pid=os.getsid(0))
        server.start()
        pane = tmux.pane(["cat"])
        inside_herdr = {"HERDR_ENV": "1", "HERDR_SOCKET_PATH": str(server.path), "HERDR_PANE_ID": PANE}
        inside_tmux = {"TMUX": f"{tmp_path}/tmux,0,0", "TMUX_PANE": pane}
        environ = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path), **inside_herdr, **inside_tmux}
        setup = Setup(environ)
        hosts: list[Host] = [host(setup) for host in (Herdr, TmuxHost, Register)]
        manager = started([*hosts, CommandSink(setup, Command("sink", (str(script),), 20.0))])
        manager.publish(event("", kind=Kind.SESSION_STARTED))
        try:
            grown = publish(manager.publish)
            wait_until(lambda: server.panes[PANE].status() == "blocked", server.panes[PANE].status)
            tmux.wait_for(pane, "blocked|Waiting for approval|last")
            wait_until(lambda: [one.state for one in list_sessions(tmp_path / "lifecycle-wrap")] == ["blocked"], "it")
            wait_until(lambda: last(notes) == ("blocked", "/last"), lambda: str(last(notes)))
            manager.publish(release())
        finally:
            manager.close()
            tmux.kill()
            server.stop()
        reported = [request for request in server.methods() if request == "pane.report_agent"]
    assert grown < MOST_GROWTH
    assert len(reported) < STATES / 10
    assert last(notes)[0] == ""
    assert not list_sessions(tmp_path / "lifecycle-wrap")


def publish(tell: Callable[[LifecycleEvent], None]) -> int:
    """Tell the states; returns by how many bytes the process has grown then."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(STATES - 1):
            tell(event(("working", "idle")[number % 2], cwd=f"/{number}"))
        tell(event("blocked", cwd="/last", agent="last"))
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def last(notes: Path) -> tuple[str, str]:
    lines = notes.read_text().splitlines() if notes.exists() else []
    return (json.loads(lines[-1])["state"], json.loads(lines[-1])["cwd"]) if lines else ("", "")
