"""The law of the byte path: identical bytes in both directions under any chunking, speed, signal and resize."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import tempfile
import termios
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.chaos.orders import Orders
from tests.support.place import Place, finished
from tests.support.waiting import wait_until

CHUNKS = (1, 7, 100, 4096, 65536)
SIGNALS = (signal.SIGWINCH, signal.SIGCONT, signal.SIGUSR1, signal.SIGUSR2)
WRITES = st.sampled_from(CHUNKS).flatmap(
    lambda chunk: st.tuples(st.just("write"), st.integers(1, min(300 * chunk, 300_000)), st.just(chunk))
)
STEPS = st.one_of(
    WRITES,
    WRITES,
    st.tuples(st.just("type"), st.binary(min_size=1, max_size=3000)),
    st.tuples(st.just("rest"), st.integers(1, 60)),
    st.tuples(st.just("read"), st.sampled_from([(1, 0.001), (100, 0.001), (4096, 0.0), (65536, 0.0), (0, 0.05)])),
    st.tuples(st.just("resize"), st.tuples(st.integers(1, 200), st.integers(1, 300))),
    st.tuples(st.just("signal"), st.sampled_from(SIGNALS)),
)
"""What either side does: the agent prints or rests, the user types, the terminal reads so much at a time."""


class Reader(threading.Thread):
    """The terminal's side of the output: takes `pace` (bytes, seconds of pause) at a time; 0 bytes is none."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self.fd = fd
        self._over = threading.Event()
        self.pace = (65536, 0.0)
        self.output = bytearray()

    def run(self) -> None:
        while not self._over.is_set():
            size, pause = self.pace
            if size and select.select([self.fd], [], [], 0.01)[0]:
                try:
                    self.output += os.read(self.fd, size)
                except OSError:
                    return
            if pause:
                self._over.wait(pause)

    def stop(self) -> None:
        self._over.set()
        self.join()


def exchange(steps: list[tuple[Any, ...]], seed: int) -> None:
    """Do the steps, and compare what went in with what came out on both sides."""
    size = sum(step[1] for step in steps if step[0] == "write")
    stream = Random(seed).randbytes(size)
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name) / "home")
        files = Path(name) / "agent"
        files.mkdir()
        orders = Orders(files, stream, ignores=True)
        terminal = place.spawn(orders.argv)
        reader = Reader(terminal.child_fd)
        try:
            wait_until(orders.is_ready, "the agent")
            reader.start()
            typed = b"".join(do(step, orders, reader, terminal.pid) for step in steps)
            reader.pace = (65536, 0.0)
            wait_until(lambda: len(reader.output) >= size, lambda: f"{len(reader.output)} of {size} came out")
            wait_until(lambda: len(orders.received()) >= len(typed), "all that was typed")
            received = orders.received()
            reader.stop()
            orders.give("exit 7")
            rest, status = finished(terminal)
        finally:
            place.kill_all()
            orders.close()
    came = bytes(reader.output) + rest
    assert came[:size] == stream
    assert received == typed
    assert status == 7


def do(step: tuple[Any, ...], orders: Orders, reader: Reader, pid: int) -> bytes:
    """Do one step; returns what was typed."""
    verb, *values = step
    if verb == "write":
        orders.write(*values)
    elif verb == "rest":
        orders.give(f"rest {values[0]}")
    elif verb == "read":
        reader.pace = values[0]
    elif verb == "resize":
        fcntl.ioctl(reader.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *values[0], 0, 0))
    elif verb == "signal":
        os.kill(pid, values[0])
    else:
        os.write(reader.fd, values[0])
        return bytes(values[0])
    return b""


def law(examples: int) -> Any:
    """Return what makes a property of `exchange`."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks, derandomize=examples < 10)


@law(4)
@given(st.lists(STEPS, min_size=4, max_size=12), st.integers(0, 1 << 32))
def test_bytes_are_identical_in_both_directions(steps: list[tuple[Any, ...]], seed: int) -> None:
    exchange(steps, seed)


@pytest.mark.slow
@law(100)
@given(st.lists(STEPS, min_size=4, max_size=30), st.integers(0, 1 << 32))
def test_bytes_are_identical_in_both_directions_often(steps: list[tuple[Any, ...]], seed: int) -> None:
    exchange(steps, seed)
