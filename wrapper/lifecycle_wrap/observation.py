"""Looking at a session without being able to hurt it.

Owns the `Watch` that stands between what looks (see `looking`) and the pump: it keeps what passed before the observer
was ready, hands bytes over for looking after they were forwarded, and switches an observer off that fails. It never
touches a descriptor.
"""

from __future__ import annotations

import time

from .looking import Blind, Observer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .log import Log

__all__ = ["Blind", "Observer", "Watch"]

# Bytes forwarded but not yet looked at: beyond this the pump stops reading until some have been.
LOOK_LIMIT = 256 << 10
# What is kept of the time before the observer is ready: that, and the last reads. Of more than this the end counts.
KEPT_LIMIT = LOOK_LIMIT + (256 << 10)
# So long a flood waits for the observer, in seconds, so that nothing that it sets in the terminal is missed. Loading
# takes a tenth of a second; where it takes longer than this something is wrong, and the agent comes first.
LOADING_PATIENCE = 5.0
# Bytes per look, so that a keystroke waits for one slice at most.
LOOK_SLICE = 64 << 10


# What must not pass unseen. Whether a program status sequence goes out is the observer's to say, but for the question
# whether the terminal knows them: that always goes out, and some agents wait only half a second for the answer. The
# question that all terminals answer, after it, tells the agent that there is none: by then we must be able to give it.
# No other byte waits.
UNDECIDED = b"\x1b]7501"
QUERIES = (UNDECIDED + b";?\x07", UNDECIDED + b";?\x1b\\")
ASKED_AFTER = (b"\x1b[c", b"\x1b[0c")


class Watch:
    """Guards one observer: none while it loads, then it, then none again if it fails.

    Attributes:
        loading: whether the observer is still to come.
        only_text: the agent has written neither an escape sequence nor SO: nothing that changes the terminal.
        to_agent: bytes for the agent that are not the user's.
        to_outer: bytes for the outer terminal that are not the agent's.
        unlooked: number of bytes kept for looking at.
    """

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._observer: Observer | None = None
        self._unlooked: list[tuple[bool, bytes]] = []
        self._undecided = b""
        self._waiting: tuple[bytes, ...] = (UNDECIDED,)
        self._follower: Observer = Blind()
        self._failed: Observer | None = None
        self._faults: list[str] = []
        self._looking = b""
        self._looked = 0
        self._patience: float | None = None
        self.loading = True
        self.only_text = True
        self.to_agent = b""
        self.to_outer = b""
        self.unlooked = 0

    @property
    def deadline(self) -> float | None:
        """When the observer wants to be called, or a flood has waited long enough for it."""
        if self._observer is None:
            return self._patience if self._waits_for_observer else None
        return self._observer.deadline

    @property
    def awaits_answers(self) -> bool:
        """The outer terminal may still answer a question of the observer's."""
        return self._observer is not None and self._observer.awaits_answers

    @property
    def due(self) -> bool:
        """Whether there is something to look at and somebody to do it."""
        return self.unlooked > 0 and not self.loading

    @property
    def full(self) -> bool:
        """Whether looking must catch up, or the observer be ready, before more is read."""
        if self.loading:
            return self._waits_for_observer or len(self._undecided) >= LOOK_LIMIT
        return self.unlooked >= LOOK_LIMIT

    def adopt(self, observer: Observer) -> None:
        """The observer is ready. What has passed went out as it was; it is shown that before anything new."""
        self.loading = False
        self._observer = observer
        passed = list(self._unlooked)
        undecided, self._undecided = self._undecided, b""
        gone = sum(len(data) for is_input, data in passed if not is_input) - len(undecided)

        def follow(observer: Observer, now: float) -> None:
            left = gone
            for is_input, data in passed:
                if is_input:
                    observer.input_gone(data, now)
                else:
                    observer.output(data[: max(0, left)], now)
                    left -= len(data)
            observer.flush_output()
            observer.flush_input()
            self.to_outer += observer.output(undecided, now)

        self.tell(follow)
        if self._observer is None:
            self.to_outer += undecided

    def output(self, data: bytes) -> bytes:
        """The agent's bytes on their way; returns what goes out. If it raises, they are still the caller's."""
        if self._observer is None and not self.loading:
            self._follow(data)
            return data
        self._keep(False, data)
        if self._observer is None:
            return self._hold_undecided(data)
        try:
            data = self._observer.output(data, self._clock())
        except Exception as error:
            self._switch_off(error)
            data, self.to_outer = self.to_outer + data, b""
        try:
            self._take()
        except MemoryError:  # next time, then; `data` has left the observer and must not come a second time
            return data
        return data

    def input(self, data: bytes) -> bytes:
        """The user's bytes on their way; returns what the agent gets. If it raises, they are still the caller's."""
        if self._observer is None and not self.loading:
            return data
        self._keep(True, data)
        if self._observer is None:
            return data
        try:
            data = self._observer.input(data, self._clock())
        except Exception as error:
            self._switch_off(error)
            data, self.to_agent = self.to_agent + data, b""
        try:
            self._take()
        except MemoryError:  # next time, then; `data` has left the observer and must not come a second time
            return data
        return data

    def look(self) -> None:
        """Let the observer look at one slice of what has passed."""
        is_input, data = self._unlooked.pop(0)
        slices = [data]
        size = len(data)
        while self._unlooked and self._unlooked[0][0] == is_input and size < LOOK_SLICE:
            slices.append(self._unlooked.pop(0)[1])
            size += len(slices[-1])
        self.unlooked -= size
        data = b"".join(slices)
        if is_input:
            self.tell(lambda observer, now: observer.look_input(data, now))
            return
        self._looking = data
        self.tell(lambda observer, now: observer.look(data, now))
        if self._observer is not None:
            self._looking = b""
            self._looked += len(data)

    def tell(self, event: Callable[[Observer, float], None]) -> None:
        """Call the observer, if there is one, with the time."""
        if self._observer is not None:
            try:
                event(self._observer, self._clock())
            except Exception as error:
                self._switch_off(error)
            self._take()

    def finish(self) -> None:
        """Nothing more will pass: look at the rest, and give up what is held back."""
        while self.due:
            self.look()
        if self._observer is not None:
            self._give_up_held(self._observer)

    def stop_looking(self) -> None:
        """The pump has failed: whoever copies bytes now shows them to `output`, and at the end asks `leave`."""
        self.loading = False
        self.to_outer, self._undecided = self.to_outer + self._undecided, b""
        self._switch_off()

    def leave(self) -> bytes:
        """Bytes that leave the outer terminal as it was found; all that has passed is looked at for that."""
        while self.due:
            self.look()
        for _ in range(2):
            observer = self._observer or self._follower
            try:
                return observer.leave()
            except Exception as error:
                self._switch_off(error)
                self._follower = Blind(changed=True)
        return b""

    def come_back(self) -> bytes:
        """Bytes that set the outer terminal for the agent again, after `leave`."""
        try:
            return (self._observer or self._follower).come_back(self._clock())
        except Exception as error:
            self._switch_off(error)
            return b""

    def close(self) -> None:
        """Let the observer go; one that has failed has hosts and files to let go of, too."""
        if self._observer is not None:
            self.tell(lambda observer, now: observer.close())
            return
        try:
            (self._failed or self._follower).close()
        except Exception as error:
            self._log.fault("what the observer held may not be released:", error)

    def notices(self) -> list[str]:
        """Lines for the user's stderr."""
        observer = self._observer or self._failed
        return self._faults + (observer.notices if observer else [])

    def _hold_undecided(self, data: bytes) -> bytes:
        """Let pass what comes before a sequence that has to wait for the observer."""
        data = self._undecided + data
        start = self._next_undecided(data, 0)
        while query := next((query for query in QUERIES if data.startswith(query, start)), b""):
            self._waiting = (UNDECIDED, *ASKED_AFTER)
            start = self._next_undecided(data, start + len(query))
        data, self._undecided = data[:start], data[start:]
        return data

    def _next_undecided(self, data: bytes, start: int) -> int:
        """Find where a sequence begins that has to wait, or may begin at the end."""
        found = [at for at in (data.find(sequence, start) for sequence in self._waiting) if at >= 0]
        if found:
            return min(found)
        escape = data.rfind(b"\x1b", start)
        is_beginning = escape >= 0 and any(sequence.startswith(data[escape:]) for sequence in self._waiting)
        return escape if is_beginning else len(data)

    @property
    def _waits_for_observer(self) -> bool:
        full = self.loading and self.unlooked >= LOOK_LIMIT
        return full and self._patience is not None and self._clock() < self._patience

    def _keep(self, is_input: bool, data: bytes) -> None:
        if self._patience is None:
            self._patience = self._clock() + LOADING_PATIENCE
        self._unlooked.append((is_input, data))
        self.unlooked += len(data)
        self.only_text = self.only_text and (is_input or not (b"\x1b" in data or b"\x0e" in data))
        while self.loading and self.unlooked > KEPT_LIMIT:
            self.unlooked -= len(self._unlooked.pop(0)[1])

    def _take(self) -> None:
        observer = self._observer
        if observer is None:
            return
        if observer.to_agent:
            self.to_agent, observer.to_agent = self.to_agent + observer.to_agent, bytearray()
        if observer.to_outer:
            self.to_outer, observer.to_outer = self.to_outer + observer.to_outer, bytearray()

    def _switch_off(self, error: Exception | None = None) -> None:
        observer, self._observer = self._observer, None
        unlooked, self._unlooked = self._unlooked, []
        self.unlooked = 0
        if error is not None:
            self._log.fault("observation is off for the rest of this session:", error)
            what = "an internal error ended the observation of this session, not the agent"
            self._faults = [f"lifecycle-wrap: {what}; see {self._log.path} and report it"]
        if observer is not None:
            self._follower = self._failed = observer
            self._give_up_held(observer)
        for data in (self._looking, *(data for is_input, data in unlooked if not is_input)):
            self._follow(data)
        self._withdraw()

    def _withdraw(self) -> None:
        try:
            self.to_outer += (self._failed or self._follower).withdraw()
        except Exception as error:
            self._log.fault("what was shown may stand until the end:", error)

    def _follow(self, data: bytes) -> None:
        try:
            self._follower.follow(data, self._looked)
        except Exception as error:
            self._log.fault("what the agent sets in the terminal is not known from here on:", error)
            self._follower = Blind(changed=True)
        self._looked += len(data)

    def _give_up_held(self, observer: Observer) -> None:
        try:
            self.to_outer += observer.flush_output()
            self.to_agent += observer.flush_input()
        except Exception as error:
            self._log.fault("bytes held back are lost:", error)
