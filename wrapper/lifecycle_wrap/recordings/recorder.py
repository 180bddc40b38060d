"""Writes a wrapped session as an asciicast v2, which asciinema plays and `replay` reads.

Owns the writer, its size limit, the marker key and the scrubber. What is recorded is what passed: output always, input
only when asked for. A recording that cannot be written ends; the session goes on.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from .recording import INPUT, MARKER, OUTPUT, RESIZE

DEFAULT_LIMIT = 100 << 20
"""Bytes. Hours of an agent's spinner, and still a file that a bug report can be cut from."""

MARKER_KEYS = {
    f"F{number}": sequence
    for number, sequence in enumerate(
        [
            *(b"\x1bOP", b"\x1bOQ", b"\x1bOR", b"\x1bOS", b"\x1b[15~", b"\x1b[17~"),
            *(b"\x1b[18~", b"\x1b[19~", b"\x1b[20~", b"\x1b[21~", b"\x1b[23~", b"\x1b[24~"),
        ],
        start=1,
    )
}
"""Function keys as xterm sends them."""

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
_CONTROL = re.compile(r"[\x00-\x20]")
SCRUB_PENDING = 256
"""Characters of an unfinished word that wait for its end, so that a name cut by two writes is still found."""


class RecorderOptions:
    """What the user wants recorded.

    Attributes:
        path: the file.
        input: record what is typed too.
        annotate: set the derived states as markers, for a person to correct.
        scrub: replace home, user, host and e-mail addresses.
        limit: bytes at which the recording ends.
        marker_key: the key (F1 to F12) that sets a marker instead of reaching the agent, or empty.
    """

    def __init__(
        self,
        path: Path,
        *,
        input: bool = False,
        annotate: bool = False,
        scrub: bool = False,
        limit: int = DEFAULT_LIMIT,
        marker_key: str = "",
    ) -> None:
        self.path = path
        self.input = input
        self.annotate = annotate
        self.scrub = scrub
        self.limit = limit
        self.marker_key = marker_key


class Scrubber:
    """Replaces what tells who recorded, character for character, so that the layout stays.

    Args:
        secrets: texts to replace, whatever is around them.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        words = sorted({secret for secret in secrets if len(secret) > 2}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, words))) if words else None
        self._pending = ""

    def feed(self, text: str) -> str:
        """Take the next text and return what may be written; an unfinished word at its end waits."""
        text = self._pending + text
        end = len(text)
        while end > 0 and len(text) - end < SCRUB_PENDING and not _CONTROL.match(text[end - 1]):
            end -= 1
        if len(text) - end >= SCRUB_PENDING:
            end = len(text)
        self._pending = text[end:]
        return self._clean(text[:end])

    def flush(self) -> str:
        """Return what waited."""
        text, self._pending = self._pending, ""
        return self._clean(text)

    def _clean(self, text: str) -> str:
        if self._words is not None:
            text = self._words.sub(lambda match: "x" * len(match[0]), text)
        return _EMAIL.sub(lambda match: re.sub(r"[^@.]", "x", match[0]), text)


def personal(environ: Mapping[str, str]) -> list[str]:
    """Return what tells who and where we are: home, user and host."""
    user = environ.get("USER") or environ.get("LOGNAME") or ""
    host = socket.gethostname()
    return [environ.get("HOME", "").rstrip("/"), user, host, host.partition(".")[0]]


class Recorder:
    """Writes one recording.

    Args:
        options: what is wanted.
        rows, columns: the terminal's size.
        argv: the agent's command line.
        environ: for the header and the scrubber.
        now: monotonic seconds; the recording's zero.

    Attributes:
        problem: why the recording ended early, in one line, or empty.
    """

    def __init__(
        self,
        options: RecorderOptions,
        rows: int,
        columns: int,
        argv: Sequence[str],
        environ: Mapping[str, str],
        now: float,
    ) -> None:
        self._options = options
        self._start = now
        self._written = 0
        self._decoders = {kind: codecs.getincrementaldecoder("utf-8")("replace") for kind in (OUTPUT, INPUT)}
        self._scrubbers = {kind: Scrubber(personal(environ)) for kind in (OUTPUT, INPUT)} if options.scrub else {}
        self._last = now
        self.problem = ""
        self._file: IO[str] | None = options.path.open("w", encoding="utf-8", errors="replace", newline="\n")
        header = {
            "version": 2,
            "width": columns,
            "height": rows,
            "timestamp": int(time.time()),
            "command": os.path.basename(argv[0]),
            "env": {key: environ[key] for key in ("TERM", "TERM_PROGRAM") if key in environ},
        }
        self._write(json.dumps(header))

    @property
    def annotates(self) -> bool:
        """Whether derived states are wanted as markers."""
        return self._options.annotate

    def output(self, data: bytes, now: float) -> None:
        """Take what the agent printed."""
        self._text(OUTPUT, data, now)

    def input(self, data: bytes, now: float) -> None:
        """Take what was typed."""
        if self._options.input:
            self._text(INPUT, data, now)

    def resize(self, rows: int, columns: int, now: float) -> None:
        """Take the terminal's new size."""
        self._event(now, RESIZE, f"{columns}x{rows}")

    def mark(self, label: str, now: float) -> None:
        """Set a marker."""
        self._event(now, MARKER, label)

    def take_marker_key(self, data: bytes, now: float) -> bytes:
        """Take the marker key out of what was typed, and set a marker for each."""
        key = MARKER_KEYS.get(self._options.marker_key)
        if key is None or key not in data:
            return data
        for _ in range(data.count(key)):
            self.mark("note:marked", now)
        return data.replace(key, b"")

    def close(self) -> None:
        """End the recording."""
        for kind, scrubber in self._scrubbers.items():
            rest = scrubber.flush()
            if rest:
                self._event(self._last, kind, rest)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _text(self, kind: str, data: bytes, now: float) -> None:
        text = self._decoders[kind].decode(data)
        if kind in self._scrubbers:
            text = self._scrubbers[kind].feed(text)
        if text:
            self._event(now, kind, text)

    def _event(self, now: float, kind: str, text: str) -> None:
        self._last = max(self._last, now)
        seconds = round(max(0.0, self._last - self._start), 6)
        self._write(json.dumps([seconds, kind, text], ensure_ascii=False))

    def _write(self, line: str) -> None:
        if self._file is None:
            return
        self._written += len(line.encode("utf-8", "replace")) + 1
        if self._written > self._options.limit:
            limit = f"{self._options.limit} bytes; give a higher --limit"
            self._end(f"{self._options.path}: the recording ended at its limit of {limit}")
            return
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            self._end(f"{self._options.path}: the recording ended ({error.strerror}); free some space or name another")

    def _end(self, problem: str) -> None:
        self.problem = problem
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                return
