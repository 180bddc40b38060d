"""The command sink, with real processes: literal arguments, exact input, limits, and no process left."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from lifecycle_wrap.config import Command
from lifecycle_wrap.hosts.base import OUTPUT_LIMIT, Call, ErrorClass, HostError, Setup
from lifecycle_wrap.hosts.command import CommandSink
from lifecycle_wrap.projection import Kind
from tests.support.events import event, release, started
from tests.support.waiting import wait_until


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def sink(*argv: object, timeout: float = 10.0, events: tuple[str, ...] = ("state", "release")) -> CommandSink:
    return CommandSink(Setup({}), Command("sink", tuple(map(str, argv)), timeout, frozenset(events)))


def is_gone(pid: int) -> bool:
    """Tell whether a process is gone or only waits to be reaped by whoever is its parent now."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return not state.strip() or state.startswith("Z")


def error_of(host: CommandSink, budget: float = 10.0) -> ErrorClass:
    with pytest.raises(HostError) as caught:
        host.publish(event("working"), Call(budget))
    return caught.value.error_class


def test_one_start_per_event_with_its_line_on_stdin(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = script(tmp_path / "sink", f'echo "start $#" >> "{out}"; cat >> "{out}"')
    manager = started([sink(program, "one argument")])
    told = []
    for state in ("working", "blocked"):
        told.append(event(state))
        manager.publish(told[-1])
        wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") == 2 * len(told), state)
    told.append(release())
    manager.publish(told[-1])
    manager.close()
    assert out.read_bytes() == b"".join(b"start 1\n" + one.to_json() for one in told)


def test_arguments_are_literal_and_no_shell_reads_anything(tmp_path: Path) -> None:
    out, trap = tmp_path / "out", tmp_path / "trap"
    hostile = [f"$(touch {trap})", f"`touch {trap}`", f"; touch {trap}", "a b", "*", "'\"\\", "--flag", "é"]
    program = script(tmp_path / "a sink; touch trap", f'printf "%s\\n" "$@" > "{out}"; cat >> "{out}"')
    told = event("working", cwd=f"/$(touch {trap})", session_id=f"`touch {trap}`;'\"")
    sink(program, *hostile).publish(told, Call(10))
    assert out.read_text().split("\n")[: len(hostile)] == hostile
    assert out.read_bytes().endswith(told.to_json())
    assert not trap.exists()


def test_output_goes_nowhere_and_the_group_is_its_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sink(script(tmp_path / "sink", f'ls -l /proc/$$/fd > "{out}"; ps -o pgid=,sid= -p $$ >> "{out}"')).publish(
        event("working"), Call(10)
    )
    text = out.read_text()
    assert "2 -> /dev/null" in text
    group, session = map(int, text.splitlines()[-1].split())
    assert group == session != os.getpgrp()


def test_only_the_events_of_its_list(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = script(tmp_path / "sink", f'cat >> "{out}"')
    host = sink(program, events=("attention", "turn_completed"))
    manager = started([host])
    told = [event("idle", kind=Kind.TURN_COMPLETED, turn_id="r-1"), event("idle", kind=Kind.ATTENTION, turn_id="r-2")]
    for number, one in enumerate(told, 1):
        manager.publish(event("working" if number % 2 else "blocked"))
        manager.publish(one)
        wait_until(lambda number=number: out.exists() and out.read_bytes().count(b"\n") == number, "the event")
    manager.publish(release())
    manager.close()
    assert out.read_bytes() == b"".join(one.to_json() for one in told)


def test_its_own_time_limit_counts() -> None:
    host = sink("sleep", "60", timeout=0.1)
    started_at = time.monotonic()
    assert error_of(host, host.state_seconds) is ErrorClass.TIMED_OUT
    assert time.monotonic() - started_at < 2
    assert host.release_seconds == 0.1
    assert sink("true", timeout=30).release_seconds == 0.75


def test_a_command_that_never_reads_does_not_hold_us(tmp_path: Path) -> None:
    big = event("working", resume_argv=("x" * 4096,) * 64)
    started_at = time.monotonic()
    with pytest.raises(HostError):
        sink("sleep", "60").publish(big, Call(0.2))
    assert time.monotonic() - started_at < 2
    sink("true").publish(big, Call(10))


def test_the_classes_of_failure(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    assert error_of(sink(tmp_path / "absent")) is ErrorClass.UNAVAILABLE
    assert error_of(sink("no-such-program-anywhere")) is ErrorClass.UNAVAILABLE
    assert error_of(sink(plain)) is ErrorClass.DENIED
    assert error_of(sink("false")) is ErrorClass.FAILED
    plain.chmod(0o755)
    plain.write_bytes(b"\x7fELF nonsense")
    assert error_of(sink(plain)) is ErrorClass.FAILED


@pytest.mark.parametrize("how", ["time limit", "cancelled", "ended"])
def test_a_grandchild_in_the_group_does_not_survive(tmp_path: Path, how: str) -> None:
    pid_file = tmp_path / "pid"
    rest = "exit 0" if how == "ended" else "wait"
    program = script(
        tmp_path / "sink", f'sleep 600 & echo $! > "{pid_file}.new"; mv "{pid_file}.new" "{pid_file}"; {rest}'
    )
    manager = started([sink(program, timeout=1.0 if how == "time limit" else 30.0)])
    manager.publish(event("working"))
    wait_until(pid_file.exists, "the grandchild")
    grandchild = int(pid_file.read_text())
    if how == "cancelled":
        started_at = time.monotonic()
        manager.close()
        assert time.monotonic() - started_at < 1.0
    wait_until(lambda: is_gone(grandchild), "the grandchild's end")
    manager.close()


def test_a_flood_on_stdout_costs_nothing(tmp_path: Path) -> None:
    program = script(tmp_path / "sink", "dd if=/dev/zero bs=65536 count=64 2>/dev/null; cat > /dev/null")
    sink(program).publish(event("working"), Call(10))


def test_asking_returns_what_was_said_and_the_status(tmp_path: Path) -> None:
    answer = Call(10).ask([str(script(tmp_path / "x", "echo out; echo err >&2; exit 3"))])
    assert answer == (3, b"out\nerr\n")


def test_asking_is_bounded_in_size_and_time(tmp_path: Path) -> None:
    exact = script(tmp_path / "exact", f"head -c {OUTPUT_LIMIT} /dev/zero")
    assert len(Call(10).ask([str(exact)]).output) == OUTPUT_LIMIT
    with pytest.raises(HostError, match="failed"):
        Call(10).ask([str(script(tmp_path / "flood", "cat /dev/zero"))])
    with pytest.raises(HostError, match="timed out"):
        Call(0.1).ask([str(script(tmp_path / "silent", "sleep 60"))])


def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_answer(tmp_path: Path) -> None:
    started_at = time.monotonic()
    assert Call(10).ask([str(script(tmp_path / "x", "sleep 600 & echo said"))]) == (0, b"said\n")
    assert time.monotonic() - started_at < 5
