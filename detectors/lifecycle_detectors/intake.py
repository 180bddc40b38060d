"""From what the agent writes to evidence: signals, and the few sequences that tell something beside.

Owns the records of OSC 7501 and what is told of titles and progress without any judgement. What evidence means for the
state is `rules`' to say.
"""

from __future__ import annotations

from . import osc
from .controls import BEL
from .events import (
    Attention,
    ProgressChanged,
    SessionEvent,
    Source,
    TitleChanged,
    WorkingDirectoryChanged,
)
from .evidence import Evidence, skeleton
from .parser import Control, Csi, Escape, Osc, Token
from .program_status import StatusRecords, StatusReport

RIS = "c"
BRACKETED_PASTE = 2004
SWITCHES = {"h": "on", "l": "off"}
"""DECSET and DECRST."""
PROGRESS_NAMES = ("none", "normal", "error", "indeterminate", "paused")


class Intake:
    """Takes one agent's tokens.

    Args:
        signals: False leaves titles, progress, status, notifications and bells out.
    """

    def __init__(self, signals: bool) -> None:
        self._signals = signals
        self._osc = osc.OscReader()
        self._records = StatusRecords()
        self._title = ""
        self._percent: int | None = None

    def take(self, token: Token, evidence: Evidence, now: float, events: list[SessionEvent]) -> None:
        """Turn one token into evidence.

        Args:
            token: what the agent has written.
            evidence: is changed.
            now: monotonic seconds.
            events: those that need no judgement are added here.
        """
        if isinstance(token, Escape):
            if token.final == RIS and not token.intermediates:
                self._records.reset()
                self._follow_status(evidence, now)
        elif isinstance(token, Csi):
            if token.private == "?" and token.final in SWITCHES and (BRACKETED_PASTE,) in token.params:
                evidence.line_editor.set(SWITCHES[token.final], now)
        elif not self._signals:
            return
        elif isinstance(token, Control):
            if token.code == BEL:
                evidence.bell_at = now
                events.append(Attention(now, Source.BELL))
        elif isinstance(token, Osc):
            signal = self._osc.read(token)
            if signal is not None:
                self._take_signal(signal, evidence, now, events)

    def end_process(self) -> None:
        """The agent's process has ended: what it has reported of itself no longer holds."""
        self._records.end_process()

    def _take_signal(self, signal: osc.Signal, evidence: Evidence, now: float, events: list[SessionEvent]) -> None:
        if isinstance(signal, osc.Title):
            self._take_title(signal.text, evidence, now, events)
        elif isinstance(signal, osc.Progress):
            evidence.progress.set(PROGRESS_NAMES[signal.state], now)
            if signal.percent != self._percent:
                self._percent = signal.percent
                events.append(ProgressChanged(now, signal.percent))
        elif isinstance(signal, osc.Notification):
            evidence.notification.set(f"{signal.title}: {signal.body}" if signal.title else signal.body, now)
            events.append(Attention(now, Source.NOTIFICATION))
        elif isinstance(signal, osc.PromptMark):
            evidence.prompt.set(signal.kind, now)
            if signal.kind == "A":
                self._records.clear_on_prompt()
                self._follow_status(evidence, now)
        elif isinstance(signal, osc.WorkingDirectory):
            events.append(WorkingDirectoryChanged(now, signal.path))
        elif isinstance(signal, StatusReport):
            self._records.apply(signal)
            self._follow_status(evidence, now)

    def _take_title(self, text: str, evidence: Evidence, now: float, events: list[SessionEvent]) -> None:
        title = evidence.title
        before = title.text
        if title.set(text, now) and skeleton(before) == skeleton(text):
            evidence.title_moved_at = now
        settled = skeleton_title(text)
        if settled != self._title:
            self._title = settled
            events.append(TitleChanged(now, settled))

    def _follow_status(self, evidence: Evidence, now: float) -> None:
        record = self._records.deciding()
        evidence.status = (record and record.state) or ""
        evidence.status_kind = (record and record.kind) or ""
        evidence.status_text = "" if record is None else record.message
        evidence.status_at = now


def skeleton_title(text: str) -> str:
    """Return a title without the glyph that tells the state: what hosts may show without redrawing at each frame."""
    head, _, rest = text.partition(" ")
    return rest.strip() if rest and not skeleton(head) else text
