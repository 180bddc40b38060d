"""A place where the real program runs in pexpect's terminals, and what it leaves behind there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pexpect
import psutil

from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import DEADLINE, wait_until

MARK = "LIFECYCLE_WRAP_TEST"
"""A variable by which all processes of one test are known."""

RUN_MAIN = "import sys\nfrom lifecycle_wrap.__main__ import main\nsys.exit(main())\n"


def patched(prelude: str) -> list[str]:
    """Return the real program's command line with Python that runs first and breaks or hurries a part of it."""
    return [sys.executable, "-c", prelude + RUN_MAIN]


def python_agent(script: str) -> list[str]:
    """Return the command line of an agent given as Python; `say` writes to the terminal at once."""
    say = "import os, sys, signal, time, tty, termios, select\ndef say(text): os.write(1, text.encode())\n"
    return [sys.executable, "-c", say + script]


class Place:
    """A folder, an environment that finds nothing of the machine's user, and the mark of all that runs there.

    Its configuration keeps our own bytes off the terminal, so that what comes out is the agent's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = uuid4().hex
        self.environ = isolated_environment(folder, **{MARK: self.mark})
        config = folder / ".config" / "lifecycle-wrap" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('program_status = "pass"\n[lifecycle]\nadapters = []\nosc = "off"\n')

    @property
    def log(self) -> Path:
        """Our log file."""
        return self.folder / ".local" / "state" / "lifecycle-wrap" / "lifecycle-wrap.log"

    def spawn(
        self,
        agent: Sequence[str],
        *,
        program: Sequence[str] = WRAPPER,
        options: Sequence[str] = ("--",),
        dimensions: tuple[int, int] = (30, 100),
        environ: Mapping[str, str] | None = None,
    ) -> pexpect.spawn[bytes]:
        """Run an agent under the program in a terminal of its own."""
        argv = [*program, *options, *agent]
        terminal = pexpect.spawn(
            argv[0],
            argv[1:],
            env={**self.environ, **(environ or {})},
            dimensions=dimensions,
            timeout=DEADLINE,
            maxread=1 << 16,
        )
        terminal.delaybeforesend = None
        return terminal

    def spawn_shell(self, script: str) -> pexpect.spawn[bytes]:
        """Run a script of sh in a terminal of its own."""
        return self.spawn(["sh", "-c", script], program=(), options=())

    def processes(self) -> list[psutil.Process]:
        """All live processes with the mark."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def await_no_process(self) -> None:
        """Wait until nothing with the mark is left."""
        wait_until(lambda: not self.processes(), lambda: f"no process left: {self.processes()}")

    def kill_all(self) -> None:
        """Leave nothing behind."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()


class Shell:
    """`bash -i`, which plays the user's shell.

    Attributes:
        terminal: its terminal.
    """

    def __init__(self, place: Place) -> None:
        self._prompt = f"<{uuid4().hex[:8]}> "
        readline = place.folder / "inputrc"
        readline.write_text("set enable-bracketed-paste off\n")
        self.terminal = pexpect.spawn(
            "bash",
            ["--norc", "--noprofile", "-i"],
            env={**place.environ, "PS1": self._prompt, "INPUTRC": str(readline)},
            dimensions=(30, 100),
            timeout=DEADLINE,
        )
        self.terminal.delaybeforesend = None
        self.await_prompt()

    def await_prompt(self) -> bytes:
        """Wait for the prompt; returns what came before it."""
        self.terminal.expect_exact(self._prompt.encode())
        return bytes(self.terminal.before)

    def start(self, line: str) -> None:
        """Type a command, and wait only until it was taken."""
        self.terminal.sendline(line)
        self.terminal.expect_exact(b"\n")

    def run(self, line: str) -> bytes:
        """Type a command and wait for the next prompt; returns what was shown in between."""
        self.start(line)
        return self.await_prompt()

    def modes(self) -> bytes:
        """The terminal's modes that a program finds."""
        return self.run("stty -g").strip()


def finished(terminal: pexpect.spawn[bytes]) -> tuple[bytes, int | None]:
    """Return all that is still shown and the exit code."""
    terminal.expect(pexpect.EOF)
    shown = bytes(terminal.before)
    terminal.close()
    return shown, terminal.exitstatus
