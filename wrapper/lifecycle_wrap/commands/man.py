"""The manual page, made from the help of the commands: `python -m lifecycle_wrap.commands.man > lifecycle-wrap.1`.

Owns the form (man(7) macros). Every word of it comes from the typer app, so the two cannot drift.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from lifecycle_wrap import __version__

from .command_line import NAME


def page() -> str:
    """Return the manual page as roff."""
    from typer.main import get_command

    from .cli import app

    root: Any = get_command(app)
    context = root.context_class(root, info_name=NAME, **root.context_settings)
    summary, _, description = str(root.help).partition("\n\n")
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME} {__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(NAME)} \\- tells terminals and their hosts what a coding agent is doing",
        ".SH SYNOPSIS",
        f"\\fB{_text(NAME)}\\fR [OPTIONS] \\-\\- AGENT [ARGS]...",
        ".br",
        f"\\fB{_text(NAME)}\\fR COMMAND [ARGS]...",
        ".SH DESCRIPTION",
        *_prose(summary),
        *_prose(description),
        ".SH OPTIONS",
        *_options(root, context),
        ".SH COMMANDS",
    ]
    for name, command in sorted(root.commands.items()):
        lines += _command(name, command, context)
    for title, text in _parts(str(root.epilog or "")):
        lines += [f".SH {title.upper()}", *_prose(text)]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any, parent: Any) -> Iterator[str]:
    """Yield a command, and those below it."""
    context = command.context_class(command, info_name=name, parent=parent)
    below = getattr(command, "commands", {})
    if not below:
        usage = context.command_path.removeprefix(f"{NAME} ")
        pieces = " ".join(piece for piece in command.collect_usage_pieces(context) if piece)
        yield f".SS {_text(usage)} {_text(pieces)}"
        yield from _prose(str(command.help or ""))
        yield from _options(command, context)
    for inner, one in below.items():
        yield from _command(inner, one, context)


def _options(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield f"\\fB{_text(record[0])}\\fR"
            yield _text(record[1])


def _parts(epilog: str) -> Iterator[tuple[str, str]]:
    """Yield the titled parts of the epilog: a line with a colon, and what is indented below it."""
    for paragraph in epilog.split("\n\n"):
        title, _, text = paragraph.removeprefix("\b\n").partition(":\n")
        yield title, f"\b\n{text}"


def _prose(text: str) -> Iterator[str]:
    for paragraph in filter(None, text.split("\n\n")):
        yield ".PP"
        if paragraph.startswith("\b\n"):
            yield ".nf"
            yield from (_text(line) for line in paragraph.removeprefix("\b\n").splitlines())
            yield ".fi"
        else:
            yield _text(" ".join(paragraph.split()))


def _text(text: str) -> str:
    """Escape what roff would take for itself."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)


if __name__ == "__main__":
    sys.stdout.write(page())
