"""`replay --timeline` and `--svg`: a recording drawn, with a progress bar where that takes longer than a second."""

from __future__ import annotations

from pathlib import Path

from lifecycle_detectors import Session, Size
from lifecycle_detectors.screen import Screen, make_screen

from .picture import draw
from .recording import OUTPUT, RESIZE, Recording, parse_resize
from .timeline import make_timeline, print_timeline


def draw_recording(
    recording: Recording, session: Session, *, timeline: bool, svg: Path | None, at: float | None
) -> None:
    """Draw a recording in the terminal, as an SVG file, or both.

    Raises:
        RecordingError: at the first line that is no event.
        OSError: the file cannot be written.
    """
    made = make_timeline(recording, session)
    if timeline:
        print_timeline(made)
    if svg is not None:
        screen = None if at is None else screen_at(recording, at)
        svg.write_text(draw(made, screen, at), encoding="utf-8")


def screen_at(recording: Recording, at: float) -> Screen:
    """Return the screen as it was `at` seconds into the recording."""
    screen = make_screen(Size(rows=recording.rows, columns=recording.columns))
    for event in recording:
        if event.at > at:
            break
        if event.kind == OUTPUT:
            screen.feed(event.text.encode("utf-8", "replace"))
        elif event.kind == RESIZE and (size := parse_resize(event.text)):
            screen.resize(Size(rows=size[1], columns=size[0]))
    return screen
