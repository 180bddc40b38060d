"""`lifecycle-wrap watch`: the sessions, always up to date.

Owns the loop, the keys and what is on the screen. It sleeps until a session changes, a key comes, or an age that is
shown reads differently; ages are redrawn once a second at most, so an idle screen costs one wake-up a second.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from shlex import join
from textwrap import wrap
from typing import NamedTuple

from lifecycle_wrap.hosts.records import Session
from lifecycle_wrap.terminal.cells import BOLD, DIM, fit, harmless, styled, wants_color, width

from . import sessions
from .full_screen import ENDING, FullScreen
from .session_source import Source
from .session_table import Table

REDRAW_SECONDS = 0.05
"""The shortest time between two screens, whatever happens in the register."""

AGES_SECONDS = 1.0
"""The shortest time between two screens where only ages have changed."""

_HELP = "q quit  s sort  j/k select  Enter command"
_KEY = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_KEYS = {
    **dict.fromkeys((b"q", b"Q", b"\x04"), "quit"),
    **dict.fromkeys((b"\x1b[A", b"\x1bOA", b"k"), "up"),
    **dict.fromkeys((b"\x1b[B", b"\x1bOB", b"j"), "down"),
    **dict.fromkeys((b"\r", b"\n"), "command"),
    b"s": "sort",
}


class _Order(NamedTuple):
    """One of the orders to choose from."""

    name: str
    key: Callable[[Session], tuple[object, ...]]


_ORDERS = (
    _Order("state", sessions.by_state),
    _Order("latest change", lambda session: (-sessions.moment(session.since),)),
    _Order("agent", lambda session: (session.agent, session.cwd)),
    _Order("directory", lambda session: (session.cwd, session.agent)),
)


def watch(environ: Mapping[str, str], source: Source) -> int:
    """Show the sessions on the whole screen until the user leaves.

    Args:
        environ: our environment.
        source: where they are from.

    Returns:
        The exit status: 0, or 128 and the number of the signal that ended it.
    """
    with source, FullScreen() as screen:
        view = _View(environ)
        drawn = 0.0
        while True:
            now = time.time()
            view.update(source.running())
            screen.show(view.lines(now, *screen.size()))
            drawn = time.monotonic()
            due = view.due(now)
            keys = [] if screen.keys is None else [screen.keys]
            wait = None if due is None else max(due - now, AGES_SECONDS)
            ready = source.wait(wait, [screen.wake, *keys])
            ending = ENDING.intersection(screen.take_signals())
            if ending:
                return 128 + min(ending)
            if screen.keys in ready and not view.press(_read(screen)):
                return 0
            if not ready:
                time.sleep(max(0.0, drawn + REDRAW_SECONDS - time.monotonic()))


def _read(screen: FullScreen) -> bytes:
    assert screen.keys is not None
    try:
        data = os.read(screen.keys, 1024)
    except OSError:
        data = b""
    if not data:
        screen.keys = None  # the terminal is gone; SIGHUP follows
    return data


class _View:
    """What is shown: the order, the selection, and the note at the bottom."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._home = environ.get("HOME", "")
        self._color = wants_color(environ, is_terminal=True)
        self._sessions: list[Session] = []
        self._order = 0
        self._selected: int | None = None
        self._note = ""

    def update(self, listed: list[Session]) -> None:
        """Take the present sessions; the selection stays with its session, or is given up with it."""
        chosen = None if self._selected is None else self._sessions[self._selected].key
        self._sessions = sorted(listed, key=_ORDERS[self._order].key)
        keys = [session.key for session in self._sessions]
        self._selected = keys.index(chosen) if chosen in keys else None

    def press(self, data: bytes) -> bool:
        """Do what the keys ask for; False to leave."""
        for key in _KEY.findall(data):
            action = _KEYS.get(key, "")
            self._note = ""
            if action == "quit":
                return False
            if action == "sort":
                self._order = (self._order + 1) % len(_ORDERS)
            elif action in ("up", "down") and self._sessions:
                self._selected = self._moved(1 if action == "down" else -1)
            elif action == "command" and self._sessions:
                self._selected = self._selected or 0
                self._note = _way_to(self._sessions[self._selected])
        return True

    def due(self, now: float) -> float | None:
        """Return when an age reads differently, or None when none is shown."""
        return min((sessions.changes_at(session, now) for session in self._sessions), default=None)

    def lines(self, now: float, columns: int, rows: int) -> list[str]:
        """Return the screen: a summary, the table, and the keys or a note at the bottom."""
        if not self._sessions:
            return [*wrap("no wrapped agent is running; start one with lifecycle-wrap -- AGENT", columns), "", "q quit"]
        table = Table(self._sessions, now, home=self._home, columns=columns, color=self._color, selected=self._selected)
        foot = _folded(self._note, columns) if self._note else wrap(_HELP, columns)
        head = [self._fit(self._summary(), columns, BOLD), self._fit(table.heading, columns, DIM)]
        room = max(1, rows - len(head) - len(foot))
        first = max(0, (self._selected or 0) - room + 1)
        body = table.rows[first : first + room]
        blank = [""] * (room - len(body))
        return [*head, *body, *blank, *foot][:rows]

    def _moved(self, step: int) -> int:
        if self._selected is None:
            return 0
        return max(0, min(len(self._sessions) - 1, self._selected + step))

    def _summary(self) -> str:
        counts = []
        states = [sessions.state(session) for session in self._sessions]
        for state in (*sessions.STATES[:-1], "starting", *sessions.LOST[1:]):
            if state in states:
                counts.append(f"{states.count(state)} {state}")
        order = f"  (by {_ORDERS[self._order].name})" if self._order else ""
        return ", ".join(counts) + order

    def _fit(self, text: str, columns: int, style: str) -> str:
        return styled(fit(text, columns).rstrip(), style, color=self._color)


def _folded(text: str, columns: int) -> list[str]:
    """Break a text into rows anywhere, so that a command can be copied as it is."""
    lines = [""]
    for character in text:
        if width(lines[-1] + character) > columns:
            lines.append("")
        lines[-1] += character
    return lines


def _way_to(session: Session) -> str:
    if session.focus:
        return harmless(join(session.focus))
    return f"no command leads there; it is on {sessions.terminal(session) or 'a terminal without a name'}"


def watch_plain(source: Source, write: Callable[[str], None]) -> None:
    """Tell the sessions there are, then each change, a line each; for ever.

    Args:
        source: where they are from.
        write: takes one line without its end and passes it on at once.
    """
    told: dict[str, tuple[Session, str]] = {}
    with source:
        while True:
            current = {session.key: session for session in source.running()}
            for key, (session, _) in list(told.items()):
                if key not in current:
                    write(_plain(session, "ended"))
                    del told[key]
            for key, session in current.items():
                text = " ".join(filter(None, (sessions.state(session), sessions.about(session))))
                if told.get(key, (session, ""))[1] != text:
                    write(_plain(session, text))
                    told[key] = session, text
            source.wait(None)


def _plain(session: Session, text: str) -> str:
    return harmless(f"{time.strftime('%H:%M:%S')} {session.pid} {sessions.full_name(session)} {text}")
