"""What is told where something fails: one line that says what happened, and what to do or where the log is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle_wrap.log import Log
from tests.support.place import Place, finished, patched
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

FAILURES = {
    "no agent": ["--"],
    "an option without its value": ["--profile"],
    "an unknown option": ["--no-such", "--", "true"],
    "another headless": ["--headless=x", "--", "true"],
    "no such agent": ["--", "no-such-agent"],
    "no such file": ["--", "/no/such/agent"],
    "a directory": ["--", "/"],
    "not executable": ["--", "/etc/passwd"],
    "an unknown command": ["no-such-command"],
    "an unknown option of a command": ["ps", "--no-such"],
    "a value missing": ["ps", "--format"],
    "a wrong template": ["ps", "--format", "{nothing}"],
    "a wrong state": ["ps", "--state", "x"],
    "a wrong time": ["wait", "--timeout", "x"],
    "nobody to wait for": ["wait"],
    "nobody to follow": ["tail", "nobody"],
    "no recording": ["replay", "/no/such.cast"],
    "not a recording": ["replay", "/etc/passwd"],
    "no recording to explain": ["explain", "/no/such.cast"],
    "no such profile": ["profiles", "show", "nothing"],
    "no such folder": ["profiles", "test", "/no/such"],
    "no terminal to record": ["record", "x.cast", "--", "true"],
    "no terminal to reset": ["reset"],
    "an unknown shell": ["shell-init", "x"],
    "an unknown shell's completion": ["completion", "x"],
    "a wrong marker key": ["record", "--marker-key", "x", "x.cast", "--", "true"],
}
REMEDY = re.compile(r"; \S| see | did you mean|lifecycle-wrap ps|expected|give |name |use ")


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_in_one_line_with_what_to_do(tmp_path: Path, name: str) -> None:
    ran = subprocess.run(
        [*WRAPPER, *FAILURES[name]],
        env=isolated_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert ran.returncode != 0
    assert ran.stdout == ""
    [line] = ran.stderr.splitlines()
    assert line.startswith("lifecycle-wrap: ")
    assert REMEDY.search(line), line


IN_A_TERMINAL = {
    "no descriptors": ("ulimit -n 6", [], "raise the limit (ulimit -n), or set LIFECYCLE_WRAP=0"),
    "a wrong configuration, strict": (":", ["--strict", "--config", "wrong.toml"], "mend it, or leave --strict out"),
    "a wrong configuration": (":", ["--config", "wrong.toml"], "the defaults are used"),
    "no such configuration": (":", ["--config", "none.toml"], "name one that exists"),
    "no such profile": (":", ["--profile", "nothing"], "known: "),
}


@pytest.mark.parametrize("name", IN_A_TERMINAL)
def test_in_a_terminal_it_is_one_line_too(place: Place, name: str) -> None:
    (place.folder / "wrong.toml").write_text("x = [")
    before, options, remedy = IN_A_TERMINAL[name]
    command = shlex.join([*WRAPPER, *options, "--", "true"])
    terminal = place.spawn_shell(f"cd {place.folder}; {before}; {command}")
    [line] = finished(terminal)[0].decode().splitlines()
    assert line.startswith("lifecycle-wrap: ")
    assert remedy in line


def test_a_command_that_breaks_says_so_in_one_line_and_the_log_has_the_rest(tmp_path: Path) -> None:
    prelude = "import lifecycle_wrap.commands.ps as ps\ndef broken(*_): raise KeyError('SECRET')\nps.quick = broken\n"
    environ = isolated_environment(tmp_path)
    ran = subprocess.run([*patched(prelude), "ps"], env=environ, capture_output=True, text=True, check=False)
    log = Path(Log(environ).path)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"lifecycle-wrap: ps: internal error (KeyError); see {log} and report it\n"
    assert "in broken" in log.read_text()
    assert "SECRET" not in log.read_text()


def test_who_stops_reading_our_output_gets_no_complaint(tmp_path: Path) -> None:
    prelude = "import lifecycle_wrap.commands.ps as ps\nps.listing = lambda *_, **__: 'x' * 1_000_000\n"
    command = subprocess.Popen(
        [*patched(prelude), "ps"], env=isolated_environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    assert command.stderr is not None
    with command:
        command.stdout.read(1)
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode != 0


SECRET = "SECRET-4711"
AGENT = f"""
import os, sys
os.write(1, b"\\x1b]2;{SECRET}\\x07\\x1b]7501;state=blocked:kind=question\\x1b\\\\{SECRET}\\r\\n\\x1b]9;{SECRET}\\x07")
sys.stdin.readline()
os.write(1, b"\\x1b]7501;state=working\\x1b\\\\")
"""
BREAK_THE_SESSION = """
import lifecycle_detectors.session as session
def broken(self, data, now): raise ValueError(repr(data))
session.Session.receive_input = broken
"""


@pytest.mark.parametrize("breaks", [False, True], ids=["hosts fail", "we fail"])
def test_debugging_shows_no_content(tmp_path: Path, breaks: bool) -> None:
    """With hosts that fail, and with an error of ours whose text is what the user typed."""
    config = tmp_path / "config.toml"
    config.write_text('titles = 1\n[[lifecycle.commands]]\nname = "no"\ncommand = ["/no/such/sink"]\n')
    environ = isolated_environment(tmp_path, LIFECYCLE_WRAP_DEBUG="1", SECRET=SECRET)
    argv = [sys.executable, "-c", AGENT]
    program = patched(BREAK_THE_SESSION) if breaks else WRAPPER
    with Wrapped([*argv, SECRET], environ, ["--debug", "--config", str(config)], program=program) as wrapped:
        wait_until(lambda: SECRET.encode() in wrapped.output, "the agent")
        log = Path(Log(environ).path)
        wait_until(lambda: log.exists() and "no" in log.read_text(), "the failure of the sink")
        wrapped.type(f"{SECRET}\r".encode())
        assert wrapped.wait() == 0
    text = log.read_text()
    assert 'host "no"' in text
    assert ("ValueError" in text) == breaks
    assert SECRET not in text
