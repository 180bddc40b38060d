"""`lifecycle-wrap tail`: the events of all sessions as they come, one JSON line each.

Owns the following of journals: several files that grow, are replaced when they are full, and go when their session
ends (see `hosts.records`). A reader that does not take its lines falls behind; once it is more than a whole journal
behind, the oldest are lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lifecycle_wrap.hosts.records import JOURNAL, LOCK, OLD_JOURNAL, directory, is_alive, is_private

from . import sessions
from .directory_changes import DirectoryChanges

LINES = 10
"""How many past events are told at first."""

_LINE_LIMIT = 1024 * 1024
"""The most bytes of one line; what is longer is none of ours."""


class Line(NamedTuple):
    """One event, and what it is sorted by."""

    sequence: int
    text: bytes


def follow(environ: Mapping[str, str], word: str, lines: int, write: Callable[[bytes], None]) -> None:
    """Tell the last events and then each new one, in their order.

    Returns when the session that was asked for has ended; never for all sessions.

    Args:
        environ: our environment.
        word: what the user calls the session; empty for all.
        lines: how many past events.
        write: takes whole lines and passes them on at once.

    Raises:
        sessions.NoSuchSessionError, sessions.AmbiguousSessionError: the word names none, or several.
    """
    path = directory(environ)
    with DirectoryChanges(path) as changes:
        only = sessions.find(sessions.running(environ), word).key if word else ""
        journals = _Journals(path, only)
        past = journals.past()
        write(b"".join(line.text for line in past[max(0, len(past) - lines) :]))
        while True:
            alive = not only or is_alive(f"{path}/{only}{LOCK}")
            new = journals.new()
            if new:
                write(b"".join(line.text for line in new))
            if not alive:
                return
            changes.wait(None)


class _Journals:
    """All journals, or one.

    Args:
        path: the register's directory.
        only: the key of the one session, or empty.
    """

    def __init__(self, path: str, only: str) -> None:
        self._path = path
        self._only = only
        self._open: dict[str, _Journal] = {}

    def past(self) -> list[Line]:
        """Return what the journals hold now."""
        old = []
        for key in self._keys():
            try:
                with open(f"{self._path}/{key}{OLD_JOURNAL}", "rb") as file:
                    old += list(_lines(file.read()))
            except OSError:
                continue
        return sorted([*old, *self.new()])

    def new(self) -> list[Line]:
        """Return what has come since the last call."""
        for key in self._keys():
            if key not in self._open:
                self._open[key] = _Journal(f"{self._path}/{key}{JOURNAL}")
        new = []
        for key, journal in list(self._open.items()):
            new += journal.read()
            if journal.ended:
                del self._open[key]
        return sorted(new)

    def _keys(self) -> list[str]:
        if self._only:
            return [self._only]
        if not is_private(self._path):
            return []
        names = [name for name in os.listdir(self._path) if name.endswith(JOURNAL)]
        return [name.removesuffix(JOURNAL) for name in names]


class _Journal:
    """One journal that grows.

    Attributes:
        ended: it is gone, or never was there; what it held has been read.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self._rest = b""
        self.ended = False

    def read(self) -> list[Line]:
        """Return the whole lines that have come since the last call."""
        lines: list[Line] = []
        while not self.ended:
            # Asked before the reading: what was written until the file was replaced or removed is read after that.
            current = self._current()
            if self._descriptor >= 0:
                lines += self._read_on()
                if current is not None and os.path.samestat(os.fstat(self._descriptor), current):
                    break
                os.close(self._descriptor)
                self._descriptor = -1
            if current is None or not self._reopen():
                self.ended = True
        return lines

    def _current(self) -> os.stat_result | None:
        try:
            return os.lstat(self._path)
        except OSError:
            return None

    def _reopen(self) -> bool:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        return True

    def _read_on(self) -> Iterator[Line]:
        while data := os.read(self._descriptor, 1 << 16):
            whole, newline, self._rest = (self._rest + data).rpartition(b"\n")
            yield from _lines(whole + newline)
            if len(self._rest) > _LINE_LIMIT:
                self._rest = b""


def _lines(data: bytes) -> Iterator[Line]:
    """Yield the events in whole lines; a line cut by a full disk is left out."""
    for text in data.splitlines(keepends=True):
        try:
            yield Line(int(json.loads(text)["sequence"]), text)
        except (ValueError, TypeError, KeyError):
            continue
