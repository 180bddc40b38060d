"""The agent of the soak: prints its life's output, at its own pace divided by a speed.

usage: player.py AGENT SECONDS SPEED
"""

from __future__ import annotations

import os
import sys
import time
import tty

from lifecycle_wrap.recordings.recording import OUTPUT
from tests.soak.life import life, recordings


def main() -> None:
    """Print it."""
    agent, seconds, speed = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    tty.setraw(0)
    begin = time.monotonic()
    for chapter in life(recordings(agent), seconds):
        for event in chapter.events:
            time.sleep(max(0.0, begin + event.at / speed - time.monotonic()))
            data = event.text.encode("utf-8", "replace") if event.kind == OUTPUT else b""
            while data:
                data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
