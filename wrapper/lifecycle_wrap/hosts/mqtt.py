"""An MQTT broker: this session's record where other machines see it.

Owns what of a session goes there, and when. `broker` describes the topics, `broker_link` keeps the connection. The
broker being away costs the session nothing: the worker only swaps what is to be told, and the newest state is told
once there is a connection again.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from lifecycle_wrap.projection import Kind, LifecycleEvent

from .base import Call, Detection, ErrorClass, Host, HostError, Setup, new_session
from .broker import AGAIN_SECONDS, KEPT_SECONDS, LAST_SEQUENCE, Topics, topics
from .broker_link import Link
from .history import History

if TYPE_CHECKING:
    from paho.mqtt.client import Client
    from paho.mqtt.properties import Properties

    from lifecycle_wrap.broker_config import Broker

EVENTS_WAITING = 64
"""Events that wait for a slow connection; the oldest is dropped. Of the state only the newest waits."""

GOODBYE_SECONDS = 0.25
"""How long the end waits for a connection that is only being made: a short session may have left a last will in it."""

_RECORDED = frozenset({Kind.STATE, Kind.ATTENTION})
"""The kinds after which the record is a new one."""

_EMPTIED = ("message", "session_id", "cwd")
"""Fields of version 1 that are always there; kept from the broker they are empty."""


class Mqtt(Host):
    """Tells the broker that the configuration names.

    Attributes:
        link: the connection, from the first event on.
    """

    name: ClassVar[str] = "mqtt"
    kinds: frozenset[Kind] = frozenset(Kind)
    is_pane: ClassVar[bool] = False
    interval: ClassVar[float] = 0.05  # an agent that flickers costs a fleet's broker at most this
    repeats: ClassVar[tuple[float, float] | None] = (AGAIN_SECONDS, AGAIN_SECONDS)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._broker: Broker = setup.options["broker"]
        self._topics = topics(self._broker, setup.environ, setup.session or new_session())
        self._history = History()
        self._state: LifecycleEvent | None = None
        self.link: Teller | None = None

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """Where a broker is configured only its library can be missing."""
        if find_spec("paho") is None:
            return Detection(False, "paho-mqtt is not installed; pip install 'lifecycle-wrap[mqtt]'")
        return Detection(True, "configured by lifecycle.broker")

    def projection(self, event: LifecycleEvent) -> Hashable:
        """What of the event goes out."""
        return json.dumps(self._shown(event.snapshot))

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Have the connection's thread tell it; the first time wait whether there is a connection."""
        link = self.link = self.link or self._start(event)
        if event.kind in _RECORDED and (event.kind is Kind.STATE or self._state is not None):
            state = self._state = self._newest(event)
            link.tell(self._line(state, **self._history.facts(state)), self._will(state))
        with call.aborting(link.tried.set):
            link.tried.wait(call.remaining)
        if event.kind is not Kind.STATE:
            link.pass_on(self._line(event))
        self.notice = f"{self._broker.url}: {link.problem}" if link.problem else ""
        if link.problem:
            raise HostError(ErrorClass.AWAY)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Remove the record and say goodbye, so that the last will is not sent."""
        if self.link is None:
            return
        self.link.leave(self._line(event))
        with call.aborting(self.link.left.set):
            self.link.left.wait(min(call.remaining, GOODBYE_SECONDS) if self.link.connecting else call.remaining)
        if not self.link.left.is_set():
            raise HostError(ErrorClass.TIMED_OUT)

    def _newest(self, event: LifecycleEvent) -> LifecycleEvent:
        """Return what the record tells now; a state that is told again may be older than a bell that came since."""
        if self._state is not None and event.sequence <= self._state.sequence:
            return self._state
        self._history.take(event)
        return event if event.kind is Kind.STATE else replace(event, kind=Kind.STATE, turn_id="")

    def _start(self, event: LifecycleEvent) -> Teller:
        link = Teller(self._broker, self._topics, self._will(event), self.setup.environ)
        link.start()
        return link

    def _will(self, event: LifecycleEvent) -> bytes:
        release = replace(event, kind=Kind.RELEASE, sequence=LAST_SEQUENCE, state="", message="", turn_id="")
        return self._line(release, **self._history.facts(release), gone=True)

    def _line(self, event: LifecycleEvent, **more: object) -> bytes:
        return json.dumps(self._shown(event) | more, ensure_ascii=False, separators=(",", ":")).encode()

    def _shown(self, event: LifecycleEvent) -> dict[str, Any]:
        fields = self._broker.fields
        table: dict[str, Any] = json.loads(event.to_json())
        table |= {field: "" for field in _EMPTIED if field not in fields}
        if "resume_argv" not in fields:
            table.pop("resume_argv", None)
        table["host"] = self._topics.host
        own = {"agent": event.agent, "profile": event.profile, "title": event.title}
        return table | {field: value for field, value in own.items() if field in fields}


class Teller(Link):
    """Tells one session: the newest state, again on each new connection, and the other events while there is one.

    Args:
        broker: where.
        topics: the session's.
        will: what the broker is to put in the state's place when we are cut off.
        environ: our environment.

    Attributes:
        left: set once we have said goodbye, or there was nobody to say it to.
    """

    def __init__(self, broker: Broker, topics: Topics, will: bytes, environ: Mapping[str, str]) -> None:
        super().__init__(broker, f"lifecycle-{topics.session}", environ)
        self.left = threading.Event()
        self._topics = topics
        self._lock = threading.Lock()
        # Under the lock:
        self._will = will
        self._state: bytes | None = None
        self._is_told = True
        self._events: deque[bytes] = deque(maxlen=EVENTS_WAITING)
        self._goodbye: bytes | None = None
        # The thread's own:
        self._unconfirmed: int | None = None
        self._last: int | None = None

    def tell(self, state: bytes, will: bytes) -> None:
        """Put a state in the place of the one before."""
        with self._lock:
            self._state, self._is_told, self._will = state, False, will
        self.wake()

    def pass_on(self, event: bytes) -> None:
        """Tell an event, if there is a connection: it is of no use later."""
        if self.online:
            with self._lock:
                self._events.append(event)
            self.wake()

    def leave(self, event: bytes) -> None:
        """Tell the release, remove the record and end."""
        with self._lock:
            self._goodbye = event
        if not (self.online or self.connecting):
            self.stop()
        self.wake()

    def run(self) -> None:
        """Keep the connection until we leave."""
        try:
            super().run()
        finally:
            self.left.set()

    def prepare(self, client: Client) -> None:
        """Leave our last will with the broker, for as long as it keeps records."""
        with self._lock:
            will = self._will
        client.will_set(self._topics.state, will, qos=1, retain=True, properties=_kept(will=True))

    def connected(self, client: Client) -> None:
        """Tell the present state: whatever the broker has, it may be older, or our last will."""
        self._unconfirmed = None
        with self._lock:
            self._is_told = False

    def offline(self) -> None:
        """What could not be told is old; somebody who leaves does not come back for it."""
        with self._lock:
            self._events.clear()
            if self._goodbye is not None:
                self._stopping = True

    def acknowledged(self, mid: int) -> None:
        """Make room for the next state; after the last one go."""
        if mid == self._unconfirmed:
            self._unconfirmed = None
        if mid == self._last:
            self._stopping = True

    def turn(self, client: Client) -> None:
        """Hand over what waits, as fast as the connection takes it: what waits here is bounded, and the newest."""
        while not client.want_write() and (step := self._next()) is not None:
            topic, payload, retained = step
            properties = _kept() if retained and payload else None
            told = client.publish(topic, payload, qos=int(retained), retain=retained, properties=properties)
            if retained:
                self._unconfirmed = told.mid
            if retained and not payload:
                self._last = told.mid

    def _next(self) -> tuple[str, bytes, bool] | None:
        """Return topic, payload and whether it is retained, of what is to be told next."""
        with self._lock:
            if self._last is not None:
                return None
            if self._events:
                return self._topics.events, self._events.popleft(), False
            if self._goodbye is not None:
                if self._goodbye:
                    event, self._goodbye = self._goodbye, b""
                    return self._topics.events, event, False
                return self._topics.state, b"", True
            if self._state is None or self._is_told or self._unconfirmed is not None:
                return None
            self._is_told = True
            return self._topics.state, self._state, True


def _kept(*, will: bool = False) -> Properties:
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    properties: Properties = Properties(  # type: ignore[no-untyped-call]
        PacketTypes.WILLMESSAGE if will else PacketTypes.PUBLISH
    )
    properties.MessageExpiryInterval = KEPT_SECONDS
    return properties
