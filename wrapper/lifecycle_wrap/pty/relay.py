"""The plainest possible pump, for when the real one has failed: it copies bytes and waits for the agent's end.

It shares no code with the pump and looks at nothing. Job control is given up: an agent that stops is continued.
"""

from __future__ import annotations

import os
import select

from lifecycle_wrap.lean import signal

from . import monitor
from .outer import Outer
from .signals import ENDING, FORWARDED, SignalPipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .child import Child

CHUNK = 4096
# What is still copied after the agent has ended, in chunks: more than a PTY's buffers hold.
LAST_CHUNKS = 64


def relay(
    child: Child,
    outer: Outer,
    signals: SignalPipe,
    show: Callable[[bytes], object] | None = None,
    ends: bool = False,
) -> int:
    """Copy until the agent has ended.

    Args:
        child: the agent.
        outer: the user's terminal.
        signals: our signals.
        show: gets the agent's bytes when they are out; must not raise.
        ends: the agent has been told to end already.

    Returns:
        The agent's wait status.
    """
    sources = {outer.input: child.master, child.master: outer.output, signals.fd: -1, child.messages: -1}
    if ends:
        _kill_later(child)
    while True:
        try:
            status = _ended(child)
            if status is not None:
                copy_rest(child, outer, show)
                return status
            for fd in select.select(list(sources), [], [])[0]:
                if fd == signals.fd:
                    _forward(child, outer, signals)
                elif fd != child.messages and not _copy(fd, sources[fd], show if fd == child.master else None):
                    del sources[fd]
                    if fd == outer.input:
                        child.signal(signal.SIGHUP)
                        _kill_later(child)
        except MemoryError:  # most likely where bytes were about to be read: they are still there
            continue


def copy_rest(child: Child, outer: Outer, show: Callable[[bytes], object] | None) -> None:
    """Copy what an agent that has ended has left; the arguments are those of `relay`."""
    for _ in range(LAST_CHUNKS):
        if not _copy(child.master, outer.output, show):
            return


def _copy(source: int, target: int, show: Callable[[bytes], object] | None) -> bool:
    try:
        data = os.read(source, CHUNK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    written = bool(data) and write(target, data)
    if show is not None:
        show(data)
    return written


def write(target: int, data: bytes | memoryview) -> bool:
    """Write all of it; returns whether the descriptor's other side is still there."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:
            select.select([], [target], [])
        except OSError:
            return False
    return True


def _forward(child: Child, outer: Outer, signals: SignalPipe) -> None:
    numbers = signals.read()
    for number in numbers & FORWARDED:
        child.signal(number)
    if numbers & {signal.SIGWINCH, signal.SIGCONT}:
        child.set_winsize(outer.winsize())
    if numbers & ENDING:
        _kill_later(child)


def _kill_later(child: Child) -> None:
    signal.signal(signal.SIGALRM, lambda _number, _frame: child.signal(signal.SIGKILL))
    signal.alarm(monitor.HANG_UP_GRACE)


def _ended(child: Child) -> int | None:
    try:
        for kind, number in child.read_messages():
            if kind == monitor.STOPPED:
                child.resume(foreground=True)
            elif kind == monitor.ENDED:
                return number
    except EOFError:
        return signal.SIGKILL
    return None
