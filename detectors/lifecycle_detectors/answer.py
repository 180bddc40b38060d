r"""Answers the agent's OSC 7501 query where the outer terminal does not.

An agent asks `OSC 7501 ; ? ST` and device attributes (DA1) after it: a terminal replies in order, so that a DA1 reply
without a 7501 reply before it says that the terminal does not know the protocol. Owns what is put into the bytes from
the outer terminal to the agent, and what is taken out, so that each query gets one answer. Sees only what the caller
tells: queries, bytes, times.
"""

from __future__ import annotations

import re

ANSWER = b"\x1b]7501;?\x1b\\"

PATIENCE = 1.0
"""Seconds until we answer though no DA1 reply came: agents wait about as long for it."""
KEY_DELAY = 0.05
"""Seconds that a lone ESC, or Alt with a key, may be held: less than a user notices, or an agent itself waits."""
MOST_ANSWERS = 1024
"""Queries that are answered in a session: an agent asks once, and one that asks for ever and never reads the answers
must not fill the memory with them."""

_REPLY = re.compile(rb"(?P<da1>\x1b\[\?[0-9;]*c)|\x1b\]7501;\?(?:\x07|\x1b\\)")
_BEGINNING = re.compile(rb"\x1b(?:\[(?:\?[0-9;]{0,64})?|\](?:7|75|750|7501|7501;|7501;\?\x1b?)?)?\Z")
"""The beginning of a reply at the end of the bytes; DA1 replies list up to a dozen numbers."""
_MAYBE_A_KEY = (b"\x1b", b"\x1b[", b"\x1b]")


class StatusQueryAnswer:
    """Sees that each query of the agent is answered once.

    Attributes:
        outer_answers: whether the outer terminal answers by itself; None until that is known.
    """

    def __init__(self) -> None:
        self.outer_answers: bool | None = None
        self._unanswered = 0
        self._left = MOST_ANSWERS
        self._answer_at = 0.0
        self._answered_for = 0
        """How many answers of ours the outer terminal may still give too: the agent gets none twice, however late."""
        self._held = b""
        self._release_at = 0.0

    @property
    def deadline(self) -> float | None:
        """When `on_deadline` is due, in the caller's seconds; None while nothing is pending."""
        due = []
        if self._held:
            due.append(self._release_at)
        if self._unanswered:
            due.append(self._answer_at)
        return min(due, default=None)

    def saw_query(self, now: float) -> None:
        """The agent's query has gone out to the outer terminal."""
        if not self._left:
            return
        self._left -= 1
        self._unanswered += 1
        self._answer_at = now + PATIENCE

    def filter_input(self, data: bytes, now: float) -> bytes:
        """Take the outer terminal's bytes, give what the agent gets: the argument itself while no query is pending."""
        if not self._held and not self._unanswered and not self._answered_for:
            return data
        data, self._held = self._held + data, b""
        parts: list[bytes] = []
        position = 0
        for reply in _REPLY.finditer(data):
            if reply["da1"]:
                parts += data[position : reply.start()], self._answers()
                position = reply.start()
            elif not self._takes_outer_answer():
                parts.append(data[position : reply.start()])
                position = reply.end()
        self._hold(data[position:], now)
        parts.append(data[position : len(data) - len(self._held)])
        return b"".join(parts) if len(parts) > 1 or self._held else data

    def saw_input(self, data: bytes) -> None:
        """The agent has got these bytes already: an answer counts, but no DA1 reply, whose question was before ours."""
        for reply in _REPLY.finditer(data):
            if not reply["da1"]:
                self._takes_outer_answer()

    def on_deadline(self, now: float) -> bytes:
        """Give what the agent gets now that nothing more came: our answer, or bytes that were held."""
        answers = self._answers() if self._unanswered and now >= self._answer_at else b""
        held = b""
        if self._held and (answers or now >= self._release_at):
            held, self._held = self._held, b""
        return answers + held

    def flush(self) -> bytes:
        """Give what is held; what has not been answered still will be."""
        held, self._held = self._held, b""
        return held

    def _answers(self) -> bytes:
        """Our answers to all queries that are open."""
        count, self._unanswered = self._unanswered, 0
        if count:
            self.outer_answers = False
            self._answered_for += count
        return ANSWER * count

    def _takes_outer_answer(self) -> bool:
        """The outer terminal answered; returns whether the agent still needs that."""
        self.outer_answers = True
        if self._unanswered:
            self._unanswered -= 1
            return True
        if self._answered_for:
            self._answered_for -= 1
            return False
        return True

    def _hold(self, rest: bytes, now: float) -> None:
        beginning = _BEGINNING.search(rest)
        if not beginning:
            return
        held = beginning.group()
        if held in _MAYBE_A_KEY:
            if self._unanswered:
                self._held, self._release_at = held, now + KEY_DELAY
        elif self._unanswered or held.startswith(b"\x1b]"):
            self._held, self._release_at = held, now + PATIENCE
