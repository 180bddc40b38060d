"""`status`: which hosts a session started here would tell, and why; and what running sessions have met.

Owns the two forms of the answer. It has no side effects: no host is told, asked or connected to, nothing is written.
The environment, the file system and the register are read; on a terminal, that is asked who it is, and so is a tmux
around it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lifecycle_wrap.hosts import records
from lifecycle_wrap.hosts.selection import survey
from lifecycle_wrap.terminal.emitter import draws_progress
from lifecycle_wrap.terminal.terminals import UNKNOWN, Terminal, identify

from .terminal_status import TerminalState, terminal_state

if TYPE_CHECKING:
    from lifecycle_wrap.config import Config
    from lifecycle_wrap.terminal.probe import Probe

COMMAND_TYPE = "command"
TERMINAL_TYPE = "terminal"


@dataclass(frozen=True, slots=True)
class HostState:
    """What would become of one host.

    Attributes:
        name: the host's, or the command sink's.
        type: `native`, `multiplexer`, `sidebar`, `register`, `adapter` (of another package), `command` or `terminal`.
        detected: it is around us; False also where it was not looked for.
        enabled: it would be told.
        reason: why, in words.
    """

    name: str
    type: str
    detected: bool
    enabled: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What a host wants the user of a running session to know."""

    pid: int
    agent: str
    host: str
    text: str


@dataclass(frozen=True, slots=True)
class Status:
    """The whole answer.

    Attributes:
        enabled: False when everything is switched off.
        reason: why.
        adapters: every host and command sink, by type and name.
        osc: whether the terminal would be told progress; its name is the terminal's.
        terminal: what else is known of it.
        notices: of all running sessions of this user.
    """

    enabled: bool
    reason: str
    adapters: tuple[HostState, ...]
    osc: HostState
    terminal: TerminalState
    notices: tuple[Notice, ...]

    def to_json(self) -> str:
        """Return the status as one JSON object, indented by two, its keys in the order of the attributes."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    def to_text(self) -> str:
        """Return the status as lines to read."""
        lines = [f"Lifecycle: {_word(self.enabled)} ({self.reason})"]
        for host in (*self.adapters, self.osc):
            label = f"{host.name} [{host.type}]"
            flags = f"detected={_word(host.detected):5} enabled={_word(host.enabled):5}"
            lines.append(f"{label:<22} {flags} {host.reason}")
        lines.append(self.terminal.to_text())
        for notice in self.notices:
            lines.append(f"{notice.agent} (pid {notice.pid}): {notice.host}: {notice.text}")
        return "\n".join(lines)


def host_status(config: Config, environ: Mapping[str, str], answers: Probe | None = None) -> Status:
    """Tell what `config` means here.

    Args:
        config: the effective configuration.
        environ: the environment.
        answers: what the terminal has answered; None where it was not asked.
    """
    states = [
        HostState(one.name, one.category, one.detected, one.enabled, one.reason) for one in survey(config, environ)
    ]
    for command in config.commands:
        reason = "explicitly configured" if config.enabled else f"{config.off_reason}; not started"
        states.append(HostState(command.name, COMMAND_TYPE, detected=True, enabled=config.enabled, reason=reason))
    states.sort(key=lambda state: (state.type, state.name))
    return Status(
        config.enabled,
        config.off_reason or "enabled",
        tuple(states),
        _osc(config, identify(environ, answers.version if answers else None)),
        terminal_state(environ, answers),
        _notices(environ),
    )


def _osc(config: Config, terminal: Terminal) -> HostState:
    """What follows for the terminal; a session asks it in any case."""
    version = ".".join(map(str, terminal.version))
    enabled = config.enabled and draws_progress(config.osc, terminal)
    if not config.enabled:
        reason = config.off_reason
    elif config.osc == "off":
        reason = "disabled by lifecycle.osc"
    elif terminal.misreads_progress:
        reason = "this version takes progress for a notification"
    else:
        reason = f'progress is {"drawn" if terminal.draws_progress else "not known to be drawn"} (osc = "{config.osc}")'
    return HostState(f"{terminal.name} {version}".rstrip(), TERMINAL_TYPE, terminal is not UNKNOWN, enabled, reason)


def _notices(environ: Mapping[str, str]) -> tuple[Notice, ...]:
    return tuple(
        Notice(session.pid, session.agent, host, text)
        for session in records.list_sessions(records.directory(environ))
        if session.alive
        for host, text in sorted(session.notices.items())
    )


def _word(value: bool) -> str:
    return "true" if value else "false"
