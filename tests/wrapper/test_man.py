"""The manual page and the help: complete, well-formed, and with examples that run."""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from lifecycle_wrap import __version__
from lifecycle_wrap.arguments import COMMANDS, HELP, SWITCHES, VALUES
from lifecycle_wrap.commands.cli import app
from lifecycle_wrap.commands.man import page
from tests.support.registered import Registered, run
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end
from tests.support.waiting import wait_until

ENDLESS = ("watch", "tail")
"""The commands that are ended by the user."""
AT_A_TERMINAL = ("record", "reset")
"""The commands that need one."""
RECORDING = """{"version": 2, "width": 80, "height": 24, "command": "my-agent"}
[0.1, "m", "state:idle"]
[0.1, "o", "\\u001b]7501;state=idle\\u001b\\\\"]
[3.0, "o", "x"]
"""
PROFILE = """schema = 1
name = "my-agent"
[match]
commands = ["my-agent"]
[[rule]]
id = "rest"
state = "idle"
all = [{ status = ["idle"] }]
"""


def commands(command: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all commands by their words."""
    command = command or get_command(app)
    if not getattr(command, "commands", None):
        yield path, command
        return
    for name, below in command.commands.items():
        yield from commands(below, f"{path} {name}".strip())


def test_the_page_has_every_command_and_every_option() -> None:
    text = page().replace("\\-", "-")
    for path, command in commands():
        assert f"\n.SS {path} " in text
        for parameter in command.params:
            assert all(option in text for option in parameter.opts if option.startswith("-"))
    for option in (*VALUES, *SWITCHES, *HELP):
        assert f"{option}" in text
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXAMPLES", "ENVIRONMENT", "FILES"):
        assert f"\n.SH {section}\n" in text
    assert "\n.SH EXIT STATUS" in text
    assert __version__ in text.splitlines()[0]


def test_each_command_of_the_app_is_known_before_typer_is() -> None:
    """Else its name would be taken for an agent's."""
    root: Any = get_command(app)
    assert set(root.commands) <= COMMANDS


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_the_page_is_well_formed() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=page(), capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert 'eval "$(lifecycle-wrap shell-init bash)"' in plain
    assert "lifecycle-wrap ps --format '{mark}{agent}' --join ' '" in plain


def test_the_page_is_printed_by_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lifecycle_wrap.commands.man"], capture_output=True, text=True, check=True
    )
    assert done.stdout == page()


def test_version_and_help(tmp_path: Path) -> None:
    environ = isolated_environment(tmp_path)
    assert run(environ, "--version").stdout == f"lifecycle-wrap {__version__}\n"
    shown = run(environ, "--help")
    assert shown.returncode == 0
    for word in (*(path.split()[0] for path, _ in commands()), "--explain", "LIFECYCLE_WRAP=0", "config.toml", "128+n"):
        assert word in shown.stdout
    misplaced = run(environ, "--config", "x", "doctor")
    assert (misplaced.returncode, misplaced.stderr.count("\n")) == (2, 1)


def examples() -> list[str]:
    """Return the command lines of our commands' examples."""
    found = []
    for path, command in commands():
        _, _, text = command.help.partition("Example")
        lines = [line.strip() for line in text.split("\n\n")[0].splitlines()[1:]]
        assert lines, f"{path} has no example"
        assert all(f"lifecycle-wrap {path}" in line for line in lines)
        found += lines
    return found


def lay_out(folder: Path, environ: dict[str, str]) -> None:
    """Make the files and programs that the examples name."""
    (folder / "demo.cast").write_text(RECORDING)
    (folder / "my-agent.toml").write_text(PROFILE)
    profiles = Path(environ["HOME"], ".config", "lifecycle-wrap", "profiles")
    recordings = folder / "recordings" / "my-agent"
    for place, name, text in ((profiles, "my-agent.toml", PROFILE), (recordings, "turn.cast", RECORDING)):
        place.mkdir(parents=True)
        (place / name).write_text(text)
    bin = folder / "bin"
    bin.mkdir()
    scripts = {
        "lifecycle-wrap": f'exec {shlex.join(WRAPPER)} "$@"',
        "notify-send": 'echo "$@"',
        "claude": "echo claude ran",
    }
    if shutil.which("jq") is None:
        scripts["jq"] = "exec cat"
    for name, text in scripts.items():
        (bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (bin / name).chmod(0o755)
    environ["PATH"] = f"{bin}:{os.environ['PATH']}"


def test_the_examples_run(tmp_path: Path) -> None:
    """All at once: most of their time is the start of Python."""
    environ = isolated_environment(tmp_path)
    lay_out(tmp_path, environ)
    session = Registered(environ, "claude", 1)
    session.tell("blocked")
    at_a_terminal = [line for line in examples() if line.split()[1] in AT_A_TERMINAL]
    running = {line: _run(line, tmp_path, environ) for line in examples() if line not in at_a_terminal}
    endless = {line: process for line, process in running.items() if line.split()[1] in ENDLESS}
    assert len(endless) == 4

    def all_told() -> bool:
        session.tell("working")
        session.tell("blocked")
        return len(select.select([process.stdout for process in endless.values()], [], [], 0.2)[0]) == len(endless)

    wait_until(all_told, "a line of each that never ends")
    for process in endless.values():
        os.killpg(process.pid, signal.SIGINT)
    for line, process in running.items():
        output, errors = process.communicate(timeout=60)
        assert (line, errors) == (line, "")
        assert process.returncode in ((130, -signal.SIGINT) if line in endless else (0,)), line
        assert output or ">" in line or "--svg" in line, line
    for line in at_a_terminal:
        shown, status = run_to_the_end(["sh", "-c", f"cd {tmp_path} && {line}"], environ)
        assert (status, b"claude ran" in shown) == (0, "claude" in line), shown
    for written in ("demo.svg", "claude.toml", "session.cast", "turn.cast"):
        assert (tmp_path / written).stat().st_size
    session.end()


def _run(line: str, folder: Path, environ: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
