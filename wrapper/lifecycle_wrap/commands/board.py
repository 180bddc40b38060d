"""The board: every session that stands on an MQTT broker, as the register's readers know sessions.

Owns the reading side of `hosts.broker`: what a message makes of a session, when the list is complete, and what is no
longer believed. What comes from a broker was written by anyone who may write there: it is bounded and made harmless
here.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from lifecycle_wrap.hosts.broker import (
    EVENTS,
    KEPT_SECONDS,
    STALE_SECONDS,
    STATE,
    BrokerProblem,
    Topics,
    all_sessions,
    check,
    parse_topic,
    segment,
    topics,
)
from lifecycle_wrap.hosts.broker_link import Link
from lifecycle_wrap.hosts.records import Session
from lifecycle_wrap.projection import CWD_LIMIT, clean, format_timestamp

from .tail import Line

if TYPE_CHECKING:
    from paho.mqtt.client import Client, MQTTMessage

    from lifecycle_wrap.broker_config import Broker

MESSAGE_LIMIT = 32 * 1024
"""The most bytes of a message; of ours only the working directory can be long, and that is half of it at most."""

MOST_SESSIONS = 250_000
"""More are not listed: some 2 KiB each are half a gigabyte."""

LINES_WAITING = 10_000
"""Events that wait for a slow reader of `tail`; the oldest are dropped."""

AT_ONCE = 900
"""How many records the broker may send before the first is acknowledged. With more, mosquitto drops some wherever the
network is slower than it: it keeps a thousand packets for a connection."""

QUEUE = 1000
"""How many more mosquitto keeps for us unless it is told otherwise; the rest of a list it leaves out silently."""

QUIET_SECONDS = 0.1
"""When for so long nothing has come, we ask something; the list is complete when nothing came before the answer. A
broker may send a list before it goes on, or beside it."""

PATIENCE_SECONDS = 10.0
"""How long nothing may come before the list is given up."""

SURE_SECONDS = 1.0
"""A last will counts when it has stood for so long: a broker that is stopped sends those of all sessions and then lets
go of us, and a session that comes back over another network is there again at once."""

_STATES = ("idle", "working", "blocked")


class _Entry(NamedTuple):
    session: Session
    sequence: int
    told_at: float
    round: int
    gone: bool


class Board(Link):
    """Follows all sessions below a prefix. A context manager; `running` and `lines` are for another thread.

    Args:
        broker: which.
        environ: our environment.
        events: True to follow the other events, too.

    Attributes:
        here: this user and this machine, as the broker knows them.
        changed: a socket that can be read when something has changed; `take_change` empties it.
    """

    def __init__(self, broker: Broker, environ: Mapping[str, str], *, events: bool = False) -> None:
        super().__init__(broker, f"lifecycle-board-{uuid4().hex[:16]}", environ)
        self.changed, self._change = socket.socketpair()
        self.changed.setblocking(False)
        self._change.setblocking(False)
        own = topics(broker, environ, "")
        self.here = (own.user, own.host)
        self._usual = self.interval
        self._follows = events
        self._filters = [(all_sessions(broker.prefix, STATE), 1)]
        self._filters += [(all_sessions(broker.prefix, EVENTS), 0)] if events else []
        self._lock = threading.Lock()
        self._entries: dict[Topics, _Entry] = {}
        self._lines: deque[Line] = deque(maxlen=LINES_WAITING)
        self._complete = threading.Event()
        self._round = 0
        self._is_listing = False
        self._listed = 0
        self._question: int | None = None
        self._asked = 0.0
        self._came = time.monotonic()
        self._unsure_until: float | None = None

    def __enter__(self) -> Board:
        """Connect and get the whole list.

        Raises:
            BrokerProblem: that cannot be done; the text names the broker and the reason.
        """
        try:
            check(self._broker, self._environ)
            self.start()
            while not self._complete.wait(0.02) or self.problem:
                if self.problem:
                    raise BrokerProblem(self.problem)
                if time.monotonic() - self._came > PATIENCE_SECONDS:
                    raise BrokerProblem("it does not answer")
        except BrokerProblem as problem:
            self.stop()
            raise BrokerProblem(f"the broker {self._broker.url}: {problem}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def take_change(self) -> None:
        """Make `changed` unreadable until the next change."""
        with suppress(BlockingIOError):
            while self.changed.recv(4096):
                pass

    def running(self) -> list[Session]:
        """Return the sessions, those too that are cut off; `Session.lost` tells how far each is to be believed."""
        now = time.monotonic()
        with self._lock:
            for entry in self._entries.values():
                entry.session.lost = self._lost(entry, now)
            return [entry.session for entry in self._entries.values()]

    def lines(self) -> list[Line]:
        """Return the events that have come since the last call."""
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
        return lines

    def connect_properties(self) -> Any:
        """Ask for the whole list at once."""
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.ReceiveMaximum = AT_ONCE
        return properties

    def connected(self, client: Client) -> None:
        """Ask for the list; it comes anew with each connection."""
        self._round += 1
        self._is_listing = True
        self._listed = 0
        self._question = None
        self._came = time.monotonic()
        self.interval = QUIET_SECONDS / 2
        client.subscribe(self._filters)

    def subscribed(self, mid: int, refused: bool) -> None:
        """Take note of the answers."""
        if mid == self._question:
            self._question = None
            if self._came < self._asked:
                self._finish_list()
        elif refused:
            self.problem = f"it does not let us read {self._filters[0][0]}"

    def received(self, message: MQTTMessage) -> None:
        """Take a message of a session."""
        self._came = time.monotonic()
        self._listed += self._is_listing
        parsed = parse_topic(self._broker.prefix, message.topic)
        if parsed is None or len(message.payload) > MESSAGE_LIMIT:
            return
        where, last = parsed
        with self._lock:
            if not message.payload:
                self._entries.pop(where, None)
            elif (table := _load(message.payload)) is not None:
                self._take(where, table, _left(message)) if last == STATE else self._note(where, table)
        self._tell()

    def turn(self, client: Client) -> None:
        """Ask whether the list is complete, and see whether a last will has stood long enough."""
        now = time.monotonic()
        if self._unsure_until is not None and now >= self._unsure_until:
            self._unsure_until = None
            self.interval = self._usual
            self._tell()
        if self._is_listing and self._question is None and now - self._came >= QUIET_SECONDS:
            self._asked = now
            self._question = client.subscribe(f"{self._broker.prefix}/complete", 0)[1]  # nothing is there

    def _finish_list(self) -> None:
        """Take the list as it is: what was on it before and is not now has ended meanwhile."""
        if self._listed == AT_ONCE + QUEUE:
            self.problem = f"it sent only {self._listed} of its records; mosquitto needs the line max_queued_messages 0"
        self._is_listing = False
        self.interval = self._usual
        with self._lock:
            self._entries = {where: one for where, one in self._entries.items() if one.round == self._round}
        self._complete.set()
        self._tell()

    def offline(self) -> None:
        """Nothing is believed any more."""
        self._tell()

    def _lost(self, entry: _Entry, now: float) -> str:
        age = now - entry.told_at
        if not self.online or age > (KEPT_SECONDS if entry.gone else STALE_SECONDS):
            return "stale"
        if entry.gone:
            return "gone" if age >= SURE_SECONDS else "stale"
        return ""

    def _tell(self) -> None:
        with suppress(OSError):
            self._change.send(b"\0")

    def _take(self, where: Topics, table: dict[str, Any], left: float) -> None:
        """Put a record in the place of the one before, unless it is older; called with the lock."""
        before = self._entries.get(where)
        gone = table.get("gone") is True
        sequence = table["sequence"]
        if before is None and len(self._entries) >= MOST_SESSIONS:
            return
        if before is not None and not before.gone and sequence < before.sequence:
            return
        told = KEPT_SECONDS - left
        session = _session(where, table, gone, time.time() - told)
        if session is None:
            return
        if gone and before is not None:  # the will was written long before: what we know is newer
            before.session.since = session.since
            session = before.session
        if gone and told < SURE_SECONDS:
            self._unsure_until = time.monotonic() + SURE_SECONDS
            self.interval = SURE_SECONDS / 4
        if before is None or sequence != before.sequence:
            self._note(where, table)
        self._entries[where] = _Entry(session, sequence, time.monotonic() - told, self._round, gone)

    def _note(self, where: Topics, table: dict[str, Any]) -> None:
        if not self._follows:
            return
        # Escaped, so that nothing in it can drive a terminal.
        text = json.dumps(table, separators=(",", ":")).encode() + b"\n"
        self._lines.append(Line(table["sequence"], str(table.get("timestamp")), text, where.session))


def _load(payload: bytes | bytearray) -> dict[str, Any] | None:
    try:
        table = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) and isinstance(table.get("sequence"), int) else None


def _left(message: MQTTMessage) -> float:
    """Return for how many seconds the broker still keeps a message."""
    left = getattr(message.properties, "MessageExpiryInterval", KEPT_SECONDS)
    return float(min(left, KEPT_SECONDS))


def _session(where: Topics, table: Mapping[str, Any], gone: bool, told: float) -> Session | None:
    """Make a session of a record; None for one that is malformed."""
    clean_table = {key: clean(value, CWD_LIMIT) if isinstance(value, str) else value for key, value in table.items()}
    record = {"agent": "", "tty": "", "pane": "", "focus": [], "notices": {}} | clean_table
    if gone:
        record |= {"state": "", "since": format_timestamp(int(told * 1e9))}
    elif record.get("state") not in _STATES:
        return None
    try:
        session = Session(where.session, True, record | {"event": record})
    except (KeyError, TypeError):
        return None
    session.user, session.host = segment(where.user), segment(where.host)
    return session
