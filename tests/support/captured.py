"""All adapters at once, with what they send caught on its way: command lines, input, socket lines and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lifecycle_wrap import config
from lifecycle_wrap.broker_config import Broker, parse_url
from lifecycle_wrap.hosts import broker, cmux, cmux_tui, herdr, mqtt, register, tmux, zellij
from lifecycle_wrap.hosts.base import Answer, Call, Host, Setup
from lifecycle_wrap.hosts.command import CommandSink
from lifecycle_wrap.projection import Kind, LifecycleEvent

ENVIRON = {
    "PATH": "/usr/bin:/bin",
    "HERDR_ENV": "1",
    "HERDR_PANE_ID": "w1:p1",
    "CMUX_TUI_SOCKET": "/nowhere/socket",
    "CMUX_TUI_TERMINAL_ID": "term_" + "0" * 32,
    "ZELLIJ_PANE_ID": "3",
    "TMUX_PANE": "%1",
    "CMUX_SURFACE_ID": "S",
    "CMUX_WORKSPACE_ID": "W",
}


class Sent:
    """What one host was sent, in order.

    Attributes:
        commands: argument lists, each with what the command read.
        lines: the requests over its socket.
        files: what its files held after each send, newest last.
    """

    def __init__(self) -> None:
        self.commands: list[tuple[tuple[str, ...], bytes]] = []
        self.lines: list[dict[str, Any]] = []
        self.files: list[str] = []

    def everything(self) -> str:
        """Return all of it as one text to search."""
        return repr(self.commands) + json.dumps(self.lines, ensure_ascii=False) + "".join(self.files)


class CaughtCall(Call):
    """A call that reaches nobody and always succeeds."""

    def __init__(self, sent: Sent) -> None:
        super().__init__(1000.0)
        self.sent = sent

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> None:
        self.sent.commands.append((tuple(argv), stdin))

    def ask(self, argv: Sequence[str], *, environ: Mapping[str, str] | None = None) -> Answer:
        self.sent.commands.append((tuple(argv), b""))
        return Answer(0, b"--pane-id")


class CaughtTeller(mqtt.Teller):
    """A connection that takes everything and leads nowhere; what would be sent is kept in `messages`."""

    def __init__(self, broker: Broker, topics: broker.Topics, will: bytes, environ: Mapping[str, str]) -> None:
        super().__init__(broker, topics, will, environ)
        self.messages = [f"{topics.state} {topics.events}", will.decode()]
        self.online = True
        self.tried.set()
        self.left.set()

    def start(self) -> None:
        pass

    def tell(self, state: bytes, will: bytes) -> None:
        self.messages += [state.decode(), will.decode()]

    def pass_on(self, event: bytes) -> None:
        self.messages.append(event.decode())

    leave = pass_on


class Hosts:
    """One of each host; `tell` gives an event to all that want it.

    Attributes:
        sent: what each got, by name.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        environ = {**ENVIRON, "XDG_RUNTIME_DIR": str(folder), **environ}
        setup = Setup(environ, {"cmux_notify": "blocked"}, tty="/dev/pts/1")
        sink = config.Command("sink", ("/sink",), events=frozenset(kind.value for kind in Kind))
        pane_hosts = (herdr.Herdr, cmux_tui.CmuxTui, zellij.Zellij, tmux.Tmux, cmux.Cmux)
        self._hosts: list[Host] = [host(setup) for host in pane_hosts]
        self._hosts += [register.Register(setup), CommandSink(setup, sink)]
        self._mqtt = mqtt.Mqtt(setup._replace(options={"broker": Broker(parse_url("mqtt://nowhere"))}))
        self._hosts.append(self._mqtt)
        self.sent = {host.name: Sent() for host in self._hosts}
        for host in self._hosts:
            host.prepare(CaughtCall(self.sent[host.name]))

    def tell(self, event: LifecycleEvent) -> None:
        for host in self._hosts:
            call = CaughtCall(self.sent[host.name])
            if event.kind is Kind.RELEASE:
                host.release(event, call)
            elif event.kind in host.kinds:
                host.publish(event, call)
            if host.name == "register":
                texts = [path.read_text() for path in sorted((self._folder / "lifecycle-wrap").iterdir())]
                call.sent.files += texts or [""]
        assert isinstance(self._mqtt.link, CaughtTeller)
        self.sent["mqtt"].files = self._mqtt.link.messages


@contextmanager
def all_hosts(monkeypatch: pytest.MonkeyPatch, folder: Path, environ: Mapping[str, str] = {}) -> Iterator[Hosts]:
    """Make the hosts, with their sockets led here."""

    def exchange(path: str, line: bytes, call: Call, seconds: float) -> bytes:
        assert isinstance(call, CaughtCall)
        request = json.loads(line)
        call.sent.lines.append(request)
        if "method" not in request:
            state = {"state": request["params"]["state"], "source": "socket"}
            return json.dumps({"ok": True, "result": {"value": state}}).encode() + b"\n"
        states = [sent["params"].get("state") for sent in call.sent.lines if sent["method"] == "pane.report_agent"]
        pane = {"agent_status": states[-1] if states else "unknown"}
        return json.dumps({"id": request["id"], "result": {"type": "pane_info", "pane": pane}}).encode() + b"\n"

    monkeypatch.setattr(herdr, "exchange_line", exchange)
    monkeypatch.setattr(cmux_tui, "exchange_line", exchange)
    monkeypatch.setattr(mqtt, "Teller", CaughtTeller)
    monkeypatch.setattr(herdr, "_socket", lambda environ: "/nowhere/herdr")
    yield Hosts(folder, environ)
