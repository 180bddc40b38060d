"""Where the memory ends, at whatever place of the byte path, the bytes are all there, once, and in order."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle_detectors.osc_filter import OscFilter
from lifecycle_wrap.arguments import Options
from lifecycle_wrap.launch import _Session
from lifecycle_wrap.looking import Observer
from lifecycle_wrap.observation import Watch
from lifecycle_wrap.pty import monitor, pump
from tests.support.byte_agent import pattern
from tests.support.no_memory import NoMemory
from tests.support.place import Place, finished, patched, python_agent

BYTE_PATH = (
    "pty/pump.py",
    "pty/burst_reader.py",
    "pty/byte_queue.py",
    "lifecycle_wrap/observation.py",
    "lifecycle_detectors/osc_filter.py",
)
PIECES = (
    b"plain",
    b"\x1b]7501;state=wor",
    b"king\x1b\\ and on\x1b]75",
    b"02;x\x07",
    pattern(6000),
    b"\x1b[31m\x1b]7501;?\x1b\\",
    b"\x1b[c",
    pattern(3000),
    b"\x1b]7501;half",
)
ENOUGH = 2000
"""More instructions than the byte path needs for the pieces."""


class Filtering(Observer):
    """Holds back what may be a sequence that it has to decide on, as the real one does."""

    def __init__(self) -> None:
        super().__init__()
        self._filter = OscFilter({7501}, lambda osc: None)

    def output(self, data: bytes, now: float) -> bytes:
        return self._filter.filter(data)

    def flush_output(self) -> bytes:
        return self._filter.flush()


class Ends:
    """A pump between two sockets, in the place of the agent's PTY and of the terminal."""

    def __init__(self, observer: Observer | None, folder: Path) -> None:
        self.agent, master = socket.socketpair()
        self.terminal, outer = socket.socketpair()
        self._sockets = [self.agent, master, self.terminal, outer]
        outer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # so that some bytes have to wait
        for end in self._sockets:
            end.setblocking(False)
        self._messages = os.pipe()
        self.child: Any = SimpleNamespace(
            master=master.fileno(), messages=self._messages[0], pid=0, winsize=bytes(8), read_messages=self._ended
        )
        self.outer: Any = SimpleNamespace(input=outer.fileno(), output=outer.fileno(), raw=False)
        self.shown = b""
        options = Options()
        signals: Any = SimpleNamespace(fd=self._messages[0], wake=lambda: None)
        self.session = _Session(options, [], {"XDG_STATE_HOME": str(folder)}, self.child, self.outer, signals)
        self.pump = self.session._make_pump()
        assert self.session._watch is not None
        self.watch: Watch = self.session._watch
        if observer is not None:
            self.watch.adopt(observer)

    def _ended(self) -> Iterator[tuple[bytes, int]]:
        yield monitor.ENDED, 0

    def show(self) -> None:
        try:
            self.shown += self.terminal.recv(1 << 20)
        except BlockingIOError:
            return

    def show_all(self) -> None:
        self.terminal.setblocking(True)
        while data := self.terminal.recv(1 << 20):
            self.shown += data

    def end(self) -> None:
        self._sockets[-1].shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for end in self._sockets:
            end.close()
        for fd in self._messages:
            os.close(fd)


def carry(ends: Ends, no_memory: NoMemory) -> bool:
    """Carry the pieces; returns whether the memory lasted. What failed is carried on as the program does it."""
    for number, piece in enumerate(PIECES):
        ends.agent.send(piece)
        try:
            with no_memory:
                ends.pump._read_output(pump.BURST)
        except MemoryError as error:
            ends.agent.send(b"".join(PIECES[number + 1 :]))
            reader = threading.Thread(target=ends.show_all)
            reader.start()
            ends.session._run_without_pump(error)
            ends.end()
            reader.join()
            return False
        if number % 3 == 2:
            ends.show()
    ends.watch.finish()
    ends.watch.stop_looking()
    while ends.pump.to_outer or ends.watch.to_outer:
        ends.pump._write_outer()
        ends.show()
    ends.show()
    return not no_memory.came


@pytest.mark.parametrize("observed", [False, True], ids=["while it loads", "observed"])
def test_no_byte_is_lost_or_doubled_wherever_the_memory_ends(
    observed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lifecycle_wrap.loading.Loader.wait", lambda self: Observer())
    for after in range(ENOUGH):
        ends = Ends(Filtering() if observed else None, tmp_path)
        lasted = carry(ends, NoMemory(BYTE_PATH, after))
        ends.close()
        whole = b"".join(PIECES)
        assert ends.shown[: len(whole)] == whole, f"after {after} instructions"
        if lasted:
            break
    assert lasted
    assert after > 100


NONE_TO_LOAD = "import lifecycle_wrap.loading as loading\nloading.HEADROOM = 1 << 62\n"
NONE_FOR_THE_SCREEN = """
import lifecycle_wrap.observer as observer
def refuse(): raise MemoryError
observer.require_memory = refuse
"""
COMPLAINS = """
import sys, lifecycle_wrap.observer as observer
look = observer.SessionObserver.look
def complain(self, data, now):
    print("a library's complaint", file=sys.stderr, flush=True)
    look(self, data, now)
observer.SessionObserver.look = complain
"""
SETS = python_agent("say('\\x1b[?2004hready\\r\\nnext'); sys.stdin.read(1); sys.exit(3)")


@pytest.mark.parametrize(
    ("prelude", "told"),
    [(NONE_TO_LOAD, b"was not observed; see "), (NONE_FOR_THE_SCREEN, b"ended the observation of this session")],
    ids=["at the start", "at the end"],
)
def test_without_memory_to_load_the_agent_runs_and_its_modes_are_undone(
    place: Place, prelude: str, told: bytes
) -> None:
    terminal = place.spawn(SETS, program=patched(prelude))
    terminal.expect_exact(b"ready")
    terminal.sendline("")
    shown, status = finished(terminal)
    assert status == 3
    assert b"\x1b[?2004l" in shown
    assert told in shown
    assert "MemoryError" in place.log.read_text()


def test_what_a_library_complains_of_is_not_for_the_live_screen(place: Place) -> None:
    terminal = place.spawn(SETS, program=patched(COMPLAINS))
    terminal.expect_exact(b"ready")
    terminal.sendline("")
    shown, status = finished(terminal)
    assert status == 3
    assert b"complaint" not in shown
