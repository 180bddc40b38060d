"""OSC 7501 in the byte path, with `program_status = "answer"`.

Owns the link of the two directions: the agent's query is seen in its output and answered in its input where the outer
terminal does not, and reports go out only to a terminal that answered (others may print or log what they do not know).
"""

from __future__ import annotations

from lifecycle_detectors.answer import StatusQueryAnswer
from lifecycle_detectors.osc_filter import OscFilter
from lifecycle_detectors.parser import Osc

PROGRAM_STATUS = 7501
QUERY = b"7501;?"


class StatusAnswering:
    """Both directions of one session."""

    def __init__(self) -> None:
        self._answer = StatusQueryAnswer()
        self._filter = OscFilter({PROGRAM_STATUS}, self._decide)
        self._now = 0.0

    @property
    def deadline(self) -> float | None:
        """When `on_deadline` is due."""
        return self._answer.deadline

    @property
    def outer_answers(self) -> bool | None:
        """Whether the outer terminal answers by itself; None until that is known."""
        return self._answer.outer_answers

    def output(self, data: bytes, now: float) -> bytes:
        """Take the agent's bytes, return what goes to the outer terminal."""
        self._now = now
        return self._filter.filter(data)

    def input(self, data: bytes, now: float) -> bytes:
        """Take the outer terminal's bytes, return what the agent gets."""
        return self._answer.filter_input(data, now)

    def on_deadline(self, now: float) -> bytes:
        """Return bytes for the agent that are due."""
        deadline = self._answer.deadline
        return b"" if deadline is None or now < deadline else self._answer.on_deadline(now)

    def flush_output(self) -> bytes:
        """Give up what `output` holds."""
        return self._filter.flush()

    def flush_input(self) -> bytes:
        """Give up what `input` holds."""
        return self._answer.flush()

    def _decide(self, sequence: Osc) -> bytes | None:
        if sequence.data == QUERY:
            self._answer.saw_query(self._now)
            return None
        return None if self._answer.outer_answers else b""
