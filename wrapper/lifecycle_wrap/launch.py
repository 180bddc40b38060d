"""From the command line to the agent and back: the order of start and end.

Nothing that the agent does not need is imported before it runs; what looks at the session is loaded on a thread of its
own while the agent starts.
"""

from __future__ import annotations

import gc
import os
import sys

from .environment import inside_wrapped_session, switched_off
from .log import Log
from .program import ProgramError, execute, find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from .arguments import Options
    from .config import Config
    from .observation import Watch
    from .pty.child import Child
    from .pty.outer import Outer
    from .pty.pump import Pump
    from .pty.signals import SignalPipe


def run(options: Options, argv: Sequence[str]) -> int:
    """Run an agent under observation, or in our place where there is nothing to observe or no need to.

    Returns:
        The exit status: 127 or 126 when the agent could not be started, 2 for a configuration refused by `--strict`,
        the agent's where it ran without a terminal. Otherwise this never returns: the process ends as the agent did,
        with 128+n when signal n ended it.
    """
    environ = os.environ
    try:
        path = find_program(argv[0], environ)
        terminal = os.isatty(0) and os.isatty(1)
        if switched_off(environ) or (terminal and inside_wrapped_session(environ, 0)):
            execute(path, argv, environ)
        if not terminal:
            return _run_without_terminal(options, path, argv, environ)
        if options.strict and (complaints := _complaints(options, environ)):
            _tell_user(complaints)
            return 2
        _run_in_pty(options, path, argv, environ)
    except ProgramError as error:
        _tell_user([f"lifecycle-wrap: {error}"])
        return error.status
    except OSError as error:
        return _refused(argv[0], error)


def _run_without_terminal(options: Options, path: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    if not options.headless:
        execute(path, argv, environ)
    from . import headless

    return headless.run(options, path, argv, environ)


def _refused(name: str, error: OSError) -> int:
    refusal = ProgramError.from_os_error(name, error)
    _tell_user([f"lifecycle-wrap: {refusal}"])
    return refusal.status


def _complaints(options: Options, environ: Mapping[str, str]) -> list[str]:
    from .observer import check_config

    return check_config(options, environ)


def _hidden_variables(options: Options, environ: Mapping[str, str]) -> Sequence[str]:
    """Names of variables that the agent must not inherit; the configuration is read only where a host wants that."""
    from . import hosts

    def load() -> Config:
        from pathlib import Path

        from .config import load_config

        return load_config(Path(options.config) if options.config else None, environ)[0]

    return hosts.hidden_variables(environ, load)


def _tell_user(lines: Sequence[str]) -> None:
    try:
        os.write(2, "".join(f"{line}\n" for line in lines).encode(errors="replace"))
    except OSError:
        return  # the user's terminal is gone; through sys.stderr that would cost the exit status


def _run_in_pty(options: Options, path: str, argv: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    # The relay and the reset are for the day when there is no memory and no descriptor left to load them.
    from .pty import relay  # noqa: F401
    from .pty.child import Child, exit_code
    from .pty.outer import Outer
    from .pty.process_name import show_as
    from .pty.signals import SignalPipe
    from .terminal import reset  # noqa: F401

    gc.disable()  # until everything is loaded: what start-up makes is no garbage
    show_as(argv[0])
    outer = Outer(environ)
    signals = SignalPipe()
    stderr = sys.stderr
    try:
        if outer.foreground():
            outer.enter_raw()
        child = Child(path, argv, environ, outer, remove=_hidden_variables(options, environ))
        sys.stderr = _Nowhere()
        session = _Session(options, argv, environ, child, outer, signals)
        status = session.run()
    finally:
        outer.restore()
        signals.close()
        sys.stderr = stderr
    _tell_user(session.close())
    # Not by way of Python's own end, which has other statuses: 120 where a stream's terminal is gone, SIGABRT where
    # there is no memory to end the threads that still wait for a host.
    os._exit(exit_code(status))


class _Nowhere:
    """In the place of stderr while the agent has the screen: what a library complains of there is not for it."""

    def write(self, text: str) -> int:
        """As any stream's; the text is gone."""
        return len(text)

    def flush(self) -> None:
        """As any stream's."""


class _Session:
    """One wrapped run from the agent's start to its end; a fault of ours in it costs the observation, not the agent."""

    def __init__(
        self,
        options: Options,
        argv: Sequence[str],
        environ: Mapping[str, str],
        child: Child,
        outer: Outer,
        signals: SignalPipe,
    ) -> None:
        self._options = options
        self._argv = argv
        self._environ = environ
        self._child = child
        self._outer = outer
        self._signals = signals
        self._log = Log(environ, options.debug)
        self._watch: Watch | None = None
        self._pump: Pump | None = None
        self._faults: list[str] = []

    def run(self) -> int:
        """Returns the agent's wait status when its last output is out."""
        try:
            pump = self._make_pump()
            status = pump.run()
            pump.finish()
        except Exception as error:
            status = self._run_without_pump(error)
        return status

    def _make_pump(self) -> Pump:
        from .loading import Loader
        from .observation import Watch
        from .pty.outer import unpack_size
        from .pty.pump import Pump

        size = unpack_size(self._child.winsize)
        loader = Loader(self._options, self._argv, self._environ, size, self._log, self._signals.wake)
        self._watch = Watch(self._log)
        self._pump = Pump(self._child, self._outer, self._signals, self._watch, loader)
        return self._pump

    def _run_without_pump(self, error: Exception) -> int:
        from .pty.relay import copy_rest, relay, write

        self._log.fault("the pump failed, and bytes are only copied from here on:", error)
        see = f"see {self._log.path} and report it"
        self._faults = [f"lifecycle-wrap: an internal error ended the observation, not the agent; {see}"]
        child, outer, pump, watch = self._child, self._outer, self._pump, self._watch
        if pump is None or watch is None:
            return relay(child, outer, self._signals)
        for step in (pump.wait_for_observer, watch.stop_looking):
            try:
                step()
            except Exception as again:  # what has failed may be this
                self._log.fault("there is no observer, either:", again)
        status = pump.status
        if status is None:
            for data in (pump.to_agent.take(), watch.to_agent, pump.from_outer):
                write(child.master, data)
        for data in (pump.to_outer.take(), watch.to_outer, pump.from_agent.take()):
            write(outer.output, data)
        if status is None:
            status = relay(child, outer, self._signals, watch.output, ends=pump.kill_at is not None)
        else:
            copy_rest(child, outer, watch.output)
        write(outer.output, watch.leave())
        return status

    def close(self) -> list[str]:
        """Let go of everything; returns lines for the user."""
        self._child.close()
        lines = list(self._faults)
        if self._pump is not None and self._pump.killed:
            lines.append("lifecycle-wrap: the agent did not end when a signal told it to, and was killed")
        if self._watch is not None:
            try:
                self._watch.close()
                lines += self._watch.notices()
            except Exception as error:
                self._log.fault("what the observer held may not be released:", error)
        return lines
