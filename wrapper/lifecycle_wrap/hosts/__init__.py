"""The hosts around the agent: which there are, and which of them the policy lets this session tell.

Owns the table of built-in hosts. This module is imported before the agent starts, so it imports nothing at all, and no
adapter: an adapter's module is imported only once its host is seen in the environment.

An adapter of another package is found through the entry-point group `lifecycle_wrap.hosts`; its entry point names a
subclass of `hosts.base.Host`. The built-in ones are registered there too, so that the group lists all there are.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.metadata import EntryPoint
    from typing import Any

    from lifecycle_wrap.config import Config
    from lifecycle_wrap.manager import Lookup

    from .base import Host

ENTRY_POINTS = "lifecycle_wrap.hosts"

AUTO = "auto"
"""In `lifecycle.adapters`: every host that is detected."""


class BuiltIn:
    """What is known of a built-in host without importing its adapter.

    Attributes:
        adapter: the class, as `module:name`.
        type: the word for it in `status`.
        markers: the environment variables that a process inside the host has, all of them.
        terms: how `TERM` begins there, where the host sets it; another `TERM` says that something else is around us
            more closely.
        hides: the variables that the agent must not inherit while the host is told, so that integrations of the host's
            own inside the agent do not take its place; an option of the host with the value "keep" leaves them.
        options: its keys in `[lifecycle]`, each with its choices, the default first.
        table: the table of `[lifecycle]` that says where it is, one of its options too; without it the host is off.
    """

    __slots__ = ("adapter", "hides", "markers", "options", "table", "terms", "type")

    def __init__(
        self,
        adapter: str,
        type: str,
        markers: tuple[str, ...] = (),
        terms: tuple[str, ...] = ("",),
        hides: tuple[str, ...] = (),
        options: Mapping[str, tuple[str, ...]] | None = None,
        table: str = "",
    ) -> None:
        self.adapter = adapter
        self.type = type
        self.markers = markers
        self.terms = terms
        self.hides = hides
        self.options = options or {}
        self.table = table

    def shown_by(self, environ: Mapping[str, str]) -> bool:
        """Tell whether the environment has the host's marks."""
        return all(environ.get(marker) for marker in self.markers)


BUILT_IN = {
    "herdr": BuiltIn(
        "lifecycle_wrap.hosts.herdr:Herdr",
        "native",
        markers=("HERDR_ENV",),
        terms=("xterm-256color",),
        hides=("HERDR_ENV", "HERDR_AGENT"),
        options={"herdr_hooks": ("remove", "keep")},
    ),
    "cmux-tui": BuiltIn(
        "lifecycle_wrap.hosts.cmux_tui:CmuxTui",
        "native",
        markers=("CMUX_TUI_TERMINAL_ID",),
        terms=("xterm-256color",),
    ),
    "zellij": BuiltIn(
        "lifecycle_wrap.hosts.zellij:Zellij",
        "multiplexer",
        markers=("ZELLIJ",),
        options={"zellij_rename": ("state", "off")},
    ),
    "tmux": BuiltIn(
        "lifecycle_wrap.hosts.tmux:Tmux",
        "multiplexer",
        markers=("TMUX",),
        terms=("tmux", "screen"),
        options={"tmux_progress": ("raw", "passthrough")},
    ),
    "cmux": BuiltIn(
        "lifecycle_wrap.hosts.cmux:Cmux",
        "sidebar",
        markers=("CMUX_SURFACE_ID",),
        options={"cmux_notify": ("off", "blocked")},
    ),
    "register": BuiltIn("lifecycle_wrap.hosts.register:Register", "register"),
    "mqtt": BuiltIn("lifecycle_wrap.hosts.mqtt:Mqtt", "broker", table="broker"),
}
"""The built-in hosts, those that more often run inside another first: the order in which `nesting = "innermost"` takes
the first one that is detected, unless the pane itself can tell (`Host.owns_pane`)."""

IN_BAND: dict[str, dict[str, tuple[str, ...]]] = {"orca": {"orca": ("off", "auto", "on")}}
"""Hosts that read the bytes of the session itself, with their options: no adapter tells them, `terminal.outward` writes
what `hosts.outer` gives it for them."""

NAMES = (*BUILT_IN, *IN_BAND)
"""Of all hosts that come with us."""


def switch_variable(name: str) -> str:
    """Return the environment variable that turns a host off when it is `0`."""
    return "LIFECYCLE_WRAP_" + name.upper().replace("-", "_")


def options() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield host, key and choices of every option of the built-in hosts."""
    for name, options_of_host in [*((name, host.options) for name, host in BUILT_IN.items()), *IN_BAND.items()]:
        for option, choices in options_of_host.items():
            yield name, option, choices


def default_options() -> dict[str, dict[str, Any]]:
    """Return the options of the built-in hosts with their defaults, by host."""
    defaults: dict[str, dict[str, Any]] = {name: {} for name in NAMES}
    for name, option, choices in options():
        defaults[name][option] = choices[0]
    return defaults


def off_reason(config: Config, name: str) -> str:
    """Return why the policy does not even look for a host, or nothing when it does."""
    if config.off_reason:
        return config.off_reason
    if name in config.hosts_off:
        return f"disabled by {switch_variable(name)}=0"
    if config.adapters != (AUTO,) and name not in config.adapters:
        return "not selected by lifecycle.adapters"
    table = BUILT_IN[name].table if name in BUILT_IN else ""
    if table and not config.host_options.get(name, {}).get(table):
        return f"there is no usable [lifecycle.{table}]"
    return ""


def visible(config: Config, environ: Mapping[str, str]) -> list[str]:
    """Return the built-in hosts that the policy wants and the environment shows, the likeliest innermost first."""
    names = [name for name in BUILT_IN if not off_reason(config, name) and BUILT_IN[name].shown_by(environ)]
    return sorted(names, key=lambda name: not environ.get("TERM", "").startswith(BUILT_IN[name].terms))


def wanted(config: Config, environ: Mapping[str, str]) -> bool:
    """Tell whether there may be anything to tell anyone; where not, no `Manager` is needed."""
    may_be_foreign = any(name not in BUILT_IN for name in config.adapters)
    return config.enabled and bool(config.commands or may_be_foreign or visible(config, environ))


def remembered(config: Config, environ: Mapping[str, str]) -> bool:
    """Tell whether anyone may hear of a session that is over: anyone but the register, which lists what runs."""
    told = {name for name in visible(config, environ) if name != "register"}
    named = any(name not in BUILT_IN and name != AUTO for name in config.adapters)
    return config.enabled and bool(config.commands or told or named or (AUTO in config.adapters and offered()))


def any_marked(environ: Mapping[str, str]) -> bool:
    """Tell whether the environment has the marks of any host."""
    return any(host.markers and host.shown_by(environ) for host in BUILT_IN.values())


def hidden_variables(environ: Mapping[str, str], load_config: Callable[[], Config]) -> tuple[str, ...]:
    """Return the variables that the agent must not inherit, so that one of its own hooks does not take our place.

    Only the pane host that we are most likely directly in counts: further out nothing is told by us.

    Args:
        environ: our environment.
        load_config: returns the configuration; called only where a host that hides something is in the environment,
            for the agent's start waits for it.
    """
    if not any(host.hides and host.shown_by(environ) for host in BUILT_IN.values()):
        return ()
    config = load_config()
    for name in visible(config, environ):
        host = BUILT_IN[name]
        if host.hides and "keep" not in config.host_options[name].values():
            return host.hides
        if host.markers and config.nesting == "innermost":
            break
    return ()


def discover(config: Config, environ: Mapping[str, str], lookup: Lookup) -> list[Host]:
    """Make the hosts of this session: what `Manager.start` is given. Imports adapters and may ask hosts."""
    from .selection import discover as make

    return make(config, environ, lookup)


def installed() -> dict[str, EntryPoint]:
    """Find the adapters of other packages, by name.

    `importlib.metadata` takes some 50 ms to import and reads every installed package, so it is asked only when a look
    into the directories has shown that a package other than ours names the group.
    """
    if not offered():
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS) if point.name not in BUILT_IN}


def offered() -> bool:
    """Tell whether a package other than ours has adapters."""
    import sys

    return any(_offers_hosts(directory) for directory in sys.path)


def _offers_hosts(directory: str) -> bool:
    import os

    try:
        packages = [name for name in os.listdir(directory or ".") if name.endswith(".dist-info")]
    except OSError:
        return False
    for package in packages:
        if package.startswith("lifecycle_wrap-"):
            continue
        try:
            with open(os.path.join(directory, package, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                if f"[{ENTRY_POINTS}]" in file.read():
                    return True
        except OSError:
            continue
    return False
