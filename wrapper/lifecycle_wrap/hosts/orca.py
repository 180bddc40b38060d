r"""Orca reads its panes' own bytes: `ESC ] 9999 ; {"state":...,"agentType":...} ESC \`, undocumented, so it is opt-in.

Owns that sequence; `terminal.outward` writes it, at the safe points where all bytes of ours go out. Contract, from its
source (stablyai/orca, `agent-status-types.ts`) and issues (#14033, #12844): `state` is `working`, `blocked`, `waiting`
or `done`, of which the two in the middle are shown as one; `agentType` is any name of up to 40 characters; `prompt` and
the other keys may be missing, and are: they are content. Nothing clears a state but another one; `working` counts as
stale after half an hour.

    working                 working
    blocked, permission     blocked
    blocked, else           waiting
    idle, and the end       done, and only after one of the others: an agent that starts has not finished anything
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lifecycle_detectors import State, StateChanged

from . import switch_variable

if TYPE_CHECKING:
    from lifecycle_wrap.config import Config
    from lifecycle_wrap.terminal.terminals import Terminal

NAME = "orca"
MARK = "ORCA_PANE_KEY"
"""In the environment of its panes."""

MAX_AGENT = 40
REPEAT_SECONDS = 600.0
"""Well within the half hour."""


def off_reason(config: Config, environ: Mapping[str, str]) -> str:
    """Return why the sequence does not go out, or nothing when it does."""
    if config.off_reason:
        return config.off_reason
    if NAME in config.hosts_off:
        return f"disabled by {switch_variable(NAME)}=0"
    choice = config.host_options[NAME][NAME]
    if choice == "off":
        return 'lifecycle.orca is "off"'
    return "" if choice == "on" or environ.get(MARK) else f"{MARK} not set"


class OrcaStatus:
    """The state of one session, for a terminal of Orca's.

    Args:
        agent: the agent's name.

    Attributes:
        deadline: when the state is to be written again.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent[:MAX_AGENT]
        self._passes = True
        self._terminator = b"\x1b\\"
        self._wanted = ""
        self._shown = ""
        self.deadline: float | None = None

    def use(self, terminal: Terminal) -> None:
        """Take the terminal that was found; a multiplexer in between would swallow it."""
        self._passes = not terminal.is_multiplexer
        self.deadline = self.deadline if self._passes else None
        self._terminator = terminal.terminator

    def take_state(self, event: StateChanged) -> None:
        """Take a new state."""
        if event.state is State.BLOCKED:
            self._wanted = "blocked" if event.kind == "permission" else "waiting"
        elif event.state is State.WORKING:
            self._wanted = "working"
        elif self._wanted:
            self._wanted = "done"

    def update(self, now: float) -> bytes:
        """Return what is to be written now."""
        is_due = self.deadline is not None and now >= self.deadline
        if not self._passes or (self._wanted == self._shown and not is_due):
            return b""
        self.deadline = now + REPEAT_SECONDS if self._wanted != "done" else None
        return self._write(self._wanted)

    def leave(self) -> bytes:
        """Say that it is over, where that was not said."""
        self.deadline = None
        return self._write("done") if self._shown not in ("", "done") else b""

    def _write(self, state: str) -> bytes:
        self._shown = state
        told = json.dumps({"state": state, "agentType": self._agent}, separators=(",", ":"))
        return b"\x1b]9999;" + told.encode() + self._terminator
