"""What looks at a wrapped session: the core's `Session`, the OSC 7501 answer, and the hosts, put together.

Owns the wiring and nothing else: bytes in, `SessionEvent`s through the projector to the manager. Loaded on a thread of
its own while the agent starts; afterwards all of it runs on the pump's thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle_detectors import (
    Catalog,
    ExitStatus,
    ForegroundProcess,
    Profile,
    Session,
    SessionEvent,
    Size,
    StateChanged,
    make_screen,
)
from lifecycle_detectors.modes import Place
from lifecycle_detectors.profiles import GENERIC, program_name
from lifecycle_detectors.screen import Screen

from . import hosts
from .arguments import Options
from .catalog import user_catalog
from .config import Config, load_config
from .foreground import Foreground
from .loading import require_memory
from .log import Log
from .manager import Manager
from .observation import Observer
from .projection import Identity, LifecycleEvent, Projector
from .terminal.outward import Outward

if TYPE_CHECKING:
    from .commands.explain import ExplainLog
    from .recordings.recorder import Recorder


def check_config(options: Options, environ: Mapping[str, str]) -> list[str]:
    """Return what `--strict` refuses to start with: a line for each problem of configuration and profiles."""
    _, _, problems = _load(options, environ)
    return problems


def make_observer(
    options: Options,
    argv: Sequence[str],
    environ: Mapping[str, str],
    size: tuple[int, int],
    now: float,
    log: Log,
) -> Observer:
    """Make the observer of one session.

    Args:
        options: of our command line.
        argv: the agent's command line.
        environ: our environment.
        size: rows and columns.
        now: monotonic seconds.
        log: where faults go.
    """
    config, catalog, problems = _load(options, environ)
    profile = _choose(options, catalog, argv)
    observer = SessionObserver(options, config, catalog, profile, argv, environ, Size(*size), now, log)
    observer.notices += problems
    return observer


def _load(options: Options, environ: Mapping[str, str]) -> tuple[Config, Catalog, list[str]]:
    path = Path(options.config) if options.config else None
    config, config_problems = load_config(path, environ, strict=options.strict)
    catalog = user_catalog(environ)
    problems = [str(problem) for problem in config_problems]
    problems += [f"lifecycle-wrap: {problem}" for problem in catalog.problems]
    if options.profile and options.profile not in catalog.names():
        known = ", ".join(catalog.names())
        problems.append(f"lifecycle-wrap: --profile: there is no profile {options.profile!r}; known: {known}")
    return config, catalog, problems


def _choose(options: Options, catalog: Catalog, argv: Sequence[str]) -> Profile:
    if options.profile and options.profile in catalog.names():
        return catalog.get(options.profile)
    return catalog.for_command(argv)


def session_id(profile: Profile, argv: Sequence[str]) -> str:
    """Return the agent's session that its command line names, or an empty string."""
    for option in profile.session_options:
        for position, word in enumerate(argv):
            name, equals, value = word.partition("=")
            if name == option and equals:
                return value
            if word == option and position + 1 < len(argv) and not argv[position + 1].startswith("-"):
                return argv[position + 1]
    return ""


def launcher(program: str) -> tuple[str, ...]:
    """Return the command that starts us again, up to `--`; `program` is what we were started as."""
    if os.path.basename(program) == "__main__.py":
        return sys.executable, "-m", "lifecycle_wrap", "--"
    return os.path.abspath(program), "--"


class SessionObserver(Observer):
    """Observes one session.

    Args:
        options, config: what the user wants.
        catalog: all profiles, for programs that come to the foreground.
        profile: the agent's.
        argv, environ: the agent's command line, our environment.
        size: the terminal's.
        now: monotonic seconds.
        log: where faults go.
    """

    def __init__(
        self,
        options: Options,
        config: Config,
        catalog: Catalog,
        profile: Profile,
        argv: Sequence[str],
        environ: Mapping[str, str],
        size: Size,
        now: float,
        log: Log,
    ) -> None:
        super().__init__()
        self._argv = argv
        self._catalog = catalog
        self._may_make_screens = False
        self._session = Session(
            profile,
            size,
            now,
            screen=None if config.screen == "off" else self._make_screen,
            choose_profile=self._foreground_profile if profile.follow or profile.name == GENERIC else None,
            background_working=config.background_shell == "working",
        )
        agent = program_name(argv) if profile.name == GENERIC else profile.name
        self._outward = Outward(config, profile, agent, environ, self._session.stream)
        self._projector = Projector(
            Identity(
                agent=agent,
                pid=os.getpid(),
                cwd=os.getcwd(),
                run_id=os.urandom(8).hex(),
                launcher=launcher(sys.argv[0]),
                resume=profile.resume,
                session_id=session_id(profile, argv),
                profile=profile.name,
            ),
            time.time_ns,
            titles=config.titles,
        )
        self._explain = self._start_explaining(options, now)
        self._recorder = self._start_recorder(options, size, argv, environ, now)
        self._only_follows = False
        self._foreground: Foreground | None = None
        self._manager: Manager | None = None
        if hosts.wanted(config, environ):
            self._manager = Manager(log.write, debug=config.debug)
            self._manager.start(lambda lookup: hosts.discover(config, environ, lookup))
        self._publish([self._projector.started()])

    def started(self, pid: int, foreground_group: Callable[[], int | None]) -> None:
        """Begin to follow the foreground process, where the profile wants it."""
        if self._session.follows:
            self._foreground = Foreground(pid, self._argv, foreground_group, self._is_agent)

    def prepare(self) -> None:
        """Load the screen model's library, which takes as long as all the rest together."""
        try:
            if self._session.uses_screen:
                make_screen(Size(1, 1))
        finally:  # if it cannot be loaded, that is for who wants a screen to find out
            self._may_make_screens = True

    @property
    def awaits_answers(self) -> bool:
        """The outer terminal has been asked, and may still answer."""
        return self._outward.awaits_answers

    def take_terminal(self, now: float) -> None:
        """From now on the outer terminal may be asked and written to."""
        self._outward.take_terminal()
        self._update(now)

    def give_terminal(self) -> None:
        """From now on it may not."""
        self._outward.give_terminal()

    def output(self, data: bytes, now: float) -> bytes:
        """Take out and put in what is between the agent and the outer terminal."""
        return self._outward.output(data, now)

    def input(self, data: bytes, now: float) -> bytes:
        """The same in the other direction."""
        if self._recorder is not None:
            data = self._recorder.take_marker_key(data, now)
        data = self._outward.input(data, now)
        self._update_deadline()
        return data

    def input_gone(self, data: bytes, now: float) -> None:
        """Take what was answered and typed before we were there."""
        if self._recorder is not None:
            self._recorder.take_marker_key(data, now)
        self._outward.input_gone(data, now)

    def flush_output(self) -> bytes:
        """Give up what `output` holds back."""
        return self._outward.flush_output()

    def flush_input(self) -> bytes:
        """Give up what `input` holds back."""
        return self._outward.flush_input()

    def look(self, data: bytes, now: float) -> None:
        """Look at the agent's output."""
        if self._recorder is not None:
            self._recorder.output(data, now)
        if self._foreground is not None:
            process = self._foreground.changed(now)
            if process is not None:
                self._follow(process, now)
        self._take(self._session.receive_output(data, now), now)

    def look_input(self, data: bytes, now: float) -> None:
        """Look at the user's input."""
        if self._recorder is not None:
            self._recorder.input(data, now)
        self._take(self._session.receive_input(data, now), now)

    def resized(self, rows: int, columns: int, now: float) -> None:
        """Follow the terminal's size."""
        if self._recorder is not None:
            self._recorder.resize(rows, columns, now)
        self._take(self._session.resize(Size(rows, columns), now), now)

    def on_deadline(self, now: float) -> None:
        """Do what is due."""
        self.to_agent += self._outward.on_deadline(now)
        self._take(self._session.tick(now), now)

    def child_exited(self, code: int | None, signal: int | None, now: float) -> None:
        """Tell the end."""
        self._take(self._session.child_exited(ExitStatus(code, signal), now), now)

    def leave(self) -> bytes:
        """Undo what the agent and we have changed in the outer terminal."""
        if self._only_follows:
            return self._outward.leave(None)
        left = self._outward.leave(self._place)
        self._session.show(left)
        return left

    def _place(self) -> Place | None:
        """Tell where the cursor stands; a short session that left something waits for its screen model here."""
        self._may_make_screens = True
        return self._session.place()

    def come_back(self, now: float) -> bytes:
        """Set it again."""
        again = self._outward.come_back(now)
        self._session.show(again)
        return again

    def withdraw(self) -> bytes:
        """Take back what we show, here and at the hosts: from now on it would only grow old."""
        taken_back = self._outward.withdraw()
        self._release()
        return taken_back

    def follow(self, data: bytes, position: int) -> None:
        """Keep no more than the modes."""
        self._only_follows = True
        stream = self._session.stream
        stream.feed(data[max(0, stream.position - position) :])

    def close(self) -> None:
        """Let the hosts go; bounded by the manager."""
        self._release()
        for file in (self._recorder, self._explain):
            if file is not None:
                file.close()
                if file.problem:
                    self.notices.append(f"lifecycle-wrap: {file.problem}")
        if self._manager is not None:
            self._manager.close()

    def _start_explaining(self, options: Options, now: float) -> ExplainLog | None:
        if options.explain is None:
            return None
        from .commands.explain import ExplainLog

        return ExplainLog(options.explain, now)

    def _start_recorder(
        self, options: Options, size: Size, argv: Sequence[str], environ: Mapping[str, str], now: float
    ) -> Recorder | None:
        if options.record is None:
            return None
        from .recordings.recorder import Recorder

        return Recorder(options.record, size.rows, size.columns, argv, environ, now)

    def _make_screen(self, size: Size) -> Screen | None:
        if not self._may_make_screens:
            return None
        require_memory()
        return make_screen(size)

    def _follow(self, process: ForegroundProcess, now: float) -> None:
        events = self._session.process_changed(process, now)
        profile = self._session.profile
        self._projector.set_session(session_id(profile, process.argv), profile.resume)
        self._outward.use_profile(profile)
        self._take(events, now)

    def _is_agent(self, argv: Sequence[str]) -> bool:
        profile = self._catalog.known_for(argv)
        return profile is not None and not profile.follow

    def _foreground_profile(self, process: ForegroundProcess) -> Profile:
        return self._catalog.for_command(process.argv)

    def _take(self, events: list[SessionEvent], now: float) -> None:
        if events:
            for event in events:
                if isinstance(event, StateChanged):
                    self._note_state(event)
            self._publish(self._projector.project(events))
            self._outward.take(events)
        self._update(now)

    def _update(self, now: float) -> None:
        """Write what is to be written, and say when to be called again."""
        self.to_outer += self._outward.update(now)
        self._update_deadline()

    def _note_state(self, change: StateChanged) -> None:
        if self._explain is not None:
            self._explain.changed(self._session, change)
        if self._recorder is not None and self._recorder.annotates and change.state is not change.previous:
            self._recorder.mark(f"state:{change.state}", change.at)

    def _update_deadline(self) -> None:
        deadlines = (self._session.next_deadline, self._outward.deadline)
        self.deadline = min((at for at in deadlines if at is not None), default=None)

    def _release(self) -> None:
        released = self._projector.released()
        if released is not None:
            self._publish([released])

    def _publish(self, events: list[LifecycleEvent]) -> None:
        if self._manager is not None:
            for event in events:
                self._manager.publish(event)
