"""Signals to us, and the loss of the terminal, reach the agent."""

from __future__ import annotations

import os
import shlex
import signal
from contextlib import suppress

import psutil
import pytest

from tests.support.place import Place, finished, patched, python_agent
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER
from tests.support.waiting import wait_until

HURRIED = "import lifecycle_wrap.pty.pump as pump\npump.ENDING_GRACE = 0.3\n"

TELLS = (
    "number = int(sys.argv[1])\n"
    "def told(*_):\n"
    "    say('told'); os._exit(42)\n"
    "signal.signal(number, told)\n"
    "say('ready')\n"
    "while True: time.sleep(0.02)\n"
)
IGNORES = (
    "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):\n"
    "    signal.signal(number, signal.SIG_IGN)\n"
    "say('ready')\n"
    "while True: time.sleep(0.02)\n"
)
ENDING = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]


@pytest.mark.parametrize("number", [*ENDING, signal.SIGUSR1, signal.SIGUSR2], ids=lambda number: number.name)
def test_the_agent_gets_the_signal_and_its_exit_code_is_ours(place: Place, number: signal.Signals) -> None:
    terminal = place.spawn([*python_agent(TELLS), str(int(number))])
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, number)
    assert finished(terminal) == (b"told", 42)
    place.await_no_process()


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_an_agent_that_does_not_end_is_killed(place: Place, number: signal.Signals) -> None:
    terminal = place.spawn(python_agent(IGNORES), program=patched(HURRIED))
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, number)
    told = b"lifecycle-wrap: the agent did not end when a signal told it to, and was killed\r\n"
    assert finished(terminal) == (told, 137)
    place.await_no_process()


def test_an_agent_that_a_signal_ends_gives_its_number(place: Place) -> None:
    terminal = place.spawn(["sh", "-c", "echo ready; while :; do sleep 0.02; done"])
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, signal.SIGTERM)
    assert finished(terminal)[1] == 128 + signal.SIGTERM


def test_the_whole_group_gets_it(place: Place) -> None:
    told = place.folder / "told"
    inner = f"trap 'touch {shlex.quote(str(told))}; exit' TERM; echo ready; while :; do sleep 0.02; done"
    terminal = place.spawn(["sh", "-c", f"sh -c {shlex.quote(inner)} & wait; exit 3"])
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, signal.SIGTERM)
    assert finished(terminal)[1] == 143
    wait_until(told.exists, "the other process of the group is told")


def test_a_foreground_job_of_the_agent_gets_it_too(place: Place) -> None:
    told = place.folder / "told"
    job = f"trap 'touch {shlex.quote(str(told))}; exit' TERM; echo ready; while :; do sleep 0.02; done"
    terminal = place.spawn(["bash", "-c", f"set -m; trap 'exit 4' TERM; sh -c {shlex.quote(job)}; exit 5"])
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, signal.SIGTERM)
    finished(terminal)
    wait_until(told.exists, "the foreground job is told")
    place.await_no_process()


def test_a_terminal_that_goes_away_hangs_the_agent_up(place: Place) -> None:
    told = place.folder / "told"
    agent = python_agent(
        f"signal.signal(signal.SIGHUP, lambda *_: (open({str(told)!r}, 'w').close(), os._exit(0)))\n"
        "say('ready')\nwhile True: time.sleep(0.02)\n"
    )
    terminal = place.spawn(agent)
    terminal.expect_exact(b"ready")
    os.close(terminal.child_fd)
    terminal.child_fd = -1
    terminal.closed = True
    wait_until(told.exists, "the agent is hung up")
    place.await_no_process()


def test_an_agent_that_stays_when_its_terminal_goes_away_is_killed(place: Place) -> None:
    agent = python_agent(IGNORES + "    say('still here')\n")
    terminal = place.spawn(agent, program=patched(HURRIED))
    terminal.expect_exact(b"still here")
    os.close(terminal.child_fd)
    terminal.child_fd = -1
    terminal.closed = True
    place.await_no_process()


def test_a_terminal_that_goes_away_with_output_unread_ends_the_session(place: Place) -> None:
    terminal = place.spawn(python_agent("say('ready')\nwhile True: say('more than a terminal takes ' * 1000)"))
    terminal.expect_exact(b"ready")
    ours = psutil.Process(terminal.pid)
    wait_until(lambda: ours.status() == psutil.STATUS_SLEEPING, "nothing can be written any more")
    os.close(terminal.child_fd)
    terminal.child_fd = -1
    terminal.closed = True
    place.await_no_process()


def test_after_a_fault_of_the_pump_a_terminal_that_goes_away_still_ends_the_session(place: Place) -> None:
    broken = (
        "import lifecycle_wrap.pty.pump as pump, lifecycle_wrap.pty.monitor as monitor\n"
        "pump.Pump._turn = None\nmonitor.HANG_UP_GRACE = 1\n"
    )
    terminal = place.spawn(python_agent(IGNORES), program=patched(broken))
    terminal.expect_exact(b"ready")
    os.close(terminal.child_fd)
    terminal.child_fd = -1
    terminal.closed = True
    place.await_no_process()


def test_an_agent_that_was_told_to_end_is_killed_even_if_the_pump_fails_then(place: Place) -> None:
    broken = (
        "from lifecycle_wrap.pty import monitor, pump\n"
        "monitor.HANG_UP_GRACE = 1\n"
        "def broken(self, number, end=pump.Pump._end_agent):\n    end(self, number)\n    1 / 0\n"
        "pump.Pump._end_agent = broken\n"
    )
    terminal = place.spawn(python_agent(IGNORES), program=patched(broken))
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, signal.SIGTERM)
    assert finished(terminal)[1] == 128 + signal.SIGKILL


def test_a_new_size_arrives_with_a_sigwinch(place: Place) -> None:
    agent = python_agent(
        "def changed(*_): say('<%dx%d>' % tuple(reversed(os.get_terminal_size(0))))\n"
        "signal.signal(signal.SIGWINCH, changed)\nchanged()\n"
        "while True: time.sleep(0.02)\n"
    )
    terminal = place.spawn(agent)
    terminal.expect_exact(b"<30x100>")
    terminal.setwinsize(41, 77)
    terminal.expect_exact(b"<41x77>")
    os.kill(terminal.pid, signal.SIGWINCH)
    terminal.expect_exact(b"<41x77>")


def test_a_ctrl_c_is_the_agents_to_handle(place: Place) -> None:
    terminal = place.spawn(["sh", "-c", "trap 'echo caught' INT; echo ready; read x; read x; exit 6"])
    terminal.expect_exact(b"ready")
    terminal.send("\x03")
    terminal.expect_exact(b"caught")
    terminal.sendline("")
    terminal.sendline("")
    assert finished(terminal)[1] == 6


def test_a_ctrl_c_ends_a_program_as_a_signal(place: Place) -> None:
    terminal = place.spawn(["sh", "-c", "echo ready; sleep 100"])
    terminal.expect_exact(b"ready")
    terminal.send("\x03")
    assert finished(terminal)[1] == 130


FILLS = """
from pathlib import Path
tty.setraw(0)
say('\\x1b[?2004h\\x1b[?1hready')
os.read(0, 1)
os.set_blocking(1, False)
full = 0
while full < 20:
    try:
        os.write(1, b'x' * 1000)
        full = 0
    except BlockingIOError:
        full += 1
        time.sleep(0.02)
sys.exit(3)
"""
"""Writes as much as goes into a terminal that reads nothing, and ends."""


def _statuses(place: Place) -> list[str]:
    statuses = []
    for process in place.processes():
        with suppress(psutil.NoSuchProcess):
            statuses.append(process.status())
    return statuses


def test_a_sigcont_on_the_way_out_does_not_take_the_terminal_again(place: Place) -> None:
    """While the last output waits for a slow terminal; what was set again then would stay."""
    with RealTerminal([*WRAPPER, "--", *python_agent(FILLS)], place.environ) as terminal:
        terminal.wait_for_bytes(b"ready")
        terminal.stall()
        terminal.type(b"q")
        wait_until(lambda: _statuses(place) == ["sleeping"], "only we are left")
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.read_on()
        assert terminal.wait() == 3
        assert terminal.output.rindex(b"\x1b[?2004l") > terminal.output.rindex(b"\x1b[?2004h")
