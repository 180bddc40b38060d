"""However it ends, the terminal is as it was found: every way to end, with an agent that has set all there is."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.support.broken import FAULTS, NOTHING_KNOWN, broken
from tests.support.left_behind import left_behind
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import wait_until

AGENT = Path(__file__).parents[1] / "support" / "leaving_agent.py"
SCREENS = ("alternate", "main", "margins")
GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}

OURS = {name: getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")}
SHOWN = {"idle": 0, "working": 3, "blocked": 4}
"""The progress by which each state is shown."""
ITS_OWN = OURS | {name: getattr(signal, name) for name in ("SIGKILL", "SIGSEGV")}


def started(folder: Path, screen: str, end: str, program: list[str] | None = None) -> RealTerminal:
    argv = [*(program or WRAPPER), "--", sys.executable, str(AGENT), screen, end]
    return RealTerminal(argv, isolated_environment(folder, **GHOSTTY))


def check(terminal: RealTerminal, screen: str, *, fault: str = "") -> None:
    """Compare what is left with what was there before."""
    assert termios.tcgetattr(terminal.master) == terminal.attributes
    if screen != "alternate":
        # Where the cursor was on the main screen nobody knows in origin mode, whose end moves it.
        _check_below(terminal, right_below=screen == "main" and not fault)
    after, before = left_behind(terminal, title=fault not in NOTHING_KNOWN)
    assert after == before
    assert [state for state, _ in terminal.engine.progress][-1:] == [0]
    text = terminal.screen()
    # What we say of a fault takes as many rows as the path of the log is long, and moves the rest up.
    # So does a new line at the bottom, once at a stop and once at the end.
    above = "" if screen == "margins" else "its output\n"
    assert ("row two" if fault else f"{above}$ agent\nrow one\nrow two") in text
    assert ("drawn here" in text) == (screen != "alternate")


def _check_below(terminal: RealTerminal, right_below: bool) -> None:
    column, row = terminal.engine.terminal.cursor
    rows = terminal.screen().split("\n")
    assert column == 0
    assert "last row" in terminal.screen()
    assert not any(rows[row:]), "the cursor is on an empty line below what was drawn"
    assert row == rows.index("last row") + 1 or not right_below


def cells(ends: Iterable[Any], usual: Container[Any]) -> list[ParameterSet]:
    """Return each end on each screen; only those of `usual`, and none twice, where the slow ones are left out."""
    return [
        pytest.param(screen, end, marks=[] if end in usual and screen == SCREENS[count % 3] else pytest.mark.slow)
        for screen in SCREENS
        for count, end in enumerate(ends)
    ]


@pytest.mark.parametrize(("screen", "code"), cells((0, 1), (0, 1)))
def test_the_agent_exits(tmp_path: Path, screen: str, code: int) -> None:
    with started(tmp_path, screen, f"exit:{code}") as terminal:
        assert terminal.wait() == code
        check(terminal, screen)


@pytest.mark.parametrize(("screen", "name"), cells(ITS_OWN, ("SIGTERM", "SIGKILL", "SIGSEGV")))
def test_a_signal_ends_the_agent_in_the_middle_of_a_sequence(tmp_path: Path, screen: str, name: str) -> None:
    with started(tmp_path, screen, f"signal:{int(ITS_OWN[name])}") as terminal:
        assert terminal.wait() == 128 + ITS_OWN[name]
        check(terminal, screen)


@pytest.mark.parametrize(("screen", "name"), cells(OURS, ("SIGTERM", "SIGHUP")))
def test_a_signal_ends_us(tmp_path: Path, screen: str, name: str) -> None:
    with started(tmp_path, screen, "wait") as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.pid, OURS[name])
        assert terminal.wait() == 128 + OURS[name]
        check(terminal, screen)


@pytest.mark.parametrize(
    ("screen", "fault"), cells(FAULTS, ("the observer, later", "the modes", "loading", "the pump"))
)
def test_we_fail(tmp_path: Path, screen: str, fault: str) -> None:
    program = broken(fault)
    with started(tmp_path, screen, "wait", program) as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        check(terminal, screen, fault=fault)


def test_the_terminal_is_closed(tmp_path: Path) -> None:
    with started(tmp_path, "alternate", "wait") as terminal:
        terminal.wait_for("ready")
        terminal.hang_up()
        assert terminal.wait() == 128 + signal.SIGHUP


@pytest.mark.parametrize(("screen", "state"), cells(SHOWN, ("working", "blocked")))
def test_the_agent_is_stopped_and_continued(tmp_path: Path, screen: str, state: str) -> None:
    def shown() -> bool:
        return terminal.progress() == SHOWN[state]

    with started(tmp_path, screen, f"stop:{state}") as terminal:
        terminal.wait_for("ready")
        wait_until(shown, "the state is shown")
        terminal.type(b"x")
        wait_until(lambda: terminal.stopped, "the stop")
        check(terminal, screen)
        before = terminal.state()
        terminal.resume()
        terminal.wait_for("again")
        wait_until(shown, "the state is shown again")
        again = terminal.state()
        assert again["alternate"] == (screen == "alternate")
        assert again["keyboard"] == b"\x1b[?7u"
        assert "\x1b[?2004h" in str(again["dump"])
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert terminal.state() | {"dump": "", "cursor": None} == before | {"dump": "", "cursor": None}
        check(terminal, screen)


@pytest.mark.parametrize("screen", SCREENS)
def test_after_sigkill_one_command_repairs(tmp_path: Path, screen: str) -> None:
    with started(tmp_path, screen, "wait") as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.pid, signal.SIGKILL)
        assert terminal.wait() == -signal.SIGKILL
        wait_until(lambda: termios.tcgetattr(terminal.master) == terminal.attributes, "the monitor restores the modes")
        raw = list(terminal.attributes)
        raw[3] = 0
        termios.tcsetattr(terminal.master, termios.TCSANOW, raw)
        terminal.run([*WRAPPER, "reset"], isolated_environment(tmp_path, **GHOSTTY))
        check(terminal, screen, fault="SIGKILL")
