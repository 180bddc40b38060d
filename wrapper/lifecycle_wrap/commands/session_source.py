"""Where the commands get sessions from: this machine's register, and a broker's board where that is asked for.

Owns the choice of the broker and the merging of the two: a session of this machine is told by its register, which
knows more of it, and never twice.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle_wrap.hosts.records import directory

from . import sessions
from .directory_changes import DirectoryChanges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lifecycle_wrap.broker_config import Broker
    from lifecycle_wrap.hosts.records import Session

    from .board import Board


class NoBrokerError(Exception):
    """No broker is known; the text says how to name one."""


def choose_broker(url: str, environ: Mapping[str, str]) -> Broker:
    """Return the broker to read.

    Args:
        url: what the user named, or empty for the configured one. Another broker than the configured one is never shown
            the configured password.
        environ: our environment.

    Raises:
        NoBrokerError: there is none, or the URL cannot be used.
    """
    from lifecycle_wrap.broker_config import Broker, parse_url
    from lifecycle_wrap.config import load_config

    configured = load_config(None, environ)[0].broker
    if not url:
        if configured is None:
            raise NoBrokerError("no broker is configured; write --broker URL, or a table [lifecycle.broker]")
        return configured
    try:
        address = parse_url(url)
    except ValueError as error:
        raise NoBrokerError(f"--broker: {error}") from None
    if configured is None:
        return Broker(address)
    if configured.url == address:
        return configured
    return replace(configured, url=address, user="", password_file="", certificate="", key="")


class Source:
    """The sessions there are, and the waiting for a change. A context manager.

    Args:
        environ: our environment.
        board: a broker's board, already open; None for this machine alone.
    """

    def __init__(self, environ: Mapping[str, str], board: Board | None = None) -> None:
        self.board = board
        self._environ = environ
        self._here = ("", "")
        if board is not None:
            self._here = board.here

    def __enter__(self) -> Source:
        self._changes = DirectoryChanges(directory(self._environ))
        return self

    def __exit__(self, *_: object) -> None:
        self._changes.__exit__()

    def running(self) -> list[Session]:
        """Return the sessions in the order of `sessions.by_state`; those that are lost are among them, at the end."""
        local = sessions.running(self._environ)
        if self.board is None:
            return local
        for session in local:
            session.user, session.host = self._here
        known = {session.key for session in local}
        return sorted([*local, *(one for one in self.board.running() if one.key not in known)], key=sessions.by_state)

    def wait(self, seconds: float | None, descriptors: Sequence[int] = ()) -> list[int]:
        """Wait for a change, for input, or for the time to pass; returns those of `descriptors` that can be read."""
        if self.board is None:
            return self._changes.wait(seconds, descriptors)
        own = self.board.changed.fileno()
        ready = self._changes.wait(seconds, [*descriptors, own])
        if own in ready:
            self.board.take_change()
        return [descriptor for descriptor in ready if descriptor != own]
