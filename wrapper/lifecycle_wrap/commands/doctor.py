"""`lifecycle-wrap doctor`: what is here, what would be told where and why, and what to change.

Owns the findings and their words. It changes nothing and asks no host; the only programs it starts are the agents that
are installed, for their versions, all at once and within `VERSION_SECONDS`.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from lifecycle_detectors import Catalog, Profile
from lifecycle_wrap import __version__, hosts
from lifecycle_wrap.agents import installed, profile_folder
from lifecycle_wrap.catalog import user_catalog
from lifecycle_wrap.config import Config, default_path, load_config
from lifecycle_wrap.environment import SWITCH, inside_wrapped_session
from lifecycle_wrap.hosts.base import Call, HostError
from lifecycle_wrap.hosts.broker import BrokerProblem, check
from lifecycle_wrap.hosts.records import directory, is_private
from lifecycle_wrap.program import ProgramError, find_program
from lifecycle_wrap.terminal.terminals import UNKNOWN, identify

from . import sessions
from .status import Status, host_status

VERSION_SECONDS = 5.0
"""How long an agent may take to tell its version: node starts slowly on a busy machine."""

AT_ONCE = 4
"""How many agents are asked at the same time."""

_VERSION = re.compile(rb"\d+\.\d+[0-9A-Za-z.+-]*")

# Some agents look for a newer version of themselves at every start unless they run unattended.
_UNATTENDED = {"CI": "1", "NO_UPDATE_NOTIFIER": "1"}

_TERMINAL_VARIABLES = ("TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM")


class Mark(StrEnum):
    """What a finding means."""

    GOOD = "ok"
    NOTE = "-"
    CHANGE = "!"


class Finding(NamedTuple):
    """One line of the answer."""

    mark: Mark
    text: str


class Section(NamedTuple):
    """The findings about one thing."""

    title: str
    findings: list[Finding]


def examine(path: Path | None, environ: Mapping[str, str]) -> list[Section]:
    """Look at everything.

    Args:
        path: the configuration file that the user named, or None for the default one.
        environ: the environment.
    """
    config, _ = load_config(path, environ)
    catalog = user_catalog(environ)
    status = host_status(config, environ)
    return [
        Section("Terminal", list(_terminal(config, environ))),
        Section("Configuration", list(_configuration(path, environ))),
        Section("Profiles", list(_profiles(catalog, environ))),
        Section("Agents", list(_agents(catalog, environ))),
        Section("Hosts: what would be told here, and why", list(_hosts(status, config, environ))),
        Section("Sessions", list(_sessions(status, environ))),
        Section("Shell", list(_shell(environ))),
    ]


def to_text(sections: list[Section]) -> str:
    """Return the findings as lines to read, what to change counted at the end."""
    lines = [f"lifecycle-wrap {__version__}, Python {platform.python_version()}, {platform.system()}"]
    for section in sections:
        lines += ["", section.title]
        lines += [f"  {finding.mark:<2} {finding.text}" for finding in section.findings]
    count = len(changes(sections))
    verdict = "nothing to change" if not count else f"to change: {count}, marked with {Mark.CHANGE}"
    return "\n".join([*lines, "", verdict])


def changes(sections: list[Section]) -> list[Finding]:
    """Return the findings that ask for a change."""
    return [finding for section in sections for finding in section.findings if finding.mark is Mark.CHANGE]


def _terminal(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    if not (os.isatty(0) and os.isatty(1)):
        yield Finding(Mark.NOTE, "input or output is no terminal: an agent started like this runs without observation")
    else:
        columns, rows = os.get_terminal_size(1)
        yield Finding(Mark.GOOD, f"{columns} columns, {rows} rows")
    told = ", ".join(f"{name}={environ[name]}" for name in _TERMINAL_VARIABLES if environ.get(name))
    if environ.get("TERM", "dumb") == "dumb":
        yield Finding(Mark.NOTE, "TERM is not set or dumb: watch prints plain lines, agents may draw nothing")
    else:
        yield Finding(Mark.GOOD, told)
    yield _known_terminal(config, environ)
    if os.isatty(0) and inside_wrapped_session(environ, 0):
        yield Finding(Mark.NOTE, "this is inside a wrapped session: an agent started here is not wrapped once more")


def _known_terminal(config: Config, environ: Mapping[str, str]) -> Finding:
    terminal = identify(environ)
    version = ".".join(map(str, terminal.version))
    name = f"{terminal.name} {version}".rstrip()
    if config.osc == "off" or not config.enabled:
        progress = "progress is switched off"
    elif terminal.draws_progress or config.osc == "on":
        progress = "progress is sent"
    else:
        progress = "no progress is sent, for it is not known to draw any"
    notified = "notifications are switched off" if config.notify == "off" else f"it is notified by {terminal.notify}"
    what = "by its variables; its own answer at the start of a run counts more"
    return Finding(Mark.NOTE if terminal is UNKNOWN else Mark.GOOD, f"{name} ({what}): {progress}; {notified}")


def _configuration(path: Path | None, environ: Mapping[str, str]) -> Iterator[Finding]:
    config, problems = load_config(path, environ)
    file = path or default_path(environ)
    for problem in problems:
        yield Finding(Mark.CHANGE, str(problem).removeprefix("lifecycle-wrap: "))
    if not problems:
        yield Finding(Mark.GOOD, str(file) if file.exists() else f"all defaults; there is no {file}")
    if environ.get(SWITCH) == "0":
        yield Finding(Mark.CHANGE, f"{SWITCH}=0 in the environment switches everything off; unset it")
    elif not config.enabled:
        yield Finding(Mark.CHANGE, "lifecycle.enabled is false: no host is told anything; remove it or make it true")
    for name in sorted(config.hosts_off):
        variable = hosts.switch_variable(name)
        yield Finding(Mark.NOTE, f"{variable}=0 in the environment: {name} is not told")
    if config.broker is not None:
        try:
            check(config.broker, environ)
        except BrokerProblem as problem:
            yield Finding(Mark.CHANGE, f"lifecycle.broker: {problem}")
    for command in config.commands:
        try:
            find_program(command.argv[0], environ)
        except ProgramError as error:
            yield Finding(Mark.CHANGE, f"command sink {command.name!r}: {error}; correct its command")


def _profiles(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[Finding]:
    folder = profile_folder(environ)
    own = len(list(Path(folder).glob("*.toml")))
    for problem in catalog.problems:
        yield Finding(Mark.CHANGE, str(problem))
    if not catalog.problems:
        yield Finding(Mark.GOOD, f"{len(catalog.names())} profiles, {own} of them from {folder}")


def _agents(catalog: Catalog, environ: Mapping[str, str]) -> Iterator[Finding]:
    found = installed(environ)
    if not found:
        yield Finding(Mark.NOTE, "no known agent is on PATH; install one, or see how it works with lifecycle-wrap demo")
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        versions = list(pool.map(lambda path: _version(path, environ), found.values()))
    for (name, path), version in zip(found.items(), versions, strict=True):
        known = _known(catalog.for_command([name]), version)
        yield Finding(Mark.GOOD, f"{name} {version or '(tells no version)'} at {path}; {known}")


def _version(path: str, environ: Mapping[str, str]) -> str:
    try:
        answer = Call(VERSION_SECONDS).ask([path, "--version"], environ={**environ, **_UNATTENDED})
    except HostError:
        return ""
    match = _VERSION.search(answer.output)
    return match[0].decode() if match and answer.status == 0 else ""


def _known(profile: Profile, version: str) -> str:
    if not profile.verified:
        return f"profile {profile.name}, written from documents alone"
    if version in profile.verified:
        return f"profile {profile.name}, tried with this version"
    return f"profile {profile.name}, tried with {', '.join(profile.verified)}"


def _hosts(status: Status, config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    for state in sorted(status.adapters, key=lambda state: not state.enabled):
        seen = state.name in hosts.BUILT_IN and bool(hosts.BUILT_IN[state.name].markers)
        seen = seen and hosts.BUILT_IN[state.name].shown_by(environ)
        if state.enabled:
            yield Finding(Mark.GOOD, f"{state.name} is told: {state.reason}")
        elif seen and not state.detected and not hosts.off_reason(config, state.name):
            yield Finding(Mark.CHANGE, f"{state.name} is around us but cannot be told: {state.reason}")
        else:
            yield Finding(Mark.NOTE, f"{state.name} is not told: {state.reason}")
    if not any(state.enabled and state.type != "register" for state in status.adapters):
        yield Finding(
            Mark.NOTE,
            "no host is told here but the register: lifecycle-wrap ps, watch, wait and tail work; "
            "for more run inside one of the hosts above, or configure a command sink",
        )


def _sessions(status: Status, environ: Mapping[str, str]) -> Iterator[Finding]:
    path = directory(environ)
    if os.path.lexists(path) and not is_private(path):
        yield Finding(Mark.CHANGE, f"{path} is not yours alone, so it is not used; remove it, or chmod 700 it")
        return
    if not os.path.lexists(path) and not os.access(os.path.dirname(path), os.W_OK):
        yield Finding(Mark.CHANGE, f"{path} cannot be made, so ps and watch see nothing; set XDG_RUNTIME_DIR")
        return
    running = sessions.running(environ)
    yield Finding(Mark.GOOD, f"{len(running)} running, listed in {path}")
    for notice in status.notices:
        yield Finding(Mark.CHANGE, f"{notice.agent} (pid {notice.pid}): {notice.host}: {notice.text}")


_ADOPTION = {
    "bash": ("~/.bashrc", 'eval "$(lifecycle-wrap shell-init bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(lifecycle-wrap shell-init zsh)"'),
    "fish": ("~/.config/fish/config.fish", "lifecycle-wrap shell-init fish | source"),
}


def _shell(environ: Mapping[str, str]) -> Iterator[Finding]:
    shell = os.path.basename(environ.get("SHELL", ""))
    if shell not in _ADOPTION:
        yield Finding(Mark.NOTE, "SHELL is none of bash, zsh and fish: start agents with lifecycle-wrap -- AGENT")
        return
    file, line = _ADOPTION[shell]
    path = Path(environ.get("HOME", "/")) / file.removeprefix("~/")
    try:
        adopted = "lifecycle-wrap shell-init" in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        adopted = False
    if adopted:
        yield Finding(Mark.GOOD, f"{file} wraps the installed agents in new shells")
    else:
        yield Finding(Mark.NOTE, f"to wrap agents without typing it, add this line to {file}: {line}")
