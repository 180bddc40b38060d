"""`wait`: what it waits for, and its exit statuses."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lifecycle_wrap.commands import session_source, sessions
from lifecycle_wrap.commands.directory_changes import DirectoryChanges
from lifecycle_wrap.commands.session_source import Source
from lifecycle_wrap.commands.wait import NO_SUCH_SESSION, TIMED_OUT, Outcome, Until, parse_duration, wait
from tests.support.orders import Orders
from tests.support.registered import Registered, run, start, watches
from tests.support.terminal import isolated_environment
from tests.support.waiting import DEADLINE, wait_until
from tests.support.wrapped_agent import Wrapped

AT_ONCE = 0.0


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(tmp_path)


@pytest.fixture
def claude(environ: dict[str, str]) -> Registered:
    return Registered(environ, "claude", 4711)


class Waiting:
    """A wait on a thread of its own, which has looked at the present state and sleeps."""

    def __init__(self, environ: dict[str, str], word: str, *until: Until) -> None:
        self.outcome: Outcome | None = None
        self._sleeps = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(environ, word, until))
        self._thread.start()
        assert self._sleeps.wait(DEADLINE)

    def _run(self, environ: dict[str, str], word: str, until: tuple[Until, ...]) -> None:
        sleeps = self._sleeps

        class Telling(DirectoryChanges):
            def wait(self, seconds: float | None, descriptors: Sequence[int] = ()) -> list[int]:
                sleeps.set()
                return super().wait(seconds, descriptors)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session_source, "DirectoryChanges", Telling)
            self.outcome = wait(Source(environ), word, until, DEADLINE)

    def end(self) -> Outcome:
        self._thread.join(DEADLINE)
        assert self.outcome is not None
        return self.outcome


@pytest.mark.parametrize("state", ["idle", "working", "blocked"])
def test_the_present_state_counts(environ: dict[str, str], claude: Registered, state: str) -> None:
    claude.tell(state)
    outcome = wait(Source(environ), "4711", [Until(state)], AT_ONCE)
    assert outcome.status == 0
    assert outcome.text.startswith(f"4711 claude@project {state}")
    others = [Until(other) for other in ("idle", "working", "blocked") if other != state]
    assert wait(Source(environ), "4711", others, AT_ONCE) == (TIMED_OUT, f"timed out; claude@project is {state}")


def test_a_later_state_ends_the_wait(environ: dict[str, str], claude: Registered) -> None:
    claude.tell("working")
    waiting = Waiting(environ, "claude", Until.BLOCKED, Until.IDLE)
    claude.tell("blocked")
    assert waiting.end() == (0, "4711 claude@project blocked Waiting for approval")


@pytest.mark.parametrize(
    "rouse", [lambda session: session.tell("blocked"), lambda session: session.ring()], ids=["a dialog", "a bell"]
)
def test_attention_is_a_dialog_or_a_bell(
    environ: dict[str, str], claude: Registered, rouse: Callable[[Registered], None]
) -> None:
    claude.tell("working")
    assert wait(Source(environ), "claude", [Until.ATTENTION], AT_ONCE).status == TIMED_OUT
    waiting = Waiting(environ, "claude", Until.ATTENTION)
    rouse(claude)
    assert waiting.end().status == 0


def test_a_bell_just_before_the_wait_counts_until_the_state_changes(
    environ: dict[str, str], claude: Registered
) -> None:
    claude.tell("idle")
    claude.ring()
    assert wait(Source(environ), "claude", [Until.ATTENTION], AT_ONCE).status == 0
    claude.tell("working")
    assert wait(Source(environ), "claude", [Until.ATTENTION], AT_ONCE).status == TIMED_OUT


def test_without_a_session_the_first_one_counts_even_one_that_begins_later(
    environ: dict[str, str], claude: Registered
) -> None:
    claude.tell("working")
    waiting = Waiting(environ, "", Until.BLOCKED)
    later = Registered(environ, "codex", 4712)
    later.tell("blocked")
    assert waiting.end() == (0, "4712 codex@project blocked Waiting for approval")


def test_the_end_of_a_session(environ: dict[str, str], claude: Registered) -> None:
    other = Registered(environ, "codex", 4712)
    waiting = Waiting(environ, "claude", Until.EXIT)
    other.tell("idle")
    claude.end()
    assert waiting.end() == (0, "4711 claude@project exit")
    waiting = Waiting(environ, "", Until.EXIT)
    other.end()
    assert waiting.end() == (0, "4712 codex@project exit")


def test_a_session_that_ends_without_the_state_is_no_such_session_any_more(
    environ: dict[str, str], claude: Registered
) -> None:
    waiting = Waiting(environ, "claude", Until.IDLE)
    claude.end()
    assert waiting.end() == (NO_SUCH_SESSION, "claude@project has ended without being idle")


def test_sessions_are_called_by_pid_name_id_or_a_beginning(environ: dict[str, str], claude: Registered) -> None:
    claude.tell("idle", session_id="abc-123")
    other = Registered(environ, "claude", 47, cwd="/work/other")
    other.tell("idle")
    for word in ("4711", "claude@project", "claude@p", "abc-123", "abc"):
        assert wait(Source(environ), word, [Until.IDLE], AT_ONCE).text.startswith("4711 ")
    assert wait(Source(environ), "47", [Until.IDLE], AT_ONCE).text.startswith("47 ")
    with pytest.raises(sessions.AmbiguousSessionError, match=r"4711 \(claude@project\)"):
        wait(Source(environ), "claude", [Until.IDLE], AT_ONCE)
    for word in ("codex", "48", "laude"):
        with pytest.raises(sessions.NoSuchSessionError, match="lifecycle-wrap ps"):
            wait(Source(environ), word, [Until.IDLE], AT_ONCE)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("1.5s", 1.5), ("500ms", 0.5), ("5m", 300), ("2h", 7200), ("0", 0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "5x", "-1s", "1e999", "nan", "5sm", "5 minutes"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the caller's words count
        parse_duration(text)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--until", "working"], 0, ""),
        (["claude", "--until", "blocked", "--timeout", "10ms"], 4, "timed out; claude@project is working"),
        (["--until", "sleeping"], 2, "'idle', 'working', 'blocked', 'attention', 'exit'"),
        (["--timeout", "5x"], 2, "write 30s, 5m, 2h or 500ms"),
        (["nobody"], 5, "no running session is called 'nobody'; lifecycle-wrap ps lists them"),
    ],
)
def test_exit_statuses(
    environ: dict[str, str], claude: Registered, arguments: list[str], status: int, said: str
) -> None:
    claude.tell("working")
    done = run(environ, "wait", *arguments)
    assert done.returncode == status
    assert said in done.stderr
    assert done.stderr.count("\n") == bool(status)
    assert done.stdout == ("4711 claude@project working Working\n" if not status else "")


def test_no_session_at_all(environ: dict[str, str]) -> None:
    done = run(environ, "wait")
    assert done.returncode == NO_SUCH_SESSION
    assert "lifecycle-wrap -- AGENT" in done.stderr


def test_ctrl_c_ends_it_with_130(environ: dict[str, str], claude: Registered) -> None:
    process = start(environ, "wait", "--until", "blocked")
    wait_until(lambda: watches(process), "the wait")
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=DEADLINE) == (b"", b"")
    assert process.returncode == 130


def test_a_session_that_is_killed_has_ended(environ: dict[str, str], tmp_path: Path) -> None:
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ) as wrapped:
        orders.give("state working")
        assert run(environ, "wait", "--until", "working").returncode in (0, NO_SUCH_SESSION)
        wait_until(lambda: bool(sessions.running(environ)), "the session")
        waiting = Waiting(environ, str(wrapped.pid), Until.EXIT)
        wrapped.signal(signal.SIGKILL)
        assert waiting.end().text.endswith("exit")


def test_waiting_costs_nothing(environ: dict[str, str], claude: Registered) -> None:
    process = start(environ, "wait", "--until", "blocked")
    wait_until(lambda: watches(process) and _sleeps(process), "the wait")
    before = _switches(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    assert _switches(process) - before <= 1
    process.kill()
    process.communicate()


def _sleeps(process: subprocess.Popen[bytes]) -> bool:
    return "\tS" in Path(f"/proc/{process.pid}/status").read_text().split("State:")[1].splitlines()[0]


def _switches(process: subprocess.Popen[bytes]) -> int:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("voluntary")).split()[1])
