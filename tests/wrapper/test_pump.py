"""The byte path of the real program: nothing lost, nothing changed, nobody starved, no fault of ours the agent's."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import sys
import termios
import time
from pathlib import Path

import pexpect
import psutil
import pytest

from tests.support.byte_agent import pattern
from tests.support.place import Place, finished, patched, python_agent
from tests.support.terminal import WRAPPER
from tests.support.waiting import DEADLINE, wait_until

AGENT = [sys.executable, str(Path(__file__).parents[1] / "support" / "byte_agent.py")]
MEGABYTE = 1 << 20
BY_SELECT = "import lifecycle_wrap.pty.readiness as r\nr.PollReadiness = r.SelectReadiness\n"

both_ways_to_wait = pytest.mark.parametrize("program", [WRAPPER, patched(BY_SELECT)], ids=["poll", "select"])


def read_some(terminal: pexpect.spawn[bytes]) -> bytes:
    """Read what there is, waiting for the first byte; empty at the end."""
    assert select.select([terminal.child_fd], [], [], DEADLINE)[0], "no byte in time"
    try:
        return os.read(terminal.child_fd, 1 << 16)
    except OSError:
        return b""


def read_until(terminal: pexpect.spawn[bytes], token: bytes) -> bytes:
    """Read until `token` has come; returns everything."""
    data = bytearray()
    while token not in data[-len(token) - (1 << 16) :]:
        more = read_some(terminal)
        assert more, f"the end before {token!r}: {bytes(data[-200:])!r}"
        data += more
    return bytes(data)


def type_all(terminal: pexpect.spawn[bytes], data: bytes) -> bytes:
    """Type `data` as fast as it is taken; returns what was shown meanwhile."""
    shown = bytearray()
    os.set_blocking(terminal.child_fd, False)
    while data:
        readable, writable, _ = select.select([terminal.child_fd], [terminal.child_fd], [], DEADLINE)
        assert readable or writable, f"stuck with {len(data)} bytes to go"
        if readable:
            shown += os.read(terminal.child_fd, 1 << 16)
        if writable:
            try:
                data = data[os.write(terminal.child_fd, data[:4096]) :]
            except BlockingIOError:
                continue
    os.set_blocking(terminal.child_fd, True)
    return bytes(shown)


@both_ways_to_wait
def test_a_megabyte_pasted_into_a_slow_reader_arrives_whole(place: Place, program: list[str]) -> None:
    data = os.urandom(MEGABYTE)
    terminal = place.spawn([*AGENT, "take", str(len(data)), "0.001"], program=program)
    read_until(terminal, b"<ready>")
    shown = type_all(terminal, data)
    expected = b"<sha %s>" % hashlib.sha256(data).hexdigest().encode()
    if expected not in shown:
        read_until(terminal, expected)
    assert finished(terminal)[1] == 0


@both_ways_to_wait
def test_what_the_agent_writes_comes_out_whole(place: Place, program: list[str]) -> None:
    size = len(pattern(8 * MEGABYTE))
    terminal = place.spawn([*AGENT, "give", str(size)], program=program)
    shown = b""
    while len(shown) < size + len(b"<ready>"):
        shown += read_some(terminal)
    assert hashlib.sha256(shown).digest() == hashlib.sha256(b"<ready>" + pattern(size)).digest()
    terminal.send("x")
    assert finished(terminal) == (b"", 0)


def test_a_terminal_that_does_not_read_holds_the_agent_up_and_loses_nothing(place: Place) -> None:
    size = len(pattern(4 * MEGABYTE))
    terminal = place.spawn([*AGENT, "give", str(size)])
    ours = psutil.Process(terminal.pid)
    shown = read_until(terminal, b"<ready>")
    time_spent = -1.0
    while time_spent != (time_spent := sum(ours.cpu_times()[:2])):
        time.sleep(0.3)  # until we are at rest: the queue is full
    while len(shown) < size + len(b"<ready>"):
        shown += read_some(terminal)
    assert hashlib.sha256(shown).digest() == hashlib.sha256(b"<ready>" + pattern(size)).digest()
    terminal.send("x")
    assert finished(terminal) == (b"", 0)


def test_a_flood_neither_grows_memory_nor_starves_the_keyboard(place: Place) -> None:
    terminal = place.spawn([*AGENT, "flood"])
    ours = psutil.Process(terminal.pid)
    flooded, answered, memory, enough = 0, 0, 0, 0
    loading = False
    tail = b""
    while not memory or flooded < enough:
        data = read_some(terminal)
        flooded += len(data)
        tail = tail[-16:] + data
        if b"<key k>" in tail:
            answered += 1
            tail = b""
        if flooded > (answered + 1) * 10 * MEGABYTE and answered < 9:
            # One key after each ten megabytes; it is answered long before the next ten are through.
            terminal.send("k")
            tail, before = b"", flooded
            while b"<key k>" not in tail:
                data = read_some(terminal)
                flooded += len(data)
                tail = tail[-16:] + data
                assert flooded - before < 5 * MEGABYTE, "the keyboard waits"
            answered += 1
        if not memory:
            threads = ours.num_threads()
            loading = loading or threads > 1
            if loading and threads == 1:
                memory = ours.memory_info().rss
                enough = flooded + 100 * MEGABYTE
    grown = ours.memory_info().rss - memory
    assert answered == 9
    assert grown < 4 * MEGABYTE
    terminal.send("q")
    while read_some(terminal):
        pass
    terminal.close()
    assert terminal.exitstatus == 0


def test_a_paste_while_the_agent_floods_arrives_and_nothing_stands_still(place: Place) -> None:
    terminal = place.spawn([*AGENT, "echo"])
    read_until(terminal, b"<ready>")
    data = pattern(2 * MEGABYTE)
    shown = type_all(terminal, data)
    while len(shown) < len(data):
        shown += read_some(terminal)
    assert shown == data
    terminal.send("q")
    assert finished(terminal) == (b"", 0)


def test_bytes_of_every_value_pass_both_ways(place: Place) -> None:
    terminal = place.spawn([*AGENT, "echo"])
    read_until(terminal, b"<ready>")
    data = bytes(value for value in range(256) if value != ord("q")) * 3
    shown = type_all(terminal, data)
    while len(shown) < len(data):
        shown += read_some(terminal)
    assert shown == data


def test_nothing_waits_for_the_observer_to_be_loaded(place: Place) -> None:
    terminal = place.spawn(
        [*AGENT, "echo"], program=patched("import lifecycle_wrap.pty.pump as p\np.LOAD_DELAY = 1e6\n")
    )
    read_until(terminal, b"<ready>")
    os.write(terminal.child_fd, b"key")
    assert read_until(terminal, b"key") == b"key"


def test_an_end_of_input_that_is_none_does_not_end_the_agent(place: Place) -> None:
    terminal = place.spawn([*AGENT, "echo"])
    read_until(terminal, b"<ready>")
    raw = termios.tcgetattr(terminal.child_fd)
    for _ in range(3):
        modes = termios.tcgetattr(terminal.child_fd)
        modes[3] |= termios.ICANON
        termios.tcsetattr(terminal.child_fd, termios.TCSANOW, modes)
        terminal.sendeof()
        wait_until(lambda: termios.tcgetattr(terminal.child_fd) == raw, "the modes are ours again")
    os.write(terminal.child_fd, b"on")
    assert read_until(terminal, b"on") == b"on"


def test_the_inherited_descriptors_keep_their_flags(place: Place) -> None:
    agent = python_agent("say('ready'); os.read(0, 1)")
    terminal = place.spawn(agent)
    terminal.expect_exact(b"ready")
    flags = place.folder / "flags"
    if not Path("/proc/self/fdinfo").exists():
        pytest.skip("no /proc here to read another process's flags from")
    flags.write_text(Path(f"/proc/{terminal.pid}/fdinfo/0").read_text())
    word = next(line.split()[1] for line in flags.read_text().splitlines() if line.startswith("flags"))
    assert int(word, 8) & os.O_NONBLOCK == 0
    terminal.sendline("")
    finished(terminal)


OBSERVED = """
import lifecycle_wrap.loading as loading
from lifecycle_wrap.observation import Observer
class Ours(Observer):
{methods}
loading.Loader._make = lambda self: Ours()
"""


def observed(*methods: str) -> list[str]:
    """Return the program with an observer that has these methods, each a line."""
    return patched(OBSERVED.format(methods="\n".join(f"    {method}" for method in methods)))


def observation_ended(place: Place) -> str:
    """Return what the user is told at the end where the observer has failed."""
    what = "an internal error ended the observation of this session, not the agent"
    return f"lifecycle-wrap: {what}; see {place.log} and report it\r\n"


@pytest.mark.parametrize(
    "method",
    [
        "def started(self, pid, foreground_group): 1 / 0",
        "def output(self, data, now): 1 / 0",
        "def input(self, data, now): 1 / 0",
        "def look(self, data, now): 1 / 0",
        "def look_input(self, data, now): 1 / 0",
        "def resized(self, rows, columns, now): 1 / 0",
        "def flush_output(self): 1 / 0",
        "def child_exited(self, code, signal, now): 1 / 0",
        "def close(self): 1 / 0",
        "def look(self, data, now): raise MemoryError",
        "def look(self, data, now): self.look(data, now)",
        "def output(self, data, now): return 7",
        "def output(self, data, now): return None",
    ],
)
def test_a_fault_of_the_observer_costs_the_observation_only(place: Place, method: str) -> None:
    terminal = place.spawn([*AGENT, "echo"], program=observed(method))
    read_until(terminal, b"<ready>")
    for size, word in enumerate((b"one", b"two", b"three")):
        terminal.setwinsize(20 + size, 80)
        os.write(terminal.child_fd, word)
        assert read_until(terminal, word) == word
    terminal.send("q")
    told, status = finished(terminal)
    assert (told.decode(), status) == (observation_ended(place), 0)
    entry = place.log.read_text()
    assert "observation is off" in entry or "bytes held back are lost" in entry
    assert "Error" in entry


def test_what_a_failing_observer_holds_back_is_given_up(place: Place) -> None:
    started = place.folder / "started"
    program = observed(
        "held = b''",
        f"def started(self, pid, foreground_group): open({str(started)!r}, 'w').close()",
        "def output(self, data, now):",
        "    if b'held' not in data and not self.held: return data",
        "    self.held += data; return b''",
        "def flush_output(self): held, self.held = self.held, b''; return held",
        "def look_input(self, data, now): 1 / (b'fail' not in data)",
    )
    terminal = place.spawn([*AGENT, "echo"], program=program)
    read_until(terminal, b"<ready>")
    wait_until(started.exists, "the observer is there")
    os.write(terminal.child_fd, b"held")
    os.write(terminal.child_fd, b"fail")
    assert read_until(terminal, b"fail") == b"heldfail"
    terminal.send("q")
    told, status = finished(terminal)
    assert (told.decode(), status) == (observation_ended(place), 0)


def test_what_is_held_back_at_the_end_goes_out(place: Place) -> None:
    program = observed(
        "held = b''",
        "def output(self, data, now): self.held += data; return b''",
        "def flush_output(self): held, self.held = self.held, b''; return held",
    )
    terminal = place.spawn(["sh", "-c", "stty -echo; read x; printf held; exit 3"], program=program)
    terminal.sendline("")
    shown, status = finished(terminal)
    assert (shown.strip(), status) == (b"held", 3)


def test_the_observers_own_bytes_reach_both_sides_and_its_deadline_is_kept(place: Place) -> None:
    program = observed(
        "def look_input(self, data, now): self.deadline = now + 0.02",
        "def on_deadline(self, now):",
        "    self.deadline = None; self.to_agent += b'from the observer'; self.to_outer += b'<deadline>'",
        "def child_exited(self, code, signal, now): self.to_outer += b'<ended %r %r>' % (code, signal)",
    )
    terminal = place.spawn([*AGENT, "echo"], program=program)
    read_until(terminal, b"<ready>")
    terminal.send("x")
    shown = read_until(terminal, b"from the observer")
    assert b"<deadline>" in shown
    terminal.send("q")
    output, status = finished(terminal)
    # The key that ended the agent sets the deadline, too: it may or may not come before the end.
    assert (output.removeprefix(b"<deadline>"), status) == (b"<ended 0 None>", 0)


def test_what_passed_before_the_observer_was_ready_is_looked_at_and_not_repeated(place: Place) -> None:
    program = patched(
        "import lifecycle_wrap.loading as loading, time\n"
        "from lifecycle_wrap.observation import Observer\n"
        "class Ours(Observer):\n"
        "    seen = b''\n"
        "    def look(self, data, now): self.seen += data\n"
        "    def child_exited(self, code, signal, now): self.to_outer += b'<seen ' + self.seen + b'>'\n"
        "def make(self):\n"
        "    time.sleep(0.5)\n"
        "    return Ours()\n"
        "loading.Loader._make = make\n"
    )
    shown, status = finished(place.spawn(["sh", "-c", "printf early; exit 3"], program=program))
    assert (shown, status) == (b"early<seen early>", 3)


def test_a_fault_of_the_pump_leaves_the_agent_its_terminal(place: Place) -> None:
    broken = (
        "import lifecycle_wrap.pty.pump as pump\n"
        "def broken(self): raise RuntimeError('broken on purpose')\n"
        "pump.Pump._repaint = broken\n"
    )
    script = (
        "echo ready; read a; until test \"$(stty size)\" = '22 88'; do sleep 0.02; done; read b; echo got $b; exit 9"
    )
    terminal = place.spawn(["sh", "-c", script], program=patched(broken))
    terminal.expect_exact(b"ready")
    terminal.setwinsize(21, 87)
    wait_until(place.log.exists, "the fault is in the log")
    terminal.setwinsize(22, 88)
    terminal.sendline("first")
    terminal.sendline("second")
    terminal.expect_exact(b"got second")
    shown, status = finished(terminal)
    assert status == 9
    assert b"an internal error ended the observation" in shown
    assert "RuntimeError" in place.log.read_text()
    place.await_no_process()


def test_a_pump_that_cannot_even_be_made_leaves_the_agent_its_terminal(place: Place) -> None:
    broken = "import sys\nsys.modules['lifecycle_wrap.pty.pump'] = None\n"
    terminal = place.spawn(["sh", "-c", "echo ready; read a; echo got $a; exit 9"], program=patched(broken))
    terminal.expect_exact(b"ready")
    terminal.sendline("it")
    terminal.expect_exact(b"got it")
    shown, status = finished(terminal)
    assert status == 9
    assert b"an internal error ended the observation" in shown
    place.await_no_process()


def test_an_agent_that_stops_after_a_fault_of_the_pump_is_continued(place: Place) -> None:
    broken = "import lifecycle_wrap.pty.pump as pump\npump.Pump._turn = None\n"
    shown, status = finished(place.spawn(["sh", "-c", "kill -STOP $$; echo went on; exit 9"], program=patched(broken)))
    assert status == 9
    assert b"went on" in shown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_after_a_fault_of_the_pump_signals_still_reach_the_agent(place: Place, number: signal.Signals) -> None:
    broken = "import lifecycle_wrap.pty.pump as pump\npump.Pump._turn = None\n"
    terminal = place.spawn(["sh", "-c", "echo ready; while :; do sleep 0.02; done"], program=patched(broken))
    terminal.expect_exact(b"ready")
    os.kill(terminal.pid, number)
    assert finished(terminal)[1] == 128 + number
    place.await_no_process()
