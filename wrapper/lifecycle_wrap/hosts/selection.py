"""Which hosts a session tells: the policy of the configuration, applied to what the environment shows.

Owns the reasons in words and the choice among nested panes. `survey` has no side effects and is what `status` shows;
`discover` also asks the panes themselves, for an inherited variable may name a pane that is not ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from . import BUILT_IN, installed, off_reason, orca, switch_variable, visible
from .ancestry import started_by_agent
from .base import INTERFACE, Host, HostError, HostGone, Place, Setup, new_session
from .command import CommandSink

if TYPE_CHECKING:
    from lifecycle_wrap.config import Config
    from lifecycle_wrap.manager import Lookup


class Choice(NamedTuple):
    """What the policy makes of one host.

    Attributes:
        name: the host's name.
        category: the word for its kind in `status`.
        detected: True when it is around us; False also where it was not looked for.
        enabled: True when it is told.
        reason: why, in words.
        host: its class, where it is detected.
    """

    name: str
    category: str
    detected: bool
    enabled: bool
    reason: str
    host: type[Host] | None = None


def survey(config: Config, environ: Mapping[str, str]) -> list[Choice]:
    """Apply the policy to every host there is, starting and asking nothing.

    Returns:
        One choice per host, the likeliest innermost first; those of other packages at the end, by name, and those that
        are told in the session's own bytes.
    """
    choices = [*_detect(config, environ), _orca(config, environ)]
    panes = [choice for choice in choices if choice.host is not None and choice.host.is_pane]
    if config.nesting != "innermost" or len(panes) < 2:
        return choices
    reason = f'seems to be outside of {panes[0].name} (nesting = "innermost")'
    return [choice._replace(enabled=False, reason=reason) if choice in panes[1:] else choice for choice in choices]


def discover(config: Config, environ: Mapping[str, str], lookup: Lookup) -> list[Host]:
    """Make the hosts of this session, the command sinks last."""
    setup = Setup(environ, tty=_tty(), notices=lookup.notices, session=new_session())
    found = [(choice.host, config.host_options.get(choice.name, {})) for choice in _detect(config, environ)]
    panes = _make(setup, [(host, options) for host, options in found if host and host.is_pane], lookup)
    if started_by_agent(environ):
        # The panes around are the agent's, and shown as such; ours is only one that says so itself.
        panes = [host for host in panes if _owns(host, lookup)]
    elif config.nesting == "innermost":
        panes = _innermost(panes, lookup)
    setup = setup._replace(place=_place(panes, lookup))
    others = _make(setup, [(host, options) for host, options in found if host and not host.is_pane], lookup)
    return [*panes, *others, *(CommandSink(setup, command) for command in config.commands)]


def _make(setup: Setup, found: list[tuple[type[Host], Mapping[str, Any]]], lookup: Lookup) -> list[Host]:
    made = []
    for host, options in found:
        try:
            made.append(host(setup._replace(options=options)))
        except Exception:
            lookup.crashed(host.name)
    return made


def _place(panes: list[Host], lookup: Lookup) -> Place | None:
    for host in panes:
        try:
            if (place := host.place()) is not None:
                return place
        except Exception:
            lookup.crashed(host.name)
    return None


def _detect(config: Config, environ: Mapping[str, str]) -> list[Choice]:
    seen = visible(config, environ)
    choices = [_built_in(name, environ) for name in seen]
    choices += [_absent(name, config) for name in BUILT_IN if name not in seen]
    return choices + _foreign(config, environ)


def _built_in(name: str, environ: Mapping[str, str]) -> Choice:
    module, _, attribute = BUILT_IN[name].adapter.partition(":")
    host: type[Host] = getattr(import_module(module), attribute)
    return _choice(name, BUILT_IN[name].type, host, environ)


def _choice(name: str, category: str, host: type[Host], environ: Mapping[str, str]) -> Choice:
    detected, reason = host.detect(environ)
    return Choice(name, category, detected, detected, reason, host if detected else None)


def _absent(name: str, config: Config) -> Choice:
    reason = off_reason(config, name)
    reason = f"{reason}; detection skipped" if reason else " and ".join(BUILT_IN[name].markers) + " not set"
    return Choice(name, BUILT_IN[name].type, detected=False, enabled=False, reason=reason)


def _orca(config: Config, environ: Mapping[str, str]) -> Choice:
    off = orca.off_reason(config, environ)
    reason = off or "told by OSC 9999, which it does not document, unless something in between swallows it"
    return Choice(orca.NAME, "terminal", bool(environ.get(orca.MARK)), not off, reason)


def _foreign(config: Config, environ: Mapping[str, str]) -> list[Choice]:
    """Look for adapters of other packages, unless the configuration names only ours."""
    if not config.enabled or all(name in BUILT_IN for name in config.adapters):
        return []
    choices = []
    for name, entry_point in sorted(installed().items()):
        off = off_reason(config, name)
        if not off and environ.get(switch_variable(name)) == "0":
            off = f"disabled by {switch_variable(name)}=0"
        if off:
            choices.append(Choice(name, "adapter", detected=False, enabled=False, reason=f"{off}; detection skipped"))
            continue
        try:
            host = entry_point.load()
            off = _unfit(host)
            choice = None if off else _choice(name, "adapter", host, environ)
        except Exception:  # another package's code: whatever is wrong with it must not cost the other hosts
            off, choice = "its adapter is broken", None
        choices.append(choice or Choice(name, "adapter", detected=False, enabled=False, reason=off))
    return choices


def _unfit(host: Any) -> str:
    """Return why an adapter of another package cannot be used with us, or nothing when it can."""
    if not (isinstance(host, type) and issubclass(host, Host)):
        return "its entry point names no subclass of hosts.base.Host"
    interface = getattr(host, "interface", None)
    if interface != INTERFACE:
        made_for = "names no version" if interface is None else f"is made for version {interface}"
        return f"its adapter {made_for} of the host interface, ours is {INTERFACE}; install releases that fit"
    return ""


def _innermost(panes: list[Host], lookup: Lookup) -> list[Host]:
    """Keep the one pane host that we run directly in: one that is sure of it, else the first that cannot tell."""
    unsure = []
    for host in panes:
        owns = _owns(host, lookup)
        if owns:
            return [host]
        if owns is None:
            unsure.append(host)
    return unsure[:1]


def _owns(host: Host, lookup: Lookup) -> bool | None:
    """Ask a pane host whether our terminal is its own pane; None when it cannot tell."""
    try:
        return host.owns_pane(lookup.call())
    except HostGone:
        return False
    except HostError:
        return None
    except Exception:
        lookup.crashed(host.name)
        return False


def _tty() -> str:
    for descriptor in (0, 1, 2):
        try:
            return os.ttyname(descriptor)
        except OSError:
            continue
    return ""
