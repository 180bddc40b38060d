"""Entry point: an agent's command line goes straight to `launch`, everything else to the typer app in `cli`.

Nothing slow is imported on the way to the agent: no typer, argparse, re, enum, dataclasses or typing.
"""

import sys

from . import __version__
from .arguments import UsageError, parse


def main() -> int:
    """Run the command line.

    Returns:
        The exit status: the agent's, or 2 for a command line that cannot be understood.
    """
    arguments = sys.argv[1:]
    try:
        invocation = parse(arguments)
    except UsageError as error:
        sys.stderr.write(f"lifecycle-wrap: {error}\n")
        return 2
    if invocation is None:
        if arguments[:1] == ["--version"]:
            sys.stdout.write(f"lifecycle-wrap {__version__}\n")
            return 0
        return _command(arguments)
    from .launch import run

    try:
        return run(*invocation)
    except KeyboardInterrupt:
        return 130


def _command(arguments: list[str]) -> int:
    """Do one of our commands; those of prompts and starting shells without typer, where their module can."""
    status: int | None = None
    try:
        if arguments[:1] == ["ps"]:
            from .commands.ps import quick

            status = quick(arguments[1:])
        elif arguments[:1] == ["shell-init"]:
            from .commands.shell_init import quick

            status = quick(arguments[1:])
        if status is None:
            from .commands.cli import app
            from .commands.command_line import run

            status = run(app)
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
