"""A host that is a file: `EXAMPLE_PANE` names it, each state is a line in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lifecycle_wrap.hosts.base import Call, Detection, Host, HostError
from lifecycle_wrap.projection import LifecycleEvent


class Example(Host):
    name = "example"
    interface = 1

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        pane = environ.get("EXAMPLE_PANE")
        return Detection(bool(pane), f"the pane is {pane}" if pane else "EXAMPLE_PANE not set")

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        self._write(f"{event.state} {event.message}".rstrip())

    def release(self, event: LifecycleEvent, call: Call) -> None:
        self._write("released")

    def _write(self, line: str) -> None:
        try:
            with Path(self.setup.environ["EXAMPLE_PANE"]).open("a", encoding="utf-8") as pane:
                pane.write(line + "\n")
        except OSError:
            raise HostError from None
