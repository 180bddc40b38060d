"""This machine's own register: one file per session, which `ps`, `watch`, `wait` and `tail` read.

Owns the directory, the file's format and its reader. The directory is `$XDG_RUNTIME_DIR/lifecycle-wrap`, or
`lifecycle-wrap-<uid>` in the directory for temporary files where there is no runtime directory (macOS); it belongs to
the user alone (0700), else nothing is written or believed.

A session has two files, named after our process and the time: `<pid>-<time>.json` is replaced atomically with each
change, `<pid>-<time>.lock` is locked (`flock`) while the session lives. The kernel gives the lock up with the process,
SIGKILL included, so a file whose lock is free is stale; that holds when the process number is used again, when the
clock is set, and across containers that share the directory. Waiting for the lock is waiting for the end of the
session.

The JSON is one object:

    version       1
    agent         the agent's name
    tty           the terminal we sit at, or ""
    started       when the session was registered, RFC 3339
    since         when the state last changed, RFC 3339
    attention     how often the agent has rung or sent a notification
    attention_at  when it last did, RFC 3339, or ""
    blocked_on    "permission", "question", "auth" or ""
    background    idle, but something the agent started still runs
    failed        the turn that ended last failed
    notices       what hosts want the user to know, by host
    event         the last event as in version 1 JSON; its state is "" before the first one
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lifecycle_wrap.projection import Kind, LifecycleEvent, format_timestamp

from .base import Call, Detection, ErrorClass, Host, HostError, Setup

VERSION = 1

RECORD_LIMIT = 1024 * 1024
"""The most bytes that are read of a record; ours stay below half of it even with the longest `resume_argv`."""


def directory(environ: Mapping[str, str]) -> Path:
    """Return the register's directory, which may not exist yet."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and os.path.isdir(runtime):
        return Path(runtime) / "lifecycle-wrap"
    return Path(tempfile.gettempdir()) / f"lifecycle-wrap-{os.getuid()}"


def is_private(path: Path) -> bool:
    """Tell whether a directory is the user's own and nobody else can enter it; a symbolic link is not."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0


class Register(Host):
    """Writes this session's record."""

    name: ClassVar[str] = "register"
    kinds: frozenset[Kind] = frozenset({Kind.SESSION_STARTED, Kind.STATE, Kind.ATTENTION, Kind.RELEASE})
    is_pane: ClassVar[bool] = False
    wants_notices: ClassVar[bool] = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._directory = directory(setup.environ)
        self._record = self._directory / f"{os.getpid()}-{time.time_ns():x}.json"
        self._lock_path = self._record.with_suffix(".lock")
        self._lock: int | None = None
        self._started = ""
        self._state: str | None = None
        self._since = ""
        self._attention = 0
        self._attention_at = ""

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """The register is always there; whether its directory can be used shows when it is."""
        return Detection(True, f"writes to {directory(environ)}")

    def prepare(self, call: Call) -> None:
        """Make the directory and take the session's lock; what dead sessions have left is removed."""
        with suppress(FileExistsError):
            os.makedirs(self._directory, mode=0o700)
        if not is_private(self._directory):
            raise HostError(ErrorClass.DENIED)
        self._lock = _take_lock(self._lock_path)
        sweep(self._directory)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Replace the record."""
        if self._lock is None:
            raise HostError
        now = format_timestamp(event.timestamp)
        self._started = self._started or now
        if event.state != self._state:
            self._state = event.state
            self._since = now
        if event.kind is Kind.ATTENTION:
            self._attention += 1
            self._attention_at = now
        record = {
            "version": VERSION,
            "agent": event.agent,
            "tty": self.setup.tty,
            "started": self._started,
            "since": self._since,
            "attention": self._attention,
            "attention_at": self._attention_at,
            "blocked_on": event.blocked_on,
            "background": event.background,
            "failed": event.failed,
            "notices": dict(self.setup.notices()),
            "event": json.loads(event.to_json()),
        }
        partial = self._record.with_suffix(".new")
        try:
            partial.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
            partial.replace(self._record)
        except OSError:
            raise HostError from None

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Remove the record, then the lock."""
        for path in (self._record.with_suffix(".new"), self._record, self._lock_path):
            path.unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _take_lock(path: Path) -> int:
    """Lock a file, made if need be; once more from the start where a sweep has removed it in between."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.lstat()):
                return descriptor
        os.close(descriptor)


def sweep(path: Path) -> None:
    """Remove the files of sessions that are gone."""
    for lock in path.glob("*.lock"):
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for file in (lock.with_suffix(".new"), lock.with_suffix(".json"), lock):
                file.unlink(missing_ok=True)
        except OSError:
            continue  # it lives
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the register tells it; see the module's docstring for what the fields mean.

    Attributes:
        alive: False when its process is gone and only its files are left.
    """

    alive: bool
    agent: str
    tty: str
    started: str
    since: str
    attention: int
    attention_at: str
    blocked_on: str
    background: bool
    failed: bool
    notices: Mapping[str, str]
    event: Mapping[str, Any]

    @property
    def pid(self) -> int:
        """The process that wraps the agent."""
        return int(self.event["pid"])

    @property
    def state(self) -> str:
        """`idle`, `working`, `blocked`, or empty before the first state."""
        return str(self.event["state"])

    @property
    def message(self) -> str:
        """What the state is about, from the fixed vocabulary."""
        return str(self.event["message"])

    @property
    def cwd(self) -> str:
        """The agent's working directory."""
        return str(self.event["cwd"])


def list_sessions(path: Path) -> list[Session]:
    """Read the register; what is not ours or is malformed is passed over.

    Args:
        path: the register's directory.

    Returns:
        The sessions by pid, dead ones too.
    """
    return sorted(_read(path), key=lambda session: session.pid) if is_private(path) else []


def _read(path: Path) -> Iterator[Session]:
    for file in path.glob("*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            yield _session(_load(file), is_alive(file.with_suffix(".lock")))


def _load(file: Path) -> dict[str, Any]:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise ValueError(file)
        record = json.loads(stream.read(RECORD_LIMIT))
    if not isinstance(record, dict) or record["version"] != VERSION:
        raise ValueError(file)
    return record


_TYPES = {
    "agent": str,
    "tty": str,
    "started": str,
    "since": str,
    "attention": int,
    "attention_at": str,
    "blocked_on": str,
    "background": bool,
    "failed": bool,
    "notices": dict,
    "event": dict,
}


_EVENT_TYPES = {"state": str, "message": str, "cwd": str, "pid": int}


def _session(record: Mapping[str, Any], alive: bool) -> Session:
    values = {key: record[key] for key in _TYPES}
    for checked, types in ((values, _TYPES), (record["event"], _EVENT_TYPES)):
        if not all(isinstance(checked[key], expected) for key, expected in types.items()):
            raise TypeError
    return Session(alive=alive, **values)


def is_alive(lock: Path) -> bool:
    """Tell whether a session holds its lock file."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two readers at once do not take each other for the session.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
