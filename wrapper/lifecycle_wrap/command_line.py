"""What all commands of the typer app share: how they fail, and how their help is written.

Owns the form of an error (one line on stderr, an exit status) and of a help text: the docstring of the command's
function, in which a paragraph with an indented line is kept as it stands.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable

import typer  # noqa: TID253  # this module is only imported once no agent waits

USAGE_ERROR = 2
INTERRUPTED = 130

_AS_IT_STANDS = "\b\n"
"""By this click knows a paragraph that is not to be filled."""


def fail(text: str, status: int = 1) -> typer.Exit:
    """Print one line on stderr and return the exit to raise."""
    print(f"lifecycle-wrap: {text}", file=sys.stderr)
    return typer.Exit(status)


def add(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Add a command to an app, its docstring as its help."""
    app.command(name, help=help_text(inspect.getdoc(command) or ""))(command)


def help_text(text: str) -> str:
    """Mark the paragraphs that are to be kept as they stand."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        _AS_IT_STANDS + paragraph if any(line.startswith("  ") for line in paragraph.splitlines()) else paragraph
        for paragraph in paragraphs
    )
