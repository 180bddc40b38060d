"""The configuration file and the environment's switches, as one frozen `Config`.

Owns the schema of `config.toml`, its defaults and its errors. It only reads: nothing is looked up on PATH, no host is
asked. Loading fails open: a key that is wrong keeps its default, every problem is told in one line, and the agent runs
all the same.

The file, all keys optional, with their defaults:

    program_status = "answer"       # or "pass": who answers the agent's OSC 7501 query
    screen = "auto"                 # or "off": look at signals only, not at the screen
    background_shell = "idle"       # or "working": what an agent is while only a background shell of its own lives
    title = "off"                   # or "state", "text": the state before the window's title, as a glyph or a word
    notify = "unfocused"            # or "off", "always": when the terminal is made to notify
    notify_blocked_after = 0        # seconds that the agent must have been blocked
    notify_turn_after = 10          # seconds that a turn must have taken
    strict = false                  # problems of this file keep the agent from starting

    [lifecycle]
    enabled = true
    adapters = ["auto"]             # or names of hosts; [] for none
    nesting = "innermost"           # or "all": which of several nested hosts are told
    osc = "auto"                    # or "off", "on": progress for the outer terminal
    titles = false                  # true lets hosts have the agent's window title

    [[lifecycle.commands]]          # any number of command sinks
    name = "log"
    command = ["/path/to/executable", "argument"]
    timeout = 2                     # seconds, or "750ms", "2s"; at most 30
    events = ["state", "release"]   # kinds of events, in any number

    [lifecycle.broker]              # `broker_config` describes it

A built-in host's own options stand in `[lifecycle]` too (`hosts.BUILT_IN` lists them); those of a host from elsewhere
in a table `[lifecycle.hosts.NAME]`, which is handed to it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import hosts
from .bounded_toml import TooMuch, load_toml, read_bounded
from .environment import SWITCH, settings_folder

if TYPE_CHECKING:
    from .broker_config import Broker

EVENT_KINDS = (
    "session_started",
    "state",
    "turn_started",
    "turn_completed",
    "approval_requested",
    "approval_resolved",
    "attention",
    "release",
)
_EVENT_ALIASES = {"session_ended": "release"}

NAME_BYTES = 64
ARGUMENTS_LIMIT = 64
ARGUMENT_BYTES = 4096
TIMEOUT_DEFAULT = 2.0
TIMEOUT_LIMIT = 30.0
PATIENCE_LIMIT = 86400.0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the configuration.

    Attributes:
        file: the file it is in.
        key: the key, dotted, an index in brackets; empty for the whole file.
        text: what is wrong and what to write instead.
    """

    file: str
    key: str
    text: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"lifecycle-wrap: {place}: {self.text}".replace("\n", " ")


@dataclass(frozen=True, slots=True)
class Command:
    """One command sink: a program that is started for each event it wants."""

    name: str
    argv: tuple[str, ...]
    timeout: float = TIMEOUT_DEFAULT
    events: frozenset[str] = frozenset({"state", "release"})


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration; the module's docstring describes each key.

    Attributes:
        off_reason: why everything is off, or empty: the words `status` shows.
        hosts_off: the hosts that their own environment switch turned off.
        host_options: per host its own options; a built-in host finds each of its options there, with its default.
        debug: tell classes of failures at the end (`LIFECYCLE_WRAP_DEBUG=1`).
    """

    program_status: str = "answer"
    screen: str = "auto"
    background_shell: str = "idle"
    title: str = "off"
    notify: str = "unfocused"
    notify_blocked_after: float = 0.0
    notify_turn_after: float = 10.0
    strict: bool = False
    adapters: tuple[str, ...] = (hosts.AUTO,)
    nesting: str = "innermost"
    osc: str = "auto"
    titles: bool = False
    commands: tuple[Command, ...] = ()
    host_options: Mapping[str, Mapping[str, Any]] = field(default_factory=hosts.default_options)
    off_reason: str = ""
    hosts_off: frozenset[str] = frozenset()
    debug: bool = False

    @property
    def enabled(self) -> bool:
        """True unless the file or the environment switched everything off."""
        return not self.off_reason

    @property
    def broker(self) -> Broker | None:
        """The MQTT broker, or None where none is configured."""
        return self.host_options.get("mqtt", {}).get("broker")


def default_path(environ: Mapping[str, str]) -> Path:
    """Return where the configuration is looked for: `$XDG_CONFIG_HOME/lifecycle-wrap/config.toml`."""
    return Path(settings_folder(environ), "config.toml")


def load_config(
    path: Path | None, environ: Mapping[str, str], *, strict: bool = False
) -> tuple[Config, tuple[Problem, ...]]:
    """Read the configuration.

    Args:
        path: the file that the user named, or None for the default one, which may be absent.
        environ: the environment, for the default path and the switches.
        strict: the user asked for strictness on the command line; the file can ask for it too.

    Returns:
        The configuration, in which whatever was wrong has its default, and the problems in the file's order. Whether a
        problem keeps the agent from starting is the caller's affair: see `Config.strict`.
    """
    file = path or default_path(environ)
    try:
        text = read_bounded(file)
    except FileNotFoundError:
        problem = "there is no such file; name one that exists, or leave --config out"
        return _switched(Config(strict=strict), environ), (Problem(str(file), "", problem),) if path else ()
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else (error.strerror or "I/O error")
        problem = f"it cannot be read ({reason}); {_instead(strict)}"
        return _switched(Config(strict=strict), environ), (Problem(str(file), "", problem),)
    config, problems = parse_config(text, str(file), strict=strict)
    return _switched(config, environ), problems


def parse_config(text: str, file: str, *, strict: bool = False) -> tuple[Config, tuple[Problem, ...]]:
    """Parse a configuration file's text; `file` is its name in problems. The environment plays no part."""
    try:
        document = load_toml(text)
    except TooMuch as error:
        return Config(strict=strict), (Problem(file, "", f"it {error}: no configuration has; {_instead(strict)}"),)
    except ValueError as error:
        return Config(strict=strict), (Problem(file, "", f"it is not valid TOML ({error}); {_instead(strict)}"),)
    reader = _Reader(file, strict or document.get("strict") is True)
    return reader.read(document), tuple(reader.problems)


def _instead(strict: bool) -> str:
    return "mend it, or leave --strict out" if strict else "the defaults are used"


def _switched(config: Config, environ: Mapping[str, str]) -> Config:
    off = frozenset(name for name in hosts.NAMES if environ.get(hosts.switch_variable(name)) == "0")
    reason = f"disabled by {SWITCH}=0" if environ.get(SWITCH) == "0" else config.off_reason
    debug = environ.get(f"{SWITCH}_DEBUG", "").strip() == "1"
    return replace(config, off_reason=reason, hosts_off=off, debug=debug)


class _Wrong(ValueError):
    """A value that cannot be used; the text says what to write instead."""


_Check = Callable[[Any], Any]


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("expected true or false")
    return value


def _choice(*choices: str) -> _Check:
    def check(value: Any) -> str:
        if value not in choices:
            raise _Wrong(f"expected {_either(choices)}{_nearest(value, choices)}")
        return str(value)

    return check


def _either(words: Iterable[str]) -> str:
    quoted = [f'"{word}"' for word in words]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _nearest(word: Any, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f'; did you mean "{close[0]}"?' if close else ""


def _adapters(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Wrong('expected a list of names, such as ["auto"]')
    names = [item.strip().lower() for item in value]
    for name in names:
        if not name:
            raise _Wrong("an adapter's name is empty; leave it out")
        if names.count(name) > 1:
            raise _Wrong(f'"{name}" is listed twice; list it once')
        # Looking for adapters of other packages is slow; only a name that is not ours makes it worth while.
        if name != hosts.AUTO and name not in hosts.BUILT_IN and name not in hosts.installed():
            known = (hosts.AUTO, *hosts.BUILT_IN)
            raise _Wrong(f'unknown adapter "{name}"; expected {_either(known)}{_nearest(name, known)}')
    if hosts.AUTO in names and len(names) > 1:
        raise _Wrong('"auto" cannot be combined with an explicit adapter; keep one or the other')
    return tuple(names)


def _argv(value: Any, strict: bool) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise _Wrong('expected a list of strings, the executable first, such as ["/usr/bin/logger"]')
    if not value[0].strip():
        raise _Wrong("the executable is empty; name a program")
    if len(value) > ARGUMENTS_LIMIT:
        raise _Wrong(f"at most {ARGUMENTS_LIMIT} entries are allowed")
    for item in value:
        if "\0" in item:
            raise _Wrong("an entry holds a NUL character; remove it")
        if len(item.encode()) > ARGUMENT_BYTES:
            raise _Wrong(f"an entry is longer than {ARGUMENT_BYTES} bytes")
    if strict and not value[0].startswith("/"):
        raise _Wrong(f'"{value[0]}" is no absolute path, as strict asks for; write the full path')
    return tuple(value)


def _timeout(value: Any) -> float:
    expected = f'expected seconds above 0 and at most {TIMEOUT_LIMIT:g}, such as 2, "2s" or "750ms"'
    seconds = value
    if isinstance(value, str):
        number, scale = (value[:-2], 1e-3) if value.endswith("ms") else (value.removesuffix("s"), 1.0)
        try:
            seconds = float(number) * scale
        except ValueError:
            raise _Wrong(expected) from None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= TIMEOUT_LIMIT:
        raise _Wrong(expected)
    return float(seconds)


def _patience(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= PATIENCE_LIMIT:
        raise _Wrong(f"expected seconds from 0 to {PATIENCE_LIMIT:g}")
    return float(value)


def _events(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not value:
        raise _Wrong('expected a list of kinds, such as ["state", "release"]')
    known = (*EVENT_KINDS, *_EVENT_ALIASES)
    for item in value:
        if item not in known:
            raise _Wrong(f'unknown kind "{item}"; expected {_either(EVENT_KINDS)}{_nearest(item, known)}')
    return frozenset(_EVENT_ALIASES.get(str(item), str(item)) for item in value)


def _sink_name(value: Any, taken: Iterable[str]) -> str:
    reserved = (*hosts.NAMES, hosts.AUTO, "osc", "command")
    if not isinstance(value, str) or not value.strip():
        raise _Wrong("expected a name that is not empty")
    if len(value.encode()) > NAME_BYTES:
        raise _Wrong(f"the name is longer than {NAME_BYTES} bytes")
    if not value.isprintable():
        raise _Wrong("the name holds a character that cannot be printed; remove it")
    if value.strip().lower() in reserved:
        raise _Wrong(f'"{value}" is reserved; choose another name')
    if value.strip().lower() in {name.lower() for name in taken}:
        raise _Wrong(f'"{value}" names two commands; choose another name')
    return value.strip()


TOP_KEYS: dict[str, _Check] = {
    "program_status": _choice("answer", "pass"),
    "screen": _choice("auto", "off"),
    "background_shell": _choice("idle", "working"),
    "title": _choice("off", "state", "text"),
    "notify": _choice("off", "unfocused", "always"),
    "notify_blocked_after": _patience,
    "notify_turn_after": _patience,
    "strict": _boolean,
}
LIFECYCLE_KEYS: dict[str, _Check] = {
    "enabled": _boolean,
    "adapters": _adapters,
    "nesting": _choice("innermost", "all"),
    "osc": _choice("off", "auto", "on"),
    "titles": _boolean,
}
_COMMAND_KEYS = ("name", "command", "timeout", "events")


class _Reader:
    """Reads one parsed document, collecting problems instead of raising."""

    def __init__(self, file: str, strict: bool) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._strict = strict

    def read(self, document: Mapping[str, Any]) -> Config:
        values = self._known(document, "", TOP_KEYS, ("lifecycle",))
        lifecycle = self._table(document, "lifecycle")
        options = {option: (name, choices) for name, option, choices in hosts.options()}
        values |= self._known(lifecycle, "lifecycle.", LIFECYCLE_KEYS, (*options, "broker", "commands", "hosts"))
        off_reason = "" if values.pop("enabled", True) else "disabled by lifecycle.enabled"
        host_options = hosts.default_options()
        for option, (name, choices) in options.items():
            if option in lifecycle:
                checked = self._checked(f"lifecycle.{option}", _choice(*choices), lifecycle[option])
                if checked is not None:
                    host_options[name][option] = checked
        host_options |= self._foreign_options(lifecycle)
        if "broker" in lifecycle:
            host_options["mqtt"]["broker"] = self._broker(lifecycle)
        commands = self._commands(lifecycle.get("commands", []))
        values["strict"] = self._strict
        return Config(**values, commands=commands, host_options=host_options, off_reason=off_reason)

    def _problem(self, key: str, text: str) -> None:
        self.problems.append(Problem(self._file, key, text))

    def _checked(self, key: str, check: _Check, value: Any) -> Any:
        try:
            return check(value)
        except ValueError as wrong:
            self._problem(key, str(wrong))
            return None

    def _known(
        self, table: Mapping[str, Any], prefix: str, checks: Mapping[str, _Check], others: tuple[str, ...]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key in checks:
                checked = self._checked(prefix + key, checks[key], value)
                if checked is not None:
                    values[key] = checked
            elif key not in others:
                known = (*checks, *others)
                nearest = _nearest(key, known)
                self._problem(prefix + key, f"there is no such key{nearest or '; known are ' + ', '.join(known)}")
        return values

    def _table(self, parent: Mapping[str, Any], key: str, prefix: str = "") -> Mapping[str, Any]:
        value = parent.get(key, {})
        if isinstance(value, dict):
            return value
        self._problem(prefix + key, f"expected a table, [{prefix}{key}]")
        return {}

    def _foreign_options(self, lifecycle: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        tables = lifecycle.get("hosts", {})
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            self._problem("lifecycle.hosts", "expected a table per host, [lifecycle.hosts.NAME]")
            return {}
        for name in tables:
            if name in hosts.NAMES:
                self._problem(f"lifecycle.hosts.{name}", "a built-in host's options stand in [lifecycle] itself")
        return {name: dict(table) for name, table in tables.items() if name not in hosts.NAMES}

    def _broker(self, lifecycle: Mapping[str, Any]) -> Broker | None:
        """Read the table; with any problem it is left out whole: what was to be kept from the broker may be in it."""
        from .broker_config import BROKER_KEYS, Broker

        before = len(self.problems)
        table = self._table(lifecycle, "broker", "lifecycle.")
        values = self._known(table, "lifecycle.broker.", BROKER_KEYS, ())
        if len(self.problems) == before and "url" not in table:
            self._problem("lifecycle.broker.url", 'it is missing; write url = "mqtts://HOST"')
        return Broker(**values) if len(self.problems) == before else None

    def _commands(self, value: Any) -> tuple[Command, ...]:
        if not isinstance(value, list):
            self._problem("lifecycle.commands", "expected one table [[lifecycle.commands]] for each command")
            return ()
        commands: list[Command] = []
        for index, table in enumerate(value):
            command = self._command(f"lifecycle.commands[{index}]", table, [made.name for made in commands])
            if command is not None:
                commands.append(command)
        return tuple(commands)

    def _command(self, key: str, table: Any, taken: list[str]) -> Command | None:
        """Read one sink; a sink with any problem is left out whole: half of what was meant may be harmful."""
        if not isinstance(table, dict):
            self._problem(key, "expected a table [[lifecycle.commands]]")
            return None
        before = len(self.problems)
        checks: dict[str, _Check] = {
            "name": lambda value: _sink_name(value, taken),
            "command": lambda value: _argv(value, self._strict),
            "timeout": _timeout,
            "events": _events,
        }
        values = self._known(table, f"{key}.", checks, ())
        for required in ("name", "command"):
            if required not in table:
                self._problem(f"{key}.{required}", "it is missing; every command needs a name and a command")
        if len(self.problems) > before:
            return None
        values["argv"] = values.pop("command")
        return Command(**values)
