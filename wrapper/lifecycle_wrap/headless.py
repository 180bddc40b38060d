"""`--headless report`: an agent without a terminal (`claude -p`) is run as it is, and told by its process life alone.

Owns the run of such an agent: no PTY, no observation; its standard streams are ours. It is working from its start to
its end, then idle, then released. Inside a wrapped session nothing is told: the outer one speaks for the pane.
"""

from __future__ import annotations

import os

from .environment import MARK, living_session
from .lean import signal
from .program import ProgramError, execute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lifecycle_detectors.events import SessionEvent, StateChanged
    from lifecycle_detectors.states import State

    from .arguments import Options
    from .manager import Manager
    from .projection import Projector

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

LAST_STATE_SECONDS = 1.0
"""How long the end waits for the hosts to have taken the last state: at once after it comes the release."""


def run(options: Options, path: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run an agent without a terminal.

    Args:
        options: of our command line.
        path: the agent's program.
        argv: its command line.
        environ: our environment.

    Returns:
        The exit status: the agent's, 128+n when signal n ended it, 126 or 127 when it could not be executed.
    """
    # A signal that comes before the agent is there to get it waits.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    child = _start(path, argv, environ)
    _forward_signals(child)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    telling = _Telling(options, argv, environ)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    telling.end(status)
    return status if status >= 0 else 128 - status


def _start(path: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Start the agent in our own process group, so that the terminal's keys and job control reach both of us."""
    child = os.fork()
    if child:
        return child
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    try:
        execute(path, argv, {**environ, MARK: f"{os.getsid(0)}:0"})
    except OSError as error:
        refusal = ProgramError.from_os_error(argv[0], error)
        os.write(2, f"lifecycle-wrap: {refusal}\n".encode(errors="backslashreplace"))
        os._exit(refusal.status)


def _forward_signals(child: int) -> None:
    def forward(number: int, _frame: object) -> None:
        try:
            os.kill(child, number)
        except ProcessLookupError:
            return

    for number in FORWARDED:
        # From the keyboard INT and QUIT reach the whole foreground group by themselves.
        from_keyboard = number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground()
        signal.signal(number, _ignore if from_keyboard else forward)


def _ignore(_number: int, _frame: object) -> None:
    """Nothing: a handler, because an ignored signal would have stayed ignored in a program started later."""


def _in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


class _Telling:
    """Tells the hosts of one run. A fault in it is written to the log and costs the agent nothing."""

    def __init__(self, options: Options, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        from .log import Log

        self._log = Log(environ, options.debug)
        self._manager: Manager | None = None
        self._projector: Projector | None = None
        try:
            self._begin(options, argv, environ)
        except Exception as error:
            self._log.fault("this run is not reported:", error)

    def end(self, status: int) -> None:
        """Tell the last state and the release; bounded."""
        try:
            self._end(status)
        except Exception as error:
            self._log.fault("the end of this run was not reported:", error)

    def _begin(self, options: Options, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        import time
        from pathlib import Path
        from uuid import uuid4

        from lifecycle_detectors import State
        from lifecycle_detectors.events import TurnStarted
        from lifecycle_detectors.profiles import GENERIC, program_name

        from . import hosts
        from .catalog import user_catalog
        from .config import load_config
        from .manager import Manager
        from .projection import Identity, Projector

        config, _ = load_config(Path(options.config) if options.config else None, environ)
        if living_session(environ) is not None or not hosts.wanted(config, environ):
            return
        profile = user_catalog(environ).for_command(argv)
        identity = Identity(
            agent=program_name(argv) if profile.name == GENERIC else profile.name,
            pid=os.getpid(),
            cwd=os.getcwd(),
            run_id=uuid4().hex[:16],
            profile=profile.name,
        )
        self._projector = Projector(identity, time.time_ns)
        self._manager = Manager(self._log.write, debug=config.debug)
        self._manager.start(lambda lookup: hosts.discover(config, environ, lookup))
        self._manager.publish(self._projector.started())
        self._tell(TurnStarted(0.0, 1), _changed(State.WORKING, State.UNKNOWN))

    def _end(self, status: int) -> None:
        if self._manager is None:
            return
        from lifecycle_detectors import ExitStatus, State
        from lifecycle_detectors.events import SessionEnded, TurnCompleted

        failed = status != 0
        self._tell(_changed(State.IDLE, State.WORKING, failed=failed), TurnCompleted(0.0, 1, failed))
        self._manager.settle(LAST_STATE_SECONDS)
        code, number = (status, None) if status >= 0 else (None, -status)
        self._tell(SessionEnded(0.0, ExitStatus(code, number)))
        self._manager.close()

    def _tell(self, *events: SessionEvent) -> None:
        assert self._manager is not None
        assert self._projector is not None
        for event in self._projector.project(events):
            self._manager.publish(event)


def _changed(state: State, previous: State, *, failed: bool = False) -> StateChanged:
    from lifecycle_detectors.events import Source, StateChanged

    return StateChanged(0.0, state, previous, "headless/process", Source.PROCESS, failed=failed)
