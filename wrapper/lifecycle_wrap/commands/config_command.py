"""`lifecycle-wrap config init` and `config show`.

Owns the writing of a first file, and the listing of what is in force with where each value comes from. What the keys
mean is `config`'s; the first file's text is `config_template.toml` beside this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from lifecycle_wrap import hosts
from lifecycle_wrap.bounded_toml import load_toml, read_bounded
from lifecycle_wrap.broker_config import BROKER_KEYS, Broker
from lifecycle_wrap.config import LIFECYCLE_KEYS, TOP_KEYS, Command, Config, Problem, default_path, load_config
from lifecycle_wrap.environment import SWITCH


class FileExistsProblem(Exception):
    """There is a file already; the text says what to do."""


def template() -> str:
    """Return the text of a first configuration file."""
    return (resources.files(__package__) / "config_template.toml").read_text(encoding="utf-8")


def init(path: Path, *, force: bool) -> None:
    """Write a first configuration file.

    Raises:
        FileExistsProblem: one is there, and `force` is not given.
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        raise FileExistsProblem(f"{path} is there already; change it, or start anew with --force") from None


class Shown(NamedTuple):
    """The effective configuration as text, and what is wrong with the file."""

    text: str
    problems: tuple[Problem, ...]


def show(path: Path | None, environ: Mapping[str, str]) -> Shown:
    """Return the effective configuration: TOML, each value with its origin in a comment.

    Args:
        path: the file that the user named, or None for the default one.
        environ: the environment.
    """
    config, problems = load_config(path, environ)
    file = path or default_path(environ)
    origins = _Origins(file, problems)
    lines = [f"# {file}{'' if file.exists() else ' (there is none: all is default)'}"]
    lines += [_line(key, getattr(config, key), origins.of(key)) for key in TOP_KEYS]
    lines += ["", "[lifecycle]", *_lifecycle(config, environ, origins)]
    if config.broker is not None:
        lines += ["", "[lifecycle.broker]", *_broker(config.broker, origins)]
    for command in config.commands:
        lines += ["", "[[lifecycle.commands]]", *_command(command, origins)]
    for name, options in config.host_options.items():
        if name not in hosts.NAMES:
            lines += ["", f"[lifecycle.hosts.{json.dumps(name)}]"]
            lines += [_line(key, value, origins.of(f"lifecycle.hosts.{name}.{key}")) for key, value in options.items()]
    lines += _switches(config)
    return Shown("".join(f"{line}\n" for line in lines), problems)


def _lifecycle(config: Config, environ: Mapping[str, str], origins: _Origins) -> Iterator[str]:
    for key in LIFECYCLE_KEYS:
        if key == "enabled":
            origin = f"{SWITCH}=0 in the environment" if environ.get(SWITCH) == "0" else origins.of("lifecycle.enabled")
            yield _line(key, config.enabled, origin)
        else:
            yield _line(key, getattr(config, key), origins.of(f"lifecycle.{key}"))
    for name, option, _ in hosts.options():
        yield _line(option, config.host_options[name][option], origins.of(f"lifecycle.{option}"))


def _broker(broker: Broker, origins: _Origins) -> Iterator[str]:
    for key in BROKER_KEYS:
        value = getattr(broker, key)
        yield _line(key, str(value) if key == "url" else value, origins.of(f"lifecycle.broker.{key}"))


def _command(command: Command, origins: _Origins) -> Iterator[str]:
    prefix = origins.command(command.name)
    values = {"name": command.name, "command": command.argv, "timeout": command.timeout, "events": command.events}
    for key, value in values.items():
        yield _line(key, value, origins.of(f"{prefix}.{key}"))


def _switches(config: Config) -> Iterator[str]:
    """Yield what the environment alone decides; there are no keys for it."""
    if config.hosts_off or config.debug:
        yield ""
    for name in sorted(config.hosts_off):
        yield f"# {hosts.switch_variable(name)}=0 in the environment: {name} is not told"
    if config.debug:
        yield f"# {SWITCH}_DEBUG=1 in the environment: failures are told in the log"


def _line(key: str, value: Any, origin: str) -> str:
    return f"{f'{key} = {_toml(value)}':<40} # {origin}"


def _toml(value: Any) -> str:
    if isinstance(value, tuple | frozenset):
        value = sorted(value) if isinstance(value, frozenset) else list(value)
    return json.dumps(value, ensure_ascii=False)


_TABLE = re.compile(r"\s*(\[\[?)\s*([\w.\"-]+)\s*\]")
_KEY = re.compile(r"\s*([\w.-]+)\s*=")


class _Origins:
    """Where the values come from: the file's line, or the default.

    Args:
        file: the configuration file; one that cannot be read has no lines.
        problems: what is wrong with it: such a value is not in force.
    """

    def __init__(self, file: Path, problems: tuple[Problem, ...]) -> None:
        self._wrong = {problem.key for problem in problems}
        self._lines: dict[str, int] = {}
        self._names: list[str] = []
        try:
            text = read_bounded(file)
            commands = load_toml(text).get("lifecycle", {}).get("commands", [])
            self._names = [str(command.get("name", "")).strip() for command in commands]
            self._lines = dict(_positions(text))
        except (OSError, ValueError, AttributeError, TypeError):
            return

    def of(self, key: str) -> str:
        """Return where the value of a dotted key comes from."""
        if key not in self._lines:
            return "default"
        line = f"line {self._lines[key]}"
        return f"default, for {line} is wrong" if key in self._wrong else line

    def command(self, name: str) -> str:
        """Return the dotted key of a command's table."""
        return f"lifecycle.commands[{self._names.index(name)}]" if name in self._names else ""


def _positions(text: str) -> Iterator[tuple[str, int]]:
    """Yield each dotted key with its line, as far as a look at single lines can tell."""
    table = ""
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            name = header[2].replace('"', "")
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
                name = f"{name}[{counts[name]}]"
            table = f"{name}."
        elif key := _KEY.match(line):
            yield table + key[1], number
