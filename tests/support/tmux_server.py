"""A real tmux on a socket of its own."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until

FORMAT = "#{@lifecycle_state}|#{@lifecycle_message}|#{@lifecycle_agent}"


class Tmux:
    """One server on a private socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._argv = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.environ = isolated_environment(folder)

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._argv, *arguments], env=self.environ, capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout.strip()

    def pane(self, argv: list[str], **environ: str) -> str:
        """Run a command in a new window and return the pane's id; the pane stays when the command ends."""
        assignments = [f"{name}={value}" for name, value in environ.items()]
        command = shlex.join(["env", *assignments, *argv])
        if not self._lives():
            self("new-session", "-d", "-x", "100", "-y", "30", "cat")
            self("set-option", "-g", "remain-on-exit", "on")
        return self("new-window", "-P", "-F", "#{pane_id}", command)

    def shown(self, pane: str) -> str:
        """Return state, message and agent of a pane."""
        return self("display-message", "-p", "-t", pane, FORMAT)

    def wait_for(self, pane: str, shown: str) -> None:
        wait_until(
            lambda: self.shown(pane) == shown, lambda: f"{shown!r}; it is {self.shown(pane)!r} in {self.screen(pane)}"
        )

    def screen(self, pane: str) -> str:
        return self("capture-pane", "-p", "-t", pane)

    def options(self, pane: str) -> str:
        """Return all options of a pane that are set."""
        return self("show-options", "-p", "-t", pane)

    def ended(self, pane: str) -> bool:
        return self("display-message", "-p", "-t", pane, "#{pane_dead}") == "1"

    def kill(self) -> None:
        subprocess.run([*self._argv, "kill-server"], env=self.environ, capture_output=True, check=False, timeout=20)

    def _lives(self) -> bool:
        return subprocess.run([*self._argv, "list-sessions"], env=self.environ, capture_output=True).returncode == 0
