"""One host's thread: what waits for the host, and the sends, one at a time.

Owns the slots (the latest state, the other events, the release), the interval, the rate and the repetition of sends,
and the budget of each. Must not know any host. `Manager` makes, feeds and ends the workers.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from .hosts.base import Call, Host, HostError, HostGone
from .projection import Kind, LifecycleEvent

if TYPE_CHECKING:
    from .manager import Manager

BACKLOG = 64
"""Events other than states that wait for one host; the oldest is dropped. Of the states only the latest waits."""

BURST = 20
BURST_SECONDS = 2.0
"""A host is sent to at most so often within so many seconds, whatever the agent prints: a send may be a process. A turn
makes a handful of events at once, nobody reads ten changes a second for longer. Only the release does not wait."""

RELEASE_ATTEMPTS = 2
"""A release that fails at once is tried again while its budget lasts: what it leaves standing, stands for ever."""


class Worker(threading.Thread):
    """Tells one host one event after the other, then releases it.

    `offer`, `stop` and the two cancels come from other threads and never wait for the host; the rest is the thread's
    own.
    """

    def __init__(self, host: Host, manager: Manager) -> None:
        super().__init__(name=f"lifecycle-{host.name}", daemon=True)
        self.host = host
        self.ended = False
        self._manager = manager
        self._changed = threading.Condition()
        # Under the condition's lock:
        self._pending: LifecycleEvent | None = None
        self._others: deque[LifecycleEvent] = deque(maxlen=BACKLOG)
        self._release: LifecycleEvent | None = None
        self._again = False
        self._busy = True
        self._stopping = False
        self._call: Call | None = None
        self._releasing = False
        self._states_cancelled = False
        self._all_cancelled = False
        # The thread's own:
        self._claimed = False
        self._notice = ""
        self._told: LifecycleEvent | None = None
        self._told_projection: Hashable = None
        self._compared: LifecycleEvent | None = None
        self._not_before = 0.0
        self._starts: deque[float] = deque(maxlen=BURST)
        self._repeat_at: float | None = None
        self._repeat_after = 0.0

    def offer(self, event: LifecycleEvent, *, again: bool = False) -> None:
        """Put an event into its slot; the release closes all slots.

        Args:
            event: what to tell, later than all that was offered before.
            again: True tells a state even where it is what the host was told last.
        """
        with self._changed:
            if self._stopping:
                return
            if event.kind is Kind.RELEASE:
                self._release = event
                self._stopping = True
            elif event.kind not in self.host.kinds:
                return
            elif event.kind is Kind.STATE:
                self._pending = event
                self._again = self._again or again
            else:
                self._others.append(event)
            self._changed.notify()

    @property
    def settled(self) -> bool:
        """Whether nothing waits for the host and nothing is being sent."""
        with self._changed:
            return self.ended or not (self._busy or self._pending or self._others)

    def stop(self) -> None:
        """End after the present send and the release, if one was offered."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def cancel_state(self) -> None:
        """Cancel the present send unless it is the release."""
        with self._changed:
            self._states_cancelled = True
            if self._call is not None and not self._releasing:
                self._call.cancel()

    def cancel(self) -> None:
        """Cancel the present send, the release too."""
        with self._changed:
            self._all_cancelled = True
            if self._call is not None:
                self._call.cancel()

    def run(self) -> None:
        """Serve the host until it is released, gone or broken."""
        try:
            self._attempt(self.host.prepare, self.host.state_seconds)
            while (event := self._take()) is not None:
                self._tell(event)
            if self._claimed and self._release is not None:
                self._tell_release(self._release)
        except HostGone as gone:
            self._manager.diagnose(self.host.name, gone.error_class)
        except Exception:
            self._manager.crashed(self.host.name)
        finally:
            self.ended = True
            self._manager.progressed()

    def _take(self) -> LifecycleEvent | None:
        """Wait for the next event that is due; None when the worker is to stop."""
        with self._changed:
            self._busy = False
        self._manager.progressed()
        while True:
            self._drop_what_is_told()
            with self._changed:
                if self._stopping:
                    return None
                if self._pending is not self._compared:
                    continue
                event, due = self._next()
                wait = due - time.monotonic()
                if event is None:
                    self._changed.wait()
                elif wait > 0:
                    self._changed.wait(wait)
                else:
                    return self._taken(event)

    def _drop_what_is_told(self) -> None:
        """Empty the slot if the host shows that state already; the host is asked outside of the lock."""
        with self._changed:
            pending = self._pending
            may_be_told = pending is not None and self._told is not None and not self._again
        if may_be_told and pending and self.host.projection(pending) == self._told_projection:
            with self._changed:
                if self._pending is pending and not self._again:
                    self._pending = pending = None
            self._manager.progressed()
        self._compared = pending

    def _next(self) -> tuple[LifecycleEvent | None, float]:
        """Return what to tell next and when; called with the lock."""
        pending = self._pending
        due = self._not_before
        if len(self._starts) == BURST:
            due = max(due, self._starts[0] + BURST_SECONDS)
        if self._others and (pending is None or self._others[0].sequence < pending.sequence):
            return self._others[0], due
        if pending is not None:
            return pending, due
        if self._told is not None and self._repeat_at is not None:
            return self._told, max(self._repeat_at, due)
        return None, 0.0

    def _taken(self, event: LifecycleEvent) -> LifecycleEvent:
        """Empty the slot of an event that is being told; called with the lock."""
        self._busy = True
        if event is self._pending:
            self._pending, self._again = None, False
        elif self._others and event is self._others[0]:
            self._others.popleft()
        return event

    def _tell(self, event: LifecycleEvent) -> None:
        repeated = event is self._told
        self._claimed = True
        sent = self._attempt(lambda call: self.host.publish(event, call), self.host.state_seconds)
        if event.kind is Kind.STATE:
            self._told = event
            self._told_projection = self.host.projection(event)
            self._plan_repetition(repeated, sent)
        if self.host.notice != self._notice:
            self._notice = self.host.notice
            self._manager.notice_changed()

    def _plan_repetition(self, repeated: bool, sent: bool) -> None:
        """Plan to tell the state again: soon after it is new, ever later while sends fail, rarely once one counted."""
        if self.host.repeats is None:
            return
        first, then = self.host.repeats
        if not repeated:
            self._repeat_after = first
        else:
            self._repeat_after = then if sent else min(then, 2 * self._repeat_after)
        self._repeat_at = time.monotonic() + self._repeat_after

    def _tell_release(self, event: LifecycleEvent) -> None:
        with self._changed:
            self._releasing = True
        time.sleep(max(0.0, self._not_before - time.monotonic()))
        deadline = time.monotonic() + self.host.release_seconds
        for _ in range(RELEASE_ATTEMPTS):
            budget = deadline - time.monotonic()
            if self._attempt(lambda call: self.host.release(event, call), budget):
                return

    def _attempt(self, send: Callable[[Call], None], budget: float) -> bool:
        """Make one send within its budget; False when it failed."""
        started = time.monotonic()
        self._starts.append(started)
        call = Call(budget)
        with self._changed:
            self._call = call
            if self._all_cancelled or (self._states_cancelled and not self._releasing):
                call.cancel()
        try:
            send(call)
        except HostGone:
            raise
        except HostError as error:
            self._manager.diagnose(self.host.name, error.error_class)
            return False
        finally:
            with self._changed:
                self._call = None
            self._not_before = started + self.host.interval
        return True
