"""What all commands of the typer app share: how they fail, and how their help is written.

Owns the form of an error (one line on stderr, an exit status) and of a help text: the docstring of the command's
function, in which a paragraph with an indented line is kept as it stands.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import typer  # noqa: TID253  # this module is only imported once no agent waits

NAME = "lifecycle-wrap"

USAGE_ERROR = 2
INTERRUPTED = 130

EPILOG = """\
Examples:
  lifecycle-wrap -- claude
  lifecycle-wrap claude --resume
  lifecycle-wrap --profile generic -- ./my-agent
  lifecycle-wrap demo

Exit status of a run:
  That of the agent; 128+n when signal n ended it. 127 when there is no such program, 126 when it cannot be executed,
  2 for a command line or, with --strict, a configuration that cannot be used.

Exit status of a command:
  0, or 1 when it could not do it or found something wrong, 2 for a command line that cannot be used.

Environment:
  LIFECYCLE_WRAP=0        run the agent without us
  LIFECYCLE_WRAP_TMUX=0   leave one host out: HERDR, CMUX_TUI, ZELLIJ, TMUX, CMUX, REGISTER, MQTT
  LIFECYCLE_WRAP_MQTT_USER, LIFECYCLE_WRAP_MQTT_PASSWORD  for the broker of [lifecycle.broker] and --broker
  LIFECYCLE_WRAP_DEBUG=1  tell failing hosts in the log
  NO_COLOR=1              no colour in tables

Files:
  $XDG_CONFIG_HOME/lifecycle-wrap/config.toml         the configuration
  $XDG_CONFIG_HOME/lifecycle-wrap/profiles/*.toml     your profiles
  $XDG_STATE_HOME/lifecycle-wrap/lifecycle-wrap.log   the log
  $XDG_RUNTIME_DIR/lifecycle-wrap/                    the running sessions
"""
"""What belongs to no command: the end of `--help` and of the manual page."""

BROKER_OPTION = "--broker"
"""The one option whose value may be missing: it is one only where it is a URL."""

_AS_IT_STANDS = "\b\n"
"""By this click knows a paragraph that is not to be filled."""


def fail(text: str, status: int = 1) -> typer.Exit:
    """Print one line on stderr and return the exit to raise."""
    print(f"{NAME}: {text}", file=sys.stderr)
    return typer.Exit(status)


def run(app: typer.Typer) -> int:
    """Run the command line; what it got wrong is told in one line.

    Returns:
        The exit status.
    """
    usage_error: Any = typer.BadParameter.__bases__[0]  # click's, which typer may carry under a name of its own
    try:
        return int(app(with_broker_value(sys.argv[1:]), prog_name=NAME, standalone_mode=False) or 0)
    except usage_error as error:
        command = error.ctx.command_path if error.ctx else NAME
        if type(error).show is not usage_error.show:  # the help, where a command is missing
            error.show()
        else:
            problem = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
            print(f"{NAME}: {problem}; see {command} --help", file=sys.stderr)
        return USAGE_ERROR


def with_broker_value(arguments: Sequence[str]) -> list[str]:
    """Give `--broker` its empty value where no URL follows: the configured broker."""
    return [
        f"{word}=" if word == BROKER_OPTION and "://" not in after else word
        for word, after in pairwise([*arguments, ""])
    ]


def add(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Add a command to an app, its docstring as its help."""
    app.command(name, help=help_text(inspect.getdoc(command) or ""))(command)


def help_text(text: str) -> str:
    """Mark the paragraphs that are to be kept as they stand."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        _AS_IT_STANDS + paragraph if any(line.startswith("  ") for line in paragraph.splitlines()) else paragraph
        for paragraph in paragraphs
    )
