"""Tells the hosts: ordering, fan-out, deduplication, time limits and a bounded end.

Owns the workers, one per host (see `worker`), and the search that finds the hosts. Must not know any host, and must
never block the thread that publishes.

How the program uses it:

    manager = Manager(log=write_line_to_the_log, debug=config.debug)
    manager.start(lambda lookup: hosts.discover(config, environ, lookup))   # only if hosts.wanted(config, environ)
    manager.publish(event)          # each LifecycleEvent of the Projector, in order; returns at once
    manager.publish(release)        # the Projector's release, whatever ended the session
    manager.close()                 # at most CLOSE_SECONDS; the terminal is restored before, the agent's status known

`publish` and `close` may be called before `start` and when nothing was started; they then do nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from .projection import Kind, LifecycleEvent

if TYPE_CHECKING:
    from .hosts.base import Call, ErrorClass, Host
    from .worker import Worker

CLOSE_SECONDS = 1.0
"""The most that all hosts together may delay the exit."""

GRACE_SECONDS = 0.25
"""How much of it a send that runs may still take before it is cancelled; the rest is the budget of a release."""

KILL_SECONDS = 0.05
"""How long `close` waits at last for the workers to notice that their commands were killed."""

BACKLOG = 64
"""Events other than states that wait for the hosts to be found; the oldest is dropped."""

LOOKUP_SECONDS = 2.0
"""The budget of each question that finds out which hosts are ours."""


NO_THREAD = "is not told: the system gives us no thread (ulimit -u, ulimit -v)"


class Lookup:
    """What the search for hosts is given by the manager.

    Attributes:
        call: makes the `Call` for one question to a host; the end of the session cancels it.
        notices: returns what the hosts want `status` to tell, by host.
        crashed: tells that the adapter of the named host broke.
    """

    def __init__(self, manager: Manager) -> None:
        self.notices: Callable[[], Mapping[str, str]] = manager.notices
        self.crashed: Callable[[str], None] = manager.crashed
        self._lock = threading.Lock()
        self._call: Call | None = None
        self._cancelled = False

    def call(self) -> Call:
        """Return a fresh call with its own budget."""
        from .hosts.base import Call

        with self._lock:
            self._call = Call(LOOKUP_SECONDS)
            if self._cancelled:
                self._call.cancel()
            return self._call

    def cancel(self) -> None:
        """End the present question and every later one."""
        with self._lock:
            self._cancelled = True
            if self._call is not None:
                self._call.cancel()


class Manager:
    """Hands canonical events to hosts.

    Args:
        log: takes one line of text, from any thread; it must not write to the live screen.
        debug: True tells each class of failure of each host once.
    """

    def __init__(self, log: Callable[[str], None], *, debug: bool = False) -> None:
        self._log = log
        self._debug = debug
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self._progress = threading.Condition(self._lock)
        self._workers: list[Worker] = []
        self._lookup: Lookup | None = None
        self._searching = False
        self._closed = False
        self._state: LifecycleEvent | None = None
        self._backlog: deque[LifecycleEvent] = deque(maxlen=BACKLOG)

    def start(self, discover: Callable[[Lookup], Iterable[Host]]) -> None:
        """Find the hosts and start their workers, all in the background; what was published until then is not lost.

        Args:
            discover: returns the hosts; called once, in a thread of its own that ends with it.
        """
        self._lookup = Lookup(self)
        self._searching = True
        search = threading.Thread(
            target=self._search, args=(discover, self._lookup), name="lifecycle-search", daemon=True
        )
        if not _started(search):
            self._searching = False
            self._tell("search", NO_THREAD)

    def publish(self, event: LifecycleEvent) -> None:
        """Give an event to every host that wants it. Thread-safe; swaps slots and returns."""
        with self._lock:
            if self._closed:
                return
            if event.kind is Kind.STATE:
                if self._state is not None and self._state.snapshot == event.snapshot:
                    return
                self._state = event
            elif self._searching:
                self._backlog.append(event)
            for worker in self._workers:
                worker.offer(event)

    def notices(self) -> dict[str, str]:
        """Return what the hosts want `status` to tell, by host."""
        with self._lock:
            return {worker.host.name: worker.host.notice for worker in self._workers if worker.host.notice}

    def settle(self, seconds: float) -> None:
        """Wait until every host has taken what was published, or time is up; a release would overtake it."""
        with self._lock:
            self._progress.wait_for(
                lambda: not self._searching and all(worker.settled for worker in self._workers), timeout=seconds
            )

    def close(self) -> None:
        """End all workers: the release that was published goes out, then nothing. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            workers = list(self._workers)
        deadline = time.monotonic() + CLOSE_SECONDS
        if self._lookup is not None:
            self._lookup.cancel()
        for worker in workers:
            worker.stop()
        self._wait_for(workers, deadline - CLOSE_SECONDS + GRACE_SECONDS)
        for worker in workers:
            worker.cancel_state()
        self._wait_for(workers, deadline)
        for worker in workers:
            worker.cancel()
        self._wait_for(workers, deadline + KILL_SECONDS)

    def diagnose(self, host: str, error_class: ErrorClass) -> None:
        """Tell a failure, if failures are to be told and this one was not yet."""
        if self._debug:
            self._tell(host, f"send {error_class.value}")

    def crashed(self, host: str) -> None:
        """Tell that a host's adapter broke; always, for it is a fault of ours."""
        self._tell(host, "adapter crashed; it gets nothing more in this session")

    def notice_changed(self) -> None:
        """Give the last state again to the hosts that show notices."""
        with self._lock:
            if self._state is not None:
                for worker in self._workers:
                    if worker.host.wants_notices:
                        worker.offer(self._state, again=True)

    def progressed(self) -> None:
        """Take note that a worker has nothing to do for now, or has ended."""
        with self._lock:
            self._progress.notify_all()

    def _tell(self, host: str, text: str) -> None:
        with self._lock:
            if (host, text) in self._told:
                return
            self._told.add((host, text))
        self._log(f"lifecycle-wrap: host {json.dumps(host)} {text}")

    def _search(self, discover: Callable[[Lookup], Iterable[Host]], lookup: Lookup) -> None:
        found: list[Worker] = []
        try:
            from .worker import Worker

            found = [Worker(host, self) for host in discover(lookup)]
        except Exception:
            self.crashed("search")
        with self._lock:
            self._searching = False
            self._progress.notify_all()
            if self._closed:
                return
            self._workers = found
            waiting = sorted([*self._backlog, *([self._state] if self._state else [])], key=lambda e: e.sequence)
            self._backlog.clear()
            for worker in self._workers:
                for event in waiting:
                    worker.offer(event)
        # Without the lock: a thread that finds no memory for its beginning keeps its starter waiting.
        for worker in found:
            if not _started(worker):
                worker.ended = True
                self._tell(worker.host.name, NO_THREAD)

    def _wait_for(self, workers: list[Worker], deadline: float) -> None:
        with self._lock:
            self._progress.wait_for(
                lambda: all(worker.ended for worker in workers), timeout=max(0.0, deadline - time.monotonic())
            )


def _started(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:  # no process or no memory left for one
        return False
    return True
