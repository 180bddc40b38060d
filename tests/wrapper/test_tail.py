"""`tail`: every event once, in order, from several journals that grow, are replaced and go."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from lifecycle_wrap.commands import sessions
from lifecycle_wrap.commands.session_source import Source
from lifecycle_wrap.commands.tail import follow
from lifecycle_wrap.hosts import register
from lifecycle_wrap.hosts.base import Call
from lifecycle_wrap.projection import Kind
from tests.support.events import event
from tests.support.orders import Orders
from tests.support.registered import Registered, next_line, run, start
from tests.support.terminal import isolated_environment
from tests.support.waiting import DEADLINE, wait_until
from tests.support.wrapped_agent import Wrapped


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(tmp_path)


class Following:
    """`tail` on a thread of its own; without a session it ends with the process."""

    def __init__(self, environ: dict[str, str], word: str = "", lines: int = 0) -> None:
        self._lines: list[bytes] = []
        self._began = threading.Event()
        self._thread = threading.Thread(
            target=follow, args=(environ, Source(environ), word, lines, self._write), daemon=True
        )
        self._thread.start()
        assert self._began.wait(DEADLINE)

    def _write(self, data: bytes) -> None:
        assert data.endswith(b"\n") or not data
        self._lines += data.splitlines()
        self._began.set()

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in list(self._lines)]

    def wait_for(self, *told: tuple[int, str]) -> None:
        """Wait for exactly these: pid, and state or kind."""
        wait_until(lambda: len(self._lines) >= len(told), lambda: f"{told}; there are {self._lines}")
        assert [(event["pid"], event["state"] or event["kind"]) for event in self.events()] == list(told)

    def end(self) -> None:
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


def test_the_last_events_come_first_then_each_new_one(environ: dict[str, str]) -> None:
    one, two = Registered(environ, "claude", 1), Registered(environ, "codex", 2)
    one.tell("working")
    two.tell("idle")
    one.tell("blocked")
    following = Following(environ, lines=3)
    following.wait_for((1, "working"), (2, "idle"), (1, "blocked"))
    two.tell("working", kind=Kind.TURN_STARTED, turn_id="t-1")
    following.wait_for((1, "working"), (2, "idle"), (1, "blocked"), (2, "working"))
    assert following.events()[-1]["turn_id"] == "t-1"
    three = Registered(environ, "gemini", 3)
    following.wait_for((1, "working"), (2, "idle"), (1, "blocked"), (2, "working"), (3, "session_started"))
    for session in (one, two, three):
        session.end()
    wait_until(lambda: len(following.events()) == 8, "the releases")
    assert [event["kind"] for event in following.events()[-3:]] == ["release"] * 3


def test_one_session_is_followed_to_its_release(environ: dict[str, str]) -> None:
    one, two = Registered(environ, "claude", 1), Registered(environ, "codex", 2)
    following = Following(environ, "codex", lines=10)
    one.tell("working")
    two.tell("working")
    one.end()
    two.end()
    following.end()
    following.wait_for((2, "session_started"), (2, "working"), (2, "release"))


def test_nothing_is_lost_or_told_twice_when_a_journal_is_full(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register, "JOURNAL_LIMIT", 2000)
    session = Registered(environ, "claude", 1)
    following = Following(environ)
    for turn in range(200):
        session.tell("working", kind=Kind.TURN_STARTED, turn_id=str(turn))
        if turn % 5 == 0:  # a reader that is a whole journal behind may lose some
            wait_until(lambda seen=turn: len(following.events()) > seen, "the events so far")  # type: ignore[misc]
    session.tell("blocked")
    wait_until(lambda: following.events()[-1:] and following.events()[-1]["state"] == "blocked", "the last event")
    assert [event.get("turn_id") for event in following.events()[:-1]] == [str(turn) for turn in range(200)]
    folder = Path(environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap"
    assert sum(file.stat().st_size for file in folder.glob("*.events*")) < 2 * 2000 + 1000
    late = Following(environ, lines=5)
    late.wait_for(*[(1, "working")] * 4, (1, "blocked"))
    session.end()
    assert list(folder.iterdir()) == []


def test_a_line_that_a_full_disk_has_cut_is_left_out(environ: dict[str, str]) -> None:
    session = Registered(environ, "claude", 1)
    journal = next((Path(environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap").glob("*.events"))
    journal.write_bytes(journal.read_bytes()[:-20])
    session.tell("working")
    session.tell("idle")
    Following(environ, lines=10).wait_for((1, "idle"))


def test_a_state_that_is_told_again_for_a_notice_is_no_new_event(environ: dict[str, str]) -> None:
    session = Registered(environ, "claude", 1)
    told = event("working", sequence=time.time_ns(), pid=1)
    for _ in range(3):
        session.register.publish(told, Call(DEADLINE))
    session.tell("idle")
    Following(environ, lines=10).wait_for((1, "session_started"), (1, "working"), (1, "idle"))
    session.end()


def test_a_session_that_is_not_there(environ: dict[str, str]) -> None:
    done = run(environ, "tail", "nobody")
    assert (done.returncode, done.stdout) == (5, "")
    assert "lifecycle-wrap ps" in done.stderr
    with pytest.raises(sessions.NoSuchSessionError):
        follow(environ, Source(environ), "nobody", 0, lambda data: None)


def test_a_reader_that_has_read_enough_ends_it_without_a_word(environ: dict[str, str]) -> None:
    session = Registered(environ, "claude", 1)
    process = start(environ, "tail")
    assert process.stdout is not None
    assert process.stderr is not None
    assert "session_started" in next_line(process)
    process.stdout.close()

    def told() -> bool:
        session.ring()
        return process.poll() is not None

    wait_until(told, "the end")
    assert (process.returncode, process.stderr.read()) == (0, b"")


def test_a_real_session_from_start_to_a_sigkill(environ: dict[str, str], tmp_path: Path) -> None:
    process = start(environ, "tail")
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ) as wrapped:
        orders.give("state blocked:kind=permission")
        kinds = []
        while "approval_requested" not in kinds:
            kinds.append(json.loads(next_line(process))["kind"])
        assert kinds[0] == "session_started"
        one = start(environ, "tail", str(wrapped.pid))
        assert json.loads(next_line(one))["pid"] == wrapped.pid
        wrapped.signal(signal.SIGKILL)
        assert one.wait(DEADLINE) == 0
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(DEADLINE) == 130
    except subprocess.TimeoutExpired:
        process.kill()
        raise
