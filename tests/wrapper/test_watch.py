"""`watch` in a real tmux: what it shows, how soon, what it costs, and how it leaves the terminal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from lifecycle_wrap.commands import sessions
from lifecycle_wrap.hosts.base import Place
from lifecycle_wrap.terminal.cells import width
from tests.support.orders import Orders
from tests.support.registered import Registered, next_line, start
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.tmux_server import Tmux
from tests.support.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

AGENTS = 20
CHANGES = 15
SHOWN_SECONDS = 0.3
IDLE_SECONDS = 3.0
WATCH = shlex.join([*WRAPPER, "watch"])

SCRIPTED = """
while read -r order rest; do
  case $order in state) printf '\\033]7501;state=%s\\033\\\\' "$rest";; exit) exit 0;; esac
done < "$1"
"""
"""`told_agent`'s `state` and `exit` for sh, which takes a tenth of Python's time to start."""


class Pane:
    """A shell in a pane of a real tmux, in which `watch` is started."""

    def __init__(self, tmux: Tmux, **environ: str) -> None:
        self._tmux = tmux
        self.id = tmux.pane(["bash", "--norc", "--noprofile"], PS1="<ready> ", **environ)
        wait_until(lambda: "<ready>" in self.screen(), "the shell")

    def type(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", self.id, *keys)

    def start(self, command: str = WATCH) -> None:
        self.type(command, "Enter")
        wait_until(lambda: self.get("alternate_on") == "1" and self.rows(), lambda: f"watch: {self.screen()}")

    def screen(self, *options: str) -> str:
        return self._tmux("capture-pane", "-p", *options, "-t", self.id)

    def rows(self) -> list[str]:
        """Return what is below the heading, up to the first empty line."""
        _, _, below = self.screen().partition("DIRECTORY")
        return below.split("\n\n")[0].strip().splitlines()

    def get(self, variable: str) -> str:
        return self._tmux("display-message", "-p", "-t", self.id, f"#{{{variable}}}")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", self.id, "-x", str(columns), "-y", str(rows))

    def child(self) -> int:
        """Return the process that the shell has started."""
        pid = self.get("pane_pid")
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def is_clean(self) -> bool:
        """Tell whether the shell is back on its own screen, the cursor visible, keys echoed and lines edited."""
        if (self.get("alternate_on"), self.get("cursor_flag")) != ("0", "1"):
            return False
        self.type("clear; stty -a | tr ' ;' '\\n' | grep -cxE 'icanon|echo|isig|icrnl|opost'", "Enter")
        wait_until(lambda: re.search(r"^\d+$", self.screen(), re.MULTILINE), "stty")
        return "\n5\n" in f"\n{self.screen()}\n"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(tmp_path)


@pytest.fixture
def listed(environ: dict[str, str]) -> Iterator[list[Registered]]:
    """Three sessions: idle, working and blocked."""
    made = [
        Registered(environ, "codex", 101, cwd="/work/one"),
        Registered(environ, "claude", 102, cwd="/work/漢字/two"),
        Registered(environ, "gemini", 103, cwd="/work/three", place=Place("tmux %3", ("tmux", "select-pane", ";"))),
    ]
    for session, state in zip(made, ("idle", "working", "blocked"), strict=True):
        session.tell(state)
    yield made
    for session in made:
        session.end()


def wakeups(pid: int) -> int:
    lines = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for text in lines)


def test_twenty_agents(tmux: Tmux, tmp_path: Path, environ: dict[str, str]) -> None:
    orders = [Orders(tmp_path, f"orders{number}") for number in range(AGENTS)]
    for number, one in enumerate(orders):
        folder = tmp_path / f"d{number:02}"
        folder.mkdir()
        inside = shlex.join([*WRAPPER, "--", "sh", "-c", SCRIPTED, "sh", one.argv[-1]])
        tmux.pane(["sh", "-c", f"cd {folder} && exec {inside}"], PYTHONPATH=os.getcwd())
        one.give("state working")
    wait_until(
        lambda: sum(session.state == "working" for session in sessions.running(environ)) == AGENTS,
        lambda: f"{AGENTS} at work: {[session.state for session in sessions.running(environ)]}",
        seconds=60,
    )
    pane = Pane(tmux)
    pane.resize(100, 30)
    pane.start()
    wait_until(lambda: len(pane.rows()) == AGENTS, lambda: pane.screen())
    assert "20 working" in pane.screen()

    delays = []
    for change in range(CHANGES):
        number, state = change % 5, "blocked" if change // 5 % 2 == 0 else "working"
        row = re.compile(rf"^{state} .*/d{number:02}$", re.MULTILINE)
        orders[number].give(f"state {state}")
        wait_until(lambda wanted=row: wanted.search(pane.screen()), lambda: pane.screen())  # type: ignore[misc]
        seen = time.time()
        (session,) = (one for one in sessions.running(environ) if one.cwd.endswith(f"/d{number:02}"))
        assert session.state == state
        delays.append(seen - sessions.moment(session.since))
        rows = pane.rows()
        blocked = [row for row in rows if row.startswith("blocked")]
        assert blocked == rows[: len(blocked)]
    assert statistics.median(delays) < SHOWN_SECONDS, delays

    pane.type("j", "j", "Enter")
    wait_until(lambda: "select-window" in pane.screen(), lambda: pane.screen())
    second = sessions.running(environ)[1]
    # Without its spaces, for a capture leaves out those at the end of a row.
    assert shlex.join(second.focus).replace(" ", "") in "".join(pane.screen().split())

    before = wakeups(pane.child())
    began = time.monotonic()
    wait_until(lambda: time.monotonic() - began > IDLE_SECONDS, "some seconds of idleness")
    assert wakeups(pane.child()) - before <= 2 * IDLE_SECONDS + 1

    for one in orders:
        one.give("exit 0")
    wait_until(lambda: "no wrapped agent is running" in pane.screen(), lambda: pane.screen())
    pane.type("q")
    wait_until(pane.is_clean, lambda: pane.screen())


@pytest.mark.parametrize("columns", [100, 40, 24])
def test_narrow_terminals_and_resizes(tmux: Tmux, listed: list[Registered], columns: int) -> None:
    pane = Pane(tmux)
    pane.start()
    pane.resize(columns, 12)
    wait_until(lambda: len(pane.screen().splitlines()) == 12, lambda: pane.screen())
    wait_until(lambda: pane.screen().endswith("command"), lambda: pane.screen())
    lines = pane.screen().splitlines()
    assert max(map(width, lines)) <= columns
    assert [line.split()[0] for line in lines[2:5]] == ["blocked", "working", "idle"]
    assert lines[0].startswith("1 blocked, 1 working, 1")
    if columns >= 40:
        assert [line.split()[1] for line in lines[2:5]] == ["gemini", "claude", "codex"]
        assert [line[-3:] for line in lines[2:5]] == ["ree", "two", "one"]
    pane.resize(100, 30)
    wait_until(lambda: "Waiting for approval" in pane.screen(), lambda: pane.screen())


def test_more_sessions_than_rows(tmux: Tmux, environ: dict[str, str]) -> None:
    many = [Registered(environ, f"agent{number:02}", number + 1) for number in range(30)]
    pane = Pane(tmux)
    pane.start()
    pane.resize(60, 10)
    wait_until(lambda: pane.screen().count("agent") == 7 and "agent00" in pane.screen(), lambda: pane.screen())
    pane.type(*["j"] * 30)
    wait_until(lambda: "agent29" in pane.screen() and "agent00" not in pane.screen(), lambda: pane.screen())
    pane.type(*["k"] * 30)
    wait_until(lambda: "agent00" in pane.screen(), lambda: pane.screen())
    for session in many:
        session.end()


def test_keys_sort_select_and_show_the_way(tmux: Tmux, listed: list[Registered]) -> None:
    pane = Pane(tmux)
    pane.start()
    pane.type("s")
    wait_until(lambda: "(by latest change)" in pane.screen(), lambda: pane.screen())
    pane.type("s")
    wait_until(lambda: "(by agent)" in pane.screen(), lambda: pane.screen())
    assert [row.split()[1] for row in pane.rows()] == ["claude", "codex", "gemini"]
    pane.type("Enter")
    wait_until(lambda: "no command leads there; it is on pts/7" in pane.screen(), lambda: pane.screen())
    pane.type("Down", "Down", "Enter")
    wait_until(lambda: "tmux select-pane ';'" in pane.screen(), lambda: pane.screen())
    listed[0].tell("blocked")
    wait_until(lambda: "2 blocked" in pane.screen(), lambda: pane.screen())
    (marked,) = (line for line in pane.screen("-e").splitlines() if "\x1b[7m" in line)
    assert "gemini" in marked


@pytest.mark.parametrize("keys", ["C-c", "q", "C-d"])
def test_leaving_it(tmux: Tmux, listed: list[Registered], keys: str) -> None:
    pane = Pane(tmux)
    pane.type("echo before", "Enter")
    pane.start(f"{WATCH}; echo status $?")
    pane.type(keys)
    wait_until(lambda: re.search(r"status \d", pane.screen()), lambda: pane.screen())
    assert f"status {130 if keys == 'C-c' else 0}" in pane.screen()
    assert "before" in pane.screen()
    assert pane.is_clean()


def test_stopping_it_and_going_on(tmux: Tmux, listed: list[Registered]) -> None:
    pane = Pane(tmux)
    pane.start()
    pane.type("C-z")
    wait_until(lambda: "Stopped" in pane.screen(), lambda: pane.screen())
    assert pane.is_clean()
    pane.type("fg", "Enter")
    wait_until(lambda: pane.get("alternate_on") == "1" and len(pane.rows()) == 3, lambda: pane.screen())
    listed[0].tell("blocked")
    wait_until(lambda: "2 blocked" in pane.screen(), lambda: pane.screen())
    pane.type("C-c")
    wait_until(pane.is_clean, lambda: pane.screen())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_the_terminal_clean(environ: dict[str, str], listed: list[Registered], number: int) -> None:
    terminal = pexpect.spawn(WRAPPER[0], [*WRAPPER[1:], "watch"], env=environ, timeout=DEADLINE)
    terminal.expect_exact(b"gemini")
    os.kill(terminal.pid, number)
    terminal.expect(pexpect.EOF)
    assert terminal.before.endswith(b"\x1b[?25h\x1b[?1049l")
    terminal.close()
    assert terminal.exitstatus == 128 + number


def test_it_ends_with_its_terminal(environ: dict[str, str], listed: list[Registered]) -> None:
    terminal = pexpect.spawn(WRAPPER[0], [*WRAPPER[1:], "watch"], env=environ, timeout=DEADLINE)
    terminal.expect_exact(b"gemini")
    os.close(terminal.child_fd)
    os.waitpid(terminal.pid, 0)


@pytest.mark.parametrize(("more", "colored"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour(environ: dict[str, str], listed: list[Registered], more: dict[str, str], colored: bool) -> None:
    terminal = pexpect.spawn(WRAPPER[0], [*WRAPPER[1:], "watch"], env=environ | more, timeout=DEADLINE)
    terminal.expect_exact(b"Enter command")
    assert bool(re.search(rb"\x1b\[[0-9;]*m", terminal.before)) is colored
    assert (b"\x1b[1;31mblocked" in terminal.before) is colored
    terminal.close(force=True)


@pytest.mark.parametrize("options", [["--plain"], []])
def test_plain_lines_where_the_output_is_no_terminal(
    environ: dict[str, str], listed: list[Registered], options: list[str]
) -> None:
    process = start(environ, "watch", *options)

    def line() -> str:
        text = next_line(process)
        assert re.match(r"\d\d:\d\d:\d\d ", text)
        return text[9:]

    assert line() == "103 gemini@three blocked Waiting for approval"
    assert line() == "102 claude@two working Working"
    assert line() == "101 codex@one idle"
    listed[0].tell("working")
    assert line() == "101 codex@one working Working"
    later = Registered(environ, "aider", 104)
    assert line() == "104 aider@project starting"
    later.end()
    assert line() == "104 aider@project ended"
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130
