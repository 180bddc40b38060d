"""The log file: where, and bounded. Nothing of ours is ever written to a live screen; it goes here.

Lines are content-free: what happened to us, never what the agent printed or the user typed.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Address space, kept for the faults that are the lack of it: what they leave to do (copy bytes, reset the terminal,
# release the hosts) needs some, and a first fault often has a second one after it. Never touched, it costs no memory.
SPARE = 2 << 20
SPARES = 3
# Two files of this size at most: enough for months of faults, nothing to notice on a disk.
MAXIMUM_SIZE = 1 << 20
# Of the places that an exception passed, so many are told: the last ones. A recursion passes a thousand.
MOST_PLACES = 40


class Log:
    """The log of this user's sessions; failing to write it fails nothing.

    Attributes:
        path: `$XDG_STATE_HOME/lifecycle-wrap/lifecycle-wrap.log`, by default under `~/.local/state`.
    """

    def __init__(self, environ: Mapping[str, str], debug: bool = False) -> None:
        state = environ.get("XDG_STATE_HOME", "")
        if not os.path.isabs(state):
            state = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local", "state")
        self.path = os.path.join(state, "lifecycle-wrap", "lifecycle-wrap.log")
        self._debug = debug
        self._spares = _spares()

    def write(self, text: str) -> None:
        """Append one entry, with the time and our process id."""
        try:
            entry = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} [{os.getpid()}] {text.rstrip()}\n"
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.fstat(fd).st_size > MAXIMUM_SIZE:
                    os.replace(self.path, self.path + ".1")
                os.write(fd, entry.encode(errors="backslashreplace"))
            finally:
                os.close(fd)
        except (OSError, MemoryError):
            return

    def debug(self, text: str) -> None:
        """Append one entry if the user asked for more (`--debug`)."""
        if self._debug:
            self.write(text)

    def fault(self, what: str, error: BaseException) -> None:
        """Append where the exception `error` came from, and its class; its text may hold what the agent printed."""
        if self._spares:
            self._spares.pop()
        told = type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            told += f": {error.strerror}"
        try:
            places = "\n  ".join(["Traceback (most recent call last):", *_places(error)[-MOST_PLACES:]])
        except MemoryError:
            places = "nobody knows where"
        self.write(f"{what}\n{places}\n{told}")


def _places(error: BaseException) -> list[str]:
    """Where it passed, outermost first; not by `traceback`, which must be imported: without memory that can kill us."""
    places = []
    passed = error.__traceback__
    while passed is not None:
        code = passed.tb_frame.f_code
        places.append(f"{code.co_filename}:{passed.tb_lineno} in {code.co_name}")
        passed = passed.tb_next
    return places


def _spares() -> list[bytes]:
    try:
        return [bytes(SPARE) for _ in range(SPARES)]
    except MemoryError:
        return []
