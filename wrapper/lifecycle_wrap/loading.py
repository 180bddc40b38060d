"""Loading what looks at the session, on a thread of its own while the agent starts.

Imports, configuration and profiles take some 100 ms; the agent's first bytes must not wait for them.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys

from .environment import settings_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .arguments import Options
    from .log import Log
    from .observation import Observer

# How long the end of a short session waits for the observer, in seconds; 0.1 is usual, a busy machine takes longer.
LOADING_GRACE = 10.0
# While it loads, the interpreter's threads take turns this often (in seconds), so that a byte waits for no import.
SWITCH_INTERVAL = 0.0005
# So much address space must be there before anything is loaded: the observer and the screen model's library take
# 30 MiB. Where it runs out in the middle of an import, Python may abort, or leave a lock that nobody lets go of.
HEADROOM = 40 << 20
# So long, in seconds, the rest of the loading waits for the agent to fall silent: two that print and load side by side
# are in each other's way, and nothing is judged from the screen in the middle of a flood.
SILENCE_PATIENCE = 2.0


def require_memory() -> None:
    """See that there is enough for what is about to be loaded.

    Raises:
        MemoryError: there is not.
    """
    bytes(HEADROOM)  # never touched: this costs two system calls


class Loader:
    """Makes the observer of one session.

    Attributes:
        size: the rows and columns that the observer is made for.
    """

    def __init__(
        self,
        options: Options,
        argv: Sequence[str],
        environ: Mapping[str, str],
        size: tuple[int, int],
        log: Log,
        done: Callable[[], None],
    ) -> None:
        """Prepare; `done` is called on the loading thread when `observer` has something to return."""
        self._options = options
        self._argv = argv
        self._environ = environ
        self.size = size
        self._log = log
        self._done = done
        self._observer: Observer | None = None
        self._started = False
        self._loading = _thread.allocate_lock()
        self._reading_config = _thread.allocate_lock()
        self._is_awaited = True
        self._in_flood = _thread.allocate_lock()

    def start(self) -> None:
        """Begin to load, once."""
        if self._started:
            return
        self._started = True
        for lock in (self._loading, self._reading_config, self._in_flood):
            lock.acquire()
        try:
            _thread.start_new_thread(self._load, ())
        except RuntimeError as error:  # no process or no memory left for a thread
            self._log.fault("the session is not observed, the system gives us no thread (ulimit -u, ulimit -v):", error)
            self._observer = self._blind()
            self._loading.release()
            self._done()

    def observer(self) -> Observer | None:
        """The observer, or None while it is not ready."""
        return self._observer

    def load_rest(self) -> None:
        """The agent is silent: what is not needed at once may be loaded."""
        self._in_flood.release()

    def wait(self) -> Observer:
        """The observer, waiting for it up to the grace."""
        self.start()
        self._loading.acquire(timeout=LOADING_GRACE)
        return self._observer or self.give_up()

    def is_awaited(self) -> bool:
        """Whether anybody would miss this session if it had ended before it was observed; waits until that is known."""
        if self._nothing_is_set():
            return False
        self.start()
        if self._reading_config.acquire(timeout=LOADING_GRACE):
            self._reading_config.release()
        return self._is_awaited

    def give_up(self) -> Observer:
        """An observer that sees nothing, in place of one that does not come."""
        self._log.write("the session is not observed: loading takes too long")
        return self._blind()

    def _load(self) -> None:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        try:
            try:
                self._observer = self._make()
            finally:
                self._loading.release()
                self._done()
            self._in_flood.acquire(timeout=SILENCE_PATIENCE)
            require_memory()
            self._observer.prepare()
        except Exception as error:
            self._log.fault("a part of what looks at the session is not there:", error)
        finally:
            sys.setswitchinterval(usual)
            gc.freeze()
            gc.enable()

    def _make(self) -> Observer:
        import time

        try:
            try:
                require_memory()
                self._is_awaited = self._would_be_missed()
            finally:
                self._reading_config.release()
            from .observer import make_observer

            return make_observer(self._options, self._argv, self._environ, self.size, time.monotonic(), self._log)
        except Exception as error:
            self._log.fault("the session is not observed:", error)
            return self._blind()

    def _nothing_is_set(self) -> bool:
        """Tell, without reading any of it, that there is nothing by which anybody could be told."""
        from . import hosts

        options, environ = self._options, self._environ
        if options.config or options.record or options.explain or options.profile:
            return False
        return not (os.path.exists(settings_folder(environ)) or hosts.any_marked(environ) or hosts.offered())

    def _would_be_missed(self) -> bool:
        """Tell whether somebody is to hear of the session even if it is over: a host, a file, the user of a problem."""
        from pathlib import Path

        from . import hosts
        from .agents import has_own_profile, profile_folder
        from .config import load_config

        options = self._options
        if options.record or options.explain or os.path.isdir(profile_folder(self._environ)):
            return True
        if options.profile and not has_own_profile(options.profile):
            return True
        path = Path(options.config) if options.config else None
        config, problems = load_config(path, self._environ, strict=options.strict)
        return bool(problems) or hosts.remembered(config, self._environ)

    def _blind(self) -> Observer:
        from .observation import Blind

        blind = Blind()
        blind.notices.append(
            f"lifecycle-wrap: this session was not observed; see {self._log.path} and lifecycle-wrap doctor"
        )
        return blind
