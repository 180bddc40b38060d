"""Recordings of terminal sessions: asciicast v2 and v3, plain or gzipped.

Owns the file format (https://docs.asciinema.org/manual/asciicast/v2/ and /v3/): one JSON header line, then one JSON
array per event. Must not know what a recording means.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeGuard

OUTPUT, INPUT, RESIZE, MARKER, EXIT = "o", "i", "r", "m", "x"
MAX_LINE = 64 << 20
"""Longer than any event a terminal makes; a hostile file must not fill the memory."""
MAX_CELLS = 1000
"""Rows or columns beyond it are no terminal's, and the screen model would need memory for each."""


class RecordingError(Exception):
    """A recording that cannot be read. `str()` is one line: file, place, what is wrong, what to do."""

    def __init__(self, path: Path, line: int, problem: str, remedy: str) -> None:
        place = f"{path}:{line}" if line else str(path)
        super().__init__(f"{place}: {problem}; {remedy}")


class RecordedEvent(NamedTuple):
    """One event: `at` seconds since the start, its kind's letter, its text."""

    at: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording's header, and its events when iterated (each time from the file's start).

    Attributes:
        path: the file.
        columns, rows: the terminal's size at the start.
        title, command: free text of the recorder, or empty.
        environment: the recorded variables.
    """

    path: Path
    version: int
    columns: int
    rows: int
    title: str = ""
    command: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[RecordedEvent]:
        """Yield the events in their order.

        Raises:
            RecordingError: at the first line that is none.
        """
        lines = _lines(self.path)
        next(lines, None)
        before = 0.0
        for number, line in lines:
            if line.isspace() or (self.version == 3 and line.startswith("#")):
                continue
            event = _event(self.path, number, line, before)
            if self.version == 3:
                before = event.at
            yield event

    def count(self) -> int:
        """Return how many events there are at the most: the lines after the header."""
        return sum(1 for _ in _lines(self.path)) - 1


def open_recording(path: Path) -> Recording:
    """Read a recording's header.

    Raises:
        RecordingError: the file cannot be read or is no asciicast.
    """
    remedy = "give an asciicast v2 or v3 file, as asciinema and `lifecycle-wrap record` write it"
    for _, line in _lines(path):
        try:
            header = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordingError(path, 1, "is no asciicast: the first line is not JSON", remedy) from None
        if not isinstance(header, dict) or header.get("version") not in (2, 3):
            raise RecordingError(path, 1, "is no asciicast of version 2 or 3", remedy)
        return _recording(path, header)
    raise RecordingError(path, 0, "is empty", remedy)


def _recording(path: Path, header: dict[str, Any]) -> Recording:
    version = header["version"]
    term = header.get("term") if version == 3 else {"cols": header.get("width"), "rows": header.get("height")}
    columns, rows = (term.get("cols"), term.get("rows")) if isinstance(term, dict) else (None, None)
    if not (_is_size(columns) and _is_size(rows)):
        raise RecordingError(path, 1, "has no usable size", f"width and height have to be 1 to {MAX_CELLS}")
    environment = header.get("env")
    return Recording(
        path=path,
        version=version,
        columns=columns,
        rows=rows,
        title=_text(header.get("title")),
        command=_text(header.get("command")),
        environment={str(k): str(v) for k, v in environment.items()} if isinstance(environment, dict) else {},
    )


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_CELLS


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _event(path: Path, number: int, line: str, before: float) -> RecordedEvent:
    """Read one line; its time is counted from `before`."""
    try:
        at, kind, text = json.loads(line)[:3]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RecordingError(path, number, "is no event", "an event is [seconds, kind, text]") from None
    if not isinstance(at, (int, float)) or isinstance(at, bool) or not math.isfinite(at) or at < 0:
        raise RecordingError(path, number, "has no time", "an event is [seconds, kind, text]")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise RecordingError(path, number, "has no kind or no text", "an event is [seconds, kind, text]")
    return RecordedEvent(before + at, kind, text)


def parse_resize(text: str) -> tuple[int, int] | None:
    """Return (columns, rows) of a resize event's `COLSxROWS`, or None when it is no usable size."""
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal()):
        return None
    size = int(columns[:5]), int(rows[:5])
    return size if all(0 < cells <= MAX_CELLS for cells in size) else None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number, line); only a line feed ends a line: output may hold U+2028 and U+0085."""
    try:
        with _open(path) as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) >= MAX_LINE and not line.endswith("\n"):
                    raise RecordingError(path, number, "is too long", f"a line has at most {MAX_LINE} characters")
                yield number, line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is no whole gzip file"
        raise RecordingError(path, 0, f"cannot be read ({reason})", "check the path and the file") from None
    except UnicodeDecodeError:
        raise RecordingError(path, 0, "is not UTF-8", "an asciicast is JSON in UTF-8") from None


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")
