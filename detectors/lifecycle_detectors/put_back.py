"""What an agent would write to a terminal that does not know OSC 7501, made from what it reports to one that does.

Some agents mark the window's title and ring the bell only where their OSC 7501 query was not answered. Where we answer
it in the terminal's place, that is put back: each report, which the terminal must not see, leaves in its place the
title and the bell that the agent would have written there. Owns that and nothing else: which titles, an agent's profile
says (`[answered]`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .controls import BEL, ST
from .osc import OscReader
from .parser import Osc
from .program_status import ProgramState, StatusReport

TITLE = "{title}"
"""Stands in a template for the title as the agent writes it."""
MAX_TITLE = 1024
"""Bytes of a title that is rewritten; a longer one passes as it is."""

Titles = Mapping[ProgramState, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answered:
    """What an agent leaves out where its query is answered.

    Attributes:
        titles: per reported state the title; several are frames, shown in turn. A state that is missing has that of
            idle, and idle the plain title.
        unfocused: the same while the terminal has lost the focus, where that makes a difference.
        frame_seconds: how long each frame stands.
        still_between: inside a multiplexer it writes the title of idle only.
        bell: states that ring the bell when they begin.
        unfocused_bell: states that do so only while the terminal has lost the focus.
        resting: a working report with such a message counts as idle.
    """

    titles: Titles = field(default_factory=dict)
    unfocused: Titles = field(default_factory=dict)
    frame_seconds: float = 1.0
    still_between: bool = False
    bell: frozenset[ProgramState] = frozenset()
    unfocused_bell: frozenset[ProgramState] = frozenset()
    resting: re.Pattern[str] | None = None


class PutBack:
    """Puts back for one agent.

    Args:
        answered: what the agent leaves out.
        between: a multiplexer is between us and the user's terminal.

    Attributes:
        answered, between: as given; both may change.
        active: the agent's query was answered by us.
        has_focus: whether the terminal has the focus.
    """

    def __init__(self, answered: Answered, between: bool = False) -> None:
        self.answered = answered
        self.between = between
        self.active = False
        self.has_focus = True
        self._osc = OscReader()
        self._marks_itself = False
        self._state = ProgramState.IDLE
        self._plain = ""
        self._written = ""
        self._around = (b"\x1b]0;", b"\x07")
        self._frame = 0
        self._frame_at: float | None = None

    @property
    def deadline(self) -> float | None:
        """When the next frame is due; None while nothing moves."""
        return self._frame_at

    def title(self, osc: Osc, now: float) -> bytes | None:
        """Take the agent's own title (OSC 0 or 2); returns what goes out in its place, None for itself."""
        number, _, written = osc.data.partition(b";")
        text = written.decode("utf-8", "surrogateescape")
        has_mark = self._has_mark(text)
        # The answer came too late for the agent: it goes on as if there had been none.
        self._marks_itself = self._marks_itself or (self.active and has_mark)
        if not has_mark:
            self._plain = text
        if not self.active or self._marks_itself or not text or len(written) > MAX_TITLE:
            self._written = text
            return None
        self._around = (b"\x1b]" + number + b";", bytes((BEL,)) if osc.bel else ST)
        instead = self._rewrite(now)
        return None if self._written == text else instead  # its own passes as it is, again and again if need be

    def report(self, osc: Osc, now: float) -> bytes:
        """Take a report that the terminal does not get; returns what goes out in its place."""
        report = self._osc.read(osc)
        if not isinstance(report, StatusReport) or report.id or not self.active or self._marks_itself:
            return b""
        state = report.state
        if state is ProgramState.CLEAR:
            self._state, self._frame_at = ProgramState.IDLE, None
            return b""
        resting = self.answered.resting
        if state is ProgramState.WORKING and resting and resting.search(report.message):
            state = ProgramState.IDLE
        begins = state is not self._state
        self._state = state
        rings = state in self.answered.bell or (not self.has_focus and state in self.answered.unfocused_bell)
        return (bytes((BEL,)) if begins and rings else b"") + self._rewrite(now)

    def next_frame(self, now: float) -> bytes:
        """Show the next frame if it is due."""
        if self._frame_at is None or now < self._frame_at:
            return b""
        self._frame += 1
        self._frame_at = None
        return self._rewrite(now)

    def give_up(self) -> bytes:
        """The terminal shows reports itself, after all: give the title as the agent has written it."""
        is_marked = self._is_needed and bool(self._plain) and self._written != self._plain
        self.active, self._frame_at = False, None
        return self._title(self._plain) if is_marked else b""

    def leave(self) -> bytes:
        """The agent is gone, or stops: give the title of rest, if another is ours."""
        state, self._state = self._state, ProgramState.IDLE
        title = self._rewrite(0.0) if self._is_needed else b""
        self._state, self._frame_at = state, None
        return title

    def come_back(self, now: float) -> bytes:
        """It goes on: give the title that it had."""
        return self._rewrite(now) if self._is_needed else b""

    @property
    def _is_needed(self) -> bool:
        return self.active and bool(self._written) and not self._marks_itself

    def _rewrite(self, now: float) -> bytes:
        """Write the title that the state has, unless it stands already."""
        frames = self._frames()
        if len(frames) > 1 and self._frame_at is None:
            self._frame_at = now + self.answered.frame_seconds
        elif len(frames) == 1:
            self._frame_at = None
        title = frames[self._frame % len(frames)].replace(TITLE, self._plain)
        if not self._plain or title == self._written:
            return b""
        self._written = title
        return self._title(title)

    def _title(self, text: str) -> bytes:
        return text.encode("utf-8", "surrogateescape").join(self._around)

    def _frames(self) -> tuple[str, ...]:
        titles = self.answered.titles
        rest = titles.get(ProgramState.IDLE, (TITLE,))
        if self.between and self.answered.still_between:
            return rest
        if not self.has_focus and self._state in self.answered.unfocused:
            return self.answered.unfocused[self._state]
        return titles.get(self._state, rest)

    def _has_mark(self, text: str) -> bool:
        """The title has one of the marks already: the agent writes them itself."""
        known = [*self.answered.titles.values(), *self.answered.unfocused.values()]
        for template in (template for frames in known for template in frames if template != TITLE):
            before, _, after = template.partition(TITLE)
            if text.startswith(before) and text.endswith(after):
                return True
        return False
