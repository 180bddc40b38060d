"""Text in a terminal's cells: cut and padded to a width, coloured where colour is wanted.

Owns width and colour for the commands that print tables. Foreign text (a directory's name, a host's id) is made
harmless here: what is not printable becomes `?`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ELLIPSIS = "…"

BOLD = "1"
DIM = "2"
REVERSE = "7"
STATE_STYLES = {"blocked": "1;31", "working": "33", "idle": "32"}
"""SGR parameters by state."""


def harmless(text: str) -> str:
    """Replace what is not printable."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def width(text: str) -> int:
    """Return how many cells a printable text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(0, wcswidth(text))


def fit(text: str, cells: int, *, keep_end: bool = False) -> str:
    """Cut or pad a text to exactly so many cells; `keep_end` cuts its beginning, as it suits a path."""
    text = harmless(text)
    if width(text) > cells:
        text = _cut(text, cells, keep_end)
    return text + " " * (cells - width(text))


def _cut(text: str, cells: int, keep_end: bool) -> str:
    if cells <= 0:
        return ""
    while width(text) > cells - 1:
        text = text[1:] if keep_end else text[:-1]
    return ELLIPSIS + text if keep_end else text + ELLIPSIS


def styled(text: str, style: str, *, color: bool) -> str:
    """Wrap a text in an SGR sequence where colour is wanted and there is a style."""
    return f"\x1b[{style}m{text}\x1b[0m" if color and style else text


def wants_color(environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Tell whether to use colour: on a terminal that is not dumb, unless `NO_COLOR` is set (https://no-color.org)."""
    return is_terminal and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"
