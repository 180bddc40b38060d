"""A recording's states over time: the derived ones, their sources, and the true ones where markers tell them.

Owns the spans and their drawing in a terminal; `picture` draws the same spans as SVG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

from lifecycle_detectors import Session
from lifecycle_wrap.commands.replay import state_changes, truth

from .progress import with_progress
from .recording import Recording

ATTENTION = {"unknown": 0, "idle": 1, "working": 2, "blocked": 3}
"""Which state a cell shows that holds several."""

GLYPHS = {"unknown": "·", "idle": "░", "working": "▓", "blocked": "█"}
STYLES = {"unknown": "dim", "idle": "green", "working": "cyan", "blocked": "bold red"}
LABEL_WIDTH = 9
MIN_CELLS = 20


class Span(NamedTuple):
    """One state from `start` to `end`, in seconds; `note` is what made it."""

    start: float
    end: float
    state: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A recording's spans.

    Attributes:
        name: the recording's.
        profile: the profile that was asked.
        end: seconds.
        derived, true: spans without gaps from 0 to the end; `true` is empty where no marker tells.
    """

    name: str
    profile: str
    end: float
    derived: tuple[Span, ...]
    true: tuple[Span, ...]


def make_timeline(recording: Recording, session: Session) -> Timeline:
    """Replay a recording and return its timeline.

    Raises:
        RecordingError: at the first line that is no event.
    """
    profile = session.profile.name
    changes = list(state_changes(with_progress(recording), session))
    end = max((event.at for event in recording), default=0.0)
    return Timeline(
        name=f"{recording.path.absolute().parent.name}/{recording.path.name}",
        profile=profile,
        end=end,
        derived=_spans([(c.at, str(c.state), f"{c.source} ({c.rule})") for c in changes], end),
        true=_spans([(at, state, "marker") for at, state in truth(recording)], end, gap=False),
    )


def _spans(changes: Sequence[tuple[float, str, str]], end: float, *, gap: bool = True) -> tuple[Span, ...]:
    """Join changes into spans; before the first the state is unknown."""
    if not changes and not gap:
        return ()
    points = [(0.0, "unknown", ""), *changes]
    spans = []
    for index, (at, state, note) in enumerate(points):
        until = points[index + 1][0] if index + 1 < len(points) else end
        if until > at:
            spans.append(Span(at, until, state, note))
    return tuple(spans)


def cells(spans: Sequence[Span], end: float, width: int) -> list[str]:
    """Return the state of each of `width` cells: the most urgent one that is in it."""
    step = end / width if end else 1.0
    found = []
    for index in range(width):
        left, right = index * step, (index + 1) * step
        states = [span.state for span in spans if span.start < right and span.end > left]
        found.append(max(states, key=ATTENTION.__getitem__, default="unknown"))
    return found


def ticks(end: float) -> list[float]:
    """Return the round seconds that an axis from 0 to `end` names: at most eight, evenly apart."""
    step = 0.5
    for factor in cycle((2, 2, 2.5)):  # 1 2 5 10 20 50 100
        if end <= 7 * step:
            break
        step *= factor
    return [number * step for number in range(int(end / step) + 1)]


def axis(end: float, width: int) -> str:
    """Return a line with times below the cells they stand for."""
    line = ""
    for second in ticks(end):
        label = f"{second:g}s"
        at = min(round(width * second / end), width - len(label)) if second else 0
        if at > len(line) or not line:
            line = line.ljust(at) + label
    return line


def print_timeline(timeline: Timeline) -> None:
    """Draw it in the terminal, as wide as that is; without colours where there are none."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    width = max(MIN_CELLS, console.width - LABEL_WIDTH - 1)
    console.print(f"{timeline.name}   profile {timeline.profile}   {timeline.end:.1f} s")
    for label, spans in (("derived", timeline.derived), ("true", timeline.true)):
        if spans:
            row = Text(f"{label:{LABEL_WIDTH}}")
            for state in cells(spans, timeline.end, width):
                row.append(GLYPHS[state], style=STYLES[state])
            console.print(row, soft_wrap=True)
    console.print(" " * LABEL_WIDTH + axis(timeline.end, width), soft_wrap=True)
    legend = Text(" " * LABEL_WIDTH)
    for state, glyph in GLYPHS.items():
        legend.append(f"{glyph} {state}   ", style=STYLES[state])
    console.print(legend, soft_wrap=True)
    for span in timeline.derived:
        if span.note:
            row = Text(f"{span.start:8.2f}  ")
            row.append(f"{span.state:8}", style=STYLES[span.state])
            console.print(row.append(f"  {span.note}"), soft_wrap=True)
