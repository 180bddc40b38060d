"""A connection to an MQTT broker that is kept up: one thread, which alone touches the MQTT library.

Owns connecting, signing in, the keep-alive, and the ever longer waits between attempts. What is sent and received is a
subclass's affair. Each attempt has a client of its own, so nothing of a lost connection is sent on the next one.
The library's loop is driven from here because its own wakes up every second, and ours only when something is due.
"""

from __future__ import annotations

import random
import select
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .broker import BrokerProblem, credentials, tls_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paho.mqtt.client import Client, MQTTMessage

    from lifecycle_wrap.broker_config import Broker

SILENCE = 1.5
"""A broker takes a client for gone that is silent for so many keep-alives of the protocol: MQTT 3.1.2.10."""

ROUNDS = 4
"""How often in such a keep-alive the library is asked whether a ping is due."""

FIRST_WAIT = 0.5
"""Seconds until the second attempt, give or take a half; each further one waits twice as long, up to a third of the
keep-alive, so that a board is right within the keep-alive once the broker is back."""

CONNECT_SECONDS = 5.0

PACKETS = 100
"""How many packets are read before the rest is looked at: a list of thousands takes fewer rounds."""


class Link(threading.Thread):
    """Keeps one connection up from `start` to `stop`.

    Everything is called on the thread itself, but for `wake`, `stop` and the attributes.

    Args:
        broker: where, and how often we show that we live.
        client_id: the same for each connection of a session, so that the broker lets go of the one before.
        environ: our environment.

    Attributes:
        online: the broker has let us in, and we are not cut off as far as is known.
        connecting: an attempt is on its way.
        problem: why we are not let in, in words; empty while all is well or nothing was tried yet.
        tried: set once the first attempt has come to something.
        interval: the longest time between two calls of `turn`, in seconds.
    """

    def __init__(self, broker: Broker, client_id: str, environ: Mapping[str, str]) -> None:
        super().__init__(name="lifecycle-broker", daemon=True)
        self.online = False
        self.connecting = False
        self.problem = ""
        self.tried = threading.Event()
        self._broker = broker
        self._client_id = client_id
        self._environ = environ
        self._stopping = False
        self._keepalive = max(1, int(broker.keepalive / SILENCE))
        self.interval = self._keepalive / ROUNDS
        # Sockets, for one that is closed has no number that could meanwhile be another file's.
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)

    def wake(self) -> None:
        """Have `turn` called soon, from any thread."""
        with suppress(OSError):
            self._waker.send(b"\0")

    def stop(self) -> None:
        """Give up the connection and end, from any thread."""
        self._stopping = True
        self.wake()

    def prepare(self, client: Client) -> None:
        """Set what must be known before a connection: the last will."""

    def connect_properties(self) -> Any:
        """Return what the broker is asked for, or None."""
        return None

    def connected(self, client: Client) -> None:
        """The broker has let us in."""

    def received(self, message: MQTTMessage) -> None:
        """A message has come."""

    def subscribed(self, mid: int, refused: bool) -> None:
        """A subscription was answered."""

    def acknowledged(self, mid: int) -> None:
        """The broker has taken a message."""

    def turn(self, client: Client) -> None:
        """Do what there is to do; called after all else, and at least every `interval` seconds."""

    def offline(self) -> None:
        """There is no connection, or none any more."""

    def run(self) -> None:
        """Connect again and again."""
        wait = FIRST_WAIT
        while not self._stopping:
            if self._connect_and_serve():
                wait = FIRST_WAIT
            self.tried.set()
            if not self._stopping:
                self._sleep(wait * random.uniform(0.5, 1.5))
                wait = min(2 * wait, max(FIRST_WAIT, self._broker.keepalive / 3))

    def _connect_and_serve(self) -> bool:
        """Have one connection, or fail to; True when the broker has let us in."""
        client = None
        self.connecting = True
        try:
            client = self._connect()
            self._serve(client)
        except BrokerProblem as problem:
            self.problem = str(problem)
        except ssl.SSLCertVerificationError as error:
            self.problem = f"its certificate is not trusted ({error.verify_message})"
        except socket.gaierror:
            self.problem = "its name cannot be resolved"
        except TimeoutError:
            self.problem = "it does not answer"
        except Exception as error:  # the library meets what a broker sends with any; this thread must not write of it
            self.problem = getattr(error, "reason", None) or getattr(error, "strerror", None) or "it cannot be reached"
        finally:
            if client is not None and (open_socket := client.socket()) is not None:
                open_socket.close()
            self.connecting = False
            was_online, self.online = self.online, False
        self.problem = self.problem or "the connection is lost"
        self.offline()
        return was_online

    def _connect(self) -> Client:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

        client = Client(CallbackAPIVersion.VERSION2, self._client_id, protocol=MQTTProtocolVersion.MQTTv5)
        client.connect_timeout = CONNECT_SECONDS
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = lambda _client, _data, message: self.received(message)
        client.on_publish = lambda _client, _data, mid, _code, _properties: self.acknowledged(mid)
        client.on_subscribe = lambda _client, _data, mid, codes, _properties: self.subscribed(
            mid, any(code.is_failure for code in codes)
        )
        user, password = credentials(self._broker, self._environ)
        client.username_pw_set(user, password)
        address = self._broker.url
        if address.tls:
            client.tls_set_context(tls_context(self._broker, self._environ))
        self.prepare(client)
        client.connect(
            address.host, address.port, self._keepalive, clean_start=True, properties=self.connect_properties()
        )
        connection: Any = client.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small messages, each of them news
        return client

    def _on_connect(self, client: Client, _data: Any, _flags: Any, code: Any, _properties: Any) -> None:
        if code.is_failure:
            refused = str(code) in ("Bad user name or password", "Not authorized")
            self.problem = "it refuses the user name or password" if refused else f"it says {str(code).lower()}"
            return
        self.online = True
        self.connecting = False
        self.problem = ""
        self.connected(client)
        self.tried.set()

    def _on_disconnect(self, _client: Client, _data: Any, flags: Any, code: Any, _properties: Any) -> None:
        if code.is_failure and self.online:
            what = "it hangs up" if flags.is_disconnect_packet_from_server else "the connection is lost"
            self.problem = f"{what} ({str(code).lower()})"

    def _serve(self, client: Client) -> None:
        """Drive the library until the connection is over."""
        while (connection := client.socket()) is not None:
            if self._stopping:
                self.finish(client)
                return
            ready = self._poll(connection, client.want_write())
            self._drain()
            if connection.fileno() in ready:
                self._read(client, connection)
            if client.want_write():
                client.loop_write()
            client.loop_misc()
            if self.online and client.socket() is not None:
                self.turn(client)

    def _read(self, client: Client, connection: Any) -> None:
        """Read what has come, a packet at a time, until there is no more or it is time to look at the rest."""
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        for _ in range(PACKETS):
            client.loop_read()
            if client.socket() is None or not (getattr(connection, "pending", int)() or poll.poll(0)):
                return

    def finish(self, client: Client) -> None:
        """Say goodbye: without it the broker would send our last will."""
        client.disconnect()

    def _poll(self, connection: Any, writes: bool) -> set[int]:
        pending = getattr(connection, "pending", int)()
        poll = select.poll()
        poll.register(connection, select.POLLIN | (select.POLLOUT if writes else 0))
        poll.register(self._woken, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(0 if pending else self.interval * 1000)}
        return ready | ({connection.fileno()} if pending else set())

    def _sleep(self, seconds: float) -> None:
        """Wait, for an end too; what is to be told wakes us, but does not hurry us."""
        end = time.monotonic() + seconds
        while not self._stopping and (left := end - time.monotonic()) > 0:
            poll = select.poll()
            poll.register(self._woken, select.POLLIN)
            poll.poll(left * 1000)
            self._drain()

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            self._woken.recv(4096)
