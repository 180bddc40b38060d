"""cmux-tui, the cmux of Linux and macOS terminals: the state of the agent in a terminal, over the session's socket.

Owns the request `agent.report` and the comparison of its reply. Contract: protocol `cmux.protocol/2`, one JSON line
each way (tried with PyPI `cmux` 0.13.4). A derived state has the source "socket"; once an integration of the agent's
own has reported as "hook", ours are ignored, and the reply shows the record that counts instead. A record outlives the
process and the terminal, so the last report is always `unknown`.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from lifecycle_wrap.projection import LifecycleEvent

from .ancestry import opener
from .base import Call, Detection, ErrorClass, Host, HostError, HostGone, Place
from .sockets import exchange_line, is_socket, server_pid

REQUEST_SECONDS = 1.0
"""The limit of one request; the server answers within some milliseconds."""

_FOCUS = (
    'tab=$(cmux --socket "$1" --json terminal "$2" show | sed -n \'s/.*"tab_id":"\\([^"]*\\)".*/\\1/p\') && '
    'cmux --socket "$1" tab "$tab" focus'
)
"""A terminal is gone to by its tab, which may be another one than at the start."""

_TERMINAL = re.compile(r"term_[0-9a-f]{32}")


class CmuxTui(Host):
    """Reports the state of the agent in one terminal."""

    name: ClassVar[str] = "cmux-tui"

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """The terminal's id and the session's socket; no executable is needed."""
        if not _TERMINAL.fullmatch(environ.get("CMUX_TUI_TERMINAL_ID", "")):
            return Detection(False, "CMUX_TUI_TERMINAL_ID is malformed")
        path = environ.get("CMUX_TUI_SOCKET", "")
        if not path:
            return Detection(False, "CMUX_TUI_SOCKET is missing")
        if not is_socket(path):
            return Detection(False, "the session's socket is gone")
        return Detection(True, "cmux-tui terminal and socket detected")

    def owns_pane(self, call: Call) -> bool | None:
        """The server opens its terminals itself: in one of them our session's leader is its child."""
        server = server_pid(self.setup.environ["CMUX_TUI_SOCKET"], call, REQUEST_SECONDS)
        found = opener()
        return None if server is None or found is None else server == found[0]

    def place(self) -> Place:
        """The terminal, in its session."""
        terminal = self.setup.environ["CMUX_TUI_TERMINAL_ID"]
        socket = self.setup.environ["CMUX_TUI_SOCKET"]
        return Place(f"cmux {terminal[:13]}", ("sh", "-c", _FOCUS, "cmux", socket, terminal))

    def prepare(self, call: Call) -> None:
        """Take back what a killed run has left."""
        self._report("unknown", call)

    def projection(self, event: LifecycleEvent) -> Hashable:
        """The state; nothing else is shown."""
        return event.state

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Report the state and see whether it counts."""
        record = self._report(event.state, call)
        if (record.get("state"), record.get("source")) == (event.state, "socket"):
            self.notice = ""
            return
        self.notice = "an integration of the agent's own reports for this terminal; ours are ignored"
        raise HostError(ErrorClass.IGNORED)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Report that nothing is known any more."""
        self._report("unknown", call)

    def _report(self, state: str, call: Call) -> Mapping[str, Any]:
        request = {
            "type": "request",
            "protocol": "cmux.protocol/2",
            "id": f"request_{uuid.uuid4().hex}",
            "idempotency_key": f"mutation_{uuid.uuid4().hex}",
            "operation": "agent.report",
            "params": {
                "machine": "current",
                "session": "current",
                "source": "socket",
                "state": state,
                "terminal_id": self.setup.environ["CMUX_TUI_TERMINAL_ID"],
            },
        }
        line = json.dumps(request).encode() + b"\n"
        answer = exchange_line(self.setup.environ["CMUX_TUI_SOCKET"], line, call, REQUEST_SECONDS)
        try:
            reply = json.loads(answer)
            if reply["ok"]:
                return dict(reply["result"]["value"])
            error = reply["error"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise HostError from None
        if "agent_session_ended" in answer.decode(errors="replace") or "unknown terminal" in str(error.get("message")):
            raise HostGone
        raise HostError
