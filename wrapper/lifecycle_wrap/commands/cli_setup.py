"""The commands that set things up: `shell-init`, `completion`, `config`, `doctor`.

Owns their options and help; the work is done by the module that each names.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this module is only imported once no agent waits

from .command_line import NAME, USAGE_ERROR, add, fail

COMPLETE_VARIABLE = "_LIFECYCLE_WRAP_COMPLETE"
"""The variable by which a shell asks for completions; click makes its name from the program's."""


class Shell(StrEnum):
    """The shells that are served."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


ShellArgument = Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", show_default=False)]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The configuration file, if not the usual one.")
]


def complete_agent(incomplete: str) -> list[str]:
    """Offer the agents that are installed."""
    from lifecycle_wrap.agents import installed

    return [name for name in installed(os.environ) if name.startswith(incomplete)]


def shell_init(
    shell: ShellArgument,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="AGENT",
            help="The commands to wrap, instead of all known agents that are installed.",
            autocompletion=complete_agent,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print shell functions that put the wrapper before every known agent that is installed.

    They act in interactive shells only, and only where input and output are a terminal; scripts and pipes get the agent
    itself, and so does `command claude`.

    Add one line to your shell's start-up file:
      ~/.bashrc                   eval "$(lifecycle-wrap shell-init bash)"
      ~/.zshrc                    eval "$(lifecycle-wrap shell-init zsh)"
      ~/.config/fish/config.fish  lifecycle-wrap shell-init fish | source

    Examples:
      lifecycle-wrap shell-init bash
      lifecycle-wrap shell-init zsh claude codex
    """
    from .shell_init import UnfitNameError, launcher, script

    try:
        sys.stdout.write(script(shell, agents or (), os.environ, launcher(sys.argv[0])))
    except UnfitNameError as error:
        raise fail(str(error), USAGE_ERROR) from None


def completion(shell: ShellArgument) -> None:
    """Print the completion of lifecycle-wrap's own commands, options and sessions.

    Add one line to your shell's start-up file, in zsh after compinit:
      ~/.bashrc                   eval "$(lifecycle-wrap completion bash)"
      ~/.zshrc                    eval "$(lifecycle-wrap completion zsh)"
      ~/.config/fish/config.fish  lifecycle-wrap completion fish | source

    Example:
      lifecycle-wrap completion bash
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # there is no public way

    print(get_completion_script(prog_name=NAME, complete_var=COMPLETE_VARIABLE, shell=shell))


def config_init(
    config: ConfigOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a configuration file that explains itself; every key in it is a comment with the default.

    Example:
      lifecycle-wrap config init
    """
    from lifecycle_wrap.config import default_path

    from . import config_command

    path = config or default_path(os.environ)
    try:
        config_command.init(path, force=force)
    except config_command.FileExistsProblem as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{path}: cannot be written ({error.strerror}); name another file with --config") from None
    print(path)


def config_show(config: ConfigOption = None) -> None:
    """Show the configuration that is in force, each value with its origin; exit status 1 if the file has errors.

    Examples:
      lifecycle-wrap config show
      lifecycle-wrap config show --config /dev/null
    """
    from . import config_command

    shown = config_command.show(config, os.environ)
    sys.stdout.write(shown.text)
    sys.stdout.flush()
    for problem in shown.problems:
        print(problem, file=sys.stderr)
    if shown.problems:
        raise typer.Exit(1)


def doctor(config: ConfigOption = None) -> None:
    """Tell what is found here, what would be told where and why, and what to change; exit status 1 if anything.

    Changes nothing, asks no host, uses no network; starts the installed agents for their versions.

    Example:
      lifecycle-wrap doctor
    """
    from . import doctor as checks

    sections = checks.examine(config, os.environ)
    print(checks.to_text(sections))
    if checks.changes(sections):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, shell_init, "shell-init")
    add(app, completion)
    config = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Write or show the configuration.")
    add(config, config_init, "init")
    add(config, config_show, "show")
    app.add_typer(config, name="config")
    add(app, doctor)
