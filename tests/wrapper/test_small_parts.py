"""The pump's small parts: queue, readiness, log, modes."""

from __future__ import annotations

import os
import pty
import stat
import termios
from pathlib import Path

import pytest

from lifecycle_wrap.environment import child_environment
from lifecycle_wrap.log import MAXIMUM_SIZE, Log
from lifecycle_wrap.pty.byte_queue import ByteQueue
from lifecycle_wrap.pty.child import exit_code
from lifecycle_wrap.pty.outer import Outer, cooked_modes, raw_modes, unpack_size
from lifecycle_wrap.pty.readiness import READ, WRITE, PollReadiness, SelectReadiness


def test_a_queue_writes_through_keeps_the_rest_and_the_order() -> None:
    source, target = os.pipe()
    os.set_blocking(target, False)
    os.set_blocking(source, False)
    queue = ByteQueue(target)
    queue.write(b"first")
    assert len(queue) == 0
    sent = b"first"
    while not queue:
        queue.write(b"x" * 5000)
        sent += b"x" * 5000
    queue.write(b"last")
    sent += b"last"
    got = b""
    while len(got) < len(sent):
        got += os.read(source, 3000)
        queue.flush()
    assert got == sent
    assert len(queue) == 0
    queue.flush()
    os.close(source)
    with pytest.raises(OSError, match="pipe"):
        queue.write(b"x")
    os.close(target)


def test_a_queue_gives_up_what_waits() -> None:
    source, target = os.pipe()
    os.set_blocking(target, False)
    queue = ByteQueue(target)
    while not queue:
        queue.write(b"x" * 5000)
    assert len(queue.take()) > 0
    assert len(queue) == 0
    os.close(source)
    os.close(target)


@pytest.mark.parametrize("kind", [PollReadiness, SelectReadiness])
def test_readiness(kind: type[PollReadiness | SelectReadiness]) -> None:
    source, target = os.pipe()
    readiness = kind()
    readiness.want(source, READ)
    assert readiness.wait(0) == {}
    assert readiness.wait(0.001) == {}
    readiness.want(target, WRITE)
    assert readiness.wait(None) == {target: WRITE}
    os.write(target, b"x")
    assert readiness.wait(None) == {source: READ, target: WRITE}
    readiness.want(target, 0)
    assert readiness.wait(None) == {source: READ}
    readiness.want(source, 0)
    assert readiness.wait(0) == {}
    readiness.want(source, READ)
    os.read(source, 1)
    os.close(target)
    assert readiness.wait(None)[source] & ~WRITE
    readiness.want(source, 0)
    assert readiness.wait(0) == {}
    os.close(source)


def test_the_log_is_private_and_bounded(tmp_path: Path) -> None:
    log = Log({"XDG_STATE_HOME": str(tmp_path)})
    log.write("x" * MAXIMUM_SIZE)
    log.write("one more")
    log.write("and in a new file")
    path = Path(log.path)
    assert path.read_text().count("\n") == 1
    assert path.read_text().endswith("and in a new file\n")
    assert path.with_name(path.name + ".1").read_text().count("\n") == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_log_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = Log({"XDG_STATE_HOME": str(tmp_path / "file")})
    log.write("lost")
    log.fault("lost", ValueError("x"))


def test_debug_entries_are_written_on_demand_only(tmp_path: Path) -> None:
    Log({"XDG_STATE_HOME": str(tmp_path)}).debug("quiet")
    assert not list(tmp_path.iterdir())
    log = Log({"HOME": str(tmp_path), "XDG_STATE_HOME": "relative"}, debug=True)
    log.debug("loud")
    assert log.path == f"{tmp_path}/.local/state/lifecycle-wrap/lifecycle-wrap.log"
    assert "loud" in Path(log.path).read_text()


@pytest.mark.parametrize(("status", "code"), [(0, 0), (3 << 8, 3), (9, 137), (15 | 0x80, 143)])
def test_exit_codes(status: int, code: int) -> None:
    assert exit_code(status) == code


def test_the_agents_environment() -> None:
    master, slave = pty.openpty()
    environ = {"A": "1", "HOST": "x", "LIFECYCLE_WRAP_SESSION": "7:7"}
    changed = child_environment(environ, session=42, terminal=slave, remove=("HOST", "ABSENT"))
    assert changed == {"A": "1", "LIFECYCLE_WRAP_SESSION": f"42:{os.fstat(slave).st_rdev}"}
    os.close(master)
    os.close(slave)


def test_the_outer_terminal() -> None:
    master, slave = pty.openpty()
    found = termios.tcgetattr(slave)
    outer = Outer({"LINES": "50"}, slave, slave)
    assert outer.input not in (slave, outer.output)
    assert os.get_blocking(slave)
    assert not os.get_blocking(outer.input)
    assert not os.get_blocking(outer.output)
    assert unpack_size(outer.winsize()) == (50, 80)
    outer.restore()
    assert termios.tcgetattr(slave) == found
    outer.enter_raw()
    assert termios.tcgetattr(slave) == raw_modes(found)
    outer.enter_raw()
    outer.restore()
    assert termios.tcgetattr(slave) == found
    outer.restore()
    for fd in (master, slave, outer.input, outer.output):
        os.close(fd)


def test_cooked_modes_undo_a_line_editors() -> None:
    master, slave = pty.openpty()
    found = termios.tcgetattr(slave)
    cooked = cooked_modes(raw_modes(found))
    assert cooked[3] & (termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN) == (
        found[3] & (termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    )
    assert cooked[0] & termios.ICRNL
    assert cooked[1] & termios.OPOST
    os.close(master)
    os.close(slave)
