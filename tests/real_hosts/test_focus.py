"""The command that goes to an agent's terminal, as `ps` tells it: run in the real hosts where they can be had."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.config import Config
from lifecycle_wrap.hosts import cmux
from lifecycle_wrap.hosts.base import Place, Setup
from lifecycle_wrap.hosts.cmux import Cmux
from lifecycle_wrap.hosts.herdr import Herdr
from lifecycle_wrap.hosts.selection import discover
from lifecycle_wrap.hosts.tmux import Tmux as TmuxHost
from lifecycle_wrap.hosts.zellij import Zellij
from lifecycle_wrap.manager import Lookup, Manager
from tests.real_hosts.test_cmux_tui import EXECUTABLE, Session, session  # noqa: F401  # a fixture
from tests.support.orders import Orders
from tests.support.registered import run
from tests.support.terminal import WRAPPER
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


def told(environ: dict[str, str], template: str) -> str:
    done = run(environ, "ps", "--state", "working", "--format", template)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_tmux(tmp_path: Path, orders: Orders) -> None:
    tmux = Tmux(tmp_path)
    try:
        pane = tmux.pane([*WRAPPER, "--", *orders.argv])
        orders.give("state working")
        wait_until(lambda: told(tmux.environ, "{terminal}") == f"tmux {pane}", "the pane in the register")
        other = tmux("split-window", "-t", pane, "-P", "-F", "#{pane_id}", "cat")
        tmux.pane(["cat"])
        tmux("new-session", "-d", "-s", "elsewhere", "cat")
        client = subprocess.Popen(
            ["script", "-qc", f"tmux -S {tmp_path}/tmux attach -t elsewhere", "/dev/null"],
            env=tmux.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        wait_until(lambda: tmux("list-clients", "-F", "#{session_name}") == "elsewhere", "the client")
        assert tmux("display-message", "-p", "-t", other, "#{pane_active}") == "1"

        subprocess.run(["sh", "-c", told(tmux.environ, "{focus}")], env=tmux.environ, check=True, timeout=20)
        where = tmux("list-clients", "-F", "#{session_name} #{pane_id}")
        assert where.split() == [tmux("display-message", "-p", "-t", pane, "#{session_name}"), pane]
        orders.give("exit 0")
    finally:
        tmux.kill()
    client.communicate(timeout=20)


@pytest.mark.skipif(EXECUTABLE is None, reason="the package cmux is not installed here")
def test_cmux_tui(session: Session, orders: Orders) -> None:  # noqa: F811
    terminal = session.terminal([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    session.wait_for(terminal, "working")
    wait_until(lambda: told(session.environ, "{terminal}").startswith("cmux term_"), "the terminal in the register")
    session.terminal(["cat"])
    tab = session.json("terminal", terminal, "show")["tab_id"]

    def focused() -> bool:
        return next(bool(one["focused"]) for one in session.json("tab", "list") if one["id"] == tab)

    assert not focused()
    path = f"{Path(str(EXECUTABLE)).parent}:{session.environ['PATH']}"
    command = told(session.environ, "{focus}")
    subprocess.run(
        ["sh", "-c", command], env=session.environ | {"PATH": path}, check=True, timeout=20, stdout=subprocess.DEVNULL
    )
    assert focused()
    orders.give("exit 0")


def test_hosts_that_cannot_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their documents' words: zellij's CLI actions (0.44), herdr's socket API, cmux's command reference."""
    herdr = {"HERDR_PANE_ID": "w1:p2", "HERDR_SOCKET_PATH": "/run/h.sock"}
    assert Herdr(Setup(herdr)).place() == Place(
        "herdr w1:p2", ("env", "HERDR_SOCKET_PATH=/run/h.sock", "herdr", "agent", "focus", "w1:p2")
    )
    zellij = {"ZELLIJ_PANE_ID": "3", "ZELLIJ_SESSION_NAME": "main"}
    assert Zellij(Setup(zellij)).place() == Place(
        "zellij 3", ("zellij", "--session", "main", "action", "focus-pane-id", "terminal_3")
    )
    monkeypatch.setattr(cmux, "_cli", lambda environ: "/app/cmux")
    assert Cmux(Setup({"CMUX_WORKSPACE_ID": "W", "CMUX_SURFACE_ID": "S"})).place() == Place(
        "cmux S", ("/app/cmux", "focus-panel", "--panel=S", "--workspace=W")
    )


def test_an_adapter_that_breaks_costs_only_the_way_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(host: TmuxHost) -> Place:
        raise ValueError

    monkeypatch.setattr(TmuxHost, "place", broken)
    (tmp_path / "tmux").write_text("#!/bin/sh\n")
    (tmp_path / "tmux").chmod(0o755)
    environ = {"TMUX": "/s,1,0", "TMUX_PANE": "%1", "PATH": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    log: list[str] = []
    made = discover(Config(nesting="all"), environ, Lookup(Manager(log.append)))
    assert [host.name for host in made] == ["tmux", "register"]
    assert made[1].setup.place is None
    assert log == ['lifecycle-wrap: host "tmux" adapter crashed; it gets nothing more in this session']
