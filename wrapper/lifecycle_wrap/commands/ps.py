"""`lifecycle-wrap ps`: the sessions of this moment.

Owns the forms of the list: a table, JSON, or a template of the user's. `quick` serves the plain forms without typer,
which takes four times as long to load as all the rest: prompts and status lines call this every few seconds.
"""

from __future__ import annotations

import os
import sys
import time

from . import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lifecycle_wrap.hosts.records import Session

USAGE_ERROR = 2

_JSON_FIELDS = (
    *("agent", "pid", "state", "message", "since", "started", "cwd", "session_id", "tty", "pane", "focus"),
    *("attention", "attention_at", "blocked_on", "background", "failed", "notices"),
    *("user", "host", "lost"),
)


def quick(arguments: Sequence[str]) -> int | None:
    """Do `ps` with these arguments.

    Returns:
        The exit status, or None for what only the full command line knows: help, errors, rarer options.
    """
    values = {"--format": "", "--join": "\n", "--state": ""}
    as_json = False
    position = 0
    while position < len(arguments):
        option, equals, value = arguments[position].partition("=")
        position += 1
        if option == "--json" and not equals:
            as_json = True
            continue
        if option not in values or (option == "--state" and values[option]):
            return None
        if not equals:
            if position == len(arguments):
                return None
            value = arguments[position]
            position += 1
        values[option] = value
    state = values["--state"]
    if state and state not in sessions.STATES:
        return None
    states = (state,) if state else ()
    try:
        text = listing(os.environ, states=states, as_json=as_json, template=values["--format"], join=values["--join"])
    except sessions.TemplateError as error:
        sys.stderr.write(f"lifecycle-wrap: {error}\n")
        return USAGE_ERROR
    sys.stdout.write(text)
    return 0


def listing(
    environ: Mapping[str, str],
    *,
    states: Sequence[str] = (),
    as_json: bool = False,
    template: str = "",
    join: str = "\n",
    everywhere: Sequence[Session] | None = None,
) -> str:
    """Return what `ps` prints.

    Args:
        environ: our environment.
        states: only sessions in one of these; all when empty.
        as_json: a JSON array, one object per session.
        template: see `sessions.fill_in`; empty for a table.
        join: what stands between the sessions of a template.
        everywhere: the sessions of all machines; None for this machine's.

    Raises:
        sessions.TemplateError: the template cannot be filled in.
    """
    listed = sessions.running(environ) if everywhere is None else everywhere
    listed = [session for session in listed if not states or sessions.state(session) in states]
    now = time.time()
    if as_json:
        import json

        return json.dumps([as_object(session) for session in listed], ensure_ascii=False, indent=2) + "\n"
    if template:
        text = join.join(sessions.fill_in(template, listed, now))
        return f"{text}\n" if listed else ""
    return _table(listed, now, environ)


def as_object(session: Session) -> dict[str, object]:
    """Return a session as `--json` tells it: the register's fields, with the name that commands take."""
    return {"name": sessions.name(session)} | {field: getattr(session, field) for field in _JSON_FIELDS}


def _table(listed: Sequence[Session], now: float, environ: Mapping[str, str]) -> str:
    from lifecycle_wrap.terminal.cells import wants_color

    from .session_table import Table

    on_terminal = sys.stdout.isatty()
    if not listed:
        return "no wrapped agent is running; start one with lifecycle-wrap -- AGENT\n" if on_terminal else ""
    columns = os.get_terminal_size(sys.stdout.fileno()).columns if on_terminal else 0
    table = Table(listed, now, home=environ.get("HOME", ""), columns=columns, color=wants_color(environ, on_terminal))
    return "".join(f"{row}\n" for row in (table.heading, *table.rows))
