"""What an adapter is made of: the `Host` base class, and `Call`, the budget and the tools of one send.

Owns how a host's command is started, timed, cancelled and killed, so that no adapter does it in its own way. Must not
know any host. Everything here runs in the host's worker thread (see `manager`), except `Host.detect`, which runs
anywhere and must have no side effects.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import IO, Any, ClassVar, NamedTuple

from lifecycle_wrap.projection import VERSION_1_KINDS, Kind, LifecycleEvent

INTERFACE = 1
"""The version of what an adapter of another package is written for: this module's classes and `LifecycleEvent`. It
counts up when an adapter that was right would no longer be; what is only added changes nothing."""

STATE_SECONDS = 2.0
RELEASE_SECONDS = 0.75

OUTPUT_LIMIT = 64 * 1024
"""The most bytes that are kept of a command's output, where it is asked for at all; more is a failure."""

REAP_SECONDS = 0.25
"""How long a killed command may take to be gone before it is left to the kernel."""

ID_BYTES = 256
"""The most that is taken of an id in the environment; the ids of hosts are far shorter."""

POLL_SECONDS = 0.05
"""How often an answering command is looked at, whose end is not told by its output because a grandchild holds it
open."""


class ErrorClass(StrEnum):
    """Why a send failed, in the words that diagnostics may show: nothing of the event, argv or error text."""

    TIMED_OUT = "timed out"
    CANCELLED = "was cancelled"
    UNAVAILABLE = "failed: executable unavailable"
    DENIED = "failed: permission denied"
    IGNORED = "was ignored by the host"
    AWAY = "failed: nobody answers"
    GONE = "failed: the pane is gone"
    FAILED = "failed"


class HostError(Exception):
    """A send failed as a send may; the host gets the next event all the same."""

    def __init__(self, error_class: ErrorClass = ErrorClass.FAILED) -> None:
        super().__init__(error_class.value)
        self.error_class = error_class


class HostGone(HostError):
    """The host takes nothing any more in this session: no send follows, not even the release."""

    def __init__(self) -> None:
        super().__init__(ErrorClass.GONE)


class Answer(NamedTuple):
    """What a command said: its exit status, and its stdout and stderr together."""

    status: int
    output: bytes


class Call:
    """One send: its deadline, its cancellation, and the ways to reach a host within them.

    Used by one thread; only `cancel` may come from another.

    Args:
        budget: seconds until the deadline.
    """

    def __init__(self, budget: float) -> None:
        self._deadline = time.monotonic() + budget
        self._lock = threading.Lock()
        self._cancelled = False
        self._abort: Callable[[], None] | None = None

    @property
    def remaining(self) -> float:
        """Seconds until the deadline; raises `HostError` when none are left or the call was cancelled."""
        if self._cancelled:
            raise HostError(ErrorClass.CANCELLED)
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise HostError(ErrorClass.TIMED_OUT)
        return seconds

    def cancel(self) -> None:
        """End the call now, from any thread: what runs is aborted, the next step raises."""
        with self._lock:
            self._cancelled = True
            if self._abort is not None:
                self._abort()

    @contextmanager
    def aborting(self, abort: Callable[[], None]) -> Iterator[None]:
        """Within the block, `cancel` calls `abort`, which must neither block nor raise."""
        with self._lock:
            self._abort = abort
        try:
            _ = self.remaining
            yield
        finally:
            with self._lock:
                self._abort = None

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> None:
        """Run a command to its end, its output to /dev/null so that no grandchild holds us by a pipe.

        Never through a shell; in a session and a process group of its own. What the command leaves running in that
        group is killed when it ends, so that nothing can pile up.

        Args:
            argv: the executable, looked up on PATH when it has no slash, and its literal arguments.
            stdin: what it reads.
            environ: its environment; ours when None.

        Raises:
            HostError: it could not be started or its exit status is not 0, or time was up and its group was killed.
        """
        with self._started(argv, stdin=bool(stdin), output=False, environ=environ) as process:
            process.communicate(stdin or None, timeout=self.remaining)
        if process.returncode != 0:
            raise HostError

    def ask(self, argv: Sequence[str], *, environ: Mapping[str, str] | None = None) -> Answer:
        """Run a command as `run` does, with nothing to read, and return what it says, whatever its exit status.

        Raises:
            HostError: it could not be started or said more than `OUTPUT_LIMIT`, or time was up.
        """
        with self._started(argv, stdin=False, output=True, environ=environ) as process:
            assert process.stdout is not None
            output = self._read(process, process.stdout)
            process.wait(self.remaining)
        return Answer(process.returncode, output)

    @contextmanager
    def _started(
        self, argv: Sequence[str], *, stdin: bool, output: bool, environ: Mapping[str, str] | None
    ) -> Iterator[subprocess.Popen[bytes]]:
        _ = self.remaining
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE if output else subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                env=environ,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise HostError(ErrorClass.UNAVAILABLE) from None
        except PermissionError:
            raise HostError(ErrorClass.DENIED) from None
        except (OSError, ValueError):
            raise HostError from None
        try:
            with self.aborting(lambda: _kill_group(process.pid)):
                yield process
        except subprocess.TimeoutExpired:
            raise HostError(ErrorClass.TIMED_OUT) from None
        finally:
            _end(process)
        if self._cancelled:
            raise HostError(ErrorClass.CANCELLED)

    def _read(self, process: subprocess.Popen[bytes], pipe: IO[bytes]) -> bytes:
        output = bytearray()
        os.set_blocking(pipe.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                ended = process.poll() is not None
                if selector.select(0 if ended else min(self.remaining, POLL_SECONDS)):
                    chunk = os.read(pipe.fileno(), OUTPUT_LIMIT)
                    output += chunk
                    if len(output) > OUTPUT_LIMIT:
                        raise HostError
                    if not chunk:
                        return bytes(output)
                elif ended:
                    return bytes(output)


def _kill_group(group: int) -> None:
    # Right after its leader was reaped the number is still free of other processes: the kernel hands it out again last.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process.pid)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(REAP_SECONDS)


class Detection(NamedTuple):
    """Whether a host is around us.

    Attributes:
        detected: True when the adapter could work here.
        reason: why, or why not, for `status`.
    """

    detected: bool
    reason: str


class Place(NamedTuple):
    """The pane that we run in.

    Attributes:
        name: what people call it, such as `tmux %3`.
        focus: the command that brings the user there, from any terminal of the user's, as far as the host can; or
            empty.
    """

    name: str
    focus: tuple[str, ...] = ()


class Setup(NamedTuple):
    """What a host is made with.

    Attributes:
        environ: our environment.
        options: the host's own options of the configuration.
        tty: the device of the terminal we sit at, such as `/dev/pts/3`, or empty.
        notices: returns what the hosts want `status` to tell, by host.
        place: the pane that we run in, for the hosts that are none; None where there is no host with panes.
        session: the name of this session, the same for all hosts; empty for one that nobody else must know.
    """

    environ: Mapping[str, str]
    options: Mapping[str, Any] = {}
    tty: str = ""
    notices: Callable[[], Mapping[str, str]] = dict
    place: Place | None = None
    session: str = ""


def host_id(environ: Mapping[str, str], name: str) -> str:
    """Return an id that a host has put into the environment, or nothing where it is missing or can be no id.

    It becomes an argument of a command and a name on a screen: one that would be an option, or that could not be
    printed, is none.
    """
    value = environ.get(name, "").strip()[:ID_BYTES]
    return value if value.isprintable() and not value.startswith("-") else ""


def new_session() -> str:
    """Return a name for this session that no other ever has, on this machine or another."""
    return f"{os.getpid()}-{time.time_ns():x}"


class Host:
    """One host: how it is found, told and released.

    A subclass sets `name` and implements `detect`, `publish` and `release`. All methods but `detect` are called by one
    worker thread, never two at a time; they may block until their `Call` is over. They raise `HostError` for a failure
    that may pass, `HostGone` when the host is lost for this session; any other exception ends the host with a line in
    the log.

    Attributes:
        name: the name in configuration, diagnostics and `status`.
        interface: of an adapter of another package: the `INTERFACE` that it was written for, as a number. One that
            names another version, or none, is not used, and `status` says why.
        kinds: which events it is told; the release always comes, when anything was told before.
        is_pane: True when it stands for the pane or window we run in, so that `nesting` decides among several.
        state_seconds: the budget of one `publish`.
        release_seconds: the budget of `release`.
        interval: the shortest time between the starts of two sends, in seconds.
        repeats: after how many seconds an unchanged state is told again: the first time, and from then on; while sends
            fail the time doubles from the one to the other. None for never.
        wants_notices: True to be told the last state again when what the hosts want `status` to tell has changed.
        notice: what this host wants `status` to tell, or empty.
    """

    name: ClassVar[str]
    interface: ClassVar[int]
    kinds: frozenset[Kind] = VERSION_1_KINDS
    is_pane: ClassVar[bool] = True
    state_seconds: float = STATE_SECONDS
    release_seconds: float = RELEASE_SECONDS
    interval: ClassVar[float] = 0.0
    repeats: ClassVar[tuple[float, float] | None] = None
    wants_notices: ClassVar[bool] = False
    notice: str = ""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """Tell from the environment and the file system alone whether the host is around us: nothing is started."""
        raise NotImplementedError

    def owns_pane(self, call: Call) -> bool | None:
        """Ask the host whether the terminal we sit at is its own pane; None when it cannot tell."""
        return None

    def place(self) -> Place | None:
        """Return the pane that a host of panes stands for; asks and starts nothing."""
        return None

    def prepare(self, call: Call) -> None:
        """Do what must come before the first event, such as clearing what a killed run has left."""

    def projection(self, event: LifecycleEvent) -> Hashable:
        """Return what the host shows of a state; a state whose projection equals the last one's is not told."""
        return event.snapshot

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Tell the host an event of its `kinds`."""
        raise NotImplementedError

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Undo at the host all that was told: the session is over."""
        raise NotImplementedError
