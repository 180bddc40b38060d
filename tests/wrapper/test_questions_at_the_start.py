"""What an agent asks the terminal before we are loaded: it gets its answer in time, and we still know of it.

Some agents wait half a second for an answer to the OSC 7501 query, which is less than loading takes on a busy machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pexpect
import pytest

from lifecycle_detectors import Catalog, Size
from lifecycle_detectors.stream import OutputStream
from lifecycle_wrap.config import Config
from lifecycle_wrap.log import Log
from lifecycle_wrap.observation import Observer, Watch
from lifecycle_wrap.terminal.outward import Outward
from lifecycle_wrap.terminal.probe import BURST
from tests.detectors.chunking import every_cut
from tests.support.place import Place, patched

AGENT = [sys.executable, str(Path(__file__).parents[1] / "support" / "scripted_agent.py")]
QUERY, ANSWER, REPORT = b"\x1b]7501;?\x1b\\", b"\x1b]7501;?\x1b\\", b"\x1b]7501;state=working:app=x\x1b\\"
DA1, DA1_REPLY = b"\x1b[c", b"\x1b[?62;22c"
VERSION = b"\x1b[>q"
PROFILE = Catalog().get("generic")
SLOW = """
import os, time
import lifecycle_wrap.loading as loading
make = loading.Loader._make
def slow(self):
    while not os.path.exists({gate!r}):
        time.sleep(0.01)
    return make(self)
loading.Loader._make = slow
"""


class Loading:
    """A run whose observer is not ready before the test lets it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._gate = place.folder / "gate"
        config = place.folder / "config.toml"
        config.write_text('notify = "off"\n[lifecycle]\nadapters = []\nosc = "off"\n')
        self._options = ("--config", str(config), "--")

    def start(self, *steps: bytes) -> pexpect.spawn[bytes]:
        """Start an agent."""
        program = patched(SLOW.format(gate=str(self._gate)))
        return self._place.spawn([*AGENT, *map(_written, steps)], program=program, options=self._options)

    def end(self) -> None:
        """Let the observer come."""
        self._gate.touch()


def _written(step: bytes) -> str:
    return step.decode().replace("\\", "\\\\").replace("\x1b", "\\x1b")


@pytest.fixture
def loading(place: Place) -> Loading:
    return Loading(place)


def test_a_terminal_that_answers_does_so_while_we_load_and_then_gets_the_reports(loading: Loading) -> None:
    steps = (b"say:" + QUERY + b"drawn", b"for:" + ANSWER, b"say:" + b"heard" + REPORT, b"for:end", b"echo", b"for:!")
    terminal = loading.start(*steps)
    terminal.expect_exact(QUERY + b"drawn")
    terminal.send(ANSWER)
    terminal.expect_exact(b"heard")
    loading.end()
    terminal.expect_exact(REPORT + VERSION)
    terminal.send(ANSWER + DA1_REPLY + b"end")
    terminal.expect_exact((ANSWER + b"end").hex().encode())


@pytest.mark.parametrize("fence", [DA1, b"\x1b[0c"])
def test_a_terminal_that_does_not_answer_is_asked_for_its_attributes_when_we_can_answer(
    loading: Loading, fence: bytes
) -> None:
    terminal = loading.start(b"say:" + QUERY + b"drawn" + fence, b"for:c", b"echo", b"say:" + REPORT, b"for:!")
    terminal.expect_exact(QUERY + b"drawn")
    loading.end()
    terminal.expect_exact(fence + VERSION)
    terminal.send(DA1_REPLY + DA1_REPLY)
    terminal.expect_exact((ANSWER + DA1_REPLY).hex().encode())
    terminal.send(b"!")
    terminal.expect_exact(pexpect.EOF)
    assert b"7501;state" not in terminal.before


def test_attributes_that_were_told_while_we_loaded_answer_no_query(loading: Loading) -> None:
    steps = (
        b"say:" + DA1,
        b"for:c",
        b"say:" + QUERY + b"drawn" + DA1,
        b"for:c" + ANSWER + DA1_REPLY,
        b"echo",
        b"for:!",
    )
    terminal = loading.start(*steps)
    terminal.expect_exact(DA1)
    terminal.send(DA1_REPLY)
    terminal.expect_exact(QUERY + b"drawn")
    loading.end()
    terminal.expect_exact(DA1 + VERSION)
    terminal.send(DA1_REPLY + DA1_REPLY)
    terminal.expect_exact((DA1_REPLY + ANSWER + DA1_REPLY).hex().encode())


class Around(Observer):
    """What is between the two, without the rest of the observer."""

    def __init__(self) -> None:
        super().__init__()
        stream = OutputStream(Size(24, 80))
        environ = {"TERM": "xterm-256color"}
        self._stream = stream
        self._outward = Outward(Config(osc="off", notify="off"), PROFILE, "generic", environ, stream)

    def output(self, data: bytes, now: float) -> bytes:
        return self._outward.output(data, now)

    def input(self, data: bytes, now: float) -> bytes:
        return self._outward.input(data, now)

    def input_gone(self, data: bytes, now: float) -> None:
        self._outward.input_gone(data, now)

    def flush_output(self) -> bytes:
        return self._outward.flush_output()

    def flush_input(self) -> bytes:
        return self._outward.flush_input()

    def look(self, data: bytes, now: float) -> None:
        self._stream.feed(data)
        self.to_outer += self._outward.update(now)

    def take_terminal(self, now: float) -> None:
        self._outward.take_terminal()
        self.to_outer += self._outward.update(now)


class Conversation:
    """An agent that writes pieces, and a terminal that answers what it reads."""

    def __init__(self, log: Log, knows_status: bool) -> None:
        self.watch = Watch(log, clock=lambda: 0.0)
        self.at_the_terminal = self.at_the_agent = b""
        self._knows_status = knows_status
        self._answered = 0

    def write(self, piece: bytes) -> None:
        """Let the agent write."""
        self.at_the_terminal += self.watch.output(piece)

    def adopt(self) -> None:
        """Let the observer come."""
        self.watch.adopt(Around())
        self.watch.tell(lambda observer, now: observer.take_terminal(now))
        self._take()

    def answer(self) -> None:
        """Let the terminal answer all that it has got."""
        while self.watch.due:
            self.watch.look()
        self._take()
        for question in re.finditer(rb"\x1b\[c|\x1b\]7501;\?\x1b\\", self.at_the_terminal):
            if question.end() > self._answered:
                self._answered = question.end()
                status = ANSWER if self._knows_status else b""
                self.at_the_agent += self.watch.input(DA1_REPLY if question.group() == DA1 else status)

    def _take(self) -> None:
        self.at_the_terminal, self.watch.to_outer = self.at_the_terminal + self.watch.to_outer, b""


@pytest.mark.parametrize("knows_status", [True, False])
@pytest.mark.parametrize("slow", [True, False])
def test_whenever_we_come_the_query_has_one_answer_and_it_is_before_the_attributes(
    tmp_path: Path, knows_status: bool, slow: bool
) -> None:
    log = Log({"XDG_STATE_HOME": str(tmp_path)})
    asked, reported = b"a" + QUERY + b"b" + DA1 + b"c", b"d" + REPORT + b"e"
    for pieces in every_cut(asked):
        for ready_at in range(len(pieces) + 1):
            talk = Conversation(log, knows_status)
            for count, piece in enumerate(pieces):
                if count == ready_at:
                    talk.adopt()
                talk.write(piece)
                if not slow:
                    talk.answer()
            if ready_at == len(pieces):
                talk.answer()
                talk.adopt()
            talk.answer()
            talk.answer()
            assert talk.at_the_agent == ANSWER + DA1_REPLY, (pieces, ready_at)
            talk.write(reported)
            expected = asked + (reported if knows_status else b"de")
            assert talk.at_the_terminal.replace(BURST, b"", 1) == expected, (pieces, ready_at)
