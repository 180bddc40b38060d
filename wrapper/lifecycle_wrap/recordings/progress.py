"""A progress bar on stderr for a replay that takes longer than a second; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from .recording import RecordedEvent, Recording

PATIENCE = 1.0
"""Seconds without a bar: most replays are over by then."""


def with_progress(recording: Recording, clock: Callable[[], float] = time.monotonic) -> Iterator[RecordedEvent]:
    """Yield a recording's events, and show how far it is once it has taken longer than `PATIENCE`."""
    if not sys.stderr.isatty():
        yield from recording
        return
    began = clock()
    events = iter(recording)
    for done, event in enumerate(events, start=1):
        yield event
        if clock() - began > PATIENCE:
            yield from _with_bar(events, done, recording.count())
            return


def _with_bar(events: Iterator[RecordedEvent], done: int, total: int) -> Iterator[RecordedEvent]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("replaying", total=total, completed=done)
        for event in events:
            yield event
            progress.advance(task)
