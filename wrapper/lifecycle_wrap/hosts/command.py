"""The command sink: a program of the user's that is started once for each event and reads it as a JSON line.

Owns nothing but that. The program comes from the configuration, never from the environment or the agent.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from lifecycle_wrap.projection import Kind, LifecycleEvent

from .base import RELEASE_SECONDS, Call, Host, Setup

if TYPE_CHECKING:
    from lifecycle_wrap.config import Command


class CommandSink(Host):
    """Starts the configured command with the event's version 1 JSON on stdin."""

    is_pane: ClassVar[bool] = False

    def __init__(self, setup: Setup, command: Command) -> None:
        super().__init__(setup)
        self.name = command.name  # type: ignore[misc]  # the only host with a name per instance
        self.kinds = frozenset(Kind(kind) for kind in command.events)
        self.state_seconds = command.timeout
        self.release_seconds = min(command.timeout, RELEASE_SECONDS)
        self._argv = command.argv

    def projection(self, event: LifecycleEvent) -> Hashable:
        """Only what is in the JSON: a new title alone starts nothing."""
        return (event.state, event.message, event.session_id, event.cwd, event.resume_argv)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Start the command once."""
        call.run(self._argv, stdin=event.to_json())

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Start the command for the release, if its `events` list has it."""
        if Kind.RELEASE in self.kinds:
            self.publish(event, call)
