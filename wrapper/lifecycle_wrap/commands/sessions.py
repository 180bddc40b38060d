"""The wrapped sessions of this user on this machine, and those on a broker, as commands speak of them.

Owns their order, their names, the choice of one by a word of the user's, and the fields of `ps --format`. Reads the
register through `hosts.records`; imports next to nothing, for prompts and status lines come through here.
"""

from __future__ import annotations

from datetime import datetime
from string import Formatter

from lifecycle_wrap.hosts.records import Session, directory, list_sessions
from lifecycle_wrap.terminal.cells import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STATES = ("blocked", "working", "idle", "")
"""What wants the user most comes first; empty is a session whose agent has not shown itself yet."""

LOST = ("", "stale", "gone")
"""What is not known to be so any more comes last."""

_MARKS = {"blocked": "!", "working": "*", "idle": "-", "gone": "x"}
_COLORS = {"blocked": "red", "working": "yellow", "idle": "green"}


class NoSuchSessionError(Exception):
    """No session is called so; the text says how to find one."""


class AmbiguousSessionError(Exception):
    """Several sessions are called so; the text names them."""


def running(environ: Mapping[str, str]) -> list[Session]:
    """Return the sessions that live, those that wait for the user first, and of those the longest wait first."""
    sessions = [session for session in list_sessions(directory(environ)) if session.alive]
    return sorted(sessions, key=by_state)


def by_state(session: Session) -> tuple[int, int, float]:
    """The order of `running`."""
    place = STATES.index(session.state) if session.state in STATES else len(STATES)
    return LOST.index(session.lost), place, moment(session.since)


def find(sessions: Sequence[Session], word: str) -> Session:
    """Return the session that a user means: by its pid, its name, or the unique beginning of one or of its agent's id.

    Where there are several machines, `HOST:` before it says on which.

    Raises:
        NoSuchSessionError: there is none.
        AmbiguousSessionError: there are several.
    """
    host, colon, rest = word.partition(":")
    there = [session for session in sessions if colon and session.host == host]
    if there:
        sessions, word = there, rest
    found = [session for session in sessions if str(session.pid) == word]
    found = found or [session for session in sessions if word in (name(session), session.session_id)]
    found = found or [session for session in sessions if _begins(session, word)]
    if not found:
        raise NoSuchSessionError(f"no running session is called {word!r}; lifecycle-wrap ps lists them")
    if len(found) > 1:
        which = ", ".join(f"{_with_host(session, str(session.pid))} ({name(session)})" for session in found)
        raise AmbiguousSessionError(f"{word!r} may be any of {which}; name one by its pid")
    return found[0]


def _begins(session: Session, word: str) -> bool:
    return bool(word) and any(text.startswith(word) for text in (str(session.pid), name(session), session.session_id))


def name(session: Session) -> str:
    """Return what people call a session: its agent and the directory it works in, such as `claude@project`."""
    return f"{session.agent}@{base(session.cwd)}"


def _with_host(session: Session, text: str) -> str:
    return f"{session.host}:{text}" if session.host else text


def full_name(session: Session) -> str:
    """Return the session's name, and on which machine where there are several: `web1:claude@project`."""
    return _with_host(session, name(session))


def base(path: str) -> str:
    """Return the last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1] or "/"


def terminal(session: Session) -> str:
    """Return where a session is seen: the host's pane, else the terminal's device."""
    return harmless(session.pane) or session.tty.removeprefix("/dev/")


def state(session: Session) -> str:
    """Return the state in one word."""
    return session.lost or session.state or "starting"


def about(session: Session) -> str:
    """Return what there is to say about the state: content-free, from a fixed vocabulary."""
    if session.lost:
        return f"Was {session.state}" if session.lost == "stale" and session.state else "Cut off"
    if session.message:
        return session.message
    if session.state == "idle" and session.failed:
        return "The last turn failed"
    return "A background task runs" if session.background else ""


def moment(timestamp: str) -> float:
    """Return the seconds since the epoch of an RFC 3339 timestamp of ours; 0 for anything else."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def age(session: Session, now: float) -> str:
    """Return how long the state has stood, in the largest unit: `5s`, `3m`, `2h`, `4d`."""
    return duration(now - moment(session.since))


_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def duration(seconds: float) -> str:
    """Write a duration in its largest unit, rounded down."""
    whole = max(0, int(seconds))
    unit, length = next(((unit, length) for unit, length in _UNITS if whole >= length), _UNITS[-1])
    return f"{whole // length}{unit}"


def changes_at(session: Session, now: float) -> float:
    """Return when `age` will read differently."""
    since = moment(session.since)
    seconds = max(0, int(now - since))
    length = next((length for _, length in _UNITS if seconds >= length), 1)
    return since + (seconds // length + 1) * length


def _focus(session: Session) -> str:
    from shlex import join

    return join(session.focus)


FIELDS: dict[str, Callable[[Session, float], str]] = {
    "agent": lambda session, now: session.agent,
    "name": lambda session, now: name(session),
    "state": lambda session, now: state(session),
    "mark": lambda session, now: _MARKS.get(state(session), "?"),
    "color": lambda session, now: _COLORS.get(state(session), "default"),
    "about": lambda session, now: about(session),
    "age": age,
    "since": lambda session, now: session.since,
    "cwd": lambda session, now: session.cwd,
    "dir": lambda session, now: base(session.cwd),
    "terminal": lambda session, now: terminal(session),
    "tty": lambda session, now: session.tty,
    "host": lambda session, now: session.host,
    "pid": lambda session, now: str(session.pid),
    "id": lambda session, now: session.session_id,
    "attention": lambda session, now: str(session.attention),
    "focus": lambda session, now: _focus(session),
}
"""The fields of a template."""


class TemplateError(Exception):
    """A template that cannot be filled in; the text says what may stand in it."""


class _Fields:
    """One session's fields, made when they are asked for."""

    def __init__(self, session: Session, now: float) -> None:
        self._session = session
        self._now = now

    def __getitem__(self, key: str) -> str:
        return FIELDS[key](self._session, self._now)


def fill_in(template: str, sessions: Iterable[Session], now: float) -> list[str]:
    """Fill in a template for each session.

    Args:
        template: text with `{field}`, in the syntax of Python's `str.format`: `{agent:<10}` pads, `{{` is a brace.
        sessions: which.
        now: seconds since the epoch.

    Raises:
        TemplateError: it names something that is no field, or is malformed.
    """
    try:
        unknown = [field for _, field, _, _ in Formatter().parse(template) if field is not None and field not in FIELDS]
        if unknown:
            raise ValueError(f"there is no field {{{unknown[0]}}}")
        template.format_map(dict.fromkeys(FIELDS, ""))  # a wrong template is told without any session too
        return [template.format_map(_Fields(session, now)) for session in sessions]
    except (KeyError, ValueError) as error:
        fields = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise TemplateError(f"--format: {error}; fields are {fields}") from None
