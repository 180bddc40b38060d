"""States and the one place where a state changes.

Owns `State`, the table of how long a change must have stood before it is believed, and `StateMachine`, which turns
verdicts (what the evidence says right now) into the states that are published. Must not know agents, rules or where a
verdict came from.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar


class State(StrEnum):
    """What the agent is doing, as a careful person would say."""

    UNKNOWN = "unknown"
    """The agent has not drawn its user interface yet, or nothing has told its state. Never published."""
    IDLE = "idle"
    """The user's move, at the agent's normal prompt."""
    WORKING = "working"
    """A turn runs: the model answers, a tool runs, a request is retried."""
    BLOCKED = "blocked"
    """The agent waits for a decision of the user: a permission, a question, a sign-in."""


class Dwell(StrEnum):
    """How long a change must have stood before it is published."""

    NEVER = "never"
    BRIEF = "brief"
    SETTLE = "settle"


BRIEF_SECONDS = 0.15
"""Agents flash states for 3 to 90 ms at start and at the edges of a turn (facts/agents-claude-codex.md, trap 8)."""

TRANSITIONS: dict[tuple[State, State], Dwell] = {
    (State.UNKNOWN, State.IDLE): Dwell.BRIEF,
    (State.UNKNOWN, State.WORKING): Dwell.BRIEF,
    (State.UNKNOWN, State.BLOCKED): Dwell.BRIEF,
    (State.IDLE, State.WORKING): Dwell.BRIEF,
    (State.IDLE, State.BLOCKED): Dwell.BRIEF,
    # Between two tools, two requests or two queued messages an agent looks idle for a moment.
    (State.WORKING, State.IDLE): Dwell.SETTLE,
    (State.WORKING, State.BLOCKED): Dwell.BRIEF,
    # An answered dialog is often followed by the bare prompt before the spinner comes back.
    (State.BLOCKED, State.IDLE): Dwell.SETTLE,
    (State.BLOCKED, State.WORKING): Dwell.BRIEF,
    # What was once known is never unlearned: no match changes nothing.
    (State.IDLE, State.UNKNOWN): Dwell.NEVER,
    (State.WORKING, State.UNKNOWN): Dwell.NEVER,
    (State.BLOCKED, State.UNKNOWN): Dwell.NEVER,
}

Reason = TypeVar("Reason")


@dataclass(frozen=True, slots=True)
class Change(Generic[Reason]):
    """A published change; `at` is when it became due, which may be before the call that returned it.

    `previous` is equal to `state` where only the detail is another.
    """

    at: float
    previous: State
    state: State
    reason: Reason


@dataclass(frozen=True, slots=True)
class _Pending(Generic[Reason]):
    state: State
    since: float
    dwell: float
    reason: Reason
    detail: Hashable


class StateMachine(Generic[Reason]):
    """Publishes a proposed state once it has stood for its dwell time.

    Args:
        state: where to begin.

    `Reason` is whatever the caller wants back with the change; the newest one given for the pending state is kept.
    """

    def __init__(self, state: State = State.UNKNOWN) -> None:
        self.state = state
        self._detail: Hashable = None
        self._pending: _Pending[Reason] | None = None

    @property
    def deadline(self) -> float | None:
        """When the pending change is due, or None."""
        return None if self._pending is None else self._pending.since + self._pending.dwell

    def propose(self, state: State, now: float, settle: float, reason: Reason, detail: Hashable = None) -> None:
        """Tell what the evidence says at `now`.

        Args:
            state: the state that the evidence speaks for.
            now: monotonic seconds.
            settle: how long a `Dwell.SETTLE` change must stand, in seconds.
            reason: kept with the pending change.
            detail: what else is told about the state; another detail of the same state is a change too.
        """
        if state is self.state and (detail == self._detail or state is State.UNKNOWN):
            self._pending = None
            return
        dwell = Dwell.BRIEF if state is self.state else TRANSITIONS[self.state, state]
        if dwell is Dwell.NEVER:
            return
        seconds = settle if dwell is Dwell.SETTLE else BRIEF_SECONDS
        same = self._pending is not None and self._pending.state is state
        since = self._pending.since if self._pending is not None and same else now
        self._pending = _Pending(state, since, seconds, reason, detail)

    def withdraw(self) -> None:
        """Tell that the evidence no longer speaks for the pending change."""
        self._pending = None

    def advance(self, now: float) -> Change[Reason] | None:
        """Publish the pending change if it is due at `now`."""
        pending, deadline = self._pending, self.deadline
        if pending is None or deadline is None or now < deadline:
            return None
        change = Change(deadline, self.state, pending.state, pending.reason)
        self.state, self._detail, self._pending = pending.state, pending.detail, None
        return change
