"""A real zellij, where one is installed: `lifecycle-wrap -- agent` in its pane, the pane's name read back.

`cargo install zellij --locked` brings one, which takes too long for every run. The zellij runs in a tmux of the test's
own, so these tests also see that of two nested hosts only the inner one is told.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle_wrap.hosts.records import list_sessions
from tests.support.orders import Orders
from tests.support.terminal import WRAPPER
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(shutil.which("zellij") is None, reason="there is no zellij here"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here"),
]

SESSION = "test"
# The first start compiles the plugins.
START_SECONDS = 120.0


class Zellij:
    """One session whose only pane runs a command."""

    def __init__(self, folder: Path, argv: list[str]) -> None:
        self.folder = folder
        self.tmux = Tmux(folder)
        self.tmux.environ |= {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
        layout = folder / "layout.kdl"
        arguments = " ".join(json.dumps(word) for word in argv[1:])
        layout.write_text(f"layout {{\n  pane command={json.dumps(argv[0])} {{\n    args {arguments}\n  }}\n}}\n")
        (folder / "zellij").mkdir(exist_ok=True)
        (folder / "zellij" / "config.kdl").write_text("show_startup_tips false\nshow_release_notes false\n")
        command = ["zellij", "--session", SESSION, "--new-session-with-layout", str(layout)]
        self.outer_pane = self.tmux.pane(command)

    def cli(self, *arguments: str) -> str:
        done = subprocess.run(
            ["zellij", "--session", SESSION, *arguments],
            env=self.tmux.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        return done.stdout

    def pane(self) -> dict[str, Any]:
        """Return what zellij tells about the pane, empty while it is not there."""
        try:
            panes = json.loads(self.cli("action", "list-panes", "--json", "--all"))
        except ValueError:
            return {}
        return next((pane for pane in panes if not pane["is_plugin"]), {})

    def wait_for(self, title: str) -> None:
        wait_until(lambda: self.pane().get("title") == title, lambda: f"{title!r}: {self.pane()}", START_SECONDS)

    def stop(self) -> None:
        subprocess.run(["zellij", "kill-session", SESSION], env=self.tmux.environ, capture_output=True, timeout=30)
        self.tmux.kill()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="zj", ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.mark.parametrize("end", ["exit 0", f"signal {signal.SIGKILL}"])
def test_states_from_start_to_end(folder: Path, end: str) -> None:
    with Orders(folder) as orders:
        zellij = Zellij(folder, [shutil.which("env") or "env", *WRAPPER, "--", *orders.argv])
        try:
            wait_until(lambda: any(list_sessions(folder / "lifecycle-wrap")), "the start", START_SECONDS)
            orders.give("title the agent's own")
            for order, title in (
                ("state working", "told_agent: Working"),
                ("state blocked:kind=permission", "told_agent: Waiting for approval"),
                ("state idle", "told_agent: idle"),
            ):
                orders.give(order)
                zellij.wait_for(title)
            assert zellij.tmux.options(zellij.outer_pane).count("@lifecycle") == 0
            orders.give(end)
            wait_until(lambda: zellij.pane().get("exited"), "the end")
            assert zellij.pane()["title"] == "the agent's own"
        finally:
            zellij.stop()
