"""One question and one answer over a Unix socket, within a `Call`.

Owns connection, time limit, bound and abort for the hosts that are reached without a process of their own. Must not
know what the lines mean.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import time
from contextlib import suppress

from .base import OUTPUT_LIMIT, Call, ErrorClass, HostError

_MACOS_LOCAL_PEERPID = 2
"""`LOCAL_PEERPID` of <sys/un.h>, an option of level 0 (`SOL_LOCAL`)."""


def is_socket(path: str) -> bool:
    """Tell whether there is a socket; what can be no path, being too long, is none."""
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def exchange_line(path: str, line: bytes, call: Call, seconds: float) -> bytes:
    """Connect, send one line, and return the line that comes back.

    Args:
        path: the socket.
        line: what to send, with its newline.
        call: the send this belongs to.
        seconds: the limit of this exchange, below what the call has left.

    Raises:
        HostError: nobody listens, the answer does not come in time, is cut off, or is longer than `OUTPUT_LIMIT`.
    """
    deadline = time.monotonic() + min(seconds, call.remaining)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, call.aborting(lambda: _shut(connection)):
        try:
            _limit(connection, deadline)
            connection.connect(path)
            connection.sendall(line)
            answer = bytearray()
            while not answer.endswith(b"\n"):
                _limit(connection, deadline)
                chunk = connection.recv(OUTPUT_LIMIT)
                answer += chunk
                if not chunk or len(answer) > OUTPUT_LIMIT:
                    raise HostError
            return bytes(answer)
        except TimeoutError:
            raise HostError(ErrorClass.TIMED_OUT) from None
        except PermissionError:
            raise HostError(ErrorClass.DENIED) from None
        except (FileNotFoundError, ConnectionRefusedError):
            raise HostError(ErrorClass.UNAVAILABLE) from None
        except OSError:
            _ = call.remaining  # a cancelled call says so
            raise HostError from None


def server_pid(path: str, call: Call, seconds: float) -> int | None:
    """Return the process that listens on a socket, or None where the system does not tell.

    Raises:
        HostError: nobody listens.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(min(seconds, call.remaining))
        try:
            connection.connect(path)
        except OSError:
            raise HostError(ErrorClass.UNAVAILABLE) from None
        if sys.platform == "linux":
            pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        elif sys.platform == "darwin":
            pid = connection.getsockopt(0, _MACOS_LOCAL_PEERPID)
        else:
            return None
        return int(pid)


def _limit(connection: socket.socket, deadline: float) -> None:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    connection.settimeout(seconds)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
