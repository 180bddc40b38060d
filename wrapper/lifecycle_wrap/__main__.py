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
    except BrokenPipeError:
        _close_stdout()
        return 141
    except Exception as error:
        return _broken(arguments[0] if arguments else "", error)
    return status


def _close_stdout() -> None:
    """Whoever read our output is gone; at its end Python must not complain about that."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _broken(command: str, error: Exception) -> int:
    """Tell a fault of ours in one line; the log has the rest."""
    import os

    from .log import Log

    log = Log(os.environ)
    log.fault(f"the command {command} failed:", error)
    sys.stderr.write(
        f"lifecycle-wrap: {command}: internal error ({type(error).__name__}); see {log.path} and report it\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
