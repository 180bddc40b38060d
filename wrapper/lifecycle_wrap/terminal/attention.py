"""Getting the user's attention: when, by which sequence, and whether anybody looks.

Owns the window's focus (DECSET 1004) and the notifications. Words are fixed: nothing that the agent or the user has
written is in them.
"""

from __future__ import annotations

import re

from lifecycle_detectors import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    SessionEvent,
    TurnCompleted,
    TurnStarted,
)

from .terminals import UNKNOWN, Notify, Terminal

FOCUS_ON, FOCUS_OFF = b"\x1b[?1004h", b"\x1b[?1004l"
KEY_DELAY = 0.01
"""Seconds that a lone ESC, or Alt with [, may be held, as it may begin a focus report: terminals write one whole."""
AGENT_SECONDS = 2.0
"""How long what the agent has notified itself is not notified again."""
INTERVAL_SECONDS = 3.0
"""Between two notifications, whatever the agent prints; what is still so then is notified then."""
STALE_SECONDS = 2.0
"""A notification that could not be written for so long is not news any more."""

_SWITCH = re.compile(rb"\x1b\[\?[0-9;]*\b1004(?:;[0-9;]*)?([hl])")
_INPUT = re.compile(rb"\x1b\[(?:([IO])|(200~))")
_PASTE_END = b"\x1b[201~"
_BEGINNINGS = (b"\x1b[201", b"\x1b[200", b"\x1b[20", b"\x1b[2", b"\x1b[", b"\x1b")
"""Of a report, or of a paste's begin and end: nothing inside one is a report."""


class FocusWatch:
    """Follows the focus, with reports that we or the agent have switched on.

    Args:
        wanted: we want to know the focus.

    Attributes:
        has_focus: None while no report has come.
        agent_asks: the agent has reports switched on: they are its own.
    """

    def __init__(self, wanted: bool) -> None:
        self.has_focus: bool | None = None
        self.agent_asks = False
        self._wanted = wanted
        self._terminal = UNKNOWN
        self._on = False
        self._waits = False
        self._in_paste = False
        self._held = b""
        self._release_at = 0.0

    @property
    def deadline(self) -> float | None:
        """When held bytes are due."""
        return self._release_at if self._held else None

    def use(self, terminal: Terminal) -> None:
        """Take the terminal that was found."""
        self._terminal = terminal

    def saw_output(self, data: bytes) -> None:
        """The agent's bytes: whether it wants reports itself is respected at once."""
        if self._on and b"1004" in data:  # else no report is ours, and what the modes know is early enough
            for switch in _SWITCH.finditer(data):
                self.correct(switch[1] == b"h")

    def correct(self, agent_asks: bool) -> None:
        """What the agent has set, as the modes know it: a sequence may have been cut."""
        if agent_asks != self.agent_asks:
            # An agent mostly switches it off because it is about to end.
            self._waits = not agent_asks
            self._on = self._on and agent_asks
            self.agent_asks = agent_asks

    def take_state(self) -> None:
        """The agent goes on."""
        self._waits = False

    def filter_input(self, data: bytes, now: float) -> bytes:
        """Take the outer terminal's bytes, give what the agent gets: reports only if it has asked for them."""
        if not (self._on and not self.agent_asks) and not self._held:
            self._notice(data)
            return data
        data, self._held = self._held + data, b""
        parts: list[bytes] = []
        position = 0
        while position < len(data):
            position = self._step(data, position, now, parts)
        return b"".join(parts)

    def on_deadline(self, now: float) -> bytes:
        """Give bytes that were held for too long."""
        return self.flush() if self._held and now >= self._release_at else b""

    def flush(self) -> bytes:
        """Give what is held."""
        held, self._held = self._held, b""
        return held

    def update(self, now: float) -> bytes:
        """Return what is to be written now."""
        if not self._wanted or self._on or self._waits or self.agent_asks or not self._terminal.focus:
            return b""
        self._on = True
        return FOCUS_ON

    def leave(self) -> bytes:
        """Switch reports off, if they are ours; the agent's are undone with its modes."""
        was_ours, self._on = self._on and not self.agent_asks, False
        return FOCUS_OFF if was_ours else b""

    def forget(self) -> None:
        """The terminal may have them off now."""
        self._on = self._waits = False

    def _notice(self, data: bytes) -> None:
        if b"\x1b[I" in data or b"\x1b[O" in data:
            self.has_focus = data.rfind(b"\x1b[I") > data.rfind(b"\x1b[O")

    def _step(self, data: bytes, start: int, now: float, parts: list[bytes]) -> int:
        if self._in_paste:
            end = data.find(_PASTE_END, start)
            if end < 0:
                return self._hold(data, start, now, parts)
            self._in_paste = False
            parts.append(data[start:end])
            return end
        found = _INPUT.search(data, start)
        if not found:
            return self._hold(data, start, now, parts)
        if found[2]:
            self._in_paste = True
            parts.append(data[start : found.end()])
        else:
            self.has_focus = found[1] == b"I"
            parts.append(data[start : found.start()])
        return found.end()

    def _hold(self, data: bytes, start: int, now: float, parts: list[bytes]) -> int:
        """Let the rest pass, but for what may be the beginning of more."""
        rest = data[start:]
        self._held = next((beginning for beginning in _BEGINNINGS if rest.endswith(beginning)), b"")
        self._release_at = now + KEY_DELAY
        parts.append(rest[: len(rest) - len(self._held)])
        return len(data)


class Notifier:
    """Notifies that the agent is blocked, or that a long turn has ended.

    Args:
        policy: `off`, `unfocused` or `always`.
        agent: the agent's name.
        blocked_after: seconds that it must have been blocked.
        turn_after: seconds that a turn must have taken.
    """

    def __init__(self, policy: str, agent: str, blocked_after: float, turn_after: float) -> None:
        self._policy = policy
        self._agent = re.sub(r"[^\w .+-]", "", agent) or "the agent"
        self._blocked_after = blocked_after
        self._turn_after = turn_after
        self._terminal = UNKNOWN
        self._turn_started: float | None = None
        self._agent_notified = float("-inf")
        self._pending: tuple[float, str] | None = None
        self._not_before = float("-inf")

    @property
    def deadline(self) -> float | None:
        """When a notification is due."""
        return self._pending[0] if self._pending else None

    def use(self, terminal: Terminal) -> None:
        """Take the terminal that was found."""
        self._terminal = terminal

    def take(self, event: SessionEvent) -> None:
        """Take what happened."""
        match event:
            case ApprovalRequested(at=at):
                self._pend(at + self._blocked_after, f"{self._agent} needs you")
            case ApprovalResolved():
                self._pending = None
            case TurnStarted(at=at):
                self._turn_started = at
            case TurnCompleted(at=at, failed=failed):
                if self._turn_started is not None and at - self._turn_started > self._turn_after:
                    self._pend(at, f"{self._agent} has {'failed' if failed else 'finished'}")
                self._turn_started = None
            case Attention(at=at):
                self.agent_notified(at)

    def agent_notified(self, now: float) -> None:
        """The agent has notified the user itself."""
        self._agent_notified = now

    def update(self, now: float, has_focus: bool | None) -> bytes:
        """Return the notification that is due."""
        if self._pending is None or now < self._pending[0]:
            return b""
        (at, words), self._pending = self._pending, None
        wanted = self._policy == "always" or (self._policy == "unfocused" and has_focus is False)
        is_news = now - self._agent_notified > AGENT_SECONDS and now - at <= STALE_SECONDS
        if not (wanted and is_news):
            return b""
        self._not_before = now + INTERVAL_SECONDS
        return self._notification(words)

    def _pend(self, at: float, words: str) -> None:
        self._pending = (max(at, self._not_before), words)

    def _notification(self, words: str) -> bytes:
        terminal, text = self._terminal, words.encode()
        match terminal.notify:
            case Notify.OSC_99:
                return b"\x1b]99;i=lifecycle-wrap;" + text + terminal.terminator
            case Notify.OSC_777:
                return b"\x1b]777;notify;" + self._agent.encode() + b";" + text + terminal.terminator
            case Notify.OSC_9:
                return b"\x1b]9;" + text + terminal.terminator
        return b"\x07"
