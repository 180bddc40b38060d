"""The test's end of `agent`: its files, and the FIFO to give orders by."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .agent import SIZE_BYTES

AGENT = Path(__file__).with_name("agent.py")


class Orders:
    """Gives orders to one agent, and looks at what it has written down.

    Args:
        folder: an empty one for its files.
        stream: all that it may print.
        ignores: it ignores the signals that end a program.

    Attributes:
        argv: its command line.
        ordered: how many bytes it was told to print.
    """

    def __init__(self, folder: Path, stream: bytes, *, ignores: bool = False) -> None:
        self._folder = folder
        (folder / "stream").write_bytes(stream)
        os.mkfifo(folder / "orders")
        # Opened for both, it can be opened before the agent is there.
        self._orders = os.open(folder / "orders", os.O_RDWR)
        self.argv = [sys.executable, "-I", "-S", str(AGENT), str(folder), "ignores" if ignores else "default"]
        self.ordered = 0

    def give(self, order: str) -> None:
        """Give one order."""
        os.write(self._orders, f"{order}\n".encode())

    def write(self, size: int, chunk: int) -> None:
        """Order it to print the next bytes."""
        self.ordered += size
        self.give(f"write {size} {chunk}")

    def is_ready(self) -> bool:
        """Tell whether it obeys."""
        return (self._folder / "ready").exists()

    def written(self) -> int:
        """Return how many bytes it has printed."""
        return int.from_bytes(self._read("written")[:SIZE_BYTES], "big")

    def received(self) -> bytes:
        """Return what it has read."""
        return self._read("received")

    def close(self) -> None:
        """Let go of it."""
        os.close(self._orders)

    def _read(self, name: str) -> bytes:
        path = self._folder / name
        return path.read_bytes() if path.exists() else b""
