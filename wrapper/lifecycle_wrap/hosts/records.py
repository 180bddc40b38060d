"""What stands in the register: where it is, what its files hold, and their reader.

Owns the directory and the format; `register` writes it. The directory is `$XDG_RUNTIME_DIR/lifecycle-wrap`, or
`lifecycle-wrap-<uid>` in `$TMPDIR` or /tmp where there is no runtime directory (macOS), or one in which others can
write; it belongs to the user alone (0700), else nothing is written or believed. A prompt or a status line reads the
register every few seconds, so this imports next to nothing.

The files of a session are named after our process and the time, `<pid>-<time>`:

`.json`     the record, replaced atomically with each change.
`.lock`     locked (`flock`) while the session lives. The kernel gives the lock up with the process, SIGKILL included,
            so a session whose lock is free is gone; that holds when the process number is used again, when the clock
            is set, and across containers that share the directory. The lock is open for writing, so its closing shows
            to those who watch the directory.
`.events`   the journal: every canonical event as a JSON line, the release too, right before all files go. When it has
            grown to `JOURNAL_LIMIT` bytes it becomes `.events.1`, and a new one begins.

The record is one object:

    version       1
    agent         the agent's name
    tty           the terminal we sit at, or ""
    pane          the host's pane we sit in, such as "tmux %3", or ""
    focus         the command that brings the user there, as a list of arguments, or []
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

VERSION = 1

RECORD = ".json"
LOCK = ".lock"
JOURNAL = ".events"
OLD_JOURNAL = ".events.1"

JOURNAL_LIMIT = 256 * 1024
"""Some 800 events: hours of a session's life; twice that at most lies on what is mostly a file system in memory."""

RECORD_LIMIT = 1024 * 1024
"""The most bytes that are read of a record; ours stay below half of it even with the longest `resume_argv`."""


def directory(environ: Mapping[str, str]) -> str:
    """Return the register's directory, which may not exist yet."""
    runtime, temporary = environ.get("XDG_RUNTIME_DIR", ""), environ.get("TMPDIR", "")
    if _is_safe(runtime):
        return f"{runtime}/lifecycle-wrap"
    return f"{temporary if _is_safe(temporary) else '/tmp'}/lifecycle-wrap-{os.getuid()}"


def _is_safe(path: str) -> bool:
    """Tell whether nobody but the user and root can put another directory in the place of one in it.

    It often is not after `su` or `sudo -E`: there the runtime directory is the other user's.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    others_write = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    return path.startswith("/") and status.st_uid in (0, os.geteuid()) and not others_write


def is_private(path: str | os.PathLike[str]) -> bool:
    """Tell whether a directory is the user's own and nobody else can enter it; a symbolic link is not."""
    try:
        return is_ours_alone(os.lstat(path))
    except OSError:
        return False


def is_ours_alone(status: os.stat_result) -> bool:
    """Tell the same from a directory's status."""
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0


class Session:
    """A session as the register tells it; see the module's docstring for what the fields mean.

    Attributes:
        key: the name of its files without their suffix; no two sessions ever share it.
        alive: False when its process is gone and only its files are left.
        pid: the process that wraps the agent.
        state: `idle`, `working`, `blocked`, or empty before the first state.
        message: what the state is about, from the fixed vocabulary.
        cwd: the agent's working directory.
        session_id: the agent's own session, or empty.
        user: whose it is, and
        host: the machine it runs on; both empty where only this user's on this machine are asked for.
        lost: "gone" for a session on another machine that was cut off, "stale" for one whose state is old; else empty.
    """

    __slots__ = (
        "agent",
        "alive",
        "attention",
        "attention_at",
        "background",
        "blocked_on",
        "cwd",
        "event",
        "failed",
        "focus",
        "host",
        "key",
        "lost",
        "message",
        "notices",
        "pane",
        "pid",
        "session_id",
        "since",
        "started",
        "state",
        "tty",
        "user",
    )

    def __init__(self, key: str, alive: bool, record: Mapping[str, Any]) -> None:
        """Take a record's fields; raises `KeyError` or `TypeError` for one that is missing or of another type."""
        self.key = key
        self.alive = alive
        self.agent: str = _checked(record, "agent", str)
        self.tty: str = _checked(record, "tty", str)
        self.pane: str = _checked(record, "pane", str)
        self.focus: tuple[str, ...] = tuple(map(str, _checked(record, "focus", list)))
        self.started: str = _checked(record, "started", str)
        self.since: str = _checked(record, "since", str)
        self.attention: int = _checked(record, "attention", int)
        self.attention_at: str = _checked(record, "attention_at", str)
        self.blocked_on: str = _checked(record, "blocked_on", str)
        self.background: bool = _checked(record, "background", bool)
        self.failed: bool = _checked(record, "failed", bool)
        self.notices: Mapping[str, str] = _checked(record, "notices", dict)
        self.event: Mapping[str, Any] = _checked(record, "event", dict)
        self.pid: int = _checked(self.event, "pid", int)
        self.state: str = _checked(self.event, "state", str)
        self.message: str = _checked(self.event, "message", str)
        self.cwd: str = _checked(self.event, "cwd", str)
        self.session_id: str = _checked(self.event, "session_id", str)
        self.user = ""
        self.host = ""
        self.lost = ""


def _checked(table: Mapping[str, Any], key: str, expected: type) -> Any:
    value = table[key]
    if not isinstance(value, expected):
        raise TypeError(key)
    return value


def list_sessions(path: str | os.PathLike[str]) -> list[Session]:
    """Read the register; what is not ours or is malformed is passed over.

    Args:
        path: the register's directory.

    Returns:
        The sessions by pid, dead ones too.
    """
    return sorted(_read(os.fspath(path)), key=lambda session: session.pid) if is_private(path) else []


def _read(path: str) -> Iterator[Session]:
    for name in os.listdir(path):
        if name.endswith(RECORD):
            key = name.removesuffix(RECORD)
            try:
                record = _load(f"{path}/{name}")
                yield Session(key, is_alive(f"{path}/{key}{LOCK}"), record)
            except (OSError, ValueError, TypeError, KeyError, RecursionError):
                continue


def _load(file: str) -> dict[str, Any]:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise ValueError(file)
        record = json.loads(stream.read(RECORD_LIMIT))
    if not isinstance(record, dict) or record["version"] != VERSION:
        raise ValueError(file)
    return record


def is_alive(lock: str | os.PathLike[str]) -> bool:
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
