"""Hours of an agent's life: its recordings one after the other, again and again, with their own timing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lifecycle_wrap.recordings.recording import EXIT, MARKER, OUTPUT, RESIZE, RecordedEvent, open_recording

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
AGAIN = "\x1bc"
"""Before each recording: it was made on a terminal as it starts."""
REST = 5.0
"""Seconds between two recordings: longer than any settle time."""


class Chapter(NamedTuple):
    """One recording's turn.

    Attributes:
        path: the recording.
        at: when its turn begins, in seconds of the whole life.
        events: what happens in it, the end of the agent left out, at times of the whole life.
        end: when it is over and all has settled.
    """

    path: Path
    at: float
    events: tuple[RecordedEvent, ...]
    end: float


def recordings(agent: str) -> list[Path]:
    """Return an agent's recordings in a fixed order."""
    return sorted((RECORDINGS / agent).glob("*.cast"))


def chapter(path: Path, at: float) -> Chapter:
    """Return a recording's turn that begins at that time."""
    recording = open_recording(path)
    size = f"{recording.columns}x{recording.rows}"
    events = [RecordedEvent(at, RESIZE, size), RecordedEvent(at, OUTPUT, AGAIN)]
    for event in recording:
        ends = event.kind == EXIT or (event.kind == MARKER and event.text.startswith("note:exit"))
        if not ends:
            events.append(event._replace(at=at + event.at))
    return Chapter(path, at, tuple(events), events[-1].at + REST)


def life(paths: Sequence[Path], seconds: float) -> Iterator[Chapter]:
    """Yield chapters until so many seconds are lived."""
    at = 0.0
    while True:
        for path in paths:
            if at >= seconds:
                return
            yield (next_chapter := chapter(path, at))
            at = next_chapter.end
