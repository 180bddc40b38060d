"""The user's TOML, read in a bounded time, whoever has written it.

The core bounds profiles by the same figures (`profiles.format`). They stand here again since `shell-init`, which runs
in every shell that starts, must not load the core for them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# Characters of a file that has one page, or ten. Text of this length takes at most half a second.
MAX_LENGTH = 64 << 10
# Dots in one line, and so parts of one key: `tomllib` takes time with their square, a minute for a key of 100 KB.
MOST_DOTS = 250


class TooMuch(ValueError):
    """The text is not read at all; the message says what it has too much of, to stand after the file's name."""


def read_bounded(file: Path) -> str:
    """Read a file's text, or as much of it as shows that it is too long.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8 text.
    """
    with open(file, "rb") as opened:
        data = opened.read(4 * MAX_LENGTH + 1)
    return data.decode(errors="replace" if len(data) > 4 * MAX_LENGTH else "strict")


def load_toml(text: str) -> dict[str, Any]:
    """Read TOML.

    Raises:
        TooMuch: it has more of something than anybody writes.
        ValueError: it is no TOML.
    """
    import tomllib

    if len(text) > MAX_LENGTH:
        raise TooMuch(f"has more than {MAX_LENGTH} characters")
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise TooMuch(f"has more than {MOST_DOTS} dots in line {number}")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("a value is nested too deeply") from None
