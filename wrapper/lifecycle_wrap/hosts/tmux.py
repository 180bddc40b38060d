"""tmux: the state as user options of the pane, for status lines and scripts to show.

Owns `@lifecycle_state`, `@lifecycle_message` and `@lifecycle_agent` of exactly the pane we run in. Contract (tmux 3.0
and later): `set-option -p -t PANE @NAME VALUE`, unset by `-pu`. The options outlive the program that set them, so they
are unset at every end, and at the start where a killed run has left them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Hashable, Mapping
from typing import ClassVar

from lifecycle_wrap.projection import LifecycleEvent

from .base import Call, Detection, Host, HostError, HostGone, Place

OPTIONS = ("@lifecycle_state", "@lifecycle_message", "@lifecycle_agent")

_PANE = re.compile(r"%\d{1,9}")

# What tmux says when the pane, or the server with it, is no more.
_GONE = (b"no such pane", b"can't find pane", b"no server running", b"error connecting", b"server exited")


class Tmux(Host):
    """Sets the pane's options."""

    name: ClassVar[str] = "tmux"
    # Frequent set-option calls have livelocked a tmux server (tmux/tmux#5024).
    interval: ClassVar[float] = 0.1

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """`TMUX` says that there is a server, `TMUX_PANE` which pane; without it any other pane could be hit."""
        if not _PANE.fullmatch(environ.get("TMUX_PANE", "")):
            return Detection(False, "TMUX_PANE is missing")
        if shutil.which("tmux", path=environ.get("PATH")) is None:
            return Detection(False, "tmux CLI was not found")
        return Detection(True, "tmux pane and CLI detected")

    def owns_pane(self, call: Call) -> bool:
        """Compare the pane's terminal with ours: an outer pane, or an inherited variable, has another one."""
        return self._tmux(call, "display-message", "-p", "-t", self._pane, "#{pane_tty}").strip() == self.setup.tty

    def place(self) -> Place:
        """The pane; for a user outside tmux the client that was used last goes there."""
        socket = self.setup.environ["TMUX"].rsplit(",", 2)[0]
        focus = ["tmux", "-S", socket]
        for command in ("select-window", "select-pane", "switch-client"):
            focus += [command, "-t", self._pane, ";"]
        return Place(f"tmux {self._pane}", tuple(focus[:-1]))

    def prepare(self, call: Call) -> None:
        """Unset what a killed run has left."""
        self._unset(call)

    def projection(self, event: LifecycleEvent) -> Hashable:
        """The three values."""
        return (event.state, event.message, event.agent)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Set the three options with one call."""
        argv: list[str] = []
        for option, value in zip(OPTIONS, (event.state, event.message, event.agent), strict=True):
            argv += ["set-option", "-p", "-t", self._pane, option, _literal(value), ";"]
        self._tmux(call, *argv[:-1])

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Unset the three options with one call."""
        self._unset(call)

    @property
    def _pane(self) -> str:
        return self.setup.environ["TMUX_PANE"]

    def _unset(self, call: Call) -> None:
        argv: list[str] = []
        for option in OPTIONS:
            argv += ["set-option", "-pqu", "-t", self._pane, option, ";"]
        self._tmux(call, *argv[:-1])

    def _tmux(self, call: Call, *arguments: str) -> str:
        answer = call.ask(["tmux", *arguments], environ=self.setup.environ)
        if answer.status != 0:
            raise HostGone if any(text in answer.output for text in _GONE) else HostError
        return answer.output.decode(errors="replace")


def _literal(value: str) -> str:
    """Write a value so that tmux keeps it: no format, and no `;` at its end, which would end the command."""
    value = value.replace("#", "")
    return f"{value[:-1]}\\;" if value.endswith(";") else value
