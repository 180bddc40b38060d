"""zellij: the state in the pane's name, and as a message that plugins can listen to.

Owns the commands. Contract (zellij 0.44 and later): `zellij action rename-pane --pane-id terminal_N NAME`,
`undo-rename-pane`, and `focus-pane-id` to go there; before there was `--pane-id` the focused pane was renamed, so
without that flag nothing is. A name hides the agent's own title until it is undone; `zellij_rename = "off"` leaves the
name alone. `zellij pipe --name lifecycle` gives every listening plugin one JSON object: the version 1 event with `pane`
and `agent` before it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Hashable, Mapping
from typing import ClassVar

from lifecycle_wrap.projection import LifecycleEvent

from .ancestry import opener
from .base import Call, Detection, Host, HostError, HostGone, Place, Setup, host_id

PIPE = "lifecycle"

_PANE = re.compile(r"\d{1,9}")

# What zellij says when the pane, or the session with it, is no more.
_GONE = (b"not found", b"no active session")


class Zellij(Host):
    """Names one pane and tells plugins."""

    name: ClassVar[str] = "zellij"
    interval: ClassVar[float] = 0.1

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """`ZELLIJ` says that there is a session, `ZELLIJ_PANE_ID` which pane is ours."""
        if not _PANE.fullmatch(environ.get("ZELLIJ_PANE_ID", "")):
            return Detection(False, "ZELLIJ_PANE_ID is missing")
        if shutil.which("zellij", path=environ.get("PATH")) is None:
            return Detection(False, "zellij CLI was not found")
        return Detection(True, "zellij pane and CLI detected")

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._pane = self.setup.environ["ZELLIJ_PANE_ID"]
        self._renames = False

    def place(self) -> Place:
        """The pane, in its session where that has a name."""
        session = host_id(self.setup.environ, "ZELLIJ_SESSION_NAME")
        options = ("--session", session) if session else ()
        return Place(f"zellij {self._pane}", ("zellij", *options, "action", "focus-pane-id", self._target))

    def owns_pane(self, call: Call) -> bool | None:
        """The server opens its panes itself: in one of them our session's leader is its child."""
        found = opener()
        return None if found is None else found[1] == "zellij"

    def prepare(self, call: Call) -> None:
        """Find out whether a pane can be named by its id."""
        if self.setup.options.get("zellij_rename") != "off":
            answer = call.ask(["zellij", "action", "rename-pane", "--help"], environ=self.setup.environ)
            self._renames = b"--pane-id" in answer.output

    def projection(self, event: LifecycleEvent) -> Hashable:
        """The name, and with it what plugins care for."""
        return (event.state, event.message, event.agent)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Name the pane and tell the plugins."""
        if self._renames:
            name = f"{event.agent}: {event.message or event.state}"
            self._run(call, "action", "rename-pane", "--pane-id", self._target, name)
        self._pipe(event, call)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Give the pane its own name back and tell the plugins."""
        if self._renames:
            self._run(call, "action", "undo-rename-pane", "--pane-id", self._target)
        self._pipe(event, call)

    @property
    def _target(self) -> str:
        return f"terminal_{self._pane}"

    def _pipe(self, event: LifecycleEvent, call: Call) -> None:
        payload = {"pane": int(self._pane), "agent": event.agent, **json.loads(event.to_json())}
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        self._run(call, "pipe", "--name", PIPE, "--", text)

    def _run(self, call: Call, *arguments: str) -> None:
        answer = call.ask(["zellij", *arguments], environ=self.setup.environ)
        if answer.status != 0:
            raise HostGone if any(text in answer.output for text in _GONE) else HostError
