"""`lifecycle-wrap shell-init`: functions that put the wrapper before every agent that is installed.

Owns the text for each shell. A function stands in the way of a command only where a person sits at it: it is defined
in interactive shells alone, and runs the agent itself where input or output is no terminal, or where the wrapper is
gone. The wrapper looks the agent up on PATH, so nothing calls itself; `command claude` is the agent without us.
"""

from __future__ import annotations

import os
import sys

from lifecycle_wrap.agents import installed, is_command_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHELLS = ("bash", "zsh", "fish")

# `function NAME {` and not `NAME() {`: an alias of that name would be expanded in the second form.
_POSIX = """\
if {interactive}; then
  function _lifecycle_wrap {{
    if [[ -t 0 && -t 1 && -x {program} ]]; then
      {launcher} -- "$@"
    else
      command "$@"
    fi
  }}
{functions}fi
"""
_POSIX_FUNCTION = """\
  function {name} {{ _lifecycle_wrap {name} "$@"; }}
"""
_INTERACTIVE = {"bash": "[[ $- == *i* ]]", "zsh": "[[ -o interactive ]]"}

_FISH = """\
if status is-interactive
    function _lifecycle_wrap
        if isatty stdin; and isatty stdout; and test -x {program}
            {launcher} -- $argv
        else
            command $argv
        end
    end
{functions}end
"""
_FISH_FUNCTION = """\
    function {name} --description '{name} under lifecycle-wrap'
        _lifecycle_wrap {name} $argv
    end
"""


class UnfitNameError(Exception):
    """A name that cannot be a function's; the text says what can."""


def quick(arguments: Sequence[str]) -> int | None:
    """Do `shell-init` with these arguments; None for what only the full command line knows: help and errors."""
    if not arguments or arguments[0] not in SHELLS or any(map(_unfit, arguments[1:])):
        return None
    sys.stdout.write(script(arguments[0], arguments[1:], os.environ, launcher(sys.argv[0])))
    return 0


def launcher(program: str) -> tuple[str, ...]:
    """Return the command that starts us again; `program` is what we were started as."""
    if os.path.basename(program) == "__main__.py":
        return sys.executable, "-m", "lifecycle_wrap"
    return (os.path.abspath(program),)


def script(shell: str, agents: Sequence[str], environ: Mapping[str, str], command: Sequence[str]) -> str:
    """Return what the shell is to evaluate.

    Args:
        shell: one of `SHELLS`.
        agents: the commands to wrap; those known and installed when empty.
        environ: where PATH and the user's profiles are found.
        command: how we are started.

    Raises:
        UnfitNameError: one of `agents` cannot be a function's name.
    """
    for name in agents:
        if _unfit(name):
            raise UnfitNameError(
                f"{name!r} cannot be a shell function's name; give a command's name such as claude, without its path"
            )
    fish = shell == "fish"
    quote = _quote_fish if fish else _quote
    function = _FISH_FUNCTION if fish else _POSIX_FUNCTION
    functions = "".join(function.format(name=name) for name in agents or installed(environ))
    return (_FISH if fish else _POSIX).format(
        interactive=_INTERACTIVE.get(shell, ""),
        program=quote(command[0]),
        launcher=" ".join(map(quote, command)),
        functions=functions,
    )


def _unfit(name: str) -> bool:
    return not is_command_name(name) or name == "lifecycle-wrap"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quote_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
