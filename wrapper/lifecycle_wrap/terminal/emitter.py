r"""What we tell the outer terminal ourselves: progress (OSC 9;4) and program status (OSC 7501).

Owns what is to stand there and what stands there. Each output knows its last wish and the last thing written; the
caller asks for the difference when it may write (see `outward`), so that nothing is written twice and no wish waits.

    working   9;4;3;0, with the agent's own percentage 9;4;1;N     state=working
    blocked   9;4;4;100                                            state=blocked:kind=permission
    failed    9;4;2;100                                            state=error
    idle      9;4;0;0                                              state=idle, or done until somebody looks
    the end   9;4;0;0                                              state=clear

Whole numbers in both fields: an empty one does not clear in every terminal.
"""

from __future__ import annotations

import base64
import re

from lifecycle_detectors import State, StateChanged
from lifecycle_detectors.controls import ProgressState
from lifecycle_detectors.osc import OscReader, Progress
from lifecycle_detectors.parser import Osc
from lifecycle_detectors.program_status import ProgramState, StatusRecords, StatusReport

from .terminals import UNKNOWN, Terminal

NO_PROGRESS = b"9;4;0;0"
MAX_APP = 32
MAX_MESSAGE_BYTES = 2048
"""Limits of OSC 7501."""

_NOT_APP = re.compile(r"[^A-Za-z0-9_.+-]+")


def sequence(payload: bytes, terminal: Terminal) -> bytes:
    """Write an OSC sequence for a terminal."""
    written = b"\x1b]" + payload + terminal.terminator
    return terminal.wrap(written) if terminal.wrap else written


def draws_progress(policy: str, terminal: Terminal) -> bool:
    """Tell whether progress goes out: `policy` is `off`, `auto` (where it is drawn) or `on` (where it does no harm)."""
    harmless = not terminal.misreads_progress and not terminal.is_multiplexer
    return policy != "off" and (terminal.draws_progress or (policy == "on" and harmless))


class ProgressBar:
    """Progress in the tab, the dock or the taskbar; where it is ours, the agent's own is taken out.

    Args:
        policy: `off`, `auto` (where it is known to be drawn) or `on` (where it does no harm).
    """

    def __init__(self, policy: str) -> None:
        self._policy = policy
        self._terminal = UNKNOWN
        self._osc = OscReader()
        self._state: State | None = None
        self._failed = False
        self._percent: int | None = None
        self._shown: bytes | None = NO_PROGRESS
        self._ever_shown = False
        self._repeat_at: float | None = None

    @property
    def is_ours(self) -> bool:
        """We draw it: the terminal shows it, and a state is known."""
        return self._may_draw and self._state is not None

    @property
    def deadline(self) -> float | None:
        """When it is to be written again lest it expires."""
        return self._repeat_at

    @property
    def _may_draw(self) -> bool:
        return draws_progress(self._policy, self._terminal)

    def use(self, terminal: Terminal) -> None:
        """Take the terminal that was found."""
        self._terminal = terminal

    def take_state(self, event: StateChanged) -> None:
        """Take a new state."""
        self._state, self._failed = event.state, event.failed

    def take_agents(self, osc: Osc) -> bytes | None:
        """Take the agent's OSC 9; returns what goes out in its place, None for itself."""
        signal = self._osc.read(osc)
        if not isinstance(signal, Progress):
            return None
        self._percent = signal.percent if signal.state is ProgressState.NORMAL else None
        if self.is_ours:
            return b""
        self._shown = None
        return None

    def update(self, now: float) -> bytes:
        """Return what is to be written now."""
        if not self.is_ours:
            return b""
        if self._repeat_at is not None and now >= self._repeat_at:
            self._shown = None
        wanted = self._wanted()
        if wanted == self._shown:
            return b""
        self._shown, self._ever_shown = wanted, True
        lives = self._state is not State.IDLE and self._terminal.keep_alive is not None
        self._repeat_at = now + (self._terminal.keep_alive or 0.0) if lives else None
        return sequence(wanted, self._terminal)

    def leave(self) -> bytes:
        """Take it back; also where it was cleared before, lest a lost byte leaves it standing."""
        self._repeat_at = None
        agents_stands = self.is_ours and self._shown is None
        if not self._ever_shown and not agents_stands:
            return b""
        self._shown, self._ever_shown = NO_PROGRESS, False
        return sequence(NO_PROGRESS, self._terminal)

    def forget(self) -> None:
        """The terminal may show something else now."""
        if self._ever_shown:
            self._shown = None

    def _wanted(self) -> bytes:
        if self._state is State.WORKING:
            return b"9;4;3;0" if self._percent is None else b"9;4;1;%d" % self._percent
        if self._state is State.BLOCKED:
            return b"9;4;4;100"
        return b"9;4;2;100" if self._failed else NO_PROGRESS


class StatusReporter:
    """Program status for a terminal that knows OSC 7501, where the agent reports none itself.

    Args:
        agent: the agent's name.
        titles: whether the agent's title may be told, as `msg`.
    """

    def __init__(self, agent: str, titles: bool) -> None:
        self._app = _NOT_APP.sub("-", agent)[:MAX_APP]
        self._titles = titles
        self._terminal = UNKNOWN
        self._knows_status = False
        self._osc = OscReader()
        self._agents = StatusRecords()
        self._agent_reports = False
        self._kept_back = b""
        self._event: StateChanged | None = None
        self._completed_unseen = False
        self._title = ""
        self._shown: bytes | None = None

    deadline: float | None = None

    def use(self, terminal: Terminal, knows_status: bool) -> None:
        """Take the terminal that was found, and whether it has answered the OSC 7501 query."""
        self._terminal, self._knows_status = terminal, knows_status

    def take_state(self, event: StateChanged) -> None:
        """Take a new state."""
        self._event = event
        self._completed_unseen = False

    def take_title(self, title: str) -> None:
        """Take the agent's title, its marks left out."""
        self._title = title

    def take_agents(self, osc: Osc, passes: bool) -> None:
        """Take a report of the agent, which passes or not; from now on it is the one who reports."""
        report = self._osc.read(osc)
        if isinstance(report, StatusReport):
            self._agent_reports = True
            self._agents.apply(report)
            if passes:
                self._shown = None  # it stands in the place of ours
            if not report.id:
                self._kept_back = b"" if passes else osc.data

    def completed(self, has_focus: bool | None) -> None:
        """A turn has ended; without focus nobody has seen that."""
        self._completed_unseen = has_focus is False

    def focused(self) -> None:
        """Somebody looks."""
        self._completed_unseen = False

    def update(self, now: float) -> bytes:
        """Return what is to be written now."""
        wanted = self._wanted()
        if wanted is None or wanted == self._shown:
            return b""
        self._shown, self._kept_back = wanted, b""
        return sequence(wanted, self._terminal)

    def leave(self) -> bytes:
        """Take it back, and what a dead agent has left as well."""
        last = self._agents.deciding()
        agent_left = last is not None and last.state in (ProgramState.WORKING, ProgramState.BLOCKED)
        if not self._knows_status or not (self._shown or agent_left):
            return b""
        self._shown = None
        self._agents.reset()
        return sequence(b"7501;state=clear", self._terminal)

    def forget(self) -> None:
        """The terminal may have dropped it."""
        self._shown = None

    def _wanted(self) -> bytes | None:
        event = self._event
        if not self._knows_status:
            return None
        if self._agent_reports:
            return self._kept_back or None
        if event is None:
            return None
        state = event.state.value
        if event.state is State.IDLE:
            state = "error" if event.failed else "done" if self._completed_unseen else state
        pairs = [f"state={state}"]
        if event.kind:
            pairs.append(f"kind={event.kind}")
        pairs.append(f"app={self._app}")
        if self._titles and self._title:
            pairs.append(f"msg={_encoded(self._title)}")
        return b"7501;" + ":".join(pairs).encode()


def _encoded(text: str) -> str:
    cut = text.encode()[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore")
    return base64.b64encode(cut.encode()).decode()
