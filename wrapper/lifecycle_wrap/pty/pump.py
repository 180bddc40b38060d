"""The poll loop between the outer terminal and the agent's PTY.

Owns the bytes in both directions, and the order of things while an agent runs: the user's keys first, then the agent's
output, each forwarded before anything looks at it; signals and job control; the end. Back-pressure instead of loss: a
side whose other side does not take its bytes is not read.
"""

from __future__ import annotations

import os
import time

from lifecycle_wrap.lean import signal
from lifecycle_wrap.looking import Blind

from . import monitor
from .burst_reader import BURST, BurstReader
from .byte_queue import ByteQueue
from .outer import unpack_size
from .readiness import READ, WRITE, make_readiness
from .signals import ENDING, FORWARDED, WAKE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lifecycle_wrap.loading import Loader
    from lifecycle_wrap.observation import Observer, Watch

    from .child import Child
    from .outer import Outer
    from .signals import SignalPipe

# One read of the user's side. A paste arrives in pieces of the terminal's own buffer, 4 KiB on Linux.
INPUT_CHUNK = 16 << 10
# What may wait for either side before the other is no longer read. Larger than one burst, so that a partly written one
# does not stop the next; small enough that a Ctrl-C is felt at once.
QUEUE_LIMIT = 16 << 10
# What is still read after the agent has ended: more than a PTY's buffers hold (64 KiB and a line discipline's 4 KiB).
LAST_OUTPUT = 256 << 10
# A terminal whose input ends this often without a byte in between is gone, whatever else it says.
ENDS_OF_INPUT_LIMIT = 10
# How long the agent may take over TERM, HUP, INT or QUIT, and then over SIGKILL, in seconds.
ENDING_GRACE = 5.0
KILLED_GRACE = 1.0
# The observer is loaded once the agent has shown something, or after this long: two programs that start together
# are in each other's way.
LOAD_DELAY = 0.03
# The rest of the observer is loaded once the agent has been silent for this long.
SILENCE = 0.02
# An observer that is not there after this long is not waited for: something hangs.
LOADING_LIMIT = 30.0
# Bytes are looked at when nothing has come for this long: an echo must not wait for a look at its key; ...
LOOK_PAUSE = 0.002
# ... or at the latest after this long.
LOOK_DELAY = 0.05


class Pump:
    """One session's loop.

    Attributes:
        to_agent: bytes on their way to the agent.
        to_outer: bytes on their way to the outer terminal.
        from_agent: the agent's bytes that were read.
        from_outer: the user's that were read and are not on their way yet; only a fault leaves any here.
        kill_at: when an agent that was told to end will be killed.
        killed: it has been.
        status: the agent's wait status once it has ended.
    """

    def __init__(
        self,
        child: Child,
        outer: Outer,
        signals: SignalPipe,
        watch: Watch,
        loader: Loader,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._child = child
        self._outer = outer
        self._signals = signals
        self._watch = watch
        self._loader = loader
        self._clock = clock
        self._readiness = make_readiness()
        self._outer_gone = False
        self._agent_closed = False
        self.kill_at: float | None = None
        self.killed = False
        self._has_left = False
        self._ends_in_a_row = 0
        self._look_by: float | None = None
        self._load_at: float | None = clock() + LOAD_DELAY
        self._load_by: float | None = None
        self._load_rest_at: float | None = None
        self.to_agent = ByteQueue(child.master)
        self.to_outer = ByteQueue(outer.output)
        self.from_agent = BurstReader(child.master)
        self.from_outer = b""
        self.status: int | None = None

    def run(self) -> int:
        """Pump until the agent has ended and what it has written is read.

        Returns:
            The agent's wait status.
        """
        self._readiness.want(self._signals.fd, READ)
        self._readiness.want(self._child.messages, READ)
        self._say_what_we_want()
        while self.status is None:
            self._turn()
        self._read_output(LAST_OUTPUT)
        return self.status

    def finish(self) -> None:
        """Let the observer see the end, and write what waits for the outer terminal, however long that takes."""
        assert self.status is not None
        if self._watch.loading and self._watch.only_text and not self._loader.is_awaited():
            self._watch.adopt(Blind())  # a command that is over already: there is nothing to tell and to put back
        self.wait_for_observer()
        code = os.waitstatus_to_exitcode(self.status)
        self._give_terminal()
        self._watch.finish()
        self._watch.tell(
            lambda observer, now: observer.child_exited(code if code >= 0 else None, -code if code < 0 else None, now)
        )
        self.kill_at = None
        self._leave_terminal()

    def wait_for_observer(self) -> None:
        """See that an observer that still loads is there: only it knows what the agent leaves in the terminal."""
        if self._watch.loading:
            self._adopt(self._loader.wait())

    def _turn(self) -> None:
        """Wait for something to happen, and do all of it once; the user's keys first."""
        ready = self._readiness.wait(self._timeout())
        if ready:
            if self._outer.input in ready:
                self._read_input()
            agent = ready.get(self._child.master, 0)
            if agent & WRITE:
                self._write_agent()
            if agent & ~WRITE:
                self._read_output(BURST)
            elif self._outer.output in ready:
                self._write_outer()
            if self._signals.fd in ready:
                self._take_signals()
            if self._child.messages in ready:
                self._take_messages()
        self._do_what_is_due(idle=not ready)
        self._say_what_we_want()

    def _timeout(self) -> float | None:
        if self._watch.due:
            return 0.0 if self._watch.full else LOOK_PAUSE
        deadlines = (self._watch.deadline, self.kill_at, self._load_at, self._load_by, self._load_rest_at)
        pending = [at for at in deadlines if at is not None]
        return max(0.0, min(pending) - self._clock()) if pending else None

    def _say_what_we_want(self) -> None:
        """Tell the poll which sides may be read (their bytes have a place to go) and which must be written."""
        self._readiness.want(self._outer.input, READ if self._outer.raw and len(self.to_agent) < QUEUE_LIMIT else 0)
        self._readiness.want(self._outer.output, WRITE if self.to_outer else 0)
        events = WRITE if self.to_agent else 0
        if len(self.to_outer) < QUEUE_LIMIT and not self._watch.full:
            events |= READ
        self._readiness.want(self._child.master, 0 if self._agent_closed else events)

    def _do_what_is_due(self, idle: bool) -> None:
        watch = self._watch
        now = self._clock()
        if self._load_at is not None and (now >= self._load_at or watch.unlooked):
            self._load_at = None
            self._load_by = now + LOADING_LIMIT
            self._loader.start()
        if self._load_by is not None and now >= self._load_by:
            self._adopt(self._loader.give_up())
        if self._load_rest_at is not None:
            if watch.due:
                self._load_rest_at = now + SILENCE
            elif now >= self._load_rest_at:
                self._load_rest_at = None
                self._loader.load_rest()
        if watch.due:
            if self._look_by is None:
                self._look_by = now + LOOK_DELAY
            if idle or watch.full or now >= self._look_by:
                watch.look()
                self._look_by = None
        if watch.deadline is not None and now >= watch.deadline:
            watch.tell(lambda observer, now: observer.on_deadline(now))
        if watch.to_agent:
            self._write_agent()
        if watch.to_outer:
            self._write_outer()
        if self.kill_at is not None and now >= self.kill_at:
            self._kill(now)

    def _read_input(self) -> None:
        try:
            self.from_outer = os.read(self._outer.input, INPUT_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            self.from_outer = b""
        if self.from_outer:
            self._ends_in_a_row = 0
            self.to_agent.next, self.from_outer = self._watch.input(self.from_outer), b""
            self._write_agent()
        elif self._outer.alive() and self._ends_in_a_row < ENDS_OF_INPUT_LIMIT:
            # Another program has set modes in which a read may return nothing.
            self._ends_in_a_row += 1
            self._take_terminal()
        else:
            self._lose_outer()

    def _read_output(self, limit: int) -> None:
        """Forward what the agent has written, up to about `limit` bytes."""
        source = self.from_agent
        if not source.read(limit):
            self._agent_closed = True
        if source.read_already:
            self.to_outer.next, source.read_already = self._watch.output(source.read_already), b""
            self._write_outer()

    def _write_agent(self) -> None:
        """Write to the agent what waits, then what the observer has for it."""
        try:
            self.to_agent.flush()
            if self._watch.to_agent:
                self.to_agent.next, self._watch.to_agent = self._watch.to_agent, b""
                self.to_agent.flush()
        except OSError:
            self._agent_closed = True

    def _write_outer(self) -> None:
        """Write to the outer terminal what waits, then what the observer has for it."""
        if self._outer_gone:
            self.to_outer.clear()
            return
        try:
            self.to_outer.flush()
            if self._watch.to_outer:
                self.to_outer.next, self._watch.to_outer = self._watch.to_outer, b""
                self.to_outer.flush()
        except OSError:
            self._lose_outer()

    def _drain(self) -> None:
        """Write what waits for the outer terminal, until it is out or a signal wants the end."""
        for fd in (self._outer.input, self._child.master, self._child.messages):
            self._readiness.want(fd, 0)
        self._write_outer()
        while self.to_outer and self.kill_at is None:
            self._readiness.want(self._outer.output, WRITE)
            if self._signals.fd in self._readiness.wait(None):
                self._take_signals(leaving=True)
            self._write_outer()

    def _lose_outer(self) -> None:
        """The user's terminal is gone: the agent gets the hang-up that it would have got from it."""
        if not self._outer_gone:
            self._outer_gone = True
            self._outer.raw = False
            self.to_outer.clear()  # nobody will read it: what waits for the queue to empty must not wait for ever
            self._end_agent(signal.SIGHUP)

    def _end_agent(self, number: int) -> None:
        self._child.signal(number)
        if self.kill_at is None:
            self.kill_at = self._clock() + ENDING_GRACE

    def _kill(self, now: float) -> None:
        """The agent did not end in time; and a monitor that does not tell its end after SIGKILL is not waited for."""
        if self.killed:
            self.status = signal.SIGKILL
        self._child.signal(signal.SIGKILL)
        self.killed = True
        self.kill_at = now + KILLED_GRACE

    def _take_signals(self, leaving: bool = False) -> None:
        numbers = self._signals.read()
        if WAKE in numbers:
            self._adopt(self._loader.observer())
        if signal.SIGCONT in numbers and not leaving:
            self._take_terminal()
            self._repaint()
        elif signal.SIGWINCH in numbers:
            self._repaint()
        for number in numbers & FORWARDED:
            if number in ENDING and (self._outer.raw or number in (signal.SIGTERM, signal.SIGHUP)):
                self._end_agent(number)
            else:
                # In the modes of a shell's terminal these come from its keys, as they would to the agent.
                self._child.signal(number)

    def _adopt(self, observer: Observer | None) -> None:
        """Begin to observe, once."""
        if observer is not None and self._watch.loading:
            self._load_by = None
            self._load_rest_at = self._clock() + SILENCE
            self._watch.adopt(observer)
            self._watch.tell(lambda observer, now: observer.started(self._child.pid, self._child.foreground_group))
            if self._outer.raw and self.status is None:
                self._watch.tell(lambda observer, now: observer.take_terminal(now))
            rows, columns = unpack_size(self._child.winsize)
            if (rows, columns) != self._loader.size:
                self._watch.tell(lambda observer, now: observer.resized(rows, columns, now))

    def _take_terminal(self) -> None:
        """Set raw mode, and what the agent had set, if the terminal is ours to use."""
        if self._outer.foreground():
            self._outer.enter_raw()
            if self._has_left:
                self._has_left = False
                self.to_outer.next = self._watch.come_back()
                self._write_outer()
            else:
                self._watch.tell(lambda observer, now: observer.take_terminal(now))

    def _give_terminal(self) -> None:
        """See that nothing is asked any more, and that what was asked is answered to us and not to a shell."""
        self._watch.tell(lambda observer, now: observer.give_terminal())
        for fd in (self._child.master, self._child.messages):
            self._readiness.want(fd, 0)
        while self._watch.awaits_answers and self._outer.raw and self._watch.deadline is not None:
            self._readiness.want(self._outer.output, WRITE if self.to_outer else 0)
            ready = self._readiness.wait(max(0.0, self._watch.deadline - self._clock()))
            if self._outer.input in ready:
                self._read_input()
            if self._outer.output in ready:
                self._write_outer()
            if self._signals.fd in ready:
                self._take_signals()
            if self._watch.deadline is not None and self._clock() >= self._watch.deadline:
                self._watch.tell(lambda observer, now: observer.on_deadline(now))

    def _leave_terminal(self) -> None:
        """Write what waits for the outer terminal, and what leaves it as it was found."""
        self._has_left = True
        left = self._watch.leave()
        self._write_outer()  # what the observer held back comes before
        self.to_outer.next = left
        self._write_outer()
        self._drain()

    def _repaint(self) -> None:
        """Pass the outer terminal's size on, and a SIGWINCH in any case."""
        winsize = self._outer.winsize()
        if self._child.set_winsize(winsize):
            rows, columns = unpack_size(winsize)
            self._watch.tell(lambda observer, now: observer.resized(rows, columns, now))
        else:
            self._child.signal(signal.SIGWINCH)

    def _take_messages(self) -> None:
        try:
            for kind, number in self._child.read_messages():
                if kind == monitor.STOPPED:
                    self._agent_stopped(number)
                elif kind == monitor.ENDED:
                    self.status = number
        except EOFError:
            # Only SIGKILL ends the monitor before the agent; the agent has got its hang-up from the kernel.
            self._child.signal(signal.SIGHUP)
            self.status = signal.SIGKILL

    def _agent_stopped(self, number: int) -> None:
        """The agent has stopped: so do we, for the shell to see; when we are continued, so is the agent."""
        child, outer, watch = self._child, self._outer, self._watch
        wants_terminal = number in (signal.SIGTTIN, signal.SIGTTOU)
        if wants_terminal and outer.foreground():
            self._take_terminal()
            child.resume(foreground=True)
            return
        self._read_output(LAST_OUTPUT)
        self.wait_for_observer()
        watch.tell(lambda observer, now: observer.stopped(now))
        if outer.raw:
            self._give_terminal()
            self._leave_terminal()
        self._readiness.want(child.messages, READ)
        outer.restore()
        stopped = self._signals.stop_ourselves(number if wants_terminal else signal.SIGTSTP)
        self._take_signals()  # before raw mode: what came meanwhile may be from the keyboard
        self._take_terminal()
        foreground = outer.foreground()
        if wants_terminal and not (stopped or foreground):
            self._lose_outer()  # in the background of a terminal for good
        watch.tell(lambda observer, now: observer.continued(now))
        child.resume(foreground)
        self._repaint()
