"""What an agent asks the terminal before we are loaded: it gets its answer in time, and we still know of it.

Some agents wait half a second for an answer to the OSC 7501 query, which is less than loading takes on a busy machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest

from tests.support.place import Place, patched

AGENT = [sys.executable, str(Path(__file__).parents[1] / "support" / "scripted_agent.py")]
QUERY, ANSWER, REPORT = b"\x1b]7501;?\x1b\\", b"\x1b]7501;?\x1b\\", b"\x1b]7501;state=working:app=x\x1b\\"
DA1, DA1_REPLY = b"\x1b[c", b"\x1b[?62;22c"
VERSION = b"\x1b[>q"
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
