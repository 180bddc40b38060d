"""`lifecycle-wrap wait`: block until a session is in a state.

Owns what each `--until` means and the exit statuses. The present state is looked at first, after the watch on the
register is set up, so that nothing falls between the two.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from lifecycle_wrap.hosts.records import Session

from . import sessions
from .session_source import Source

TIMED_OUT = 4
NO_SUCH_SESSION = 5


class Until(StrEnum):
    """What can be waited for."""

    IDLE = "idle"
    WORKING = "working"
    BLOCKED = "blocked"
    ATTENTION = "attention"
    EXIT = "exit"


class Outcome(NamedTuple):
    """How a wait has ended.

    Attributes:
        status: the exit status: 0, `TIMED_OUT` or `NO_SUCH_SESSION`.
        text: for stdout where the status is 0, for stderr elsewhere.
    """

    status: int
    text: str


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Read `30`, `30s`, `500ms`, `5m` or `2h` as seconds.

    Raises:
        ValueError: it is none of these.
    """
    number = text.rstrip("mhs")
    seconds = float(number) * _UNITS[text[len(number) :] or "s"] if text[len(number) :] in ("", *_UNITS) else -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(text)
    return seconds


def wait(source: Source, word: str, until: Collection[Until], timeout: float | None) -> Outcome:
    """Wait.

    Args:
        source: where the sessions are from.
        word: what the user calls the session; empty for whichever session comes first.
        until: the session may be in any of these.
        timeout: seconds, or None for ever.

    Raises:
        sessions.NoSuchSessionError, sessions.AmbiguousSessionError: the word names none, or several.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    with source:
        watched = _living(source)
        if word:
            watched = [sessions.find(watched, word)]
        if not watched:
            return Outcome(NO_SUCH_SESSION, "no wrapped agent is running; start one with lifecycle-wrap -- AGENT")
        rung = {session.key: session.attention for session in watched}
        while True:
            current = {session.key: session for session in _living(source)}
            ended = [session for session in watched if session.key not in current]
            if ended and Until.EXIT in until:
                return Outcome(0, _line(ended[0], "exit"))
            watched = _still(watched, current, follow_new=not word)
            for session in watched:
                if _fits(session, until, rung.setdefault(session.key, session.attention)):
                    return Outcome(0, _line(session, sessions.state(session)))
            if not watched:
                what = f"{sessions.name(ended[0])} has ended" if word else "the last session has ended"
                return Outcome(NO_SUCH_SESSION, f"{what} without being {' or '.join(until)}")
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return Outcome(TIMED_OUT, f"timed out; {_present(watched)}")
            source.wait(left)


def _living(source: Source) -> list[Session]:
    """Return the sessions but those that were cut off: for who waits they have ended."""
    return [session for session in source.running() if session.lost != "gone"]


def _still(watched: Sequence[Session], current: Mapping[str, Session], *, follow_new: bool) -> list[Session]:
    if follow_new:
        return list(current.values())
    return [current[session.key] for session in watched if session.key in current]


def _fits(session: Session, until: Collection[Until], rung: int) -> bool:
    """Tell whether a session is where it was waited for; `rung` is how often it had rung when the wait began.

    Attention is a dialog, or a bell or notification: one since the wait began, or one that came in the state that
    still stands.
    """
    if session.lost:
        return False
    if session.state in until:
        return True
    rings = session.attention > rung or (
        session.attention > 0 and sessions.moment(session.attention_at) >= sessions.moment(session.since)
    )
    return Until.ATTENTION in until and (session.state == "blocked" or rings)


def _line(session: Session, state: str) -> str:
    about = "" if state == "exit" else sessions.about(session)
    return " ".join(filter(None, [str(session.pid), sessions.full_name(session), state, about]))


def _present(watched: Sequence[Session]) -> str:
    return ", ".join(f"{sessions.name(session)} is {sessions.state(session)}" for session in watched)
