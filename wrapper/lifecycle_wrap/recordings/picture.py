"""A recording as an SVG picture: its timeline, and the screen at one moment with its colours.

Owns the drawing only; no font is embedded, any monospaced one serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lifecycle_detectors.screen import Run, Screen, Style

from .timeline import Span, Timeline

COLOURS = {"unknown": "#6e7681", "idle": "#3fb950", "working": "#58a6ff", "blocked": "#f85149"}
BACKGROUND = "#0d1117"
FOREGROUND = "#c9d1d9"
FADED = "#8b949e"
PALETTE = {
    "black": "#484f58",
    "red": "#ff7b72",
    "green": "#3fb950",
    "yellow": "#d29922",
    "blue": "#58a6ff",
    "magenta": "#bc8cff",
    "cyan": "#39c5cf",
    "white": "#b1bac4",
}
MARGIN = 16
BAR_LEFT = 84
BAR_WIDTH = 720
BAR_HEIGHT = 22
LABEL_WIDTH = 62
"""A narrower bar has no room for its state's name."""
CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.0, 17, 13


def draw(timeline: Timeline, screen: Screen | None = None, at: float | None = None) -> str:
    """Return the picture.

    Args:
        timeline: what to draw.
        screen: the screen at `at`, drawn above the timeline; None for none.
        at: the moment, marked in the timeline.
    """
    parts: list[str] = []
    top = float(MARGIN)
    width = float(BAR_LEFT + BAR_WIDTH + MARGIN)
    if screen is not None:
        parts += _screen(screen, top)
        width = max(width, 2 * MARGIN + screen.size.columns * CELL_WIDTH)
        top += screen.size.rows * CELL_HEIGHT + MARGIN
    parts.append(_text(MARGIN, top + 12, f"{timeline.name} · profile {timeline.profile}", FADED))
    top += 24
    bars = top
    for label, spans in (("derived", timeline.derived), ("true", timeline.true)):
        if spans:
            parts.append(_text(MARGIN, top + 15, label, FOREGROUND))
            parts += _bar(spans, timeline.end, top)
            top += BAR_HEIGHT + 6
    if at is not None and timeline.end:
        x = BAR_LEFT + BAR_WIDTH * min(at, timeline.end) / timeline.end
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bars:.1f}" y2="{top:.1f}" stroke="#fff"/>')
    parts += _axis(timeline.end, top)
    top += 16 + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {width:.0f} {top:.0f}" font-family="ui-monospace,Menlo,DejaVu Sans Mono,monospace" '
        f'font-size="{FONT_SIZE}">'
    )
    return "\n".join([head, f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>', *parts, "</svg>\n"])


def _bar(spans: Sequence[Span], end: float, top: float) -> list[str]:
    parts = []
    for span in spans:
        left = BAR_LEFT + BAR_WIDTH * span.start / end
        width = max(1.0, BAR_WIDTH * (span.end - span.start) / end)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR_HEIGHT}" '
            f'fill="{COLOURS[span.state]}">'
            f"<title>{span.start:.2f} s {span.state} {escape(span.note)}</title></rect>"
        )
        if width >= LABEL_WIDTH:
            parts.append(_text(left + 6, top + 15, span.state, BACKGROUND))
    return parts


def _axis(end: float, top: float) -> list[str]:
    return [
        _text(BAR_LEFT + BAR_WIDTH * part / 4, top + 10, f"{end * part / 4:.0f} s", FADED, anchor=anchor)
        for part, anchor in enumerate(["start", "middle", "middle", "middle", "end"])
    ]


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def _screen(screen: Screen, top: float) -> list[str]:
    parts = []
    for row in range(screen.size.rows):
        y = top + row * CELL_HEIGHT
        for run in screen.runs(row):
            parts += _run(run, y)
    return parts


def _run(run: Run, y: float) -> list[str]:
    foreground, background = _colours(run.style)
    x = MARGIN + run.column * CELL_WIDTH
    length = len(run.text) * CELL_WIDTH
    parts = []
    if background != BACKGROUND:
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="{CELL_HEIGHT}" fill="{background}"/>')
    if run.text.strip():
        weight = ' font-weight="bold"' if run.style.bold else ""
        faint = ' opacity="0.6"' if run.style.dim else ""
        parts.append(
            f'<text x="{x:.1f}" y="{y + 13:.1f}" fill="{foreground}"{weight}{faint} xml:space="preserve" '
            f'textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs">{escape(_printable(run.text))}</text>'
        )
    return parts


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def _colours(style: Style) -> tuple[str, str]:
    foreground = _colour(style.foreground, FOREGROUND)
    background = _colour(style.background, BACKGROUND)
    return (background, foreground) if style.reverse else (foreground, background)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return PALETTE.get(name.removeprefix("bright"), f"#{name}")
