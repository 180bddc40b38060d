"""What agent output can cause is bounded: state changes, sends to hosts, processes, notifications, answers.

The numbers are those of the README's table.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle_detectors import (
    ApprovalRequested,
    ApprovalResolved,
    Catalog,
    Message,
    Session,
    Size,
    StateChanged,
    make_screen,
)
from lifecycle_detectors.answer import ANSWER, MOST_ANSWERS, StatusQueryAnswer
from lifecycle_detectors.states import BRIEF_SECONDS
from lifecycle_wrap import worker
from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import Setup
from lifecycle_wrap.hosts.command import CommandSink
from lifecycle_wrap.projection import Kind
from lifecycle_wrap.terminal.attention import INTERVAL_SECONDS, Notifier
from lifecycle_wrap.worker import BURST, BURST_SECONDS
from tests.support.events import MemoryHost, event, release, started
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

STATES = (b"working", b"blocked:kind=permission", b"idle", b"blocked:kind=question", b"error", b"done")
FLOODS: dict[str, Callable[[int], bytes]] = {
    "program status": lambda number: b"\x1b]7501;state=" + STATES[number % len(STATES)] + b"\x1b\\",
    "progress": lambda number: b"\x1b]9;4;%d;%d\x1b\\" % (number % 5, number % 101),
    "titles": lambda number: "\x1b]0;{} t\x07".format("✳⠋⠙✋"[number % 4]).encode(),
    "dialogs": lambda number: (b"\x1b[2J\x1b[H Allow? (y/n) ", b"\x1b[2J\x1b[H\xe2\xa0\x8b Working\r\n> ")[number % 2],
    "bells": lambda number: b"\x07",
}


def flooded(make: Callable[[int], bytes], changes: int, reads: int, seconds: float) -> int:
    """Return how many state changes come of so many in the output, that come in so many reads."""
    session = Session(Catalog().get("claude"), Size(24, 80), 0.0, screen=lambda size: make_screen(size, "pyte"))
    told = 0
    number = itertools.count()
    for read in range(reads):
        now = seconds * read / reads
        data = b"".join(make(next(number)) for _ in range(changes // reads))
        events = session.receive_output(data, now)
        while (due := session.next_deadline) is not None and due <= now:
            events += session.tick(now)
        told += sum(isinstance(one, StateChanged) for one in events)
    return told


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_states_makes_few_changes(name: str) -> None:
    for reads in (50, 1000):  # at the rhythm of judgement, and much faster
        assert flooded(FLOODS[name], 4_000, reads, 2.0) <= 2.0 / BRIEF_SECONDS + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOODS)
def test_a_million_states_a_second_make_few_changes(name: str) -> None:
    assert flooded(FLOODS[name], 1_000_000, 1000, 1.0) <= 1.0 / BRIEF_SECONDS + 1


def allowed(seconds: float) -> int:
    """Return how many sends to a host may begin within a time."""
    return BURST * (int(seconds / BURST_SECONDS) + 1)


def test_a_host_is_sent_to_only_so_often_and_gets_the_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every event differs from the one before in what hosts are told (OSC 7), so that none is left out as equal."""
    monkeypatch.setattr(worker, "BURST_SECONDS", 0.4)
    kinds = frozenset({Kind.STATE, Kind.ATTENTION})
    begins: list[float] = []
    host = MemoryHost(on_publish=lambda event, call: begins.append(time.monotonic()))
    host.kinds = kinds
    manager = started([host])
    began = time.monotonic()
    number = 0
    while time.monotonic() < began + 0.5:
        number += 1
        manager.publish(event("working", cwd=f"/work/{number}"))
        manager.publish(event("working", kind=Kind.ATTENTION))
    manager.publish(event("idle"))
    wait_until(lambda: host.events[-1].state == "idle", lambda: f"the last state: {len(host.events)} told")
    assert number > 500
    for first, last in zip(begins, begins[BURST:], strict=False):
        assert last - first >= 0.39
    end = time.monotonic()
    manager.publish(release())
    manager.close()
    assert host.released.is_set()
    assert time.monotonic() - end < 1.0, "the release waits for nothing"


AGENT = """
import os, sys, time
end = time.monotonic() + float(sys.argv[1])
states = ["working", "blocked:kind=permission", "idle", "blocked:kind=question"]
number = 0
while time.monotonic() < end:
    lines = []
    for _ in range(200):
        number += 1
        lines.append(f"\\x1b]7501;state={states[number % 4]}\\x1b\\\\\\x1b]7;file:///tmp/{number}\\x07\\x07\\x1b]9;x\\x07")
    data = "".join(lines).encode()
    while data:
        data = data[os.write(1, data):]
"""


def test_a_flooding_agent_starts_few_processes(tmp_path: Path) -> None:
    """The whole program: a sink for every kind of event is started only so often."""
    notes, sink, config = tmp_path / "notes", tmp_path / "sink", tmp_path / "config.toml"
    sink.write_text(f"#!/bin/sh\necho >> {notes}\n")
    sink.chmod(0o755)
    config.write_text(
        f'[[lifecycle.commands]]\nname = "all"\ncommand = ["{sink}"]\n'
        'events = ["state", "attention", "turn_started", "turn_completed", "approval_requested", "release"]\n'
    )
    seconds = 1.0
    began = time.monotonic()
    argv = [sys.executable, "-c", AGENT, str(seconds)]
    with Wrapped(argv, isolated_environment(tmp_path), ["--config", str(config)]) as wrapped:
        assert wrapped.wait() == 0
    starts = notes.read_bytes().count(b"\n")
    assert 2 <= starts <= allowed(time.monotonic() - began) + 1


def test_a_dialog_that_flickers_notifies_only_so_often() -> None:
    notifier = Notifier("always", "claude", 0.0, 10.0)
    notified = []
    for number in range(1200):
        now = number * 0.05
        notifier.take(ApprovalRequested(now, 1, Message.APPROVAL) if number % 2 else ApprovalResolved(now, 1))
        if notifier.update(now, has_focus=False):
            notified.append(now)
    assert 2 <= len(notified) <= 60 / INTERVAL_SECONDS + 1
    assert all(after - before >= INTERVAL_SECONDS for before, after in itertools.pairwise(notified))


def test_a_dialog_that_still_stands_is_notified_late() -> None:
    notifier = Notifier("always", "claude", 0.0, 10.0)
    notifier.take(ApprovalRequested(0.0, 1, Message.APPROVAL))
    assert notifier.update(0.0, has_focus=False)
    notifier.take(ApprovalResolved(1.0, 1))
    notifier.take(ApprovalRequested(1.5, 1, Message.APPROVAL))
    assert not notifier.update(1.5, has_focus=False)
    assert notifier.deadline == INTERVAL_SECONDS
    assert notifier.update(INTERVAL_SECONDS, has_focus=False)


def test_an_agent_that_asks_for_ever_is_not_answered_for_ever() -> None:
    answer = StatusQueryAnswer()
    answers = b""
    for number in range(5000):
        answer.saw_query(float(number))
        answers += answer.filter_input(b"\x1b[?62c", float(number))
    assert answers.count(ANSWER) == MOST_ANSWERS


def test_a_sink_is_one_process_at_a_time(tmp_path: Path) -> None:
    notes, sink = tmp_path / "notes", tmp_path / "sink"
    lock = tmp_path / "lock"
    sink.write_text(f"#!/bin/sh\nmkdir {lock} || echo two >> {notes}\nrmdir {lock}\necho >> {notes}\n")
    sink.chmod(0o755)
    manager = started([CommandSink(Setup({}), Command("sink", (str(sink),), 20.0))])
    for number in range(500):
        manager.publish(event("working", cwd=f"/work/{number}"))
    wait_until(lambda: notes.exists(), "the sink")
    manager.settle(20.0)
    manager.publish(release())
    manager.close()
    assert "two" not in notes.read_text()
