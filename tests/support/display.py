"""An X display without a screen, for terminals that need a window."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.waiting import wait_until


@contextmanager
def display() -> Iterator[str]:
    """Start Xvfb and yield the display's name; the server takes the first free number itself, as no two can at once."""
    told, tells = os.pipe()
    argv = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    server = subprocess.Popen(argv, pass_fds=[tells], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(tells)
    try:
        wait_until(lambda: select.select([told], [], [], 0)[0], "Xvfb", 60)
        with open(told) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait(20)
