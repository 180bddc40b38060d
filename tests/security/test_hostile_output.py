"""What an agent prints is hostile: it cannot make us grow, reach the user's screen or shell, or lie about its end."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from lifecycle_detectors import (
    Catalog,
    Session,
    Size,
    State,
    StateChanged,
    TitleChanged,
    WorkingDirectoryChanged,
    make_screen,
)
from lifecycle_detectors.osc_filter import OscFilter
from lifecycle_detectors.parser import Osc, Parser
from lifecycle_wrap.commands import ps, sessions
from lifecycle_wrap.hosts.base import Call, Setup
from lifecycle_wrap.hosts.records import list_sessions
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.projection import Identity, Projector
from lifecycle_wrap.terminal.title_prefix import MARKS, TitlePrefix
from tests.support.captured import all_hosts
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

MEGABYTE = 1 << 20
PIECE = 1 << 16
PIECES = 96


def new_session() -> Session:
    return Session(Catalog().get("claude"), Size(24, 80), 0.0, screen=lambda size: make_screen(size, "pyte"))


BEGINNINGS = {
    "OSC": b"\x1b]0;",
    "OSC 7501": b"\x1b]7501;state=working:msg=",
    "OSC 9;4": b"\x1b]9;4;",
    "DCS": b"\x1bP",
    "tmux passthrough": b"\x1bPtmux;\x1b\x1b]0;",
    "APC": b"\x1b_G",
    "CSI": b"\x1b[",
    "escape": b"\x1b",
    "synchronized update": b"\x1b[?2026h",
    "clipboard": b"\x1b]52;c;",
    "kitty notification": b"\x1b]99;i=1:d=0;",
    "hyperlink": b"\x1b]8;;",
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_sequence_without_end_streams_through(name: str) -> None:
    """6 MB here; what is kept does not depend on how much comes, so that 4 GB would be the same."""
    session = new_session()
    osc_filter = OscFilter((9, 7501), lambda osc: b"")
    filler = b"1;" * (PIECE // 2)
    session.receive_output(BEGINNINGS[name], 0.0)
    passed = len(osc_filter.filter(BEGINNINGS[name]))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        grown = []
        for number in range(PIECES):
            session.receive_output(filler, number * 0.01)
            while (due := session.next_deadline) is not None and due <= number * 0.01:
                session.tick(due)
            passed += len(osc_filter.filter(filler))
            if number % (PIECES // 4) == 0:
                grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert max(grown) < 8 * MEGABYTE, grown  # of which what waits for the screen may be 4
    assert grown[-1] <= grown[1] + MEGABYTE, grown
    assert passed + len(osc_filter.flush()) == len(BEGINNINGS[name]) + PIECES * PIECE, "every byte reaches the terminal"


AGENT = """
import os, sys
def say(data):
    while data:
        data = data[os.write(1, data):]
say(b"\\x1b]0;")
for _ in range(int(sys.argv[1])):
    say(b"x" * 65536)
say(b"\\x07done\\r\\n")
sys.stdin.read(1)
"""


def test_the_program_does_not_grow_with_an_endless_sequence(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('screen = "off"\n')  # its library is loaded when all is quiet, which would count as growth
    grown = {}
    for megabytes in (8, 24):
        argv = [sys.executable, "-c", AGENT, str(megabytes * 16)]
        with Wrapped(argv, isolated_environment(tmp_path), ["--config", str(config)]) as wrapped:
            wait_until(lambda wrapped=wrapped: b"done" in wrapped.output[-200:], "the end of the output", 60.0)
            ours = psutil.Process(wrapped.pid)
            grown[megabytes] = sum(one.memory_info().rss for one in [ours, *ours.children()] if _is_ours(one))
            assert len(wrapped.output) >= megabytes * MEGABYTE
            wrapped.type(b"\r")
            assert wrapped.wait() == 0
    assert grown[24] - grown[8] < 4 * MEGABYTE, grown


def _is_ours(process: psutil.Process) -> bool:
    return "lifecycle_wrap" in " ".join(process.cmdline())


BIDI = "\u202eevil\u202c \u2066x\u2069 \u200fy \x9b31m \u200d \ufeff \U000e0041 z"


def test_what_the_agent_names_cannot_turn_a_line_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles and directories with bidi, format and control characters: none of them reaches a host or `ps`."""
    session = new_session()
    events = session.receive_output(
        f"\x1b]0;{BIDI}\x07\x1b]7;file:///tmp/{quote(BIDI)}\x07\x1b]7501;state=working\x1b\\".encode(), 0.0
    )
    events += session.tick(5.0)
    events.append(WorkingDirectoryChanged(5.0, f"/tmp/{BIDI}"))  # the core passes none on that is so
    assert {type(one) for one in events} >= {TitleChanged, StateChanged}
    projector = Projector(Identity("claude", 1, "/", "run"), iter(range(1, 1 << 40)).__next__, titles=True)
    told = [projector.started(), *projector.project(events)]
    with all_hosts(monkeypatch, tmp_path) as hosts:
        for one in told:
            hosts.tell(one)
        everything = "".join(sent.everything() for sent in hosts.sent.values())
    assert "evil" in everything
    assert not [c for c in BIDI if not c.isprintable() and (c in everything or f"\\u{ord(c):04x}" in everything)]
    [session_] = _registered(tmp_path / "own", told)
    assert ps._table([session_], 0.0, {"COLUMNS": "200"}).replace("\n", "").isprintable()


def _registered(folder: Path, told: list[object]) -> list[object]:
    folder.mkdir()
    register = Register(Setup({"XDG_RUNTIME_DIR": str(folder)}))
    register.prepare(Call(5.0))
    for one in told:
        register.publish(one, Call(5.0))  # type: ignore[arg-type]
    return list(list_sessions(folder / "lifecycle-wrap"))


def test_a_title_that_we_mark_stays_one_sequence() -> None:
    """The state is put before the agent's title: what is in that title neither ends the sequence nor turns it."""
    prefix = TitlePrefix(MARKS["state"], "agent")
    prefix.take_state(State.BLOCKED)
    written = prefix.take_agents(Osc(f"0;{BIDI}".encode(), True), may_write=True)
    assert written is not None
    [title] = Parser().feed(written)
    assert isinstance(title, Osc)
    assert title.data.decode().isprintable()


SHELL = "$(touch PWNED);`touch PWNED`;'\";touch PWNED;\n&& touch PWNED #{q:x}#(touch PWNED) %n\\"


def test_event_data_is_never_run_by_a_shell(tmp_path: Path) -> None:
    """The whole program: the directory that the agent tells is full of shell; a sink gets it as JSON, on stdin."""
    folder = tmp_path / "work"
    folder.mkdir()
    notes, sink, config = tmp_path / "notes", tmp_path / "sink", tmp_path / "config.toml"
    sink.write_text(f'#!/bin/sh\n[ $# = 1 ] && [ "$1" = fixed ] && cat >> {notes}\n')
    sink.chmod(0o755)
    config.write_text(f'[[lifecycle.commands]]\nname = "s"\ncommand = ["{sink}", "fixed"]\n')
    name = SHELL.replace("\n", "")
    script = (
        f"import os, sys, urllib.parse as u; name = {name!r}\n"
        "os.write(1, b'\\x1b]7;file:///' + u.quote(name).encode() + b'\\x07\\x1b]7501;state=working\\x1b\\\\')\n"
        "sys.stdin.read(1)\n"
    )
    environ = isolated_environment(tmp_path)
    with Wrapped([sys.executable, "-c", script], environ, ["--config", str(config)]) as wrapped:
        wait_until(notes.exists, "the sink")
        [session] = sessions.running(environ)
        [focus] = sessions.fill_in("{focus} {cwd}", [session], 0.0)
        assert name in focus
        wrapped.type(b"\r")
        assert wrapped.wait() == 0
    told = [json.loads(line) for line in notes.read_text().splitlines()]
    assert told[0]["cwd"] == f"/{name}"
    assert not list(tmp_path.rglob("*PWNED*"))
    assert not Path("PWNED").exists()
