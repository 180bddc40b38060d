"""The whole program inside a fake herdr: states from start to end, official hooks, and what the register learns."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.hosts.records import Session, list_sessions
from tests.support.fake_herdr import FakeHerdr, Pane, ask, now
from tests.support.orders import Orders
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

PANE = "w1:p1"


@pytest.fixture
def server() -> Iterator[FakeHerdr]:
    with tempfile.TemporaryDirectory(prefix="he") as folder:
        fake = FakeHerdr(Path(folder) / "s")
        fake.start()
        yield fake
        fake.stop()


@pytest.fixture
def environ(server: FakeHerdr, tmp_path: Path) -> dict[str, str]:
    marks = {"HERDR_ENV": "1", "HERDR_SOCKET_PATH": str(server.path), "HERDR_PANE_ID": PANE}
    return isolated_environment(tmp_path, **marks)


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


def open_pane(server: FakeHerdr, wrapped: Wrapped) -> Pane:
    """Tell the server which process leads the pane: the wrapper itself, for there is no shell around it."""
    server.panes[PANE] = Pane(shell_pid=wrapped.pid)
    return server.panes[PANE]


def show(server: FakeHerdr, state: str) -> None:
    pane = server.panes[PANE]
    wait_until(lambda: pane.status() == state, lambda: f"{state}; herdr shows {pane.status()}: {server.methods()}")


@pytest.mark.parametrize("end", ["exit 0", f"signal {signal.SIGSEGV}", f"signal {signal.SIGKILL}"])
def test_states_from_start_to_end(server: FakeHerdr, environ: dict[str, str], orders: Orders, end: str) -> None:
    with Wrapped(orders.argv, environ) as wrapped:
        pane = open_pane(server, wrapped)
        for order, state in (
            ("state working", "working"),
            ("state blocked:kind=permission", "blocked"),
            ("state working", "working"),
            ("state idle", "done"),
            ("state working", "working"),
        ):
            orders.give(order)
            show(server, state)
        assert pane.authority is not None
        assert pane.authority.agent == "told_agent"
        orders.give(end)
        wrapped.wait()
    assert pane.authority is None
    assert server.methods()[-2:] == ["pane.report_agent", "pane.release_agent"]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_us_releases(server: FakeHerdr, environ: dict[str, str], orders: Orders, end: int) -> None:
    with Wrapped(orders.argv, environ) as wrapped:
        pane = open_pane(server, wrapped)
        orders.give("state blocked:kind=question")
        show(server, "blocked")
        wrapped.signal(end)
        wrapped.wait()
    assert pane.authority is None
    assert pane.shown_metadata() == {}


@pytest.mark.parametrize(("config", "kept"), [("", False), ('lifecycle.herdr_hooks = "keep"', True)])
def test_official_hooks_inside_stay_quiet(
    server: FakeHerdr, environ: dict[str, str], tmp_path: Path, config: str, kept: bool
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(config)
    script = 'echo "[$HERDR_ENV][$HERDR_AGENT][$HERDR_PANE_ID]"'
    with Wrapped(["sh", "-c", script], environ | {"HERDR_AGENT": "claude"}, ["--config", str(file)]) as wrapped:
        open_pane(server, wrapped)
        assert wrapped.wait() == 0
    assert (b"[1][claude]" in wrapped.output) is kept
    assert b"[w1:p1]" in wrapped.output


def test_hooks_are_left_alone_where_we_tell_herdr_nothing(environ: dict[str, str]) -> None:
    with Wrapped(["sh", "-c", 'echo "[$HERDR_ENV]"'], environ | {"LIFECYCLE_WRAP_HERDR": "0"}) as wrapped:
        wrapped.wait()
    assert b"[1]" in wrapped.output


def test_an_owner_conflict_stands_in_the_register(
    server: FakeHerdr, environ: dict[str, str], orders: Orders, tmp_path: Path
) -> None:
    with Wrapped(orders.argv, environ) as wrapped:
        pane = open_pane(server, wrapped)
        session = {"pane_id": PANE, "source": "herdr:claude", "agent": "claude", "agent_session_id": "s", "seq": now()}
        ask(server.path, "pane.report_agent_session", session)
        orders.give("state working")

        def noticed() -> list[Session]:
            return [one for one in list_sessions(tmp_path / "lifecycle-wrap") if one.notices]

        wait_until(noticed, "the notice")
        assert noticed()[0].notices == {"herdr": "herdr ignores our reports (owner: herdr:claude)"}
        assert pane.status() == "unknown"
        orders.give("exit 0")
        wrapped.wait()


def test_a_pane_that_is_not_ours_gets_nothing(
    server: FakeHerdr, environ: dict[str, str], orders: Orders, tmp_path: Path
) -> None:
    server.panes[PANE] = Pane(shell_pid=os.getpid())
    with Wrapped(orders.argv, environ) as wrapped:
        orders.give("state working")
        register = tmp_path / "lifecycle-wrap"
        wait_until(lambda: any(one.state == "working" for one in list_sessions(register)), "the register")
        orders.give("exit 0")
        wrapped.wait()
    assert server.methods() == []
