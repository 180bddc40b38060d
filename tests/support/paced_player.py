"""A child that prints a recording's output in steps: each line of a FIFO says how many events to print.

After each step a line is added to `FIFO.done`.

usage: paced_player.py FIFO FILE.cast
"""

from __future__ import annotations

import os
import sys
import tty
from itertools import islice
from pathlib import Path

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording


def main() -> None:
    """Print until the recording, or the orders, are at an end."""
    tty.setraw(0)
    outputs = (
        event.text.encode("utf-8", "replace") for event in open_recording(Path(sys.argv[2])) if event.kind == OUTPUT
    )
    with open(sys.argv[1]) as orders, open(f"{sys.argv[1]}.done", "wb", buffering=0) as done:
        for line in orders:
            for data in islice(outputs, int(line)):
                while data:
                    data = data[os.write(1, data) :]
            done.write(b"\n")


if __name__ == "__main__":
    main()
