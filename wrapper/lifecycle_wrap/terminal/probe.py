r"""One question to the outer terminal at the start: who are you, and do you know OSC 7501?

Owns the burst (XTVERSION, OSC 7501, DA1) and that its answers, and only they, are taken out of what the agent gets: it
asks the same questions itself. A terminal answers in the order of the questions, and all answer DA1, so that what has
not been answered before that will not be. Sees only what the caller tells: bytes in both directions, and times.

    ask     CSI > q          OSC 7501 ; ? ST        CSI c
    answer  DCS > | text ST  OSC 7501 ; ? ST        CSI ? numbers c
"""

from __future__ import annotations

import re
from collections import deque
from enum import Enum

LIMIT = 0.2
"""Seconds that the agent's start waits for the answers; a terminal on this machine takes a few milliseconds."""
LATE = 10.0
"""Seconds after which an answer is taken for the agent's, if it has asked the same: hardly a line is slower, and ours
may be lost. If it has not, the answer is ours however late it comes."""
KEY_DELAY = 0.05
LATE_KEY_DELAY = 0.02
"""Seconds that a lone ESC, or Alt with a key, may be held: less than a user notices; least when no answer is likely."""
_LONGEST_QUESTION = 16
BEFORE_LIMIT = 1 << 16
"""Bytes of output in which the agent's questions are looked for, when ours goes out or an answer may be to them: more
than a terminal has unread."""
MOST_OPEN = 64
"""Questions that wait for an answer: an agent may ask for ever where no terminal answers."""
MAX_VERSION = 256
"""Code points of a terminal's name and version."""


class Question(Enum):
    """What may be asked; the values name groups of the expressions below."""

    VERSION = "version"
    STATUS = "status"
    ATTRIBUTES = "attributes"


BURST = b"\x1b[>q" + b"\x1b]7501;?\x1b\\" + b"\x1b[c"

_ASKED = re.compile(rb"\x1b(?:(?P<version>\[>0?q)|(?P<status>\]7501;\?(?:\x07|\x1b\\))|(?P<attributes>\[0?c))")
_ANSWER = re.compile(
    rb"\x1bP>\|(?P<version>[^\x07\x1b]*)(?:\x07|\x1b\\)|(?P<status>\x1b\]7501;\?(?:\x07|\x1b\\))"
    rb"|(?P<attributes>\x1b\[\?[0-9;]*c)"
)
_BEGINNING = re.compile(
    rb"\x1b(?:\[(?:\?[0-9;]{0,64})?|P(?:>(?:\|[^\x07\x1b]{0,512}\x1b?)?)?"
    rb"|\](?:7|75|750|7501|7501;|7501;\?\x1b?)?)?\Z"
)
_MAYBE_A_KEY = (b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP")


class Probe:
    """Asks once.

    Args:
        limit: seconds that it waits for the answers.

    Attributes:
        settled: nothing more is waited for.
        version: the terminal's name and version; empty when it answered other questions but not this one, None when it
            has answered nothing.
        knows_status: whether it knows OSC 7501; None when it has answered nothing.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self.settled = False
        self.version: str | None = None
        self.knows_status: bool | None = None
        self._open: list[tuple[Question, bool]] = []
        """Questions that wait for an answer, in their order; True for ours."""
        self._asked_at: float | None = None
        self._before: deque[bytes] = deque()
        self._before_size = 0
        self._held = b""
        self._release_at = 0.0

    @property
    def asked(self) -> bool:
        """The burst is out."""
        return self._asked_at is not None

    @property
    def awaits_answers(self) -> bool:
        """Answers to the burst may still come."""
        return any(ours for _, ours in self._open)

    @property
    def deadline(self) -> float | None:
        """When `on_deadline` is due."""
        due = [self._release_at] if self._held else []
        if self._asked_at is not None and not self.settled:
            due.append(self._asked_at + self._limit)
        return min(due, default=None)

    def saw_output(self, data: bytes) -> None:
        """The agent's bytes, as they went out, in which its own questions are."""
        if not data or (self.asked and not self._open):
            return
        self._before.append(data)
        self._before_size += len(data)
        while self._before_size - len(self._before[0]) >= BEFORE_LIMIT:
            self._before_size -= len(self._before.popleft())

    def ask(self, now: float) -> bytes:
        """Return the burst, which goes out now."""
        self._asked_at = now
        self._open += self._questions() + [(question, True) for question in Question]
        return BURST

    def filter_input(self, data: bytes, now: float) -> bytes:
        """Take the outer terminal's bytes, give what the agent gets: the argument itself where nothing is awaited."""
        if b"\x1b" in data:
            self._note_questions(now)
        if not self._open and not self._held:
            return data
        data, self._held = self._held + data, b""
        parts = []
        position = 0
        for answer in _ANSWER.finditer(data):
            if self._is_ours(answer):
                parts.append(data[position : answer.start()])
                position = answer.end()
        rest = data[position:]
        self._hold(rest, now)
        parts.append(rest[: len(rest) - len(self._held)])
        return b"".join(parts)

    def on_deadline(self, now: float) -> bytes:
        """Settle for what is known, and give bytes that were held for too long."""
        if self._asked_at is not None and now >= self._asked_at + self._limit:
            self.settled = True
        if self._held and now >= self._release_at:
            return self.flush()
        return b""

    def flush(self) -> bytes:
        """Give what is held."""
        held, self._held = self._held, b""
        return held

    def _note_questions(self, now: float) -> None:
        """Note the agent's questions where what comes now may answer them: before ours are asked, and long after."""
        if self._asked_at is not None and not (self.awaits_answers and self._is_late(now)):
            return
        before_ours = next((place for place, (_, ours) in enumerate(self._open) if ours), len(self._open))
        self._open[before_ours:before_ours] = self._questions()
        del self._open[: max(0, len(self._open) - MOST_OPEN)]

    def _questions(self) -> list[tuple[Question, bool]]:
        """Find the agent's questions in what has passed since the last time."""
        passed = b"".join(self._before)
        found = list(_ASKED.finditer(passed))
        end = found[-1].end() if found else 0
        self._before = deque([passed[max(end, len(passed) - _LONGEST_QUESTION) :]])  # one may be cut here
        self._before_size = len(self._before[0])
        return [(Question(question.lastgroup), False) for question in found]

    def _is_late(self, now: float) -> bool:
        return self._asked_at is not None and now >= self._asked_at + LATE

    def _is_ours(self, answer: re.Match[bytes]) -> bool:
        """Find the question of an answer; those before it stay without one."""
        question = Question(answer.lastgroup)
        place = next((place for place, (asked, _) in enumerate(self._open) if asked is question), None)
        if place is None:
            return False
        ours = self._open[place][1]
        del self._open[: place + 1]
        if ours:
            self._learn(question, answer)
        return ours

    def _learn(self, question: Question, answer: re.Match[bytes]) -> None:
        self.version = self.version or ""
        if question is Question.VERSION:
            told = answer["version"].decode("utf-8", "replace")[:MAX_VERSION]
            self.version = "".join(character for character in told if character.isprintable())
        elif question is Question.STATUS:
            self.knows_status = True
        else:
            self.knows_status = bool(self.knows_status)
            self.settled = True

    def _hold(self, rest: bytes, now: float) -> None:
        """Keep what may be the beginning of an answer to us, for a while."""
        beginning = _BEGINNING.search(rest) if self.awaits_answers else None
        if not beginning or (self._is_late(now) and beginning.group() in _MAYBE_A_KEY):
            return
        self._held = beginning.group()
        delay = LATE_KEY_DELAY if self.settled else KEY_DELAY
        self._release_at = now + (delay if self._held in _MAYBE_A_KEY else LIMIT)
