"""Finding and executing the agent's program, as a POSIX shell does it.

Owns the search in PATH, the words and exit statuses of a program that cannot be started (127 not found, 126 not
executable; POSIX XCU 2.8.2), and the one place where `execve` is called.
"""

from __future__ import annotations

import errno
import os

from .lean import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

NOT_FOUND = 127
NOT_EXECUTABLE = 126

# How much of a file without a magic number is looked at to tell a script from a binary; shells look at about as much.
SCRIPT_SAMPLE = 256

_WITHOUT_US = "set LIFECYCLE_WRAP=0 to run it without us"


class ProgramError(Exception):
    """The program cannot be started.

    Attributes:
        status: the exit status a shell would give.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    @classmethod
    def from_os_error(cls, name: str, error: OSError) -> ProgramError:
        """The error of a failed `execve` in a shell's words."""
        missing = isinstance(error, FileNotFoundError)
        return cls(
            NOT_FOUND if missing else NOT_EXECUTABLE, f"{name}: {error.strerror or error}; {_remedy(error.errno)}"
        )


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """The path that a shell would execute for the command word `name`.

    Raises:
        ProgramError: no such program, or none that may be executed.
    """
    if "/" in name:
        candidates = [name]
    else:
        directories = environ.get("PATH", os.defpath).split(":")
        candidates = [f"{directory or '.'}/{name}" for directory in directories] if name else []
    refusal = None
    for path in candidates:
        if os.path.isdir(path):
            refusal = refusal or errno.EISDIR
        elif os.access(path, os.X_OK):
            return path
        elif os.path.exists(path):
            refusal = errno.EACCES
    if refusal is not None and (refusal != errno.EISDIR or "/" in name):
        raise ProgramError(NOT_EXECUTABLE, f"{name}: {os.strerror(refusal)}; {_remedy(refusal)}")
    if "/" in name:
        raise ProgramError(NOT_FOUND, f"{name}: No such file or directory; {_remedy(errno.ENOENT)}")
    raise ProgramError(NOT_FOUND, f"{name}: command not found; install it, or add its directory to PATH")


def _remedy(number: int | None) -> str:
    return {
        errno.ENOENT: "check the path, and the interpreter in its first line",
        errno.EACCES: "make it executable (chmod +x)",
        errno.EISDIR: "name a program in it",
        errno.ENOEXEC: "it may be built for another machine",
        errno.EMFILE: f"raise the limit (ulimit -n), or {_WITHOUT_US}",
        errno.ENFILE: f"close other programs, or {_WITHOUT_US}",
        errno.EAGAIN: f"raise the limit (ulimit -u), or {_WITHOUT_US}",
        errno.ENOMEM: f"raise the limit (ulimit -v), or {_WITHOUT_US}",
        errno.ENOSPC: f"there may be no terminal left for it (/dev/pts): close some, or {_WITHOUT_US}",
    }.get(number or 0, f"see whether it starts by itself, or {_WITHOUT_US}")


def execute(path: str, argv: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Replace this process by the program; a script without `#!` is run by /bin/sh.

    The two signals that Python ignores at its start are given back their default action.

    Raises:
        OSError: the program could not be executed.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execve(path, list(argv), environ)
    except OSError as error:
        if error.errno != errno.ENOEXEC or _is_binary(path):
            raise
        os.execve("/bin/sh", ["/bin/sh", path, *argv[1:]], environ)


def _is_binary(path: str) -> bool:
    with open(path, "rb") as file:
        return b"\0" in file.read(SCRIPT_SAMPLE).partition(b"\n")[0]
