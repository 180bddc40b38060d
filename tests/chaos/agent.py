"""The agent of a chaos run: prints what it is told from a file, and writes down what it prints and reads.

usage: agent.py FOLDER default|ignores

FOLDER holds `stream`, all that it may print, and the FIFO `orders`, whose lines are

    write SIZE CHUNK    print the next SIZE bytes, at most CHUNK with one call
    rest MILLISECONDS   do nothing for so long
    stop NUMBER         stop its process group by that signal
    signal NUMBER       signal itself
    exit CODE

Each order waits for the one before. In `written` it keeps how much it has printed, in `received` all that it has read;
`ready` is there once it obeys.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import time
import tty

IGNORED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
SIZE_BYTES = 8


class Agent:
    """Obeys."""

    def __init__(self, folder: str) -> None:
        # Opened for both, the FIFO has no end while nobody gives orders.
        self._orders = os.open(f"{folder}/orders", os.O_RDWR)
        self._stream = os.open(f"{folder}/stream", os.O_RDONLY)
        self._received = os.open(f"{folder}/received", os.O_WRONLY | os.O_CREAT)
        self._written = os.open(f"{folder}/written", os.O_WRONLY | os.O_CREAT)
        self._position = 0
        self._to_write = 0
        self._chunk = 0
        self._waiting: list[list[str]] = []
        self._unfinished = ""
        self._reads = True

    def obey(self) -> int:
        """Obey until the order to end; returns the exit code."""
        while True:
            read = [self._orders, 0] if self._reads else [self._orders]
            readable, writable, _ = select.select(read, [1] if self._to_write else [], [])
            if 0 in readable:
                self._read()
            if self._orders in readable:
                self._hear()
            if writable:
                self._write()
            while self._waiting and not self._to_write:
                verb, *values = self._waiting.pop(0)
                if verb == "exit":
                    return int(values[0])
                self._begin(verb, [int(value) for value in values])

    def _read(self) -> None:
        try:
            data = os.read(0, 4096)
        except OSError:
            data = b""
        self._reads = bool(data)
        os.write(self._received, data)

    def _hear(self) -> None:
        *lines, self._unfinished = (self._unfinished + os.read(self._orders, 4096).decode()).split("\n")
        self._waiting += [line.split() for line in lines]

    def _write(self) -> None:
        data = os.pread(self._stream, min(self._chunk, self._to_write), self._position)
        try:
            size = os.write(1, data)
        except OSError:
            self._to_write = 0  # the terminal is gone
            return
        self._position += size
        self._to_write -= size
        os.pwrite(self._written, self._position.to_bytes(SIZE_BYTES, "big"), 0)

    def _begin(self, verb: str, values: list[int]) -> None:
        if verb == "write":
            self._to_write, self._chunk = values
        elif verb == "rest":
            time.sleep(values[0] / 1000)
        elif verb == "stop":
            os.killpg(os.getpgrp(), values[0])
        elif verb == "signal":
            os.kill(os.getpid(), values[0])


def main() -> int:
    """Obey."""
    folder, manner = sys.argv[1:]
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN if manner == "ignores" else signal.SIG_DFL)
    try:
        tty.setraw(0)
    except (OSError, termios.error):
        os.open("/dev/null", os.O_RDONLY)  # where stdin is closed it takes its number, so that no other file does
    agent = Agent(folder)
    os.close(os.open(f"{folder}/ready", os.O_CREAT))
    return agent.obey()


if __name__ == "__main__":
    sys.exit(main())
