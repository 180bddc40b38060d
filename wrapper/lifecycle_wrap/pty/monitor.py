"""The monitor: the small process between us and the agent that makes job control work.

POSIX calls a process group orphaned when no member has a parent in another group of the same session, and the
terminal's stop signals do nothing to such a group. An agent that is a direct child of ours would lead its own session
and so an orphaned group. So the child that is forked onto the PTY stays there as the session's leader, forks the agent
into a group of its own, and does what a job control shell does: it gives the group the terminal, waits for it to stop
or end, tells us, and continues it when we say so.

It imports nothing, holds no descriptor but the PTY slave, its two pipes and the outer terminal, and does not outlive
the agent.

Messages to us are five bytes: one letter and a big-endian number. `P` the agent's process id, once; `S` it stopped,
with the signal; `E` it ended, with the wait status. Our answer to `S` is one byte: `F` continue it in the foreground
of the PTY, `B` in the background; `C` comes back when the terminal is the right group's, so that a Ctrl-C is, too.
"""

from __future__ import annotations

import os
import termios

from lifecycle_wrap.lean import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    from .outer import Modes

STARTED = b"P"
STOPPED = b"S"
CONTINUED = b"C"
ENDED = b"E"
MESSAGE_SIZE = 5

FOREGROUND = b"F"
BACKGROUND = b"B"

# How long an agent may take over its hang-up once we are gone, in whole seconds.
HANG_UP_GRACE = 5

IGNORED = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGPIPE,
)


def fork_agent(
    *, parent: int, messages: int, commands: int, exec_errors: int, foreground: bool, restore_outer: Callable[[], None]
) -> None:
    """Fork the agent off the leader of the PTY's session; returns in the agent only.

    The agent then leads its own process group, has the terminal when `foreground`, and default signals.

    Args:
        parent: process id of the lifecycle-wrap that we work for.
        messages: pipe to write messages to.
        commands: pipe to read commands from.
        exec_errors: pipe that is closed by the agent's exec, and so must not stay open here.
        foreground: whether the agent starts in the foreground of its terminal.
        restore_outer: puts the outer terminal back; called when `parent` died without doing so.
    """
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    agent = os.fork()
    if agent == 0:
        os.setpgid(0, 0)
        if foreground:
            os.tcsetpgrp(0, os.getpid())
        _default_signals()
        return
    try:
        os.close(exec_errors)
        _watch(agent, parent, messages, commands, restore_outer)
    finally:
        os._exit(0)


def _default_signals() -> None:
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            continue  # KILL, STOP, and the numbers that the C library keeps for itself
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _watch(agent: int, parent: int, messages: int, commands: int, restore_outer: Callable[[], None]) -> NoReturn:
    def restore_outer_if_alone() -> None:
        # A process that dies closes its PTY's master first and stops being our parent later.
        if _is_hung_up() or os.getppid() != parent:
            restore_outer()

    def hang_up(_number: int, _frame: FrameType | None) -> None:
        restore_outer_if_alone()
        _signal_group(agent, signal.SIGHUP, signal.SIGCONT)
        signal.alarm(HANG_UP_GRACE)

    def kill(_number: int, _frame: FrameType | None) -> None:
        _signal_group(agent, signal.SIGKILL)

    signal.signal(signal.SIGHUP, hang_up)
    signal.signal(signal.SIGALRM, kill)
    _send(messages, STARTED, agent)
    while True:
        _, status = os.waitpid(agent, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        _send(messages, STOPPED, os.WSTOPSIG(status))
        command = os.read(commands, 1)
        if not command:
            hang_up(signal.SIGHUP, None)
            continue
        _give_terminal(agent if command == FOREGROUND else os.getpgrp())
        _send(messages, CONTINUED, 0)
        _signal_group(agent, signal.SIGCONT)
    restore_outer_if_alone()
    # What the agent leaves running in its group would get a SIGHUP at our end if it still had the terminal.
    _give_terminal(os.getpgrp())
    _send(messages, ENDED, status)
    os._exit(0)


def _is_hung_up() -> bool:
    try:
        termios.tcgetattr(0)
    except termios.error:
        return True
    return False


def _give_terminal(group: int) -> None:
    try:
        os.tcsetpgrp(0, group)
    except OSError:
        return  # the PTY is gone, or the group has ended


def _signal_group(group: int, *numbers: int) -> None:
    for number in numbers:
        try:
            os.killpg(group, number)
        except OSError:
            return


def _send(messages: int, kind: bytes, number: int) -> None:
    try:
        os.write(messages, kind + number.to_bytes(4, "big"))
    except OSError:
        return  # nobody reads any more


def outer_restorer(fd: int, found: Modes, raw: Modes) -> Callable[[], None]:
    """A function that puts the terminal on `fd` back to `found` if it still has the modes `raw`.

    Other modes mean that a shell has taken the terminal over already, and setting them would spoil its line editor.
    """

    def restore() -> None:
        try:
            if termios.tcgetattr(fd)[:4] == raw[:4]:
                termios.tcsetattr(fd, termios.TCSANOW, found)
        except termios.error:
            return  # the terminal is gone

    return restore
