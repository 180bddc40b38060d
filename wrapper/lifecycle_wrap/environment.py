"""What lifecycle-wrap reads from its environment before it starts, and what it changes in the agent's.

Owns the switch, where the user's settings are, the mark of a wrapped session, and whether we run inside one.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# `LIFECYCLE_WRAP=0` makes lifecycle-wrap an `exec` of the agent; `LIFECYCLE_WRAP_<HOST>=0` switches one host off,
# `LIFECYCLE_WRAP_DEBUG=1` diagnostics on.
SWITCH = "LIFECYCLE_WRAP"
# `<session id>:<device number of the PTY slave>`, set for the agent and everything it starts.
MARK = "LIFECYCLE_WRAP_SESSION"


def settings_folder(environ: Mapping[str, str]) -> str:
    """The folder of the user's configuration and profiles, `$XDG_CONFIG_HOME/lifecycle-wrap`; it may not exist."""
    base = environ.get("XDG_CONFIG_HOME", "")
    return f"{base if base.startswith('/') else environ.get('HOME', '') + '/.config'}/lifecycle-wrap"


def switched_off(environ: Mapping[str, str]) -> bool:
    """Whether the user has switched wrapping off."""
    return environ.get(SWITCH) == "0"


def inside_wrapped_session(environ: Mapping[str, str], terminal: int) -> bool:
    """Whether the terminal on descriptor `terminal` is the PTY of a lifecycle-wrap that still runs.

    A mark alone says nothing: it is inherited by terminal servers and daemons that outlive the session or show us on
    another terminal. Its session must be alive, led by the process that set the mark, and its PTY must be our terminal.
    """
    _, _, device = environ.get(MARK, "").partition(":")
    if not (device.isascii() and device.isdigit()) or living_session(environ) is None:
        return False
    try:
        return os.fstat(terminal).st_rdev == int(device)
    except OSError:
        return False


def living_session(environ: Mapping[str, str]) -> int | None:
    """The id of the wrapped session that the mark names, or None where it is over or there is no mark.

    The process of that number leads it: the one that has started the agent.
    """
    session, _, _ = environ.get(MARK, "").partition(":")
    if not (session.isascii() and session.isdigit()):
        return None
    try:
        return int(session) if os.getsid(int(session)) == int(session) else None
    except (OSError, OverflowError):
        return None


def child_environment(
    environ: Mapping[str, str], *, session: int, terminal: int, remove: Iterable[str] = ()
) -> dict[str, str]:
    """The agent's environment: ours, with exactly these changes.

    - `LIFECYCLE_WRAP_SESSION` is set to `<session id>:<device number of the agent's terminal>`: by it a lifecycle-wrap
      started by the agent knows that it is observed already, and steps aside.
    - The names in `remove` are left out: variables by which a host would take the agent itself for its client.

    Args:
        environ: our own environment.
        session: id of the session the agent runs in.
        terminal: descriptor of the PTY slave that is the agent's terminal.
        remove: names that the agent must not inherit.
    """
    changed = {name: value for name, value in environ.items() if name not in frozenset(remove)}
    changed[MARK] = f"{session}:{os.fstat(terminal).st_rdev}"
    return changed
