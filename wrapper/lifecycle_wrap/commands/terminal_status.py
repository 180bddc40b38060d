"""What is known of the terminal that a command runs in, and what follows from it, for `status`.

Owns the asking outside a session (the same one question as in one), and the words. A session finds the same by itself.
"""

from __future__ import annotations

import os
import select
import termios
import time
import tty
from collections.abc import Mapping
from dataclasses import dataclass

from lifecycle_wrap.hosts.outer import ask_around
from lifecycle_wrap.terminal.probe import Probe
from lifecycle_wrap.terminal.terminals import Terminal, identify

PATIENCE = 1.0
"""Seconds that a command may wait for a busy terminal, as no agent's start may."""


@dataclass(frozen=True, slots=True)
class TerminalState:
    """What was found, and what follows.

    Attributes:
        name: the terminal's.
        version: empty where it is not known.
        known_by: `answer`, `environment`, or empty.
        program_status: it knows OSC 7501; None where it was not asked, or has not answered.
        progress: it draws OSC 9;4.
        notification: the sequence that makes it notify.
        title_stack: it restores the title itself; None where that is not known.
        focus: it reports the focus; None where that is not known.
        around: what a multiplexer says of the terminal around it; empty elsewhere.
    """

    name: str
    version: str
    known_by: str
    program_status: bool | None
    progress: bool
    notification: str
    title_stack: bool | None
    focus: bool | None
    around: str

    def to_text(self) -> str:
        """Return it as lines to read."""
        known_by = f" (by its {self.known_by})" if self.known_by else ""
        lines = [
            f"Terminal: {self.name} {self.version}".rstrip() + known_by,
            f"  progress drawn: {_word(self.progress)}; program status (OSC 7501): {_word(self.program_status)}",
            f"  notifies by: {self.notification}; restores titles: {_word(self.title_stack)};"
            f" reports focus: {_word(self.focus)}",
        ]
        return "\n".join(lines + ([f"  around it: {self.around}"] if self.around else []))


def terminal_state(environ: Mapping[str, str], answers: Probe | None) -> TerminalState:
    """Tell what is known.

    Args:
        environ: the environment.
        answers: what the terminal has answered; None where nothing is to be asked.
    """
    version = answers.version if answers else None
    terminal: Terminal = identify(environ, version)
    return TerminalState(
        name=terminal.name,
        version=".".join(map(str, terminal.version)),
        known_by="answer" if version else "environment" if terminal.sources else "",
        program_status=answers.knows_status if answers else None,
        progress=terminal.draws_progress,
        notification=terminal.notify.value,
        title_stack=terminal.title_stack,
        focus=terminal.focus,
        around=ask_around(terminal, environ) if answers else "",
    )


def ask_terminal() -> Probe | None:
    """Ask the terminal that we are in the foreground of; None where there is none."""
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(fd) != os.getpgrp():
            return None
        return _ask(fd)
    except (OSError, termios.error):
        return None
    finally:
        os.close(fd)


def _ask(fd: int) -> Probe:
    probe = Probe(PATIENCE)
    found = termios.tcgetattr(fd)
    try:
        tty.setraw(fd, termios.TCSANOW)
        os.write(fd, probe.ask(time.monotonic()))
        while not probe.settled:
            now = time.monotonic()
            deadline = probe.deadline
            wait = max(0.0, deadline - now) if deadline is not None else 0.0
            if select.select([fd], [], [], wait)[0]:
                probe.filter_input(os.read(fd, 4096), time.monotonic())
            else:
                probe.on_deadline(time.monotonic())
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, found)
    return probe


def _word(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"
