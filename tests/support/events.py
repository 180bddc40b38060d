"""Canonical events for tests of hosts, and a host that only remembers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import ClassVar

from lifecycle_wrap.hosts.base import Call, Host, Setup
from lifecycle_wrap.manager import Manager
from lifecycle_wrap.projection import Kind, LifecycleEvent

_sequence = count(1)


def event(state: str, *, kind: Kind = Kind.STATE, **rest: object) -> LifecycleEvent:
    """Return an event later than all before, its message the most usual one for the state."""
    message = {"blocked": "Waiting for approval", "working": "Working"}.get(state, "")
    made = LifecycleEvent(
        kind=kind,
        sequence=next(_sequence),
        timestamp=1787965323000000000,
        state=state,
        message=message,
        session_id="",
        pid=4242,
        cwd="/work/project",
        agent="claude",
    )
    return replace(made, **rest)  # type: ignore[arg-type]


def release() -> LifecycleEvent:
    """Return the event that ends the session."""
    return event("", kind=Kind.RELEASE)


class MemoryHost(Host):
    """Remembers what it is told; `on_publish` and `on_release` may block or raise in its place."""

    name: ClassVar[str] = "memory"

    def __init__(
        self,
        name: str = "memory",
        on_publish: Callable[[LifecycleEvent, Call], None] | None = None,
        on_release: Callable[[LifecycleEvent, Call], None] | None = None,
    ) -> None:
        super().__init__(Setup({}))
        self.name = name  # type: ignore[misc]
        self.events: list[LifecycleEvent] = []
        self.released = threading.Event()
        self.most_at_once = 0
        self._at_once = 0
        self._on_publish = on_publish
        self._on_release = on_release

    @property
    def states(self) -> list[str]:
        return [told.state or told.kind.value for told in self.events]

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        self._enter(event)
        try:
            if self._on_publish:
                self._on_publish(event, call)
        finally:
            self._at_once -= 1

    def release(self, event: LifecycleEvent, call: Call) -> None:
        self._enter(event)
        try:
            if self._on_release:
                self._on_release(event, call)
            self.released.set()
        finally:
            self._at_once -= 1

    def _enter(self, event: LifecycleEvent) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.events.append(event)


def started(hosts: Iterable[Host], log: list[str] | None = None, *, debug: bool = False) -> Manager:
    """Return a manager whose hosts are found."""
    found = threading.Event()
    manager = Manager(log=(log if log is not None else []).append, debug=debug)

    def discover(_: object) -> Iterable[Host]:
        found.set()
        return list(hosts)

    manager.start(discover)
    assert found.wait(20)
    return manager
