"""Replays: a recording's bytes and times through a `Session`, without a clock.

Owns the walk over a recording (each deadline of the session is met at its own time, so a replay tells what a live run
would have told) and the printed forms of `lifecycle-wrap replay`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lifecycle_detectors import Catalog, ExitStatus, Profile, Session, SessionEvent, Size, StateChanged, make_screen
from lifecycle_wrap.catalog import user_catalog
from lifecycle_wrap.recordings.recording import (
    EXIT,
    INPUT,
    MARKER,
    OUTPUT,
    RESIZE,
    RecordedEvent,
    Recording,
    open_recording,
    parse_resize,
)

RESOLUTION = 1e-6
"""Seconds to which a file's times are rounded: what was due at its very end may seem to be due a little later."""


class UnknownProfileError(Exception):
    """A profile was asked for that does not exist; `str()` is one line with the remedy."""


def prepare(path: Path, profile_name: str, *, screen: bool, signals: bool) -> tuple[Recording, Session]:
    """Open a recording and make the session for it, its clock at the recording's start.

    Raises:
        RecordingError: the recording cannot be read.
        UnknownProfileError: there is no profile of that name.
    """
    recording = open_recording(path)
    catalog = user_catalog(os.environ)
    try:
        profile = catalog.get(profile_name) if profile_name else profile_for(recording, catalog)
    except KeyError:
        known = ", ".join(catalog.names())
        raise UnknownProfileError(f"--profile: there is no profile {profile_name!r}; known: {known}") from None
    return recording, new_session(recording, profile, screen=screen, signals=signals)


def profile_for(recording: Recording, catalog: Catalog) -> Profile:
    """Return the profile that fits a recording: by its command, its title's first word, or its folder's name."""
    words = recording.command.split()
    if words:
        known = catalog.known_for(words)
        if known is not None:
            return known
    for guess in (recording.title.partition(" ")[0].rstrip(":"), recording.path.absolute().parent.name):
        # A folder may carry the agent's version: claude-2.1.197.
        parts = guess.split("-")
        for length in range(len(parts), 0, -1):
            name = "-".join(parts[:length])
            if name in catalog.names():
                return catalog.get(name)
            known = catalog.known_for([name]) if name else None
            if known is not None:
                return known
    return catalog.get("generic")


def walk(events: Iterable[RecordedEvent], session: Session) -> Iterator[SessionEvent]:
    """Feed a recording's events to a session and yield the session's events.

    Raises:
        RecordingError: at the first line that is no event.
    """
    now = 0.0
    for event in events:
        now = max(now, event.at)
        while (due := session.next_deadline) is not None and due <= now:
            yield from session.tick(due)
        yield from _give(session, event, now)
    while (due := session.next_deadline) is not None and due <= now + RESOLUTION:
        yield from session.tick(due)


def _give(session: Session, event: RecordedEvent, now: float) -> list[SessionEvent]:
    if event.kind == OUTPUT:
        return session.receive_output(event.text.encode("utf-8", "replace"), now)
    if event.kind == INPUT:
        return session.receive_input(event.text.encode("utf-8", "replace"), now)
    if event.kind == RESIZE:
        size = parse_resize(event.text)
        return [] if size is None else session.resize(Size(rows=size[1], columns=size[0]), now)
    if event.kind == EXIT or (event.kind == MARKER and event.text.startswith("note:exit")):
        return session.child_exited(ExitStatus(code=_exit_code(event.text), signal=None), now)
    return []


def _exit_code(text: str) -> int | None:
    word = text.removeprefix("note:exit").strip().partition(" ")[0]
    return int(word) if word.isdecimal() and len(word) < 6 else None


def new_session(recording: Recording, profile: Profile, *, screen: bool = True, signals: bool = True) -> Session:
    """Make the session for a recording, its clock at the recording's start."""
    size = Size(rows=recording.rows, columns=recording.columns)
    return Session(profile, size, 0.0, screen=make_screen if screen else None, signals=signals, follow_modes=False)


def state_changes(events: Iterable[RecordedEvent], session: Session) -> Iterator[StateChanged]:
    """Yield only the state changes of a recording's events."""
    return (event for event in walk(events, session) if isinstance(event, StateChanged))


def as_json(change: StateChanged) -> str:
    """Return a state change as the JSON line of `replay --json`."""
    fields = {"t": round(change.at, 3), "state": change.state, "rule": change.rule, "source": change.source}
    return json.dumps(fields, separators=(",", ":"))


def as_row(change: StateChanged) -> str:
    """Return a state change as a row of the readable table."""
    flags = [name for name in ("background", "failed") if getattr(change, name)]
    note = " ".join(part for part in (change.message, *(f"({flag})" for flag in flags)) if part)
    return f"{change.at:10.3f}  {change.state:8}  {change.rule:40}  {change.source:12}  {note}".rstrip()


def truth(recording: Recording) -> Iterator[tuple[float, str]]:
    """Yield the true states that a recording's markers tell."""
    last = ""
    for event in recording:
        if event.kind == MARKER and event.text.startswith("state:"):
            state = event.text.removeprefix("state:").split()[0]
            if state != last:
                yield event.at, state
            last = state
