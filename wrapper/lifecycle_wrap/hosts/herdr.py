"""herdr: the state of the agent in a pane, over the server's socket, or its CLI where there is no socket.

Owns the calls to herdr and the rules of its reporters (herdr 0.8 to 0.9, protocol 14 to 22): one JSON line a
connection; a sequence number from the clock on every call, for herdr drops without a word what is not above the last
one of the same source; no state outlives a restart of the server and no report has a reply that says it counted, so
the state is told again after 1.5 s and then every 45 s, and read back. A state never expires: the release must come.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from lifecycle_wrap.projection import LifecycleEvent, collapse

from .base import Call, Detection, ErrorClass, Host, HostError, HostGone, Place, Setup, host_id
from .sockets import exchange_line, is_socket

SOURCE = "custom:lifecycle-wrap"

REQUEST_SECONDS = 0.5
"""The limit of one request, as herdr's own integrations have it; the server sets none."""

OWNER_LIMIT = 80
"""The most characters of another reporter's name; herdr itself allows no more."""

_JSON_RPC_UNKNOWN_METHOD = -32601
"""What herdr-core answers: a successor that speaks JSON-RPC and knows no reporters."""


class Herdr(Host):
    """Reports for one pane."""

    name: ClassVar[str] = "herdr"
    repeats: ClassVar[tuple[float, float] | None] = (1.5, 45.0)

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """`HERDR_ENV`, a pane (popups have none) and a way to the server."""
        if environ.get("HERDR_ENV") != "1":
            return Detection(False, "HERDR_ENV=1 is not present")
        if not _pane(environ):
            return Detection(False, "HERDR_PANE_ID is missing")
        if _socket(environ):
            return Detection(True, "herdr pane and socket detected")
        if _cli(environ) is None:
            return Detection(False, "herdr CLI was not found")
        return Detection(True, "herdr pane and CLI detected")

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._sequence = 0
        self._told: LifecycleEvent | None = None
        self._metadata: dict[str, Any] = {}

    def owns_pane(self, call: Call) -> bool | None:
        """The pane's shell leads the session of all that runs in it, unless another terminal lies in between."""
        if not _socket(self.setup.environ):
            return None
        shell = self._ask("pane.process_info", "process_info", call).get("shell_pid")
        return shell == os.getsid(0) if isinstance(shell, int) else None

    def place(self) -> Place:
        """The pane, on the server that we report to."""
        socket = self.setup.environ.get("HERDR_SOCKET_PATH", "")
        server = ("env", f"HERDR_SOCKET_PATH={socket}") if socket else ()
        pane = _pane(self.setup.environ)
        return Place(f"herdr {pane}", (*server, "herdr", "agent", "focus", pane))

    def prepare(self, call: Call) -> None:
        """Release what a killed run has left, so that it does not stand until the agent's first state is known."""
        if not _socket(self.setup.environ):
            return
        pane = self._ask("pane.get", "pane", call)
        agent = pane.get("agent")
        if isinstance(agent, str) and agent and pane.get("agent_status") in ("working", "blocked"):
            self._sequence = time.time_ns()
            self._request("pane.release_agent", self._report(agent), call)

    def projection(self, event: LifecycleEvent) -> Hashable:
        """What is reported and what is in the metadata."""
        return (event.state, event.message, event.agent, event.title)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Report the state, and the title and the reason of a wait where they have changed."""
        repeated = event is self._told
        first = self._told is None
        self._sequence = max(self._sequence + 1, time.time_ns() if repeated else event.sequence)
        message = {"message": event.message} if event.message else {}
        self._send("pane.report_agent", self._report(event.agent) | {"state": event.state} | message, call)
        self._told = event
        self._tell_metadata(event, call)
        if (first or repeated) and _socket(self.setup.environ):
            self._read_back(event, call)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Leave no state behind, and no metadata that a later run would bring to light again."""
        if self._told is None:
            return
        agent = self._told.agent
        self._sequence = max(self._sequence + 1, event.sequence)
        if self._told.state != "idle":
            # herdr takes only the way from a state to idle for a completion.
            self._send("pane.report_agent", self._report(agent) | {"state": "idle"}, call)
            self._sequence += 1
        self._send("pane.release_agent", self._report(agent), call)
        self._tell_metadata(None, call)

    def _report(self, agent: str) -> dict[str, Any]:
        return {"source": SOURCE, "agent": agent or "agent", "seq": self._sequence}

    def _tell_metadata(self, event: LifecycleEvent | None, call: Call) -> None:
        """Send the fields that differ from those sent last; `None` clears all."""
        wanted: dict[str, Any] = {}
        if event is not None and event.title:
            wanted["title"] = event.title
        if event is not None and event.state == "blocked":
            # The report's own message is stored, but shown nowhere.
            wanted["state_labels"] = {"blocked": event.message}
        if wanted == self._metadata:
            return
        changed = {field: value for field, value in wanted.items() if self._metadata.get(field) != value}
        cleared = {f"clear_{field}": True for field in self._metadata if field not in wanted}
        base = {"source": SOURCE, "applies_to_source": SOURCE, "seq": self._sequence}
        self._send("pane.report_metadata", base | changed | cleared, call)
        self._metadata = wanted

    def _read_back(self, event: LifecycleEvent, call: Call) -> None:
        pane = self._ask("pane.get", "pane", call)
        shown = pane.get("agent_status")
        # An idle that nobody has seen is called done.
        if shown == event.state or (shown, event.state) == ("done", "idle"):
            self.notice = ""
            return
        session = pane.get("agent_session")
        owner = collapse(str(session.get("source")), OWNER_LIMIT) if isinstance(session, dict) else "unknown"
        self.notice = f"herdr ignores our reports (owner: {owner})"
        raise HostError(ErrorClass.IGNORED)

    def _send(self, method: str, params: Mapping[str, Any], call: Call) -> None:
        if _socket(self.setup.environ):
            self._request(method, params, call)
        else:
            self._command(method, params, call)

    def _ask(self, method: str, part: str, call: Call) -> Mapping[str, Any]:
        result = self._request(method, {}, call).get(part)
        if not isinstance(result, dict):
            raise HostError
        return result

    def _request(self, method: str, params: Mapping[str, Any], call: Call) -> Mapping[str, Any]:
        """Ask over the socket and return the result.

        Raises:
            HostGone: the pane, or herdr's reporters as a whole, do not exist.
            HostError: anything else went wrong; the next call may succeed.
        """
        request = {"id": f"lifecycle-wrap:{method}", "method": method, "params": {"pane_id": _pane(self.setup.environ)}}
        request["params"] |= params  # type: ignore[operator]
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        answer = exchange_line(_socket(self.setup.environ), line, call, REQUEST_SECONDS)
        try:
            reply = json.loads(answer)
            if "error" not in reply:
                return dict(reply["result"])
            code = reply["error"]["code"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise HostError from None
        raise HostGone if code in ("pane_not_found", _JSON_RPC_UNKNOWN_METHOD) else HostError

    def _command(self, method: str, params: Mapping[str, Any], call: Call) -> None:
        executable = _cli(self.setup.environ)
        if executable is None:
            raise HostError(ErrorClass.UNAVAILABLE)
        verb = method.removeprefix("pane.").replace("_", "-")
        argv = [executable, "pane", verb, _pane(self.setup.environ), *_flags(params)]
        answer = call.ask(argv, environ=self.setup.environ)
        if answer.status != 0:
            raise HostGone if b"pane_not_found" in answer.output else HostError


def _flags(params: Mapping[str, Any]) -> Sequence[str]:
    """Write a request's parameters as the CLI takes them: `--flag value`, never `--flag=value`."""
    argv: list[str] = []
    for key, value in params.items():
        flag = "--" + key.replace("_", "-")
        if value is True:
            argv.append(flag)
        elif isinstance(value, dict):
            for name, text in value.items():
                argv += [flag.removesuffix("s"), f"{name}={text}"]
        else:
            argv += [flag, str(value)]
    return argv


def _pane(environ: Mapping[str, str]) -> str:
    return host_id(environ, "HERDR_PANE_ID")


def _socket(environ: Mapping[str, str]) -> str:
    """Return the server's socket, or nothing where there is none now; asked anew with each call."""
    path = environ.get("HERDR_SOCKET_PATH", "")
    return path if path and is_socket(path) else ""


def _cli(environ: Mapping[str, str]) -> str | None:
    bundled = environ.get("HERDR_BIN_PATH", "")
    if bundled and os.access(bundled, os.X_OK):
        return bundled
    return shutil.which("herdr", path=environ.get("PATH"))
