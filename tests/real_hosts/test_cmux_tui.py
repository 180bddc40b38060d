"""A real cmux-tui (PyPI `cmux`), headless: `lifecycle-wrap -- agent` in a terminal, its state read back by its CLI."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.orders import Orders
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import wait_until

EXECUTABLE = shutil.which("cmux", path=str(Path(sys.executable).parent))

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="the package cmux is not installed here")


class Session:
    """One headless server with one workspace."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "s"
        home = str(folder)
        self.environ = isolated_environment(
            folder, XDG_STATE_HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_RUNTIME_DIR=home
        )
        options = ["--headless", "--ephemeral", "--session", "test", "--socket", str(self._socket)]
        self._server = subprocess.Popen(
            [str(EXECUTABLE), *options],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._answers, "the server")
        self.json("workspace", "create", "--name", "t", "--empty")
        self._workspace = self.json("workspace", "list")[0]["id"]

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(EXECUTABLE), "--socket", str(self._socket), *arguments],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )

    def json(self, *arguments: str) -> Any:
        done = self.cli("--json", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def terminal(self, argv: list[str]) -> str:
        """Run a command in a new terminal, which stays when it ends."""
        ran = self.json("workspace", self._workspace, "run", "--on-exit", "keep", "--", *argv)
        return str(ran["value"]["terminal_id"])

    def record(self, terminal: str) -> tuple[str, str]:
        """Return state and source of the agent in a terminal."""
        for agent in self.json("agent", "list"):
            if agent["terminal_id"] == terminal:
                return agent["state"], agent["source"]
        return "", ""

    def wait_for(self, terminal: str, state: str) -> None:
        wait_until(lambda: self.record(terminal) == (state, "socket"), lambda: f"{state}: {self.record(terminal)}")

    def ended(self, terminal: str) -> bool:
        return not self.json("terminal", terminal, "show")["running"]

    def stop(self) -> None:
        self.cli("server", "stop", "--session", "test")
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(10)

    def _answers(self) -> bool:
        return self.cli("--quiet", "session", "current", "ping").returncode == 0


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    # A short path: a socket's may have some 100 bytes.
    with tempfile.TemporaryDirectory(prefix="cm") as folder:
        running = Session(Path(folder))
        yield running
        running.stop()


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


def test_states_from_start_to_end(session: Session, orders: Orders) -> None:
    terminal = session.terminal([*WRAPPER, "--", *orders.argv])
    for order, state in (
        ("state idle", "idle"),
        ("state working", "working"),
        ("state blocked:kind=permission", "blocked"),
        ("state working", "working"),
        ("state idle", "idle"),
    ):
        orders.give(order)
        session.wait_for(terminal, state)
    orders.give("exit 0")
    wait_until(lambda: session.ended(terminal), "the end")
    assert session.record(terminal) == ("unknown", "socket")


@pytest.mark.parametrize("end", [signal.SIGSEGV, signal.SIGKILL])
def test_nothing_is_left_when_the_agent_is_killed(session: Session, orders: Orders, end: int) -> None:
    terminal = session.terminal([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    session.wait_for(terminal, "working")
    orders.give(f"signal {end}")
    wait_until(lambda: session.ended(terminal), "the end")
    assert session.record(terminal) == ("unknown", "socket")


def test_a_hook_of_the_agents_own_outranks_us_and_the_register_says_so(session: Session, orders: Orders) -> None:
    terminal = session.terminal([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    session.wait_for(terminal, "working")
    session.json("agent", "report", "--terminal", terminal, "--state", "blocked", "--source", "hook")
    orders.give("state idle")
    register = Path(session.environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap"
    wait_until(
        lambda: any("ours are ignored" in record.read_text() for record in register.glob("*.json")), "the notice"
    )
    assert session.record(terminal) == ("blocked", "hook")
    orders.give("exit 0")
    wait_until(lambda: session.ended(terminal), "the end")


def test_a_terminal_that_is_closed_ends_everything(session: Session, orders: Orders) -> None:
    register = Path(session.environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap"
    terminal = session.terminal([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    session.wait_for(terminal, "working")
    session.cli("terminal", terminal, "close")
    wait_until(lambda: not list(register.iterdir()), "the register's end")


def test_an_inherited_terminal_that_is_not_ours_is_left_alone(session: Session, orders: Orders) -> None:
    """A shell in a terminal of its own, here script(1), has inherited the variables."""
    inside = f"{' '.join(WRAPPER)} -- {' '.join(orders.argv)}"
    terminal = session.terminal(["script", "-qec", inside, "/dev/null"])
    register = Path(session.environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap"
    orders.give("state working")
    wait_until(lambda: any('"state": "working"' in path.read_text() for path in register.glob("*.json")), "the state")
    assert session.record(terminal) == ("", "")
    orders.give("exit 0")
    wait_until(lambda: session.ended(terminal), "the end")
