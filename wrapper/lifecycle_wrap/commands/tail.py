"""`lifecycle-wrap tail`: the events of all sessions as they come, one JSON line each.

Owns the following of journals: several files that grow, are replaced when they are full, and go when their session
ends (see `hosts.records`); a broker's events are put between them, and none is told twice. A reader that does not take
its lines falls behind; once it is more than a whole journal behind, the oldest are lost.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from lifecycle_wrap.hosts.records import JOURNAL, LOCK, OLD_JOURNAL, directory, is_alive, is_private

from . import sessions
from .session_source import Source

LINES = 10
"""How many past events are told at first."""

_LINE_LIMIT = 1024 * 1024
"""The most bytes of one line; what is longer is none of ours."""


_RECENT = 1000
"""How many events are remembered that came by one way, so that they are not told again when they come by the other."""


class Line(NamedTuple):
    """One event, and what it is sorted by; `session` is empty where all are of one that is known."""

    sequence: int
    timestamp: str
    text: bytes
    session: str = ""


def follow(environ: Mapping[str, str], source: Source, word: str, lines: int, write: Callable[[bytes], None]) -> None:
    """Tell the last events and then each new one, in their order.

    Returns when the session that was asked for has ended; never for all sessions.

    Args:
        environ: our environment.
        source: where the sessions are from.
        word: what the user calls the session; empty for all.
        lines: how many past events.
        write: takes whole lines and passes them on at once.

    Raises:
        sessions.NoSuchSessionError, sessions.AmbiguousSessionError: the word names none, or several.
    """
    path = directory(environ)
    with source:
        only = sessions.find(source.running(), word).key if word else ""
        journals = _Journals(path, only)
        once = _Once()
        past = sorted(once.new([*journals.past(), *_told(source, only)]))
        write(b"".join(line.text for line in past[max(0, len(past) - lines) :]))
        while True:
            alive = not only or is_alive(f"{path}/{only}{LOCK}") or _stands(source, only)
            new = once.new([*journals.new(), *_told(source, only)])
            if new:
                write(b"".join(line.text for line in new))
            if not alive:
                return
            source.wait(None)


def _told(source: Source, only: str) -> list[Line]:
    """Return what the broker has told since the last call."""
    lines = source.board.lines() if source.board is not None else []
    return [line for line in lines if not only or line.session == only]


def _stands(source: Source, key: str) -> bool:
    """Tell whether a session stands on the board."""
    board = source.board
    return board is not None and any(one.key == key and one.lost != "gone" for one in board.running())


class _Once:
    """Lets each event through once."""

    def __init__(self) -> None:
        self._recent: deque[tuple[int, str]] = deque(maxlen=_RECENT)

    def new(self, lines: Iterable[Line]) -> list[Line]:
        """Return those that have not come before."""
        new = []
        for line in lines:
            mark = line.sequence, line.timestamp
            if mark not in self._recent:
                self._recent.append(mark)
                new.append(line)
        return new


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
            event = json.loads(text)
            yield Line(int(event["sequence"]), str(event["timestamp"]), text)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            continue
