"""The agent in its PTY.

Owns the PTY's master, the agent's and the monitor's process ids, the signals sent to the agent, and the way from a wait
status to an exit code. The monitor (see `monitor`) stands between us and the agent.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios

from lifecycle_wrap.environment import child_environment
from lifecycle_wrap.lean import signal
from lifecycle_wrap.program import execute

from . import monitor
from .outer import Outer, cooked_modes, raw_modes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import NoReturn

# Descriptors are small numbers; closing above this one would only cost time where there is no close_range(2).
DESCRIPTOR_LIMIT = 1 << 16
ERRNO_SIZE = 4
# The monitor answers at once; that it may have been stopped or killed must not stop us. In seconds.
RESUME_LIMIT = 1.0


def exit_code(status: int) -> int:
    """The exit code that a shell gives for a wait status: 128+n when signal n ended the process."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


class Child:
    """A running agent.

    Attributes:
        master: descriptor of the PTY's master, non-blocking.
        messages: descriptor of the monitor's messages, non-blocking.
        pid: the agent's process id, which is its process group too.
        winsize: the PTY's size as `struct winsize`.
    """

    def __init__(
        self, path: str, argv: Sequence[str], environ: Mapping[str, str], outer: Outer, remove: Iterable[str]
    ) -> None:
        """Start the agent; it has been executed when this returns.

        Args:
            path: its program.
            argv: its command line.
            environ: our own environment.
            outer: the terminal whose size, modes and foreground the agent starts with.
            remove: names of variables that it must not inherit.

        Raises:
            OSError: the program could not be executed, or there is no PTY or process left.
        """
        self._unheard = b""
        self._awaits_order = False
        self.messages, messages = os.pipe()
        commands, self._commands = os.pipe()
        # Where the user has sent stderr elsewhere (2>file), that is the agent's.
        errors = None if os.isatty(2) else _duplicate(2)
        parent = os.getpid()
        foreground = outer.foreground()
        self.winsize = outer.winsize()
        modes = outer.found if foreground else cooked_modes(outer.found)
        restore_outer = monitor.outer_restorer(outer.input, modes, raw_modes(modes))

        def become_agent(exec_errors: int) -> NoReturn:
            signal.set_wakeup_fd(-1)
            _close_all_but(messages, commands, exec_errors, outer.input, *([] if errors is None else [errors]))
            fcntl.ioctl(0, termios.TIOCSWINSZ, self.winsize)
            termios.tcsetattr(0, termios.TCSANOW, modes)
            environment = child_environment(environ, session=os.getpid(), terminal=0, remove=remove)
            monitor.fork_agent(
                parent=parent,
                messages=messages,
                commands=commands,
                exec_errors=exec_errors,
                foreground=foreground,
                restore_outer=restore_outer,
            )
            if errors is not None:
                os.dup2(errors, 2)
            execute(path, argv, environment)

        try:
            self._monitor, self.master = _fork_onto_pty(become_agent)
        finally:
            os.close(messages)
            os.close(commands)
            if errors is not None:
                os.close(errors)
        os.set_inheritable(self.master, False)
        os.set_blocking(self.master, False)
        started = os.read(self.messages, monitor.MESSAGE_SIZE)
        if len(started) < monitor.MESSAGE_SIZE:
            raise OSError(errno.ECHILD, os.strerror(errno.ECHILD))
        self.pid = int.from_bytes(started[1:], "big")
        os.set_blocking(self.messages, False)

    def read_messages(self) -> Iterator[tuple[bytes, int]]:
        """What the monitor has told: (kind, number) as in `monitor`. One whose taker fails comes again.

        Raises:
            EOFError: the monitor is gone without having told how the agent ended.
        """
        if not self._unheard:
            try:
                self._unheard = os.read(self.messages, 64 * monitor.MESSAGE_SIZE)
            except BlockingIOError:
                return
            if not self._unheard:
                raise EOFError
            self._awaits_order = self._unheard.startswith(monitor.STOPPED, -monitor.MESSAGE_SIZE)
        while self._unheard:
            yield self._unheard[:1], int.from_bytes(self._unheard[1 : monitor.MESSAGE_SIZE], "big")
            self._unheard = self._unheard[monitor.MESSAGE_SIZE :]

    def resume(self, foreground: bool) -> None:
        """Continue the stopped agent, in the foreground of its terminal or in the background.

        Keys may be written to the PTY when this returns: those that make signals reach the agent.
        """
        if not self._awaits_order:
            return
        self._awaits_order = False
        try:
            os.write(self._commands, monitor.FOREGROUND if foreground else monitor.BACKGROUND)
            if select.select([self.messages], [], [], RESUME_LIMIT)[0]:
                os.read(self.messages, monitor.MESSAGE_SIZE)
        except OSError:
            return  # the monitor is gone; its end is on the way to us

    def set_winsize(self, winsize: bytes) -> bool:
        """Give the PTY a size; the kernel sends SIGWINCH when it is another one.

        Returns:
            Whether it was another one.
        """
        if winsize == self.winsize:
            return False
        self.winsize = winsize
        try:
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, winsize)
        except OSError:
            return False  # the agent's side is closed for good
        return True

    def foreground_group(self) -> int | None:
        """The foreground process group of the PTY, or None when there is none."""
        try:
            return os.tcgetpgrp(self.master) or None
        except OSError:
            return None

    def signal(self, number: int) -> None:
        """Send a signal to the agent's process group and to the foreground group of its terminal."""
        for group in {self.pid, self.foreground_group() or self.pid} - {self._monitor}:
            try:
                os.killpg(group, number)
            except OSError:
                continue  # ended, or another user's (sudo): the hang-up at our end reaches it
        if number == signal.SIGHUP:
            self.signal(signal.SIGCONT)

    def close(self) -> None:
        """Close the master, which hangs up what is left on the PTY; the monitor ends by itself."""
        os.close(self.master)


def _fork_onto_pty(become_agent: Callable[[int], NoReturn]) -> tuple[int, int]:
    """Run `become_agent` in a child that leads a session on a new PTY; returns when it has executed the agent.

    ptyprocess would do the same, but importing it takes as long as Python itself takes to start.

    Args:
        become_agent: called in the child with a pipe's end that must stay open until the agent is executed.

    Returns:
        The child's process id and the PTY's master.

    Raises:
        OSError: what `become_agent` raised (EINVAL in place of anything else), or no PTY or process is left.
    """
    errors, exec_errors = os.pipe()
    try:
        pid, master = os.forkpty()
        if pid == 0:
            try:
                become_agent(exec_errors)
            except Exception as error:
                number = getattr(error, "errno", None) or errno.EINVAL
                os.write(exec_errors, number.to_bytes(ERRNO_SIZE, "big"))
            finally:
                os._exit(1)
        os.close(exec_errors)
        failure = os.read(errors, ERRNO_SIZE)
    finally:
        os.close(errors)
    if failure:
        os.close(master)
        os.waitpid(pid, 0)
        number = int.from_bytes(failure, "big")
        raise OSError(number, os.strerror(number))
    return pid, master


def _duplicate(fd: int) -> int | None:
    try:
        return os.dup(fd)
    except OSError:
        return None  # closed


def _close_all_but(*keep: int) -> None:
    """Close every descriptor from 3 on but these: those that we inherited, too, are not the agent's."""
    low = 3
    for fd in (*sorted(keep), DESCRIPTOR_LIMIT):
        os.closerange(low, fd)
        low = fd + 1
