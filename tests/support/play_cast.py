"""A child that prints a recording's output bytes, each event in one write, as fast as they are taken.

usage: play_cast.py FILE.cast
"""

from __future__ import annotations

import os
import sys
import tty
from pathlib import Path

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording


def main() -> None:
    """Print it over a terminal that changes no byte."""
    tty.setraw(1)
    for event in open_recording(Path(sys.argv[1])):
        data = event.text.encode("utf-8", "replace") if event.kind == OUTPUT else b""
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
