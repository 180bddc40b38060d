"""What a record tells beside the event itself: since when, and how often the agent has rung.

Owns these few facts for every host that keeps a record of the session (see `records`).
"""

from __future__ import annotations

from lifecycle_wrap.projection import Kind, LifecycleEvent, format_timestamp


class History:
    """Follows the events of one session.

    Attributes:
        started: when the first event came, RFC 3339, or empty.
        since: when the state last changed, RFC 3339, or empty.
        attention: how often the agent has rung or sent a notification.
        attention_at: when it last did, RFC 3339, or empty.
    """

    def __init__(self) -> None:
        self.started = ""
        self.since = ""
        self.attention = 0
        self.attention_at = ""
        self._state: str | None = None

    def take(self, event: LifecycleEvent) -> None:
        """Take the next event that a record tells."""
        now = format_timestamp(event.timestamp)
        self.started = self.started or now
        if event.state != self._state:
            self._state = event.state
            self.since = now
        if event.kind is Kind.ATTENTION:
            self.attention += 1
            self.attention_at = now

    def facts(self, event: LifecycleEvent) -> dict[str, object]:
        """Return the keys of a record that come from here and from an event, in their order."""
        return {
            "started": self.started,
            "since": self.since,
            "attention": self.attention,
            "attention_at": self.attention_at,
            "blocked_on": event.blocked_on,
            "background": event.background,
            "failed": event.failed,
        }
