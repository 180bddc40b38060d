"""How the real program starts an agent and ends with it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import termios
from pathlib import Path

import psutil
import pytest

from tests.support.place import Place, finished, patched, python_agent
from tests.support.terminal import WRAPPER
from tests.support.waiting import DEADLINE, wait_until

PROGRAM = shlex.join(WRAPPER)


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        ("kill -HUP $$", 129),
    ],
)
def test_the_exit_code_is_the_agents(place: Place, script: str, status: int) -> None:
    assert finished(place.spawn(["sh", "-c", script])) == (b"", status)


def test_an_agent_that_is_not_found_is_127_and_one_line(place: Place) -> None:
    assert finished(place.spawn(["no-such-agent"])) == (
        b"lifecycle-wrap: no-such-agent: command not found; install it, or add its directory to PATH\r\n",
        127,
    )


def test_an_agent_that_is_not_executable_is_126_and_one_line(place: Place) -> None:
    agent = place.folder / "agent"
    agent.write_text("#!/bin/sh\n")
    shown, status = finished(place.spawn([str(agent)]))
    assert (shown, status) == (
        b"lifecycle-wrap: %s: Permission denied; make it executable (chmod +x)\r\n" % bytes(agent),
        126,
    )


def test_an_interpreter_that_is_missing_is_127_and_one_line(place: Place) -> None:
    agent = place.folder / "agent"
    agent.write_text("#!/nowhere/interpreter\n")
    agent.chmod(0o755)
    shown, status = finished(place.spawn([str(agent)]))
    remedy = b"check the path, and the interpreter in its first line"
    assert (shown, status) == (b"lifecycle-wrap: %s: No such file or directory; %s\r\n" % (bytes(agent), remedy), 127)


def test_a_file_that_cannot_be_executed_is_126_and_one_line(place: Place) -> None:
    agent = place.folder / "agent"
    agent.write_bytes(b"\x7fELF\0nonsense")
    agent.chmod(0o755)
    shown, status = finished(place.spawn([str(agent)]))
    remedy = b"it may be built for another machine"
    assert (shown, status) == (b"lifecycle-wrap: %s: Exec format error; %s\r\n" % (bytes(agent), remedy), 126)


def test_a_script_without_interpreter_line_runs(place: Place) -> None:
    agent = place.folder / "agent"
    agent.write_text('echo "$1"; exit 4\n')
    agent.chmod(0o755)
    assert finished(place.spawn([str(agent), "said"])) == (b"said\r\n", 4)


def test_the_agents_options_are_its_own(place: Place) -> None:
    script = place.folder / "agent"
    script.write_text('#!/bin/sh\necho "$0: $*"\n')
    script.chmod(0o755)
    shown, _ = finished(place.spawn([str(script), "--help", "--config", "x"], options=()))
    assert shown == b"%s: --help --config x\r\n" % bytes(script)


def test_the_command_word_reaches_the_agent_as_it_was_typed(place: Place) -> None:
    agent = python_agent("say(open('/proc/self/cmdline').read().split(chr(0))[0])")
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("no /proc here to read a command line from")
    agent[0] = os.path.basename(sys.executable)
    path = f"{os.path.dirname(sys.executable)}:{place.environ['PATH']}"
    assert finished(place.spawn(agent, environ={"PATH": path}))[0] == agent[0].encode()


@pytest.mark.parametrize(
    ("line", "says"), [(["--bogus", "sh"], b"--bogus"), (["--config"], b"--config"), (["--"], b"no agent")]
)
def test_a_wrong_command_line_is_2_and_one_line(place: Place, line: list[str], says: bytes) -> None:
    shown, status = finished(place.spawn(line, options=()))
    assert status == 2
    assert says in shown
    assert shown.count(b"\n") == 1


def test_version_is_ours_before_the_agent(place: Place) -> None:
    shown, status = finished(place.spawn(["--version"], options=()))
    assert status == 0
    assert shown.startswith(b"lifecycle-wrap ")


def test_the_size_is_there_from_the_first_moment(place: Place) -> None:
    agent = python_agent("import fcntl; say(fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)).hex())")
    terminal = place.spawn(agent, dimensions=(33, 101))
    expected = b"".join(n.to_bytes(2, sys.byteorder) for n in (33, 101, 0, 0)).hex().encode()
    assert finished(terminal)[0] == expected


def test_a_terminal_without_a_size_gives_the_usual_one(place: Place) -> None:
    terminal = place.spawn(["stty", "size"], dimensions=(0, 0))
    assert finished(terminal)[0] == b"24 80\r\n"


def test_the_modes_inside_are_those_outside(place: Place) -> None:
    script = f"stty -echoctl erase ^H iutf8; stty -g; {PROGRAM} -- stty -g"
    shown, _ = finished(place.spawn_shell(script))
    outside, inside = shown.split()
    assert inside == outside


def test_only_the_standard_descriptors_reach_the_agent(place: Place) -> None:
    agent = python_agent(
        "import fcntl\n"
        "def is_open(fd):\n"
        "    try: fcntl.fcntl(fd, fcntl.F_GETFD); return True\n"
        "    except OSError: return False\n"
        "say(repr([fd for fd in range(4096) if is_open(fd)]))\n"
    )
    script = f"exec 7</dev/null 8</dev/null; exec {shlex.join([*WRAPPER, '--', *agent])}"
    shown, _ = finished(place.spawn_shell(script))
    assert shown == b"[0, 1, 2]"


def test_stderr_that_was_sent_elsewhere_is_the_agents(place: Place) -> None:
    target = place.folder / "errors"
    script = f"{PROGRAM} -- sh -c 'echo shown; echo told >&2; test -t 1 && exit 3' 2>{shlex.quote(str(target))}"
    assert finished(place.spawn_shell(script)) == (b"shown\r\n", 3)
    assert target.read_text() == "told\n"


def test_the_agent_has_a_controlling_terminal_whose_foreground_it_leads(place: Place) -> None:
    agent = python_agent(
        "tty_fd = os.open('/dev/tty', os.O_RDWR)\n"
        "say(repr((os.getpgrp() == os.getpid(), os.tcgetpgrp(tty_fd) == os.getpid(), os.ttyname(0) == os.ttyname(2))))"
    )
    assert finished(place.spawn(agent))[0] == b"(True, True, True)"


@pytest.mark.parametrize("number", ["HUP", "INT", "QUIT", "PIPE", "TERM", "USR1", "ALRM", "XFSZ", "CHLD"])
def test_signals_have_their_default_action_and_are_not_blocked(place: Place, number: str) -> None:
    shown, status = finished(place.spawn(["sh", "-c", f"kill -{number} $$; echo survived"]))
    assert (status == 0) == (number == "CHLD")
    assert (b"survived" in shown) == (number == "CHLD")


def test_the_environment_has_one_variable_more(place: Place) -> None:
    shown, _ = finished(place.spawn(python_agent("say(repr(sorted(os.environ)))")))
    assert shown.decode() == repr(sorted([*place.environ, "LIFECYCLE_WRAP_SESSION"]))


@pytest.mark.parametrize("which", ["stdin", "stdout"])
def test_without_a_terminal_it_is_one_exec(place: Place, which: str) -> None:
    script = 'echo "$$ $LIFECYCLE_WRAP_SESSION|$1|$(cat)"'
    redirect = "echo said | exec" if which == "stdin" else "exec"
    target = shlex.quote(str(place.folder / "out"))
    line = f"{redirect} {PROGRAM} -- sh -c {shlex.quote(script)} agent argument"
    if which == "stdout":
        line += f" >{target}"
    terminal = place.spawn_shell(line)
    if which == "stdout":
        terminal.sendeof()
        _, status = finished(terminal)
        shown = (place.folder / "out").read_bytes()
        assert shown.split()[0] == str(terminal.pid).encode()
    else:
        shown, status = finished(terminal)
    assert status == 0
    said = b"said" if which == "stdin" else b""
    assert shown.strip().split(b" ", 1)[1] == b"|argument|" + said


def test_in_a_pipe_a_broken_one_ends_the_agent(place: Place) -> None:
    script = "kill -PIPE $$; echo survived"
    ran = subprocess.run(
        [*WRAPPER, "--", "sh", "-c", script], env=place.environ, capture_output=True, timeout=DEADLINE, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (-13, b"", b"")


def test_an_exec_in_place_fails_like_a_shell(place: Place) -> None:
    ran = subprocess.run([*WRAPPER, "nowhere"], env=place.environ, capture_output=True, timeout=DEADLINE, check=False)
    assert (ran.returncode, ran.stderr) == (
        127,
        b"lifecycle-wrap: nowhere: command not found; install it, or add its directory to PATH\n",
    )


def test_switched_off_it_is_one_exec(place: Place) -> None:
    script = f"echo $$; export LIFECYCLE_WRAP=0; exec {PROGRAM} -- sh -c 'echo $$ $LIFECYCLE_WRAP_SESSION'"
    outside, inside = finished(place.spawn_shell(script))[0].splitlines()
    assert inside == outside


def test_inside_another_it_steps_aside(place: Place) -> None:
    script = f"echo $$ $(tty); exec {PROGRAM} -- sh -c 'echo $$ $(tty)'"
    outside, inside = finished(place.spawn(["sh", "-c", script]))[0].splitlines()
    assert inside == outside


def inner_mark(place: Place, mark: str) -> bytes:
    """Return the mark that an agent gets when ours is started with `mark` already in the environment."""
    terminal = place.spawn(["sh", "-c", "echo $LIFECYCLE_WRAP_SESSION"], environ={"LIFECYCLE_WRAP_SESSION": mark})
    return finished(terminal)[0].strip()


def test_the_mark_of_a_session_on_another_terminal_does_not_silence_us(place: Place) -> None:
    with_session = place.spawn(["sh", "-c", "echo $LIFECYCLE_WRAP_SESSION; read x"])
    with_session.expect(rb"(\d+:\d+)\r\n")
    mark = with_session.match[1].decode()
    assert inner_mark(place, mark) not in (mark.encode(), b"")
    with_session.sendline("")
    finished(with_session)


@pytest.mark.parametrize("mark", ["999999999:1", "nonsense", ":", "1:", "-1:5", "99999999999999999999999:1", "²:1"])
def test_a_stale_or_broken_mark_does_not_silence_us(place: Place, mark: str) -> None:
    assert inner_mark(place, mark) not in (mark.encode(), b"")


def test_the_mark_of_an_ended_session_on_the_same_terminal_does_not_silence_us(place: Place) -> None:
    script = (
        f"dead=$(sh -c 'echo $$'); device=$(stat -c %t:%T $(tty)); "
        f"LIFECYCLE_WRAP_SESSION=$dead:$(({'0x'}${{device%:*}} * 256 + 0x${{device#*:}})) "
        f"{PROGRAM} -- sh -c 'echo $LIFECYCLE_WRAP_SESSION $dead'"
    )
    shown, _ = finished(place.spawn_shell(f"export dead; {script}"))
    mark, dead = shown.split()
    assert not mark.startswith(dead + b":")


BEFORE_THE_AGENT = "__main__ arguments launch environment program lean pty.child pty.monitor pty.outer pty.signals"
UNTIL_THE_FIRST_BYTE = f"{BEFORE_THE_AGENT} loading log observation pty.byte_queue pty.readiness pty.pump"
SLOW = {
    "argparse",
    "collections",
    "contextlib",
    "dataclasses",
    "enum",
    "functools",
    "psutil",
    "ptyprocess",
    "pyte",
    "re",
}
SLOW |= {"logging", "shutil", "signal", "subprocess", "threading", "tomllib", "typer", "typing", "lifecycle_detectors"}


@pytest.mark.parametrize("names", [BEFORE_THE_AGENT, UNTIL_THE_FIRST_BYTE], ids=["agent", "byte"])
def test_nothing_slow_is_imported_before_the_agent_runs_or_its_first_byte_passes(names: str) -> None:
    imports = ", ".join(f"lifecycle_wrap.{name}" for name in names.split())
    code = f"import sys; before = set(sys.modules); import {imports}; print(*(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) & SLOW == set()


@pytest.mark.parametrize(
    "agent",
    ["true", "exit 3", "kill -KILL $$", "stty raw -echo; printf '\\033[?1049h'", "exec nowhere"],
)
def test_the_terminal_is_left_as_it_was_found(place: Place, agent: str) -> None:
    script = f"stty -g; {PROGRAM} -- sh -c {shlex.quote(agent)}; echo; stty -g"
    lines = finished(place.spawn_shell(script))[0].split()
    assert lines[0] == lines[-1]


def test_the_terminal_is_left_as_it_was_found_when_the_agent_cannot_start(place: Place) -> None:
    agent = place.folder / "agent"
    agent.write_bytes(b"\x7fELF\0nonsense")
    agent.chmod(0o755)
    script = f"stty -g; {PROGRAM} -- {shlex.quote(str(agent))}; stty -g"
    lines = finished(place.spawn_shell(script))[0].split()
    assert lines[0] == lines[-1]


def test_when_we_are_killed_the_agent_is_hung_up_and_the_terminal_restored(place: Place) -> None:
    told = place.folder / "told"
    agent = f"trap 'echo hung up >{shlex.quote(str(told))}; exit' HUP; echo $PPID ready; while :; do sleep 0.05; done"
    restored = 'until test "$(stty -g)" = "$found"; do sleep 0.02; done; echo restored'
    terminal = place.spawn_shell(f"found=$(stty -g); {PROGRAM} -- sh -c {shlex.quote(agent)}; {restored}; read x")
    terminal.expect(rb"(\d+) ready")
    monitor = int(terminal.match[1])
    ours = psutil.Process(monitor).ppid()
    assert termios.tcgetattr(terminal.child_fd)[3] & termios.ICANON == 0
    os.kill(ours, 9)
    terminal.expect_exact(b"restored")
    wait_until(told.exists, "the agent is hung up")
    terminal.sendline("")
    finished(terminal)
    place.await_no_process()


def test_an_agent_that_ignores_its_hang_up_ends_too_when_we_are_killed(place: Place) -> None:
    agent = python_agent("signal.signal(signal.SIGHUP, signal.SIG_IGN); say('ready')\nwhile True: time.sleep(1)")
    terminal = place.spawn(agent, program=patched("import lifecycle_wrap.pty.monitor as m\nm.HANG_UP_GRACE = 1\n"))
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, 9)
    place.await_no_process()


def test_a_background_process_on_the_pty_does_not_keep_us_alive_nor_do_we_kill_it(place: Place) -> None:
    terminal = place.spawn(["sh", "-c", "sleep 100 & echo started; exit 5"])
    shown, status = finished(terminal)
    assert (shown, status) == (b"started\r\n", 5)
    assert [process.name() for process in place.processes()] == ["sleep"]


def test_a_background_process_that_floods_the_pty_does_not_keep_us_alive(place: Place) -> None:
    terminal = place.spawn(["sh", "-c", "yes & exit 6"])
    assert finished(terminal)[1] == 6


def test_the_last_output_is_not_lost(place: Place) -> None:
    agent = python_agent("tty.setraw(1)\nfor n in range(3000): os.write(1, b'%09d,' % n)\n")
    shown, _ = finished(place.spawn(agent))
    assert shown == b"".join(b"%09d," % n for n in range(3000))


def test_when_the_monitor_is_killed_the_agent_is_hung_up_and_we_end(place: Place) -> None:
    script = f"stty -g; {PROGRAM} -- sh -c 'echo $PPID ready; sleep 100'; echo status $?; stty -g"
    terminal = place.spawn_shell(script)
    terminal.expect(rb"(\S+)\r\n")
    before = terminal.match[1]
    terminal.expect(rb"(\d+) ready")
    os.kill(int(terminal.match[1]), 9)
    terminal.expect_exact(b"status 137")
    assert finished(terminal)[0].split()[-1] == before
    place.await_no_process()


def test_a_fault_in_loading_the_observer_costs_the_observation_only(place: Place) -> None:
    broken = "import sys\nsys.modules['lifecycle_wrap.observer'] = None\n"
    agent = "printf 'said\\033[m\\n'; exit 3"
    shown, status = finished(place.spawn(["sh", "-c", agent], program=patched(broken)))
    assert status == 3
    said, *_, notice = shown.splitlines()
    assert said == b"said\x1b[m"
    assert b"\\lifecycle-wrap: this session was not observed; see " in notice, "after what resets the terminal"
    assert "ModuleNotFoundError" in place.log.read_text()


def test_a_command_that_only_prints_does_not_wait_for_an_observer_that_nobody_needs(place: Place) -> None:
    broken = "import sys\nsys.modules['lifecycle_wrap.observer'] = None\n"
    shown, status = finished(place.spawn(["sh", "-c", "echo said; exit 3"], program=patched(broken)))
    assert (shown, status) == (b"said\r\n", 3)


def test_an_observer_that_does_not_come_costs_the_observation_only(place: Place) -> None:
    slow = (
        "import lifecycle_wrap.loading as loading, lifecycle_wrap.pty.pump as pump, time\n"
        "loading.Loader._make = lambda self: time.sleep(1000)\n"
        "pump.LOADING_LIMIT = loading.LOADING_GRACE = 0.1\n"
    )
    terminal = place.spawn(
        ["sh", "-c", "printf '\\033]7501;state=working\\033\\\\after'; read x; exit 3"], program=patched(slow)
    )
    terminal.expect_exact(b"\x1b]7501;state=working\x1b\\after")
    terminal.sendline("")
    shown, status = finished(terminal)
    assert status == 3
    assert b"this session was not observed" in shown


def test_strict_refuses_a_configuration_with_errors_before_the_agent(place: Place) -> None:
    config = place.folder / "config.toml"
    config.write_text("program_status = 7\n")
    marker = place.folder / "ran"
    agent = ["sh", "-c", f"touch {shlex.quote(str(marker))}"]
    shown, status = finished(place.spawn(agent, options=["--strict", "--config", str(config), "--"]))
    assert status == 2
    assert b"program_status" in shown
    assert not marker.exists()


def test_without_strict_the_agent_runs_and_the_error_is_told_afterwards(place: Place) -> None:
    config = place.folder / "config.toml"
    config.write_text("program_status = 7\n")
    shown, status = finished(place.spawn(["sh", "-c", "echo said; exit 3"], options=["--config", str(config), "--"]))
    said, complaint = shown.splitlines()
    assert (said, status) == (b"said", 3)
    assert b"program_status" in complaint
