"""What the benchmark runs inside each wrapper: small programs and the bytes they print."""

from __future__ import annotations

import sys
from pathlib import Path

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording

READY = b"READY"
STOP = b"q"

ECHO = r"""
import os, tty
tty.setraw(0)
os.write(1, b"READY")
while True:
    data = os.read(0, 1024)
    if not data or b"q" in data:
        break
    os.write(1, data)
"""

# A frame of about 2 kB, twenty times a second, and keys echoed between the frames.
SPINNER = r"""
import os, select, time, tty
tty.setraw(0)
os.write(1, b"READY")
line = ("\x1b[2K\x1b[38;5;174m\u2722 Working on it (%ds \u00b7 esc to interrupt)\x1b[39m" + " lorem ipsum" * 6).encode()
frame, due = 0, time.monotonic()
while True:
    ready, _, _ = select.select([0], [], [], max(0, due - time.monotonic()))
    if ready:
        data = os.read(0, 1024)
        if not data or b"q" in data:
            break
        os.write(1, data)
    if time.monotonic() >= due:
        due += 0.05
        frame += 1
        body = b"\r\n".join(line.replace(b"%d", str(frame).encode()) for _ in range(20))
        os.write(1, b"\x1b[?2026h\x1b[H" + body + b"\x1b[?2026l")
"""

# Prints without end; a key is answered between two writes.
FLOOD = r"""
import os, select, tty
tty.setraw(0)
os.write(1, b"READY")
block = b"the quick brown fox jumps over the lazy dog\r\n" * 90
while True:
    if select.select([0], [], [], 0)[0]:
        data = os.read(0, 1024)
        if not data or b"q" in data:
            break
        os.write(1, b"<" + data + b">")
    os.write(1, block)
"""


def script(folder: Path, name: str, text: str) -> list[str]:
    """Write a program and return the command that runs it."""
    file = folder / f"{name}.py"
    file.write_text(text)
    return [sys.executable, str(file)]


def coloured_text(size: int) -> bytes:
    """Return about `size` bytes of coloured UTF-8 lines."""
    rows = (
        f"\x1b[3{number % 8}m{number:06d}\x1b[0m the quick brown fox jumps over the lazy dog · ünïcode ✳ text\r\n"
        for number in range(2000)
    )
    block = "".join(rows).encode()
    return block * (size // len(block) + 1)


def recorded(cast: Path, size: int) -> bytes:
    """Return about `size` bytes of a recording's output, again and again."""
    block = b"".join(e.text.encode("utf-8", "replace") for e in open_recording(cast) if e.kind == OUTPUT)
    return block * (size // len(block) + 1)


def short_lines(size: int) -> bytes:
    """Return what `yes` prints."""
    return b"y\r\n" * (size // 3)
