"""How sessions stand on an MQTT broker: the topics, who signs in with what, and what can be wrong before anyone asks.

Owns what the writer (`mqtt`) and the readers (the commands with `--broker`) must agree on. It imports no MQTT library.

A session has two topics, `PREFIX/USER@HOST/SESSION/state` and `.../events`. SESSION is the key of its files in the
register (see `records`).

`state`     retained, QoS 1: the last event as version 1 JSON, and beside it the keys of `broker.schema.json`. It is
            told again every `AGAIN_SECONDS`, and the broker forgets it after `KEPT_SECONDS`. A clean end removes it.
            The last will takes its place when the session is cut off: a `release` with `"gone": true` and a
            `sequence` above all others, so that a reader that drops what is old does not drop it. What came last on
            the topic counts.
`events`    not retained, QoS 0: the other kinds and the release, with `host`, `agent` and `profile` beside them.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from lifecycle_wrap.broker_config import Broker

AGAIN_SECONDS = 600.0
"""How often an unchanged state is told again: 100,000 sessions are 170 messages a second."""

STALE_SECONDS = 2.5 * AGAIN_SECONDS
"""A state that was not told for so long is no longer believed: its session ended while the broker was away."""

KEPT_SECONDS = 86_400
"""How long the broker keeps what nobody tells again; what is left of it tells a reader when it was told, by the
broker's clock alone."""

LAST_SEQUENCE = (1 << 63) - 1
"""The sequence of a last will, which is written before what it must come after."""

SEGMENT_BYTES = 64
"""The most of a user's or machine's name in a topic."""

SECRET_BYTES = 4096
"""The most that is read of a password file."""

USER = "LIFECYCLE_WRAP_MQTT_USER"
PASSWORD = "LIFECYCLE_WRAP_MQTT_PASSWORD"

STATE = "state"
EVENTS = "events"


class BrokerProblem(Exception):
    """The broker cannot be used; the text says why, and what to do where that is known."""


class Topics(NamedTuple):
    """Where one session stands."""

    prefix: str
    user: str
    host: str
    session: str

    @property
    def state(self) -> str:
        """The topic of the record."""
        return self._topic(STATE)

    @property
    def events(self) -> str:
        """The topic of the other events."""
        return self._topic(EVENTS)

    def _topic(self, last: str) -> str:
        return f"{self.prefix}/{self.user}@{self.host}/{self.session}/{last}"


def all_sessions(prefix: str, last: str) -> str:
    """Return the filter for the topics of all sessions."""
    return f"{prefix}/+/+/{last}"


def parse_topic(prefix: str, topic: str) -> tuple[Topics, str] | None:
    """Return the session of a topic and the topic's last level, or None for a topic that is none of ours."""
    levels = topic.removeprefix(f"{prefix}/").split("/")
    if not topic.startswith(f"{prefix}/") or len(levels) != 3 or levels[2] not in (STATE, EVENTS):
        return None
    user, at, host = levels[0].partition("@")
    return (Topics(prefix, user, host, levels[1]), levels[2]) if at and all((user, host, levels[1])) else None


def segment(text: str) -> str:
    """Make a name fit into a topic's level: nothing that MQTT, we or a terminal would take for something else."""
    kept = "".join(c if c.isprintable() and c not in "+#/@ " else "_" for c in text)
    return kept.encode()[:SEGMENT_BYTES].decode(errors="ignore") or "_"


def topics(broker: Broker, environ: Mapping[str, str], session: str) -> Topics:
    """Return where a session of this user on this machine stands."""
    import socket

    return Topics(broker.prefix, segment(_user(environ)), segment(broker.host or socket.gethostname()), session)


def _user(environ: Mapping[str, str]) -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container's user without an entry
        return environ.get("USER") or str(os.geteuid())


def credentials(broker: Broker, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the user and the password to sign in with, each None where there is none.

    Raises:
        BrokerProblem: the password file cannot be read, or others can read it.
    """
    user = environ.get(USER) or broker.user or None
    password = environ.get(PASSWORD)
    if password is None and broker.password_file:
        password = _secret(expand(broker.password_file, environ)).rstrip("\r\n")
    return user, password


def _secret(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), encoding="utf-8") as file:
            require_private(path, os.fstat(file.fileno()))
            return file.read(SECRET_BYTES)
    except OSError as error:
        raise BrokerProblem(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise BrokerProblem(f"{path} is not UTF-8 text") from None


def require_private(path: str, status: os.stat_result) -> None:
    """Refuse a secret that others may read.

    Raises:
        BrokerProblem: they may, or it is no plain file of ours.
    """
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
        raise BrokerProblem(f"{path} is no plain file of yours")
    if status.st_mode & 0o077:
        raise BrokerProblem(f"others may read {path}; chmod 600 it")


def expand(path: str, environ: Mapping[str, str]) -> str:
    """Return a path of the configuration with `~` replaced."""
    return f"{environ.get('HOME', '')}{path[1:]}" if path.startswith("~/") else path


def tls_context(broker: Broker, environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return what certificates are checked with, and our own.

    Raises:
        BrokerProblem: a file cannot be used.
    """
    import ssl

    ca, certificate, key = (expand(path, environ) for path in (broker.ca, broker.certificate, broker.key))
    wrong = ca
    try:
        context = ssl.create_default_context(cafile=ca or None)
        if certificate:
            wrong = key or certificate
            require_private(wrong, os.stat(wrong))
            context.load_cert_chain(certificate, key or None, password="")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise BrokerProblem(f"{wrong} cannot be used ({_reason(error)})") from None
    return context


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or "it is not valid"


def check(broker: Broker, environ: Mapping[str, str]) -> None:
    """Look at all that can be wrong on our side; nobody is asked.

    Raises:
        BrokerProblem: something is.
    """
    from importlib.util import find_spec

    if find_spec("paho") is None:
        raise BrokerProblem("paho-mqtt is not installed; pip install 'lifecycle-wrap[mqtt]'")
    credentials(broker, environ)
    if broker.url.tls:
        tls_context(broker, environ)
