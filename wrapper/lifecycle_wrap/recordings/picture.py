"""A recording as an SVG picture: its timeline, and the screen at one moment with its colours.

Owns the drawing only; no font is embedded, any monospaced one serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from lifecycle_detectors.screen import Run, Screen, Style
from lifecycle_wrap.terminal.cells import width as cells_of

from .glyphs import DRAWN, shape
from .timeline import Span, Timeline, ticks

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
    "brightblack": "#6e7681",
    "brightred": "#ffa198",
    "brightgreen": "#56d364",
    "brightyellow": "#e3b341",
    "brightblue": "#79c0ff",
    "brightmagenta": "#d2a8ff",
    "brightcyan": "#56d4dd",
    "brightwhite": "#f0f6fc",
}
MARGIN = 16
BAR_LEFT = 84
BAR_WIDTH = 720
BAR_HEIGHT = 22
LABEL_WIDTH = 62
"""A narrower bar has no room for its state's name."""
CELL_WIDTH, CELL_HEIGHT = 8.0, 17
FONT_SIZE = 13.3
"""At which a character of the usual monospaced fonts, 0.6 em, is as wide as a cell."""
BASELINE = 13
_AFTER_A_GAP = re.compile(r"(?<=  )(?=[^ ])")


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
    moment = "" if at is None else f" · screen at {at:g} s"
    parts.append(_text(MARGIN, top + 12, f"{timeline.name} · profile {timeline.profile}{moment}", FADED))
    top += 26
    bars = [(label, spans) for label, spans in (("derived", timeline.derived), ("true", timeline.true)) if spans]
    if at is not None and timeline.end:
        parts += _moment(min(at, timeline.end) / timeline.end, top, len(bars))
    for label, spans in bars:
        parts.append(_text(MARGIN, top + 15, label, FOREGROUND))
        parts += _bar(spans, timeline.end, top)
        top += BAR_HEIGHT + 6
    parts += _axis(timeline.end, top)
    parts += _legend(top + 20)
    top += 36 + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {width:.0f} {top:.0f}" font-family="ui-monospace,Menlo,DejaVu Sans Mono,monospace" '
        f'font-size="{FONT_SIZE}">'
    )
    return "\n".join([head, f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>', *parts, "</svg>\n"])


def _legend(top: float) -> list[str]:
    parts = []
    left = float(BAR_LEFT)
    for state, colour in COLOURS.items():
        parts.append(f'<rect x="{left:g}" y="{top + 3:g}" width="10" height="10" rx="2" fill="{colour}"/>')
        parts.append(_text(left + 15, top + 12, state, FADED))
        left += (len(state) + 4) * CELL_WIDTH
    return parts


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


def _moment(share: float, top: float, bars: int) -> list[str]:
    """Mark a moment between the bars, above and below them: a line over them would cross their labels."""
    x = BAR_LEFT + BAR_WIDTH * share
    parts = []
    for number in range(bars):
        y = top + number * (BAR_HEIGHT + 6)
        parts.append(f'<path d="M{x - 5:.1f} {y - 6:g}h10l-5 5.5z" fill="#fff"/>')
        if number == bars - 1:
            parts.append(f'<path d="M{x - 5:.1f} {y + BAR_HEIGHT + 6:g}h10l-5 -5.5z" fill="#fff"/>')
    return parts


def _axis(end: float, top: float) -> list[str]:
    parts = []
    for second in ticks(end):
        share = second / end if end else 0.0
        anchor = "start" if share < 0.03 else "end" if share > 0.97 else "middle"
        parts.append(_text(BAR_LEFT + BAR_WIDTH * share, top + 12, f"{second:g} s", FADED, anchor=anchor))
    return parts


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
    style = run.style
    foreground, background = _colours(style)
    x = MARGIN + run.column * CELL_WIDTH
    length = cells_of(_printable(run.text)) * CELL_WIDTH
    parts = []
    if background != BACKGROUND:
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{length:g}" height="{CELL_HEIGHT}" fill="{background}"/>')
    if style.underline:
        parts.append(f'<path d="M{x:g} {y + CELL_HEIGHT - 1.5:g}h{length:g}" stroke="{foreground}"/>')
    look = ' opacity="0.6"' if style.dim else ""
    face = (' font-weight="bold"' if style.bold else "") + (' font-style="italic"' if style.italic else "")
    for column, text in _pieces(_printable(run.text)):
        left = x + column * CELL_WIDTH
        parts.append(
            _shape(text, left, y, foreground, look)
            if text[0] in DRAWN
            else f'<text x="{left:g}" y="{y + BASELINE:g}" fill="{foreground}"{face}{look} xml:space="preserve" '
            f'textLength="{cells_of(text) * CELL_WIDTH:g}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        )
    return parts


def _shape(text: str, x: float, y: float, colour: str, look: str) -> str:
    path, stroke, dashed = shape(text[0], len(text), x, y, CELL_WIDTH, CELL_HEIGHT)
    if not stroke:
        return f'<path d="{path}" fill="{colour}"{look} shape-rendering="crispEdges"/>'
    dashes = ' stroke-dasharray="3 1"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{stroke:g}"{dashes}{look}/>'


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Cut a run into pieces with a place of their own, and their columns in it.

    Not every renderer stretches text to its length, and a glyph that the font does not have comes from one with another
    width. So a piece is words with single blanks between them, or characters that are all drawn, or a foreign one.
    """
    column = 0
    for part in _AFTER_A_GAP.split(text):
        for kind, group in groupby(part, key=_kind):
            characters = "".join(group)
            for piece in [characters] if kind[0] != "foreign" else _clusters(characters):
                if piece.strip():
                    yield column, piece
                column += cells_of(piece)


def _kind(character: str) -> tuple[str, str]:
    if character in DRAWN:
        return "drawn", character
    return ("plain", "") if character.isascii() else ("foreign", "")


def _clusters(text: str) -> list[str]:
    """Join what takes no cell of its own to what it stands on."""
    found: list[str] = []
    for character in text:
        if found and not cells_of(character):
            found[-1] += character
        else:
            found.append(character)
    return found


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
    return PALETTE.get(name, f"#{name}")
