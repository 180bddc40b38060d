"""Every host in every kind of trouble at once: the others get every state in order, and the end comes in time."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import Host, Setup
from lifecycle_wrap.hosts.cmux import Cmux
from lifecycle_wrap.hosts.cmux_tui import CmuxTui
from lifecycle_wrap.hosts.command import CommandSink
from lifecycle_wrap.hosts.herdr import Herdr
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.hosts.tmux import Tmux
from lifecycle_wrap.hosts.zellij import Zellij
from tests.support.captured import ENVIRON
from tests.support.events import MemoryHost, event, release, started
from tests.support.orders import Orders
from tests.support.terminal import isolated_environment
from tests.support.troubled_commands import binaries
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

TIMELINE = ("working", "blocked", "working", "idle", "working")

EXIT_SECONDS = 1.1
SLACK = 0.9
"""For a machine that does other things at the same time."""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Marks all that a test starts, and holds that nothing of it is left."""
    monkeypatch.setenv("CHAOS_MARK", str(tmp_path))
    yield
    wait_until(lambda: not left(tmp_path), lambda: f"the end of {left(tmp_path)}", 5.0)


def left(folder: Path) -> list[list[str]]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("CHAOS_MARK") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.cmdline())
        except psutil.Error:
            continue
    return found


def survive(troubled: list[Host], folder: Path) -> None:
    """Tell a timeline to troubled hosts beside two good ones."""
    notes = folder / "notes"
    sink_script = folder / "good-sink"
    sink_script.write_text(f"#!/bin/sh\ncat >> {notes}\n")
    sink_script.chmod(0o755)
    good = MemoryHost("good")
    sink = CommandSink(Setup({}), Command("sink", (str(sink_script),), 20.0))
    log: list[str] = []
    manager = started([*troubled, good, sink], log, debug=True)
    for number, state in enumerate(TIMELINE, 1):
        manager.publish(event(state))
        wait_until(lambda number=number: len(good.events) == number == lines(notes), lambda: f"all states: {log}")
    manager.publish(release())
    begin = time.monotonic()
    manager.close()
    assert time.monotonic() - begin < EXIT_SECONDS + SLACK
    assert good.states == [*TIMELINE, "release"]
    assert lines(notes) == len(TIMELINE) + 1
    assert not any("crashed" in line for line in log), log


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.usefixtures("mark")
@pytest.mark.parametrize("kind", [Tmux, Zellij, Cmux, Herdr])
def test_a_host_whose_command_is_in_trouble(kind: type[Host], tmp_path: Path) -> None:
    names = {Tmux: "tmux", Zellij: "zellij", Cmux: "cmux", Herdr: "herdr"}
    troubled = []
    for folder in binaries(tmp_path, (names[kind],)).values():
        environ = {**os.environ, **ENVIRON, "PATH": f"{folder}:/usr/bin:/bin"}
        if kind is Zellij:
            environ["PATH"] = f"{folder}:{tmp_path}:/usr/bin:/bin"
        troubled.append(kind(Setup(environ)))
    survive(troubled, tmp_path)


@pytest.mark.usefixtures("mark")
def test_a_sink_in_trouble(tmp_path: Path) -> None:
    troubled: list[Host] = [
        CommandSink(Setup({}), Command(fault, (str(folder / "sink"),), 0.5))
        for fault, folder in binaries(tmp_path, ("sink",)).items()
    ]
    survive(troubled, tmp_path)


def serve(path: Path, answer: Callable[[socket.socket], None]) -> socket.socket:
    """Listen, and give each connection to `answer`; closing the listener ends it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(16)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()

    def guarded(connection: socket.socket) -> None:
        with connection:
            try:
                answer(connection)
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    return listener


def flood(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"x" * 65536)


def dies(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b'{"id":')


def hangs(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def slowly(connection: socket.socket) -> None:
    connection.recv(65536)
    for byte in b'{"id":"x","result":{"type":"ok"}}\n':
        connection.sendall(bytes((byte,)))
        threading.Event().wait(0.05)


@pytest.mark.usefixtures("mark")
@pytest.mark.parametrize("kind", [Herdr, CmuxTui])
def test_a_host_whose_socket_is_in_trouble(kind: type[Host], tmp_path: Path) -> None:
    troubled: list[Host] = []
    with tempfile.TemporaryDirectory(prefix="ch") as name:
        folder = Path(name)
        listeners = [serve(folder / one.__name__, one) for one in (flood, dies, hangs, slowly)]
        deaf = socket.socket(socket.AF_UNIX)
        deaf.bind(str(folder / "deaf"))
        deaf.listen(0)
        crashed = socket.socket(socket.AF_UNIX)
        crashed.bind(str(folder / "crashed"))
        crashed.close()
        (folder / "no socket").touch()
        paths = [*folder.iterdir(), folder / "missing"]
        for path in paths:
            marks = {"HERDR_SOCKET_PATH": str(path), "CMUX_TUI_SOCKET": str(path), "PATH": "/nowhere"}
            troubled.append(kind(Setup({**ENVIRON, **marks})))
        survive(troubled, tmp_path)
        for listener in [*listeners, deaf]:
            listener.close()


@pytest.mark.usefixtures("mark")
def test_a_register_in_trouble(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("file", "link", "open")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "lifecycle-wrap").touch()
    (folders[1] / "lifecycle-wrap").symlink_to(tmp_path)
    (folders[2] / "lifecycle-wrap").mkdir(mode=0o777)
    (folders[2] / "lifecycle-wrap").chmod(0o777)
    troubled: list[Host] = [Register(Setup({"XDG_RUNTIME_DIR": str(folder)})) for folder in folders]
    survive(troubled, tmp_path)
    assert list((folders[2] / "lifecycle-wrap").iterdir()) == []


def test_a_register_that_was_told_nothing_leaves_nothing(tmp_path: Path) -> None:
    register = Register(Setup({"XDG_RUNTIME_DIR": str(tmp_path)}))
    manager = started([register])
    manager.close()
    assert list((tmp_path / "lifecycle-wrap").iterdir()) == []


@pytest.mark.usefixtures("mark")
def test_a_session_among_troubled_sinks(tmp_path: Path) -> None:
    """The whole program: keys are echoed while hosts hang, and the end comes in time."""
    config = tmp_path / "config.toml"
    notes = tmp_path / "notes"
    good = tmp_path / "good"
    good.write_text(f"#!/bin/sh\ncat >> {notes}\n")
    good.chmod(0o755)
    sinks = {fault: folder / "sink" for fault, folder in binaries(tmp_path, ("sink",)).items()} | {"good": good}
    config.write_text(
        "".join(f'[[lifecycle.commands]]\nname = "{name}"\ncommand = ["{path}"]\n' for name, path in sinks.items())
    )
    environ = isolated_environment(tmp_path, CHAOS_MARK=str(tmp_path))
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ, ["--config", str(config)]) as wrapped:
        for number, state in enumerate(("working", "blocked:kind=permission", "working"), 1):
            orders.give(f"state {state}")
            wait_until(lambda number=number: lines(notes) == number, state)
            typed = f"typed {number}".encode()
            wrapped.type(typed)
            wait_until(lambda typed=typed: typed in wrapped.output, "the echo")
        orders.give("exit 3")
        wait_until(lambda: not any("told_agent" in " ".join(line) for line in left(tmp_path)), "the agent's end")
        begin = time.monotonic()
        assert wrapped.wait() == 3
        assert time.monotonic() - begin < EXIT_SECONDS + SLACK
    assert lines(notes) == 4


def test_an_interrupt_clears_the_terminal_first_and_then_releases_the_hosts(tmp_path: Path) -> None:
    """The release waits until the cleared terminal was seen: were it the other way round, it would be killed first."""
    seen, notes, sink = tmp_path / "seen", tmp_path / "notes", tmp_path / "sink"
    waits = f"while [ ! -e {seen} ]; do sleep 0.01; done"
    sink.write_text(f"#!/bin/sh\nevent=$(cat)\ncase $event in *release*) {waits};; esac\necho $event >> {notes}\n")
    sink.chmod(0o755)
    config = tmp_path / "config.toml"
    config.write_text(f'[lifecycle]\nosc = "on"\n[[lifecycle.commands]]\nname = "sink"\ncommand = ["{sink}"]\n')
    environ = isolated_environment(tmp_path)
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ, ["--config", str(config)]) as wrapped:
        orders.give("state working")
        wait_until(lambda: b"\x1b]9;4;3;0\x1b\\" in wrapped.output and lines(notes) == 1, "the state")
        wrapped.signal(signal.SIGINT)
        wait_until(lambda: b"\x1b]9;4;0;0\x1b\\" in wrapped.output, "the cleared progress")
        seen.touch()
        assert wrapped.wait() == 128 + signal.SIGINT
    assert json.loads(notes.read_text().splitlines()[-1])["kind"] == "release"
