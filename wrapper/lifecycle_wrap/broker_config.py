"""The `[lifecycle.broker]` table: which MQTT broker a fleet of agents is told to, and how it is reached.

Owns the keys of the table, their defaults and their errors. It only reads values: no file is opened, nobody is asked.
The table, with its defaults; only `url` must be there:

    url = "mqtts://broker.example"  # or mqtt://, with a port where it is not 8883 or 1883
    prefix = "lifecycle"            # the first levels of every topic
    user = ""                       # the name to sign in with; its password is never a value in this file
    password_file = ""              # holds the password alone; nobody else may read it (0600)
    ca = ""                         # certificates that the broker's is checked with, else the system's
    certificate = ""                # our own, where the broker asks for one,
    key = ""                        # and its key, in a file that nobody else may read
    host = ""                       # what this machine is called, else its host name
    keepalive = 30                  # a session that is cut off is marked as gone within so many seconds
    fields = ["agent", "profile", "message", "session_id", "cwd", "resume_argv"]    # also "title"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PLAIN_PORT = 1883
TLS_PORT = 8883

PREFIX_BYTES = 128
TEXT_BYTES = 4096
KEEPALIVE_LIMITS = (3, 3600)
"""Seconds. Below, a busy machine would come and go."""

FIELDS = ("agent", "profile", "message", "session_id", "cwd", "resume_argv", "title")
"""What of a session can be kept from the broker."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int
    tls: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Broker:
    """The table's values; the module's docstring describes each key."""

    url: Address
    prefix: str = "lifecycle"
    user: str = ""
    password_file: str = ""
    ca: str = ""
    certificate: str = ""
    key: str = ""
    host: str = ""
    keepalive: int = 30
    fields: tuple[str, ...] = FIELDS[:-1]


def parse_url(value: Any) -> Address:
    """Read a broker's URL.

    Raises:
        ValueError: it is none, or holds what does not belong there; the text says what to write instead.
    """
    expected = 'expected "mqtts://HOST[:PORT]" or "mqtt://HOST[:PORT]"'
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except (ValueError, TypeError, AttributeError):
        raise ValueError(expected) from None
    if "@" in parts.netloc:
        raise ValueError(
            "a URL is no place for a password; set LIFECYCLE_WRAP_MQTT_USER and LIFECYCLE_WRAP_MQTT_PASSWORD, "
            "or user and password_file in [lifecycle.broker]"
        )
    if parts.scheme not in ("mqtt", "mqtts") or not host or not host.isprintable() or " " in host:
        raise ValueError(expected)
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"{expected}; the topics' beginning is prefix in [lifecycle.broker]")
    tls = parts.scheme == "mqtts"
    return Address(host, port or (TLS_PORT if tls else PLAIN_PORT), tls)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or len(value.encode()) > TEXT_BYTES:
        raise ValueError(f"expected a line of text of at most {TEXT_BYTES} bytes")
    return value


def _prefix(value: Any) -> str:
    levels = _text(value).split("/")
    if not all(levels) or any(sign in value for sign in "+#") or value.startswith("$") or len(value) > PREFIX_BYTES:
        raise ValueError(
            f'expected the first levels of a topic, such as "lifecycle" or "home/agents": no +, #, $ at the beginning '
            f"or empty level, at most {PREFIX_BYTES} characters"
        )
    return "/".join(levels)


def _keepalive(value: Any) -> int:
    least, most = KEEPALIVE_LIMITS
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"expected whole seconds from {least} to {most}")
    return value


def _fields(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(item in FIELDS for item in value):
        raise ValueError(f"expected a list of some of {', '.join(FIELDS)}; [] keeps all of them from the broker")
    return tuple(field for field in FIELDS if field in value)


BROKER_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "url": parse_url,
    "prefix": _prefix,
    "user": _text,
    "password_file": _text,
    "ca": _text,
    "certificate": _text,
    "key": _text,
    "host": _text,
    "keepalive": _keepalive,
    "fields": _fields,
}
