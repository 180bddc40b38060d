"""Compare the pyte model with libghostty-vt over recordings.

    python -m tests.detectors.compare_screens FILE_OR_FOLDER...

Both are fed each recording (asciicast v2) with its resizes. At every marker and at the end the text of the rows, the
logical lines, the cursor and which screen is shown must be the same. Prints what differs, and exits with 1 if anything
does.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Screen, make_screen


def read_recording(path: Path) -> tuple[Size, list[tuple[float, str, str]]]:
    """The initial size and the events of a recording. Only `\\n` separates its lines: output may hold U+2028."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header, *events = (json.loads(line) for line in data.decode().split("\n") if line)
    return Size(header["height"], header["width"]), [(at, kind, text) for at, kind, text in events]


def differences(path: Path) -> Iterator[str]:
    """One line of text for each difference between the two models at a marker or at the end."""
    size, events = read_recording(path)
    ours, reference = make_screen(size, "pyte"), make_screen(size, "ghostty")
    for at, kind, text in [*events, (events[-1][0] if events else 0.0, "m", "end")]:
        if kind == "o":
            data = text.encode("utf-8", "surrogateescape")
            ours.feed(data)
            reference.feed(data)
        elif kind == "r":
            columns, rows = map(int, text.split("x"))
            ours.resize(Size(rows, columns))
            reference.resize(Size(rows, columns))
        elif kind == "m":
            for what, mine, theirs in compare(ours, reference):
                yield f"{path}: {at:.3f} {text}: {what}: {mine!r} instead of {theirs!r}"


def compare(ours: Screen, reference: Screen) -> Iterator[tuple[str, Any, Any]]:
    """What differs: a name, our value, the reference's."""
    for number, (mine, theirs) in enumerate(zip(ours.rows(), reference.rows(), strict=True)):
        if mine != theirs:
            yield f"row {number}", mine, theirs
    for what in ("cursor", "alternate"):
        if getattr(ours, what) != getattr(reference, what):
            yield what, getattr(ours, what), getattr(reference, what)
    for mine_line, their_line in zip(ours.lines(), reference.lines(), strict=False):
        if mine_line != their_line:
            yield "line", mine_line, their_line
            return


def main(arguments: list[str]) -> int:
    """Compare what is named on the command line."""
    paths = [
        path
        for argument in map(Path, arguments)
        for path in (sorted(argument.rglob("*.cast*")) if argument.is_dir() else [argument])
    ]
    count = 0
    for path in paths:
        for difference in differences(path):
            print(difference)
            count += 1
    print(f"{len(paths)} recordings, {count} differences")
    return 1 if count or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
