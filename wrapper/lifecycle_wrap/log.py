"""The log file: where, and bounded. Nothing of ours is ever written to a live screen; it goes here.

Lines are content-free: what happened to us, never what the agent printed or the user typed.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Two files of this size at most: enough for months of faults, nothing to notice on a disk.
MAXIMUM_SIZE = 1 << 20


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

    def write(self, text: str) -> None:
        """Append one entry, with the time and our process id."""
        entry = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} [{os.getpid()}] {text.rstrip()}\n"
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.fstat(fd).st_size > MAXIMUM_SIZE:
                    os.replace(self.path, self.path + ".1")
                os.write(fd, entry.encode(errors="backslashreplace"))
            finally:
                os.close(fd)
        except OSError:
            return

    def debug(self, text: str) -> None:
        """Append one entry if the user asked for more (`--debug`)."""
        if self._debug:
            self.write(text)

    def fault(self, what: str, error: BaseException) -> None:
        """Append where the exception `error` came from, and its class; its text may hold what the agent printed."""
        told = type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            told += f": {error.strerror}"
        try:
            import traceback

            told = f"Traceback (most recent call last):\n{''.join(traceback.format_tb(error.__traceback__))}{told}"
        except Exception:  # what we are about to tell of may be that there is no memory or no descriptor
            pass
        self.write(f"{what}\n{told}")
