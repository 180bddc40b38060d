"""The test's end of `told_agent`, or of another child that takes orders: a FIFO to give them by."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

from tests.support.waiting import wait_until

_AGENT = Path(__file__).with_name("told_agent.py")


class Orders:
    """Gives orders to one agent.

    Args:
        folder: where the FIFO is made.
        name: its name.
        script: the agent; it gets the FIFO as its first argument.

    Attributes:
        argv: the agent's command line.
    """

    def __init__(self, folder: Path, name: str = "orders", script: Path = _AGENT) -> None:
        self._path = folder / name
        os.mkfifo(self._path)
        self._descriptor: int | None = None
        self.argv = [sys.executable, str(script), str(self._path)]

    def give(self, order: str) -> None:
        """Give one order; the first one waits for the agent to be there."""
        if self._descriptor is None:
            wait_until(self._opened, "the agent")
        assert self._descriptor is not None
        os.write(self._descriptor, f"{order}\n".encode())

    def _opened(self) -> bool:
        try:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        return True

    def __enter__(self) -> Orders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
