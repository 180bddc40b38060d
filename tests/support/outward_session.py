"""One `Outward` without a program around it: the terminal's answers in, states in, bytes out."""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle_detectors import Catalog, Size
from lifecycle_detectors.events import (
    ApprovalRequested,
    ApprovalResolved,
    ExitStatus,
    Message,
    SessionEnded,
    SessionEvent,
    Source,
    StateChanged,
    TurnCompleted,
    TurnStarted,
)
from lifecycle_detectors.states import State
from lifecycle_detectors.stream import OutputStream
from lifecycle_wrap.config import Config
from lifecycle_wrap.terminal.outward import Outward
from lifecycle_wrap.terminal.probe import BURST, LIMIT

ATTRIBUTES = b"\x1b[?62;22c"
STATUS = b"\x1b]7501;?\x1b\\"
GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}


def version_answer(text: str) -> bytes:
    """Return the answer to XTVERSION."""
    return f"\x1bP>|{text}\x1b\\".encode()


class OutwardSession:
    """A session whose times and events the test makes.

    Args:
        environ: the environment.
        answers: what the terminal answers to the burst; None for nothing.
        profile: the agent's profile, and its name.
        rest: keys of the configuration.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        answers: bytes | None = None,
        profile: str = "claude",
        **rest: object,
    ) -> None:
        self.stream = OutputStream(Size(24, 80))
        config = Config(**rest)  # type: ignore[arg-type]
        environ = {"TERM": "xterm-256color"} | dict(environ or {})
        self.outward = Outward(config, Catalog().get(profile), profile, environ, self.stream)
        self.now = 0.0
        self.asked = b""
        self._state = State.UNKNOWN
        self._turn = 0
        self.outward.take_terminal()
        self.opened = self.outward.update(self.now)
        if self.opened.startswith(BURST):
            if answers is not None:
                assert self.outward.input(answers, self.now) == b""
            else:
                self.now = LIMIT
                assert self.outward.on_deadline(self.now) == b""
            self.opened = self.outward.update(self.now)

    def agent(self, data: bytes) -> bytes:
        """Let the agent write; returns what goes out, ours after it."""
        passed = self.outward.output(data, self.now)
        self.stream.feed(data)
        return passed + self.outward.update(self.now)

    def user(self, data: bytes) -> bytes:
        """Let the terminal send; returns what the agent gets."""
        return self.outward.input(data, self.now)

    def after(self, seconds: float) -> bytes:
        """Let time pass; returns what goes out."""
        self.now += seconds
        self.outward.on_deadline(self.now)
        return self.outward.update(self.now)

    def enter(self, state: State, *, kind: str = "", failed: bool = False) -> bytes:
        """Let the session come to a state; returns what goes out."""
        was, self._state = self._state, state
        events: list[SessionEvent] = []
        if was is State.BLOCKED and state is not State.BLOCKED:
            events.append(ApprovalResolved(self.now, self._turn))
        if state is not State.IDLE and was in (State.IDLE, State.UNKNOWN):
            self._turn += 1
            events.append(TurnStarted(self.now, self._turn))
        kind = kind or ("permission" if state is State.BLOCKED else "")
        events.append(StateChanged(self.now, state, was, "claude/rule", Source.SCREEN, kind=kind, failed=failed))
        if state is State.BLOCKED and was is not State.BLOCKED:
            events.append(ApprovalRequested(self.now, self._turn, Message.APPROVAL))
        elif state is State.IDLE and was in (State.WORKING, State.BLOCKED):
            events.append(TurnCompleted(self.now, self._turn, failed))
        self.outward.take(events)
        return self.outward.update(self.now)

    def end(self, code: int | None = 0, signal: int | None = None) -> bytes:
        """Let the agent end; returns what leaves the terminal."""
        self.outward.give_terminal()
        self.outward.take([SessionEnded(self.now, ExitStatus(code, signal))])
        return self.outward.leave(None)


def knowing(**rest: object) -> OutwardSession:
    """Return one in a terminal that knows OSC 7501."""
    answers = version_answer("ghostty 1.4.0") + STATUS + ATTRIBUTES
    return OutwardSession(GHOSTTY, answers, **({"notify": "off", "osc": "off", "profile": "generic"} | rest))
