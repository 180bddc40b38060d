"""A child that prints a recording's output bytes as fast as they are taken, says that it has, and stays.

usage: staying_player.py FILE.cast
"""

from __future__ import annotations

import os
import signal
import sys
import tty
from pathlib import Path

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording

PLAYED = b"\x1b\\\x1b]1;played\x07"
"""An icon's name, which moves nothing; what a recording has cut is ended before it."""


def main() -> None:
    """Print it over a terminal that changes no byte."""
    tty.setraw(1)
    for event in open_recording(Path(sys.argv[1])):
        data = event.text.encode("utf-8", "replace") if event.kind == OUTPUT else b""
        while data:
            data = data[os.write(1, data) :]
    os.write(1, PLAYED)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
