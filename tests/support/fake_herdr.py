"""A herdr that answers as the real one does: the reporters' part of its socket API, and its CLI.

herdr cannot be installed from a registry. This follows facts about herdr 0.8 to 0.9: one request a connection, silent
"ok" on what the state machine ignores, one high-water mark a source, owner conflicts, the rules of release and
metadata, size and time limits. `fake_herdr_cli.py` is the command.
"""

from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LINE_LIMIT = 1 << 20
FIRST_LINE_SECONDS = 5.0
TEXT_LIMIT = 80

STATES = ("idle", "working", "blocked", "unknown")
KNOWN_AGENTS = frozenset({"claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi", "kimi", "devin", "droid"})
ALIASES = {"claude-code": "claude"}
FULL_LIFECYCLE = frozenset({"pi", "omp", "mastracode", "opencode", "kilo", "kimi"})
LABELS = frozenset({"idle", "working", "blocked", "done", "unknown"})
_SOURCE = re.compile(r"[A-Za-z0-9:._-]{1,80}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,32}")

Params = dict[str, Any]


class Refused(Exception):
    """An error answer."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.message = message or code


@dataclass
class Authority:
    """Who holds a pane's slot."""

    source: str
    agent: str
    state: str


@dataclass
class Pane:
    """One pane: what herdr itself sees, and what was reported.

    Attributes:
        shell_pid: the process that leads the pane's session.
        detected: the agent whose process herdr sees in the foreground.
        screen_blocked: its screen shows a dialog.
        exited: the agent that herdr has seen exit, with no new process yet.
        session: the session reference that an official integration has left: source and agent.
        focused: the tab is looked at, so that nothing is unseen.
    """

    shell_pid: int
    detected: str = ""
    screen_blocked: bool = False
    exited: str = ""
    session: tuple[str, str] | None = None
    focused: bool = False
    authority: Authority | None = None
    unseen: bool = False
    label: str = ""
    marks: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, Params] = field(default_factory=dict)
    metadata_marks: dict[str, int] = field(default_factory=dict)

    def status(self) -> str:
        if self.authority is None:
            return "unknown"
        state = self.authority.state
        if self.screen_blocked and self.authority.agent == self.detected and state != "blocked":
            return "blocked"
        return "done" if state == "idle" and self.unseen else state

    def is_stale(self, marks: dict[str, int], params: Params) -> bool:
        mark = marks.get(params["source"])
        return mark is not None and (params.get("seq") is None or params["seq"] <= mark)

    def burn(self, marks: dict[str, int], params: Params) -> None:
        if params.get("seq") is not None:
            marks[params["source"]] = params["seq"]

    def report(self, params: Params, agent: str) -> None:
        source, state = params["source"], params["state"]
        if self.is_stale(self.marks, params):
            return
        if source == f"herdr:{agent}" and (agent not in FULL_LIFECYCLE or agent != self.detected):
            return
        if self.detected and agent in KNOWN_AGENTS and agent != self.detected:
            return
        if self.exited and agent == self.exited:
            return
        if self.session is not None and self.session != (source, agent):
            return
        self.burn(self.marks, params)
        before = self.authority.state if self.authority else ""
        completes = before in ("working", "blocked") or (before == "unknown" and self.label == agent)
        self.unseen = state == "idle" and not self.focused and (completes or (before == "idle" and self.unseen))
        self.authority = Authority(source, agent, state)
        self.label = agent

    def release(self, params: Params, agent: str) -> None:
        if params["source"] == f"herdr:{agent}" or self.is_stale(self.marks, params):
            return
        if self.authority is not None and self.authority.source != params["source"]:
            return
        if self.authority is not None and self.authority.agent != agent:
            return
        self.burn(self.marks, params)
        self.authority = None

    def clear_authority(self, params: Params) -> None:
        source = params.get("source")
        if self.authority is None or (source is not None and source != self.authority.source):
            return
        if source is not None and self.is_stale(self.marks, params):
            return
        self.authority = None
        self.session = None

    def report_session(self, params: Params, agent: str) -> None:
        if params["source"].startswith("herdr:") and params.get("agent_session_id"):
            self.session = (params["source"], agent)

    def set_metadata(self, params: Params) -> None:
        source = params["source"]
        fields = ("title", "display_agent", "state_labels")
        wishes = [name for name in (*fields, "tokens") if params.get(name)]
        clears = [name for name in fields if params.get(f"clear_{name}")]
        if not _SOURCE.fullmatch(source):
            raise Refused("invalid_metadata_source")
        if (not wishes and not clears) or set(wishes) & set(clears):
            raise Refused("invalid_metadata_request")
        if not set(params.get("state_labels", {})) <= LABELS:
            raise Refused("invalid_state_label")
        tokens = params.get("tokens", {})
        if not all(_TOKEN.fullmatch(key) for key in tokens):
            raise Refused("invalid_metadata_token")
        if len(tokens) > 16:
            raise Refused("metadata_token_limit")
        if params.get("ttl_ms") is not None and not 1 <= params["ttl_ms"] <= 86_400_000:
            raise Refused("invalid_metadata_ttl")
        if params.get("seq") is not None and source not in self.metadata_marks and len(self.metadata_marks) >= 32:
            raise Refused("metadata_sequence_source_limit")
        if self.is_stale(self.metadata_marks, params):
            return
        self.burn(self.metadata_marks, params)
        held = self.metadata.setdefault(source, {})
        held["applies_to_source"] = params.get("applies_to_source")
        for name in clears:
            held.pop(name, None)
        for name in wishes:
            value = params[name]
            held[name] = _text(value) if isinstance(value, str) else {key: _text(text) for key, text in value.items()}

    def shown_metadata(self) -> Params:
        shown: Params = {}
        for held in self.metadata.values():
            applies = held.get("applies_to_source")
            if applies is None or (self.authority is not None and self.authority.source == applies):
                shown |= {name: value for name, value in held.items() if name != "applies_to_source"}
        return shown

    def process_exits(self) -> None:
        """The agent that herdr detects exits: its marks go, its reports are refused for a while."""
        self.exited, self.detected = self.detected, ""
        self.marks.clear()
        self.authority = None


def _text(value: str) -> str:
    return "".join(character for character in value if character.isprintable()).strip()[:TEXT_LIMIT]


class FakeHerdr:
    """The server.

    Attributes:
        panes: the panes by id.
        requests: every request that could be parsed, in order.
        answer: replaces the answer to a request when it returns bytes (sent as they are), or None for the usual one.
    """

    def __init__(self, path: Path, *, protocol: int = 20) -> None:
        self.path = path
        self.protocol = protocol
        self.panes: dict[str, Pane] = {}
        self.requests: list[Params] = []
        self.answer: Callable[[Params], bytes | None] = lambda request: None
        self.shutting_down = False
        self._lock = threading.Lock()
        self._server: socketserver.ThreadingUnixStreamServer | None = None

    def start(self) -> None:
        fake = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = FIRST_LINE_SECONDS

            def handle(self) -> None:
                try:
                    line = self.rfile.readline(LINE_LIMIT + 1)
                    if line.endswith(b"\n") and len(line) <= LINE_LIMIT:
                        self.wfile.write(fake.reply(line))
                except OSError:
                    return

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        self._server = Server(str(self.path), Handler)
        self.path.chmod(0o600)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def crash(self) -> None:
        """Stop, and leave the socket's file behind."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def stop(self) -> None:
        self.crash()
        self.path.unlink(missing_ok=True)

    def restart(self) -> None:
        """A new server: neither states nor sequence numbers are saved."""
        self.stop()
        for name, pane in self.panes.items():
            self.panes[name] = Pane(pane.shell_pid)
        self.start()

    def methods(self) -> list[str]:
        """Return the methods asked for, without those that only look."""
        looks = ("ping", "pane.get", "agent.get", "pane.process_info")
        return [request["method"] for request in list(self.requests) if request["method"] not in looks]

    def reply(self, line: bytes) -> bytes:
        try:
            request = json.loads(line)
            if not (isinstance(request["id"], str) and isinstance(request["params"], dict)):
                raise TypeError
            method = request["method"]
        except (ValueError, TypeError, KeyError):
            return _line({"id": "", "error": {"code": "invalid_request", "message": "malformed request"}})
        self.requests.append(request)
        special = self.answer(request)
        if special is not None:
            return special
        try:
            with self._lock:
                result = self._handle(method, request["params"])
        except Refused as refused:
            answer_id = "" if refused.code == "invalid_request" else request["id"]
            return _line({"id": answer_id, "error": {"code": refused.code, "message": refused.message}})
        return _line({"id": request["id"], "result": result})

    def _handle(self, method: str, params: Params) -> Params:
        if self.shutting_down:
            raise Refused("server_unavailable")
        if method == "ping":
            return {"type": "pong", "version": "0.8.2", "protocol": self.protocol, "capabilities": {}}
        required = {
            "pane.report_agent": ("source", "agent", "state"),
            "pane.release_agent": ("source", "agent"),
            "pane.report_agent_session": ("source", "agent"),
            "pane.clear_agent_authority": (),
            "pane.report_metadata": ("source",),
            "pane.get": (),
            "agent.get": (),
            "pane.process_info": (),
        }
        if method not in required:
            raise Refused("invalid_request", f"unknown method {method}")
        pane_key = "target" if method == "agent.get" else "pane_id"
        if not all(isinstance(params.get(name), str) for name in (pane_key, *required[method])):
            raise Refused("invalid_request", "missing field")
        seq = params.get("seq")
        if seq is not None and not (isinstance(seq, int) and 0 <= seq < 1 << 64):
            raise Refused("invalid_request", "bad seq")
        if method == "pane.report_agent" and params["state"] not in STATES:
            raise Refused("invalid_request", "unknown variant")
        pane = self.panes.get(params[pane_key])
        if pane is None:
            raise Refused("pane_not_found", f"pane {params[pane_key]} not found")
        return self._act(method, pane, params)

    def _act(self, method: str, pane: Pane, params: Params) -> Params:
        if method == "pane.process_info":
            return {
                "type": "pane_process_info",
                "process_info": {"pane_id": params["pane_id"], "shell_pid": pane.shell_pid, "tty": None},
            }
        if method in ("pane.get", "agent.get"):
            return {"type": "pane_info", "pane": self._info(params.get("pane_id") or params["target"], pane)}
        if method == "pane.report_metadata":
            pane.set_metadata(params)
        elif method == "pane.clear_agent_authority":
            pane.clear_authority(params)
        else:
            agent = ALIASES.get(params["agent"].strip(), params["agent"].strip())
            if not agent:
                raise Refused("invalid_agent")
            if method == "pane.report_agent":
                pane.report(params, agent)
            elif method == "pane.release_agent":
                pane.release(params, agent)
            else:
                pane.report_session(params, agent)
        return {"type": "ok"}

    def _info(self, pane_id: str, pane: Pane) -> Params:
        info: Params = {
            "pane_id": pane_id,
            "terminal_id": "term_1",
            "workspace_id": "w1",
            "tab_id": "w1:t1",
            "focused": pane.focused,
            "agent_status": pane.status(),
            "revision": 1,
            **pane.shown_metadata(),
        }
        agent = pane.authority.agent if pane.authority else pane.detected
        if agent:
            info["agent"] = agent
        if pane.session is not None:
            source, session_agent = pane.session
            info["agent_session"] = {"agent": session_agent, "kind": "id", "source": source, "value": "0"}
        return info


def _line(answer: Params) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def ask(path: Path, method: str, params: Params) -> Params:
    """Send one request as a reporter does; for tests that play another reporter."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(FIRST_LINE_SECONDS)
        connection.connect(str(path))
        connection.sendall(_line({"id": "test", "method": method, "params": params}))
        with connection.makefile("rb") as stream:
            answer: Params = json.loads(stream.readline())
    return answer


def now() -> int:
    """Return a sequence number as official integrations take it."""
    return time.time_ns()
