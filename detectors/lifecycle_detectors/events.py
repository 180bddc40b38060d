"""What goes into a `Session` and what comes out of it.

Owns the plain values at the core's face. Times are monotonic seconds, given by the caller; nothing here reads a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .states import State


class Size(NamedTuple):
    """A terminal's size in character cells."""

    rows: int
    columns: int


class Source(StrEnum):
    """Which kind of evidence decided; DESIGN's table of precedence, most trusted first."""

    PROCESS = "process"
    STATUS = "status"
    SCREEN = "screen"
    TITLE = "title"
    PROGRESS = "progress"
    NOTIFICATION = "notification"
    BELL = "bell"
    PROMPT = "prompt"
    INPUT = "input"
    OUTPUT = "output"


class Message(StrEnum):
    """The fixed vocabulary of what is told about a state: never words of the agent or the user."""

    NONE = ""
    APPROVAL = "Waiting for approval"
    USER_INPUT = "Waiting for user input"
    SIGN_IN = "Waiting for sign-in"
    EXTERNAL_INPUT = "Waiting for external input"
    GENERATING = "Generating response"
    SHELL_COMMAND = "Running shell command"
    RETRYING = "Retrying"
    WORKING = "Working"


class ForegroundProcess(NamedTuple):
    """The process that leads the foreground process group of the agent's PTY.

    Attributes:
        argv: its command line, or an empty tuple where it could not be read.
        is_agent: True while it is the process that we started (or its replacement by exec).
    """

    argv: tuple[str, ...]
    is_agent: bool


class ExitStatus(NamedTuple):
    """How the agent ended.

    Attributes:
        code: its exit code, or None when a signal ended it.
        signal: the signal's number, or None.
    """

    code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The published state, or what is told about it, changed.

    Attributes:
        at: when, in the session's monotonic seconds.
        state: the new state; never `State.UNKNOWN`.
        previous: the state before it; the same one where only message, kind or a flag is another.
        rule: `profile/rule-id` that made it.
        source: the evidence the rule decided by.
        message: from the fixed vocabulary; empty when idle.
        kind: with blocked, what is waited for: `permission`, `question`, `auth` or empty.
        background: the agent is idle but something of its own (a background shell) still runs.
        failed: the turn that just ended failed.
    """

    at: float
    state: State
    previous: State
    rule: str
    source: Source
    message: Message = Message.NONE
    kind: str = ""
    background: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began; `turn` counts from 1 within the session."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class TurnCompleted:
    """The turn ended: the user's move. `failed` where the agent said so."""

    at: float
    turn: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The agent began to wait for the user's decision."""

    at: float
    turn: int
    message: Message


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """The agent waits no longer; what was decided is not told."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class Attention:
    """The agent rang the bell or sent a desktop notification of its own."""

    at: float
    source: Source


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The agent set the window title (OSC 0 or 2): trimmed, at most 256 characters; empty when it cleared it."""

    at: float
    title: str


@dataclass(frozen=True, slots=True)
class ProgressChanged:
    """The agent's own progress changed (OSC 9;4); `percent` is 0 to 100, or None when it gave none."""

    at: float
    percent: int | None


@dataclass(frozen=True, slots=True)
class WorkingDirectoryChanged:
    """The agent told its working directory (OSC 7): an absolute path on this or another host."""

    at: float
    path: str


@dataclass(frozen=True, slots=True)
class ProfileChanged:
    """Another program came to the foreground, and with it another profile."""

    at: float
    profile: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The agent is gone; nothing follows."""

    at: float
    status: ExitStatus


SessionEvent = (
    StateChanged
    | TurnStarted
    | TurnCompleted
    | ApprovalRequested
    | ApprovalResolved
    | Attention
    | TitleChanged
    | ProgressChanged
    | WorkingDirectoryChanged
    | ProfileChanged
    | SessionEnded
)
