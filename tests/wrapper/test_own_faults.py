"""Our own faults: hosts do not go on showing what we said last, and nothing is printed between the agent's bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle_wrap.looking import Blind
from lifecycle_wrap.terminal import reset
from tests.support.broken import broken
from tests.support.place import Place, finished, patched, python_agent
from tests.support.waiting import wait_until

AGENT = python_agent(
    "say('\\x1b]7501;state=working\\x07ready'); tty.setraw(0)\nwhile os.read(0, 1) != b'q': say('<key>')\n"
)
NO_THREADS = 'import {module} as m\ndef refuse(*_): raise RuntimeError("can\'t start new thread")\nm.{name} = refuse\n'
NO_BEGINNING = """
import threading
def begin(thread):
    if isinstance(thread, worker.Worker): threading.Event().wait()
    start(thread)
from lifecycle_wrap import worker
start, threading.Thread.start = threading.Thread.start, begin
"""
LATE = """
import time
import lifecycle_wrap.loading as loading
make = loading.Loader._make
def late(self):
    time.sleep(0.5)
    return make(self)
loading.Loader._make = late
"""


def sink(place: Place) -> Path:
    """Configure a command sink; returns the file that it appends to."""
    notes, script = place.folder / "notes", place.folder / "sink"
    script.write_text(f"#!/bin/sh\nexec cat >> {notes}\n")
    script.chmod(0o755)
    config = place.folder / ".config" / "lifecycle-wrap" / "config.toml"
    config.write_text(f'[lifecycle]\nosc = "off"\n[[lifecycle.commands]]\nname = "notes"\ncommand = ["{script}"]\n')
    return notes


def kinds(notes: Path) -> list[str]:
    return [json.loads(line)["kind"] for line in notes.read_text().splitlines()] if notes.exists() else []


@pytest.mark.parametrize("fault", ["the observer, later", "the session"])
def test_an_observer_that_fails_releases_the_hosts_at_once(place: Place, fault: str) -> None:
    notes = sink(place)
    terminal = place.spawn(AGENT, program=broken(fault))
    terminal.expect_exact(b"ready")
    wait_until(lambda: kinds(notes) == ["state"], "the state")
    while kinds(notes)[-1:] != ["release"]:
        terminal.send("k")
        terminal.expect_exact(b"<key>")
    terminal.send("q")
    finished(terminal)
    assert kinds(notes).count("release") == 1
    assert kinds(notes)[-1] == "release"


def test_a_pump_that_fails_releases_the_hosts_at_the_end(place: Place) -> None:
    notes = sink(place)
    terminal = place.spawn(AGENT, program=broken("the pump, at the end"))
    terminal.expect_exact(b"ready")
    wait_until(lambda: kinds(notes) == ["state"], "the state")
    terminal.send("q")
    finished(terminal)
    assert kinds(notes)[-1:] == ["release"]


@pytest.mark.parametrize(("module", "name"), [("threading", "Thread.start"), ("_thread", "start_new_thread")])
def test_where_there_are_no_threads_the_agent_runs_and_nothing_is_printed(place: Place, module: str, name: str) -> None:
    sink(place)
    terminal = place.spawn(
        ["sh", "-c", "printf one; read x; exit 3"], program=patched(NO_THREADS.format(module=module, name=name))
    )
    terminal.expect_exact(b"one")
    wait_until(place.log.exists, "the log tells")
    terminal.sendline("")
    shown, status = finished(terminal)
    assert status == 3
    assert b"Traceback" not in shown
    assert "thread" in place.log.read_text()


def test_a_thread_that_never_begins_stops_nothing(place: Place) -> None:
    sink(place)
    terminal = place.spawn(AGENT, program=patched(NO_BEGINNING))
    terminal.expect_exact(b"ready")
    for _ in range(3):
        terminal.send("k")
        terminal.expect_exact(b"<key>")
    terminal.send("q")
    assert finished(terminal)[1] == 0


def test_what_an_agent_sets_before_a_flood_is_undone_however_late_the_observer_is(place: Place) -> None:
    agent = python_agent("say('\\x1b[?2004h' + 'x' * 1_000_000)")
    shown, status = finished(place.spawn(agent, program=patched(LATE)))
    assert status == 0
    assert b"\x1b[?2004l" in shown[-100:]


def test_without_memory_for_the_table_of_terminals_there_is_still_a_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(reset, "reset_bytes", refuse)
    assert Blind(changed=True).leave() == reset.RESET
