"""cmux, the macOS app: a status pill and a loading indicator of the workspace, and notifications, by the app's CLI.

Owns the argument lists. Contract (manaflow-ai/cmux, docs/cli-contract.md): a status belongs to a workspace, so the key
names our surface; without a workspace the CLI takes the one the user looks at, so it is always given; options are
written `--option=value`, for one without `=` eats the next word; quotes and backslashes do not survive; `--pid` lets
the app sweep the pill when we are killed. The app notifies for OSC 9 and 777 as well, so its own `notify` is opt-in.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Hashable, Mapping
from typing import ClassVar, NamedTuple

from lifecycle_wrap.projection import LifecycleEvent

from .base import Call, Detection, Host, HostError, HostGone, Place, Setup, host_id

ON_MACOS = sys.platform == "darwin"

_APP_CLI = "/Applications/cmux.app/Contents/Resources/bin/cmux"

# What the app says to a process that does not descend from one of its terminals.
_REFUSED = (b"Access denied", b"Broken pipe")

_UNSAFE = str.maketrans("", "", "'\"\\")


class Pill(NamedTuple):
    """How a state looks: its label, an SF Symbol and a colour."""

    label: str
    icon: str
    color: str


PILLS = {
    "working": Pill("Working", "bolt.fill", "#4C8DFF"),
    "blocked": Pill("Needs input", "bell.fill", "#FF9500"),
    "idle": Pill("Idle", "pause.circle", "#8E8E93"),
}
FAILED = Pill("Failed", "exclamationmark.triangle.fill", "#FF3B30")


class Cmux(Host):
    """Shows one surface's agent in the sidebar."""

    name: ClassVar[str] = "cmux"

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """Both ids, the app's platform and its CLI; a `cmux` on PATH alone may be another program."""
        if not (host_id(environ, "CMUX_WORKSPACE_ID") and host_id(environ, "CMUX_SURFACE_ID")):
            return Detection(False, "CMUX_WORKSPACE_ID and CMUX_SURFACE_ID are not both present")
        if not ON_MACOS:
            return Detection(False, "cmux integration is available only on macOS")
        if _cli(environ) is None:
            return Detection(False, "cmux CLI was not found")
        return Detection(True, "cmux surface and CLI detected")

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        environ = self.setup.environ
        self._workspace = f"--workspace={host_id(environ, 'CMUX_WORKSPACE_ID')}"
        self._surface = host_id(environ, "CMUX_SURFACE_ID")
        self._loading = False
        self._notifies = self.setup.options.get("cmux_notify") == "blocked"
        self._is_blocked = False
        # The CLI refuses when both variables are set and differ; a pane has this one set to nothing.
        self._environ = {name: value for name, value in environ.items() if name != "CMUX_SOCKET"}

    def place(self) -> Place:
        """The surface."""
        executable = _cli(self.setup.environ) or "cmux"
        focus = (executable, "focus-panel", f"--panel={self._surface}", self._workspace)
        return Place(f"cmux {self._surface}", focus)

    def prepare(self, call: Call) -> None:
        """Clear the pill that a killed run has left."""
        self._clear(call)

    def projection(self, event: LifecycleEvent) -> Hashable:
        """The pill, which tells working from not."""
        return _pill(event)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Set the pill, and the indicator when it changes; notify once when a wait begins, if that is wanted."""
        pill = _pill(event)
        self._run(
            call,
            "set-status",
            self._key,
            pill.label,
            f"--icon={pill.icon}",
            f"--color={pill.color}",
            "--priority=50",
            f"--pid={event.pid}",
            self._workspace,
        )
        self._set_loading(event.state == "working", call)
        begins, self._is_blocked = event.state == "blocked" and not self._is_blocked, event.state == "blocked"
        if begins and self._notifies:
            self._notify(event, call)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Take both away."""
        self._clear(call)
        self._set_loading(False, call)

    @property
    def _key(self) -> str:
        return f"lifecycle-wrap:{self._surface}"

    def _clear(self, call: Call) -> None:
        self._run(call, "clear-status", self._key, self._workspace)

    def _set_loading(self, loading: bool, call: Call) -> None:
        if loading != self._loading:
            word = "on" if loading else "off"
            self._run(call, "workspace", "loading", word, f"--id={self._key}", self._workspace)
            self._loading = loading

    def _notify(self, event: LifecycleEvent, call: Call) -> None:
        title = event.agent.translate(_UNSAFE) or "agent"
        self._run(
            call, "notify", f"--title={title}", f"--body={event.message}", self._workspace, f"--surface={self._surface}"
        )

    def _run(self, call: Call, *arguments: str) -> None:
        executable = _cli(self.setup.environ)
        answer = call.ask([executable or "cmux", *arguments], environ=self._environ)
        if answer.status != 0:
            raise HostGone if any(text in answer.output for text in _REFUSED) else HostError


def _pill(event: LifecycleEvent) -> Pill:
    return FAILED if event.state == "idle" and event.failed else PILLS[event.state]


def _cli(environ: Mapping[str, str]) -> str | None:
    for path in (environ.get("CMUX_BUNDLED_CLI_PATH", ""), shutil.which("cmux", path=environ.get("PATH")), _APP_CLI):
        if path and os.access(path, os.X_OK):
            return path
    return None
