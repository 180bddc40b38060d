"""Job control as under a plain shell; `bash -i` plays the user's."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.place import Place, Shell, finished, python_agent
from tests.support.terminal import WRAPPER
from tests.support.waiting import wait_until

PROGRAM = shlex.join(WRAPPER)
FULL_SCREEN = shlex.join([sys.executable, str(Path(__file__).parents[1] / "support" / "full_screen_agent.py")])
# No shell loop: a shell between vfork and exec of a child that Ctrl-Z has stopped cannot stop itself.
TOLD_BY_SIGNAL = python_agent(
    "signal.signal(getattr(signal, 'SIG' + sys.argv[1]), lambda *_: (say('told'), os._exit(9)))\n"
    "say('rea' 'dy')\nwhile True: time.sleep(0.02)\n"
)
CTRL_Z = "\x1a"
CTRL_C = "\x03"


@pytest.fixture
def shell(place: Place) -> Iterator[Shell]:
    shell = Shell(place)
    yield shell
    shell.terminal.close(force=True)


def stopped_by_key(shell: Shell, key: str = CTRL_Z) -> bytes:
    """Press a key that stops what runs, and return what is shown until the prompt is back."""
    shell.terminal.send(key)
    shown = shell.await_prompt()
    assert b"Stopped" in shown
    return shown


def test_ctrl_z_stops_a_cooked_program_and_fg_brings_it_back(shell: Shell) -> None:
    modes = shell.modes()
    shell.start(f"{PROGRAM} -- cat")
    shell.terminal.sendline("one")
    shell.terminal.expect_exact(b"one\r\none\r\n")
    stopped_by_key(shell)
    assert shell.modes() == modes
    shell.start("fg")
    shell.terminal.sendline("two")
    shell.terminal.expect_exact(b"two\r\ntwo\r\n")
    shell.terminal.sendeof()
    shell.await_prompt()
    assert shell.run("echo status $?").strip() == b"status 0"
    assert shell.modes() == modes


def test_a_program_that_stops_itself_by_sigstop(shell: Shell) -> None:
    modes = shell.modes()
    shell.start(f"{PROGRAM} -- sh -c 'echo before; kill -STOP $$; echo after; exit 7'")
    shown = shell.await_prompt()
    assert b"before" in shown
    assert b"Stopped" in shown
    assert shell.modes() == modes
    assert b"after" in shell.run("fg")
    assert shell.run("echo status $?").strip() == b"status 7"


def test_a_whole_group_that_stops_itself_comes_back_whole(shell: Shell) -> None:
    shell.start(f"{PROGRAM} -- sh -c 'sh -c \"kill -TSTP 0; echo inner\"; echo outer'")
    assert b"Stopped" in shell.await_prompt()
    shown = shell.run("fg")
    assert shown.index(b"inner") < shown.index(b"outer")


@pytest.mark.parametrize("key", [CTRL_Z, "s"], ids=["SIGTSTP to its group", "SIGSTOP"])
def test_a_full_screen_program_leaves_the_screen_and_comes_back_redrawn(shell: Shell, key: str) -> None:
    modes = shell.modes()
    shell.start(f"{PROGRAM} -- {FULL_SCREEN}")
    shell.terminal.expect_exact(b"drawn 1 30x100")
    for drawn in (3, 5):
        shown = stopped_by_key(shell, key)
        assert shown.index(b"\x1b[?1049l") < shown.index(b"Stopped")
        assert shell.modes() == modes
        shell.start("fg")
        # Once because it is continued, once for a SIGWINCH although the size is the same.
        shell.terminal.expect_exact(b"drawn %d 30x100" % drawn)
    shell.terminal.send("q")
    shell.await_prompt()
    assert shell.modes() == modes


def test_a_size_that_changes_while_stopped_is_there_on_return(shell: Shell) -> None:
    shell.start(f"{PROGRAM} -- {FULL_SCREEN}")
    shell.terminal.expect_exact(b"drawn 1 30x100")
    stopped_by_key(shell)
    shell.terminal.setwinsize(20, 70)
    shell.start("fg")
    shell.terminal.expect(rb"drawn \d+ 20x70")
    shell.terminal.send("q")
    shell.await_prompt()


def test_a_signal_from_outside_stops_it_as_it_would_stop_the_agent(shell: Shell, place: Place) -> None:
    modes = shell.modes()
    shell.start(f"{PROGRAM} -- sh -c 'echo pid $PPID; exec cat'")
    shell.terminal.expect(rb"pid (\d+)")
    ours = psutil.Process(int(shell.terminal.match[1])).ppid()
    os.kill(ours, signal.SIGTSTP)
    assert b"Stopped" in shell.await_prompt()
    assert shell.modes() == modes
    shell.start("fg")
    shell.terminal.sendline("back")
    shell.terminal.expect_exact(b"back\r\nback\r\n")


def test_stopped_by_sigstop_ourselves_the_terminal_is_raw_again_after_fg(shell: Shell) -> None:
    modes = shell.modes()
    shell.start(f"{PROGRAM} -- {FULL_SCREEN}")
    shell.terminal.expect_exact(b"drawn 1 30x100")
    shell.terminal.send("")
    shell_pid = shell.terminal.pid
    wait_until(lambda: psutil.Process(shell_pid).children(), "our process")
    ours = psutil.Process(shell_pid).children()[0].pid
    os.kill(ours, signal.SIGSTOP)
    assert b"Stopped" in shell.await_prompt()
    assert shell.modes() == modes
    shell.start("fg")
    shell.terminal.expect_exact(b"drawn 2 30x100")
    shell.terminal.send("q")
    shell.terminal.expect_exact(b"left")
    shell.await_prompt()
    assert shell.modes() == modes


def test_in_the_background_it_stops_when_it_wants_the_terminal(shell: Shell) -> None:
    modes = shell.modes()
    shell.run(f"{PROGRAM} -- cat &")
    wait_until(lambda: b"Stopped" in shell.run("jobs"), "the job is stopped")
    assert shell.modes() == modes
    shell.start("fg")
    shell.terminal.sendline("hello")
    shell.terminal.expect_exact(b"hello\r\nhello\r\n")
    stopped_by_key(shell)
    shell.run("bg")
    wait_until(lambda: b"Stopped" in shell.run("jobs"), "the job is stopped again")
    shell.start("fg")
    shell.terminal.send(CTRL_C)
    shell.await_prompt()
    assert shell.run("echo status $?").strip() == b"status 130"


def test_a_full_screen_program_started_in_the_background_waits_for_the_foreground(shell: Shell) -> None:
    modes = shell.modes()
    shell.run(f"{PROGRAM} -- {FULL_SCREEN} &")
    wait_until(lambda: b"Stopped" in shell.run("jobs"), "the job is stopped")
    shell.start("fg")
    shell.terminal.expect(rb"drawn \d+ 30x100")
    shell.terminal.send("q")
    shell.await_prompt()
    assert shell.modes() == modes


def test_output_goes_on_in_the_background(shell: Shell, place: Place) -> None:
    flag = place.folder / "flag"
    loop = f"while ! test -e {shlex.quote(str(flag))}; do sleep 0.02; done"
    shell.run(f"{PROGRAM} -- sh -c 'echo started; {loop}; echo finished' &")
    shell.run("")
    flag.touch()
    shell.terminal.expect_exact(b"finished")


def test_a_stopped_job_can_be_ended(shell: Shell, place: Place) -> None:
    shell.start(f"{PROGRAM} -- {shlex.join([*TOLD_BY_SIGNAL, 'TERM'])}")
    shell.terminal.expect_exact(b"ready")
    stopped_by_key(shell)
    shell.run("kill %1; fg")
    shell.terminal.sendline("")
    shell.terminal.sendline("exit")
    finished(shell.terminal)
    place.await_no_process()


@pytest.mark.parametrize("number", ["INT", "TERM", "USR1"])
def test_a_signal_that_comes_while_stopped_reaches_the_agent(shell: Shell, number: str) -> None:
    shell.start(f"{PROGRAM} -- {shlex.join([*TOLD_BY_SIGNAL, number])}")
    shell.terminal.expect_exact(b"ready")
    stopped_by_key(shell)
    # By its process id and without a SIGCONT, unlike `kill %1`.
    shell.run(f"kill -{number} $(jobs -p)")
    assert b"told" in shell.run("fg")
    assert shell.run("echo status $?").strip() == b"status 9"


def test_the_end_of_the_shell_ends_a_stopped_job(shell: Shell, place: Place) -> None:
    shell.start(f"{PROGRAM} -- {FULL_SCREEN}")
    shell.terminal.expect_exact(b"drawn 1 30x100")
    stopped_by_key(shell)
    shell.terminal.close(force=True)
    place.await_no_process()


def test_a_script_that_runs_us_stops_with_us(shell: Shell) -> None:
    shell.start(f"sh -c '{PROGRAM} -- cat; echo script goes on'")
    shell.terminal.sendline("one")
    shell.terminal.expect_exact(b"one\r\none\r\n")
    stopped_by_key(shell)
    shell.start("fg")
    shell.terminal.sendline("two")
    shell.terminal.expect_exact(b"two\r\ntwo\r\n")
    shell.terminal.sendeof()
    assert b"script goes on" in shell.await_prompt()


@pytest.mark.parametrize("number", ["TSTP", "STOP"])
def test_with_nobody_to_continue_it_a_stopped_agent_goes_on_at_once(place: Place, number: str) -> None:
    shown, status = finished(place.spawn(["sh", "-c", f"kill -{number} $$; echo went on; exit 3"]))
    assert (shown, status) == (b"went on\r\n", 3)


def test_ctrl_z_with_nobody_to_continue_it_does_no_harm(place: Place) -> None:
    terminal = place.spawn(["cat"])
    terminal.sendline("one")
    terminal.expect_exact(b"one\r\none\r\n")
    terminal.send(CTRL_Z)
    terminal.sendline("two")
    terminal.expect_exact(b"two\r\n")
    terminal.expect_exact(b"two\r\n")
    terminal.sendeof()
    assert finished(terminal)[1] == 0


def test_an_orphan_in_the_background_that_wants_the_terminal_is_hung_up(place: Place) -> None:
    told = place.folder / "told"
    agent = python_agent(
        f"signal.signal(signal.SIGHUP, lambda *_: (open({str(told)!r}, 'w').close(), os._exit(0)))\nos.read(0, 1)\n"
    )
    orphan = f"({shlex.join([*WRAPPER, '--', *agent])} </dev/tty &)"
    terminal = place.spawn(["bash", "-ic", f"{orphan}; read x"], program=(), options=())
    wait_until(told.exists, "the agent is hung up")
    terminal.sendline("")
    finished(terminal)


def test_the_monitor_holds_nothing_but_what_it_needs(place: Place) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("no /proc here to look at another process's descriptors")
    terminal = place.spawn(["sh", "-c", "echo pid $PPID; read x"])
    terminal.expect(rb"pid (\d+)")
    folder = f"/proc/{terminal.match[1].decode()}/fd"
    kinds = [os.readlink(f"{folder}/{fd}").partition(":")[0] for fd in os.listdir(folder)]
    assert sorted(kinds)[-2:] == ["pipe", "pipe"]
    assert len(kinds) == 6
    terminal.sendline("")
    finished(terminal)


def test_vim_stops_and_comes_back(shell: Shell) -> None:
    if subprocess.run(["sh", "-c", "command -v vim"], capture_output=True, check=False).returncode:
        pytest.skip("vim is not installed")
    modes = shell.modes()
    shell.start(f"TERM=xterm {PROGRAM} -- vim -u NONE /etc/passwd")
    shell.terminal.expect_exact(b"root:")
    stopped_by_key(shell)
    assert shell.modes() == modes
    shell.start("fg")
    shell.terminal.expect_exact(b"root:")
    shell.terminal.send(":q\r")
    shell.await_prompt()
    assert shell.modes() == modes
