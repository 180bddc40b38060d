"""From the core's events to the one canonical event, and from that to its version 1 JSON.

Owns the canonical `LifecycleEvent`, its sanitising and bounds, the sequence and the timestamp. Every host's output is a
projection of this event, so no two of them can drift. Must not know any host, and does no I/O; clocks are arguments.

The JSON is schema version 1 as term-llm wrote it first, with our producer's name. One difference in bytes is
deliberate: Go's encoder writes `<`, `>`, `&`, U+2028 and U+2029 as escapes, we write plain
`json.dumps(ensure_ascii=False)`. Every JSON parser reads both the same; only a reader that compares bytes could tell.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import gmtime

from lifecycle_detectors.events import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    Message,
    ProfileChanged,
    SessionEnded,
    SessionEvent,
    StateChanged,
    TitleChanged,
    TurnCompleted,
    TurnStarted,
    WorkingDirectoryChanged,
)
from lifecycle_detectors.states import State

SCHEMA_VERSION = 1
PRODUCER = "lifecycle-wrap"

# Bounds in code points, of the version 1 contract.
MESSAGE_LIMIT = 512
SESSION_ID_LIMIT = 256
TITLE_LIMIT = 256
CWD_LIMIT = 4096
ARGUMENT_LIMIT = 4096
ARGUMENTS_LIMIT = 64

GENERIC_PROFILE = "generic"
"""The profile of a program nobody has described; its name says less than the command's."""


class Kind(StrEnum):
    """What a canonical event tells."""

    SESSION_STARTED = "session_started"
    STATE = "state"
    TURN_STARTED = "turn_started"
    TURN_COMPLETED = "turn_completed"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVAL_RESOLVED = "approval_resolved"
    ATTENTION = "attention"
    RELEASE = "release"


VERSION_1_KINDS = frozenset({Kind.STATE, Kind.RELEASE})
"""The kinds that a reader of version 1 knows; the others reach only who asks for them."""


@dataclass(frozen=True, slots=True)
class LifecycleEvent:
    """The canonical event: everything a host may be told, already sanitised and bounded.

    Attributes:
        kind: what happened.
        sequence: strictly rising in a session, in the order of nanoseconds since the epoch, shared by all hosts.
        timestamp: nanoseconds since the epoch, UTC.
        state: `idle`, `working` or `blocked`; empty on release and before the first state.
        message: from the fixed vocabulary; empty when idle and on release.
        session_id: the agent's own session, or empty.
        pid: the producer's process.
        cwd: the agent's working directory.
        resume_argv: the command that resumes the session under us, or empty.
        turn_id: opaque, the same for all events of a turn; empty outside turns. Only in the JSON of the kinds beyond
            version 1.
        agent: the agent's name, for hosts that label it. Not in the JSON.
        profile: the name of the profile that it is seen by. Not in the JSON.
        title: the agent's window title, without spinner; empty unless titles are asked for. Not in the JSON.
        blocked_on: `permission`, `question`, `auth` or empty. Not in the JSON.
        background: idle, but something the agent started still runs. Not in the JSON.
        failed: the turn that ended last failed. Not in the JSON.
    """

    kind: Kind
    sequence: int
    timestamp: int
    state: str
    message: str
    session_id: str
    pid: int
    cwd: str
    resume_argv: tuple[str, ...] = ()
    turn_id: str = ""
    agent: str = ""
    profile: str = ""
    title: str = ""
    blocked_on: str = ""
    background: bool = False
    failed: bool = False

    @property
    def snapshot(self) -> LifecycleEvent:
        """The event without its number and time: two equal snapshots tell a host nothing new."""
        return replace(self, sequence=0, timestamp=0, turn_id="")

    def to_json(self) -> bytes:
        """Return the event as one JSON line of schema version 1, UTF-8, with its newline."""
        fields: dict[str, object] = {
            "schema_version": SCHEMA_VERSION,
            "producer": PRODUCER,
            "kind": self.kind.value,
            "sequence": self.sequence,
            "timestamp": format_timestamp(self.timestamp),
            "state": self.state,
            "message": self.message,
            "session_id": self.session_id,
            "pid": self.pid,
            "cwd": self.cwd,
        }
        if self.resume_argv:
            fields["resume_argv"] = self.resume_argv
        if self.kind not in VERSION_1_KINDS:
            fields["turn_id"] = self.turn_id
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def format_timestamp(nanoseconds: int) -> str:
    """Format nanoseconds since the epoch as RFC 3339 in UTC, the fraction's trailing zeros dropped."""
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    moment = gmtime(seconds)
    date = f"{moment.tm_year:04}-{moment.tm_mon:02}-{moment.tm_mday:02}"
    clock = f"{moment.tm_hour:02}:{moment.tm_min:02}:{moment.tm_sec:02}"
    digits = f".{fraction:09}".rstrip("0").rstrip(".")
    return f"{date}T{clock}{digits}Z"


_TO_SPACE = str.maketrans("\n\r\t", "   ")
# Control and format characters could drive a terminal or reorder text; a surrogate is a byte that was no UTF-8.
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs"})


def clean(text: str, limit: int) -> str:
    """Make foreign text safe to print, keeping its inner spaces.

    Args:
        text: any text, lone surrogates included.
        limit: the most code points to keep.
    """
    text = text.strip().translate(_TO_SPACE)
    if not (text.isascii() and text.isprintable()):
        text = "".join(c for c in text if c != "\ufffd" and unicodedata.category(c) not in _DROPPED_CATEGORIES)
    return text[:limit]


def collapse(text: str, limit: int) -> str:
    """Clean foreign text, then make one space of each run of white space; the result may be shorter than `limit`."""
    return " ".join(clean(text, limit).split())


def resume_argv(launcher: Sequence[str], template: Sequence[str], session_id: str) -> tuple[str, ...]:
    """Build the command that resumes a session under us.

    Args:
        launcher: how we are started, up to and including `--`.
        template: the agent's own resume command, `{session_id}` standing for the session; empty when the profile has
            none.
        session_id: the agent's session, or empty.

    Returns:
        At most 64 arguments, or nothing when the session or the command is unknown.
    """
    if not (session_id and template and launcher):
        return ()
    arguments = (*launcher, *(part.replace("{session_id}", session_id) for part in template))
    return tuple(clean(argument, ARGUMENT_LIMIT) for argument in arguments[:ARGUMENTS_LIMIT])


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known about a session from its start.

    Attributes:
        agent: the agent's name: its profile's, or the command's base name.
        pid: our own process.
        cwd: where the agent was started.
        run_id: opaque and unique to this run; the start of every `turn_id`.
        launcher: how we were started, up to and including `--`; empty where that is not known.
        resume: the profile's template of the resume command.
        session_id: the session that the agent's command line names, or empty.
        profile: the name of the agent's profile.
    """

    agent: str
    pid: int
    cwd: str
    run_id: str
    launcher: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    session_id: str = ""
    profile: str = GENERIC_PROFILE


_GENERAL_MESSAGE = {
    "permission": Message.APPROVAL,
    "question": Message.USER_INPUT,
    "auth": Message.SIGN_IN,
    "": Message.USER_INPUT,
}


def _message(event: StateChanged) -> Message:
    if event.state is State.BLOCKED:
        return event.message or _GENERAL_MESSAGE[event.kind]
    if event.state is State.WORKING:
        return event.message or Message.WORKING
    return Message.NONE


@dataclass(slots=True)
class Projector:
    """Turns what a `Session` says into canonical events.

    Call `started()` once, `project(events)` with each batch a `Session` returns, and publish what comes back, in
    order. The release comes out of `SessionEnded`, or of `released()` where the session ends for another reason; only
    the first counts.

    Attributes:
        identity: what is known from the start.
        time_ns: the wall clock, nanoseconds since the epoch.
        titles: True lets the agent's window title into the events; else it never enters them.
    """

    identity: Identity
    time_ns: Callable[[], int]
    titles: bool = False
    _sequence: int = 0
    _ended: bool = False
    _now: LifecycleEvent = field(init=False)

    def __post_init__(self) -> None:
        self._now = LifecycleEvent(
            kind=Kind.SESSION_STARTED,
            sequence=0,
            timestamp=0,
            state="",
            message="",
            session_id=collapse(self.identity.session_id, SESSION_ID_LIMIT),
            pid=max(self.identity.pid, 0),
            cwd=clean(self.identity.cwd, CWD_LIMIT),
            agent=collapse(self.identity.agent, SESSION_ID_LIMIT),
            profile=collapse(self.identity.profile, SESSION_ID_LIMIT),
        )
        self._update_resume()

    def started(self) -> LifecycleEvent:
        """Return the event that opens the session; its state is still empty."""
        return self._event(Kind.SESSION_STARTED)

    def project(self, events: Iterable[SessionEvent]) -> list[LifecycleEvent]:
        """Return the canonical events for a batch of the session's."""
        return [made for event in events if (made := self._project(event)) is not None]

    def set_session(self, session_id: str, resume: Sequence[str]) -> None:
        """Take the session of another program that has come to the foreground; the next event tells it.

        Args:
            session_id: the session that its command line names, or empty.
            resume: its profile's template of the resume command.
        """
        self.identity = replace(self.identity, resume=tuple(resume))
        self._now = replace(self._now, session_id=collapse(session_id, SESSION_ID_LIMIT))
        self._update_resume()

    def released(self) -> LifecycleEvent | None:
        """Return the event that closes the session, or None when it was closed before."""
        if self._ended:
            return None
        self._ended = True
        return replace(
            self._event(Kind.RELEASE), state="", message="", turn_id="", blocked_on="", background=False, failed=False
        )

    def _project(self, event: SessionEvent) -> LifecycleEvent | None:
        if self._ended:
            return None
        match event:
            case StateChanged():
                return self._state_changed(event)
            case TitleChanged(title=title):
                return self._title_changed(title)
            case WorkingDirectoryChanged(path=path):
                self._now = replace(self._now, cwd=clean(path, CWD_LIMIT))
                return self._restated()
            case ProfileChanged(profile=profile):
                agent = self.identity.agent if profile == GENERIC_PROFILE else profile
                self._now = replace(
                    self._now,
                    agent=collapse(agent, SESSION_ID_LIMIT),
                    profile=collapse(profile, SESSION_ID_LIMIT),
                )
                return self._restated()
            case TurnStarted(turn=turn):
                self._set_turn(turn)
                return self._event(Kind.TURN_STARTED)
            case TurnCompleted(turn=turn, failed=failed):
                return self._turn_completed(turn, failed)
            case ApprovalRequested(turn=turn, message=message):
                self._set_turn(turn)
                return replace(self._event(Kind.APPROVAL_REQUESTED), message=(message or Message.APPROVAL).value)
            case ApprovalResolved(turn=turn):
                self._set_turn(turn)
                return self._event(Kind.APPROVAL_RESOLVED)
            case Attention():
                return self._event(Kind.ATTENTION)
            case SessionEnded():
                return self.released()
        return None

    def _state_changed(self, event: StateChanged) -> LifecycleEvent | None:
        if event.state is State.UNKNOWN:
            return None
        self._now = replace(
            self._now,
            state=event.state.value,
            message=_message(event).value,
            blocked_on=event.kind if event.state is State.BLOCKED else "",
            background=event.background,
            failed=event.failed,
        )
        return self._event(Kind.STATE)

    def _title_changed(self, title: str) -> LifecycleEvent | None:
        if not self.titles:
            return None
        self._now = replace(self._now, title=collapse(without_spinner(title), TITLE_LIMIT))
        return self._restated()

    def _turn_completed(self, turn: int, failed: bool) -> LifecycleEvent:
        self._set_turn(turn)
        event = replace(self._event(Kind.TURN_COMPLETED), failed=failed)
        self._now = replace(self._now, turn_id="")
        return event

    def _set_turn(self, turn: int) -> None:
        self._now = replace(self._now, turn_id=f"{self.identity.run_id}-{turn}" if turn else "")

    def _update_resume(self) -> None:
        identity = self.identity
        self._now = replace(
            self._now, resume_argv=resume_argv(identity.launcher, identity.resume, self._now.session_id)
        )

    def _restated(self) -> LifecycleEvent | None:
        return self._event(Kind.STATE) if self._now.state else None

    def _event(self, kind: Kind) -> LifecycleEvent:
        timestamp = self.time_ns()
        self._sequence = max(self._sequence + 1, timestamp)
        return replace(self._now, kind=kind, sequence=self._sequence, timestamp=timestamp)


def without_spinner(title: str) -> str:
    """Drop a leading glyph and the spaces after it: a spinner's frames must not become a host's updates.

    Braille, geometric shapes, dingbats and emoji are all symbols (So), `·` opens one agent's frames; letters and
    digits of a real title are neither.
    """
    title = title.lstrip()
    if title and (title[0] == "·" or unicodedata.category(title[0]) == "So"):
        return title[1:].lstrip("\ufe0e\ufe0f ")
    return title
