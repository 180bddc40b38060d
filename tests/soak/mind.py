"""Whether a session drifts: its state at the end of each recording, in the middle of a long life and played alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lifecycle_detectors import Catalog, Session
from lifecycle_wrap.commands.replay import new_session, profile_for, walk
from lifecycle_wrap.recordings.recording import open_recording

from .life import Chapter, chapter, life


class Drift(NamedTuple):
    """A recording that ended otherwise than when it is played alone."""

    path: Path
    at: float
    state: str
    alone: str


def drifts(paths: Sequence[Path], seconds: float) -> tuple[int, list[Drift]]:
    """Live through so many seconds; returns the number of recordings played, and those that ended otherwise."""
    catalog = Catalog()
    alone = {path: _play(_session(path, catalog), chapter(path, 0.0)) for path in paths}
    session = _session(paths[0], catalog)
    played = [(turn, _play(session, turn)) for turn in life(paths, seconds)]
    found = [Drift(turn.path, turn.at, state, alone[turn.path]) for turn, state in played if state != alone[turn.path]]
    return len(played), found


def _session(path: Path, catalog: Catalog) -> Session:
    recording = open_recording(path)
    return new_session(recording, profile_for(recording, catalog))


def _play(session: Session, turn: Chapter) -> str:
    for _ in walk(turn.events, session):
        pass
    while (due := session.next_deadline) is not None and due <= turn.end:
        session.tick(due)
    return session.state.value
