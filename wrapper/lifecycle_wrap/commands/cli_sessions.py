"""The commands that look at running sessions: `ps`, `watch`, `wait`, `tail`.

Owns their options and help; the work is done by the module of each name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from . import sessions
from .command_line import INTERRUPTED, USAGE_ERROR, add, fail
from .tail import LINES
from .wait import NO_SUCH_SESSION, Until


class State(StrEnum):
    """The states that can be asked for."""

    BLOCKED = "blocked"
    WORKING = "working"
    IDLE = "idle"


def complete_session(incomplete: str) -> list[tuple[str, str]]:
    """Offer the running sessions, by name where it is the only one of that name, else by pid."""
    running = sessions.running(os.environ)
    names = [sessions.name(session) for session in running]
    words = [name if names.count(name) == 1 else str(session.pid) for name, session in zip(names, running, strict=True)]
    helps = [f"{sessions.state(session)} {sessions.about(session)}".strip() for session in running]
    return [(word, text) for word, text in zip(words, helps, strict=True) if word.startswith(incomplete)]


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Its pid, its name (claude@project), or a unique beginning of one.",
        autocompletion=complete_session,
        show_default=False,
    ),
]


def ps(
    json: Annotated[bool, typer.Option("--json", help="A JSON array, one object per session.")] = False,
    template: Annotated[
        str,
        typer.Option("--format", metavar="TEMPLATE", help="Text with {fields} for each session; see below."),
    ] = "",
    join: Annotated[
        str,
        typer.Option(
            "--join",
            metavar="TEXT",
            help="With --format: what stands between sessions, else a new line.",
            show_default=False,
        ),
    ] = "\n",
    state: Annotated[
        list[State] | None,
        typer.Option("--state", metavar="STATE", help="Only blocked, working or idle ones; may be given again."),
    ] = None,
) -> None:
    """List the wrapped agents of this user on this machine, those that wait for you first.

    Fields of --format: {agent} {name} {state} {mark} {color} {about} {age} {since} {cwd} {dir} {terminal} {tty} {pid}
    {id} {attention} {focus}. {mark} is ! * or -, {focus} the shell command that brings you there.

    Examples:
      lifecycle-wrap ps
      lifecycle-wrap ps --json
      lifecycle-wrap ps --state blocked --format '{agent} in {dir}: {about}'
      lifecycle-wrap ps --format '{mark}{agent}' --join ' '

    In tmux's status line:
      set -g status-right '#(lifecycle-wrap ps --format "#[fg={color}]{mark}{agent}" --join " ")'
    In starship's prompt (starship.toml):
      [custom.agents]
      command = "lifecycle-wrap ps --state blocked --format '{agent}!' --join ' '"
      when = true
    """
    from .ps import listing

    try:
        text = listing(os.environ, states=state or (), as_json=json, template=template, join=join)
    except sessions.TemplateError as error:
        raise fail(str(error), USAGE_ERROR) from None
    sys.stdout.write(text)


def watch(
    plain: Annotated[
        bool, typer.Option("--plain", help="A line for each change; so anyway when the output is no terminal.")
    ] = False,
) -> None:
    """Show the wrapped agents live, those that wait for you first.

    Keys: q leaves, s sorts by the next column, j and k or the arrows select, Enter shows the command that goes to the
    selected agent's terminal, where its host can.

    Examples:
      lifecycle-wrap watch
      lifecycle-wrap watch --plain | grep --line-buffered blocked
    """
    from .watch import watch as watch_screen
    from .watch import watch_plain

    if plain or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        _stream(lambda: watch_plain(os.environ, _write_line))
    else:
        raise typer.Exit(watch_screen(os.environ))


def wait(
    session: SessionArgument = "",
    until: Annotated[
        list[Until] | None,
        typer.Option(
            "--until",
            metavar="|".join(Until),
            help="What to wait for; may be given again.  [default: idle, blocked]",
        ),
    ] = None,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="Give up after 30s, 5m, 2h or 500ms.", show_default=False)
    ] = "",
) -> None:
    """Wait until an agent is in a state; without SESSION whichever comes first.

    The present state counts. "attention" is a dialog, a bell or a notification. Prints the session and its state.

    Exit status: 0 it is, 2 usage, 4 time is up, 5 no such session or it has ended, 130 Ctrl-C.

    Examples:
      lifecycle-wrap wait --until blocked --timeout 1s
      lifecycle-wrap wait claude@project && notify-send "your move"
    """
    from .wait import parse_duration
    from .wait import wait as wait_for

    try:
        seconds = parse_duration(timeout) if timeout else None
    except ValueError:
        raise fail(f"--timeout: {timeout!r} is no time; write 30s, 5m, 2h or 500ms", USAGE_ERROR) from None
    try:
        outcome = wait_for(os.environ, session, frozenset(until or (Until.IDLE, Until.BLOCKED)), seconds)
    except sessions.NoSuchSessionError as error:
        raise fail(str(error), NO_SUCH_SESSION) from None
    except sessions.AmbiguousSessionError as error:
        raise fail(str(error), USAGE_ERROR) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    if outcome.status:
        raise fail(outcome.text, outcome.status)
    _write_line(outcome.text)


def tail(
    session: SessionArgument = "",
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="So many past events first.")] = LINES,
) -> None:
    """Follow the events of all sessions, or of one until it ends, as JSON lines.

    The lines are those that command sinks get (schema version 1), and the turns, approvals and bells in between.

    Examples:
      lifecycle-wrap tail
      lifecycle-wrap tail -n 0 | jq --unbuffered -r 'select(.state == "blocked") | .cwd'
    """
    from .tail import follow

    def run() -> None:
        try:
            follow(os.environ, session, lines, _write_bytes)
        except sessions.NoSuchSessionError as error:
            raise fail(str(error), NO_SUCH_SESSION) from None
        except sessions.AmbiguousSessionError as error:
            raise fail(str(error), USAGE_ERROR) from None

    _stream(run)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (ps, watch, wait, tail):
        add(app, command)


def _stream(run: Callable[[], None]) -> None:
    """Run what writes until it is ended: by Ctrl-C, or by a reader that has read enough."""
    try:
        run()
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Python flushes stdout once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_line(text: str) -> None:
    _write_bytes(f"{text}\n".encode(errors="replace"))


def _write_bytes(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
