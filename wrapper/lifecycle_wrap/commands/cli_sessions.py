"""The commands that look at running sessions: `ps`, `watch`, `wait`, `tail`.

Owns their options and help; the work is done by the module of each name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from . import sessions
from .command_line import BROKER_OPTION, INTERRUPTED, USAGE_ERROR, add, fail
from .session_source import NoBrokerError, Source, choose_broker
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


BrokerOption = Annotated[
    str | None,
    typer.Option(
        BROKER_OPTION,
        metavar="[URL]",
        help="The agents of all machines, from the configured broker or another: mqtts://HOST[:PORT].",
        show_default=False,
    ),
]


@contextmanager
def _source(broker: str | None, *, events: bool = False) -> Iterator[Source]:
    """Open what a command reads; what is wrong with the broker is told in one line."""
    if broker is None:
        yield Source(os.environ)
        return
    from lifecycle_wrap.hosts.broker import BrokerProblem

    from .board import Board

    try:
        with Board(choose_broker(broker, os.environ), os.environ, events=events) as board:
            yield Source(os.environ, board)
    except NoBrokerError as error:
        raise fail(str(error), USAGE_ERROR) from None
    except BrokerProblem as problem:
        raise fail(str(problem)) from None


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
    broker: BrokerOption = None,
) -> None:
    """List the wrapped agents of this user on this machine, those that wait for you first.

    With --broker those of all machines. "gone" was cut off: killed, or its machine or network failed. "stale" was not
    heard of for long, or the broker itself cannot be reached.

    Fields of --format: {agent} {name} {state} {mark} {color} {about} {age} {since} {cwd} {dir} {terminal} {tty} {pid}
    {id} {attention} {host} {focus}. {mark} is ! * - x or ?, {focus} the shell command that brings you there.

    Examples:
      lifecycle-wrap ps
      lifecycle-wrap ps --json
      lifecycle-wrap ps --state blocked --format '{agent} in {dir}: {about}'
      lifecycle-wrap ps --format '{mark}{agent}' --join ' '

    On all machines:
      lifecycle-wrap ps --broker mqtts://broker.example

    In tmux's status line:
      set -g status-right '#(lifecycle-wrap ps --format "#[fg={color}]{mark}{agent}" --join " ")'
    In starship's prompt (starship.toml):
      [custom.agents]
      command = "lifecycle-wrap ps --state blocked --format '{agent}!' --join ' '"
      when = true
    """
    from .ps import listing

    try:
        with _source(broker) as source:
            everywhere = None if broker is None else source.running()
        text = listing(
            os.environ, states=state or (), as_json=json, template=template, join=join, everywhere=everywhere
        )
    except sessions.TemplateError as error:
        raise fail(str(error), USAGE_ERROR) from None
    sys.stdout.write(text)


def watch(
    plain: Annotated[
        bool, typer.Option("--plain", help="A line for each change; so anyway when the output is no terminal.")
    ] = False,
    broker: BrokerOption = None,
) -> None:
    """Show the wrapped agents live, those that wait for you first; with --broker those of all machines.

    Keys: q leaves, s sorts by the next column, j and k or the arrows select, Enter shows the command that goes to the
    selected agent's terminal, where its host can.

    Examples:
      lifecycle-wrap watch
      lifecycle-wrap watch --plain | grep --line-buffered blocked

    On all machines, from the configured broker:
      lifecycle-wrap watch --broker
    """
    from .watch import watch as watch_screen
    from .watch import watch_plain

    with _source(broker) as source:
        if plain or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
            _stream(lambda: watch_plain(source, _write_line))
        else:
            raise typer.Exit(watch_screen(os.environ, source))


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
    broker: BrokerOption = None,
) -> None:
    """Wait until an agent is in a state; without SESSION whichever comes first.

    The present state counts. "attention" is a dialog, a bell or a notification. Prints the session and its state.

    Exit status: 0 it is, 2 usage, 4 time is up, 5 no such session or it has ended, 130 Ctrl-C.

    Examples:
      lifecycle-wrap wait --until blocked --timeout 1s
      lifecycle-wrap wait claude@project && notify-send "your move"

    On another machine:
      lifecycle-wrap wait --broker web1:claude@project
    """
    from .wait import parse_duration
    from .wait import wait as wait_for

    try:
        seconds = parse_duration(timeout) if timeout else None
    except ValueError:
        raise fail(f"--timeout: {timeout!r} is no time; write 30s, 5m, 2h or 500ms", USAGE_ERROR) from None
    try:
        with _source(broker) as source:
            outcome = wait_for(source, session, frozenset(until or (Until.IDLE, Until.BLOCKED)), seconds)
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
    broker: BrokerOption = None,
) -> None:
    """Follow the events of all sessions, or of one until it ends, as JSON lines.

    The lines are those that command sinks get (schema version 1), and the turns, approvals and bells in between. A
    broker's have "host" and more beside that; of the past it knows only the last state of each session.

    Examples:
      lifecycle-wrap tail
      lifecycle-wrap tail -n 0 | jq --unbuffered -r 'select(.state == "blocked") | .cwd'
    """
    from .tail import follow

    def run() -> None:
        try:
            with _source(broker, events=True) as source:
                follow(os.environ, source, session, lines, _write_bytes)
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
