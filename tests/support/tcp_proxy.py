"""A link that a test can cut: what is sent through it waits until it is mended, as in a network that drops packets."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType


class TcpProxy:
    """Passes connections on to a port of the loopback interface. A context manager.

    Args:
        port: where to.

    Attributes:
        port: where it listens itself.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._flows = threading.Event()
        self._flows.set()
        self._closed = False
        self._open: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        self.mend()
        for one in (self._server, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut(self) -> None:
        """Let nothing through any more; neither end is told."""
        self._flows.clear()

    def mend(self) -> None:
        """Let through what waits, and all that follows."""
        self._flows.set()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(near,), daemon=True).start()

    def _pass_on(self, near: socket.socket) -> None:
        self._flows.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            near.close()
            return
        self._open += [near, far]
        threading.Thread(target=self._copy, args=(far, near), daemon=True).start()
        self._copy(near, far)

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._flows.wait()
                sink.sendall(data)
        self._flows.wait()
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
