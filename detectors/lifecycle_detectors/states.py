"""States and the one place where a state changes.

Owns `State`, the transition table with its dwell times, and `StateMachine`, which turns a stream of verdicts (what the
evidence says right now) into the states that are published. Must not know agents, rules or where a verdict came from.
"""

from __future__ import annotations

from enum import StrEnum


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
