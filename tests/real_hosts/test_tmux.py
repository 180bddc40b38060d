"""A real tmux on a socket of its own: `lifecycle-wrap -- agent` in a pane, its state read back through tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.orders import Orders
from tests.support.terminal import WRAPPER
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


def test_states_from_start_to_end(tmux: Tmux, orders: Orders) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv])
    for order, shown in (
        ("state idle", "idle||told_agent"),
        ("state working", "working|Working|told_agent"),
        ("state blocked:kind=permission", "blocked|Waiting for approval|told_agent"),
        ("state working", "working|Working|told_agent"),
        ("state idle", "idle||told_agent"),
    ):
        orders.give(order)
        tmux.wait_for(pane, shown)
    orders.give("exit 3")
    wait_until(lambda: tmux.ended(pane), "the end")
    assert tmux.options(pane) == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets us show the agent's name")
@pytest.mark.parametrize("name", ["my-agent", "an-agent-with-a-name-of-some-length"])
def test_the_pane_runs_what_the_user_has_started(tmux: Tmux, tmp_path: Path, name: str) -> None:
    agent = tmp_path / name
    agent.symlink_to(shutil.which("cat") or "")
    bare, wrapped = tmux.pane([str(agent)]), tmux.pane([*WRAPPER, "--", str(agent)])
    for pane in (bare, wrapped):
        wait_until(
            lambda pane=pane: tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") == name,
            lambda pane=pane: tmux("display-message", "-p", "-t", pane, "#{pane_current_command}"),
        )
    leader = tmux("display-message", "-p", "-t", wrapped, "#{pane_pid}")
    arguments = Path(f"/proc/{leader}/cmdline").read_text().split("\0")
    assert arguments[: len(WRAPPER) + 1] == [name, *WRAPPER[1:], "--"]


@pytest.mark.parametrize("end", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_agent_is_killed(tmux: Tmux, orders: Orders, end: int) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    tmux.wait_for(pane, "working|Working|told_agent")
    orders.give(f"signal {end}")
    wait_until(lambda: tmux.ended(pane), "the end")
    assert tmux.options(pane) == ""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_nothing_is_left_when_we_are_ended(tmux: Tmux, orders: Orders, end: int) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv])
    orders.give("state blocked:kind=auth")
    tmux.wait_for(pane, "blocked|Waiting for sign-in|told_agent")
    os.kill(int(tmux("display-message", "-p", "-t", pane, "#{pane_pid}")), end)
    wait_until(lambda: tmux.ended(pane), "the end")
    assert tmux.options(pane) == ""


def test_what_a_killed_run_has_left_goes_with_the_next_start(tmux: Tmux, orders: Orders) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv])
    tmux("set-option", "-p", "-t", pane, "@lifecycle_state", "working")
    tmux("respawn-pane", "-k", "-t", pane, shlex.join([*WRAPPER, "--", *orders.argv]))
    wait_until(lambda: tmux.options(pane) == "", "the leftover's end")


def test_each_pane_has_its_own_state(tmux: Tmux, tmp_path: Path) -> None:
    with Orders(tmp_path, "one") as one, Orders(tmp_path, "two") as two:
        panes = [tmux.pane([*WRAPPER, "--", *orders.argv]) for orders in (one, two)]
        one.give("state working")
        two.give("state blocked:kind=question")
        tmux.wait_for(panes[0], "working|Working|told_agent")
        tmux.wait_for(panes[1], "blocked|Waiting for user input|told_agent")
        one.give("exit 0")
        wait_until(lambda: tmux.ended(panes[0]), "the first one's end")
        assert tmux.options(panes[0]) == ""
        assert tmux.shown(panes[1]) == "blocked|Waiting for user input|told_agent"
        two.give("exit 0")
        wait_until(lambda: tmux.ended(panes[1]), "the second one's end")


def test_an_inherited_pane_that_is_not_ours_is_left_alone(tmux: Tmux, orders: Orders, tmp_path: Path) -> None:
    """A terminal that was started from a pane inherits the pane's variables: here script(1) plays it."""
    pane = tmux.pane(["cat"])
    register = tmp_path / "lifecycle-wrap"
    inside = shlex.join([*WRAPPER, "--", *orders.argv])
    other = tmux.pane(["script", "-qec", inside, "/dev/null"])
    for number in range(3):
        orders.give(f"state {'working' if number % 2 == 0 else 'idle'}")
        wait_until(lambda: any(register.glob("*.json")), "the register: the hosts are found")
    wait_until(lambda: '"state": "working"' in next(register.glob("*.json")).read_text(), "the state")
    assert tmux.options(other) == tmux.options(pane) == ""
    orders.give("exit 0")
    wait_until(lambda: tmux.ended(other), "the end")


@pytest.mark.parametrize("switch", ["LIFECYCLE_WRAP_TMUX", "LIFECYCLE_WRAP"])
def test_switched_off(tmux: Tmux, orders: Orders, tmp_path: Path, switch: str) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv], **{switch: "0"})
    orders.give("state working")
    orders.give("text told")
    wait_until(lambda: "told" in tmux.screen(pane), lambda: tmux.screen(pane))
    if switch == "LIFECYCLE_WRAP_TMUX":
        records = tmp_path / "lifecycle-wrap"
        wait_until(lambda: any('"working"' in path.read_text() for path in records.glob("*.json")), "the register")
    assert tmux.options(pane) == ""


def test_a_wrapped_agent_that_the_agent_starts_claims_nothing(tmux: Tmux, tmp_path: Path) -> None:
    with Orders(tmp_path, "inner") as inner:
        pane = tmux.pane([*WRAPPER, "--", "sh", "-c", shlex.join([*WRAPPER, "--", *inner.argv]) + "; cat"])
        inner.give("state working")
        wait_until(lambda: tmux.shown(pane).startswith("working|Working|"), lambda: tmux.shown(pane))
        assert len(list((tmp_path / "lifecycle-wrap").glob("*.json"))) == 1
        inner.give("exit 0")


def test_nor_does_one_on_a_terminal_of_its_own(tmux: Tmux, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[lifecycle]\nnesting = "all"\n')
    wrapper = [*WRAPPER, "--config", str(config), "--"]
    with Orders(tmp_path, "inner") as inner:
        spawn = f"import pty; pty.spawn({[*wrapper, *inner.argv]!r}); print('over'); input()"
        pane = tmux.pane([*wrapper, sys.executable, "-c", spawn])
        inner.give("state working")
        tmux.wait_for(pane, "working|Working|python")
        wait_until(lambda: len(list((tmp_path / "lifecycle-wrap").glob("*.json"))) == 2, "both in the register")
        inner.give("state idle")
        tmux.wait_for(pane, "idle||python")
        inner.give("exit 0")
        wait_until(lambda: "over" in tmux.screen(pane), "the inner one's end")
        assert tmux.shown(pane) == "idle||python"


def test_an_agent_that_starts_itself_anew_keeps_its_pane(tmux: Tmux, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import os, sys\nprint(f'\x1b]7501;state={sys.argv[1]}\x1b\\\\', end='', flush=True)\ninput()\n"
        "if len(sys.argv) > 2: os.execv(sys.executable, [sys.executable, *sys.argv[:1], *sys.argv[2:]])\n"
    )
    states = ("working", "blocked:kind=permission")
    pane = tmux.pane([*WRAPPER, "--", sys.executable, str(agent), *states])
    tmux.wait_for(pane, "working|Working|agent")
    record = list((tmp_path / "lifecycle-wrap").glob("*.json"))
    tmux("send-keys", "-t", pane, "Enter")
    tmux.wait_for(pane, "blocked|Waiting for approval|agent")
    assert list((tmp_path / "lifecycle-wrap").glob("*.json")) == record
    tmux("send-keys", "-t", pane, "Enter")
    wait_until(lambda: tmux.ended(pane), "the end")
    assert tmux.options(pane) == ""


def test_a_pane_that_goes_away_ends_everything(tmux: Tmux, orders: Orders, tmp_path: Path) -> None:
    pane = tmux.pane([*WRAPPER, "--", *orders.argv])
    orders.give("state working")
    tmux.wait_for(pane, "working|Working|told_agent")
    tmux("kill-pane", "-t", pane)
    wait_until(lambda: not list((tmp_path / "lifecycle-wrap").iterdir()), "the register's end")


def test_without_a_terminal_nothing_is_claimed(tmux: Tmux, orders: Orders, tmp_path: Path) -> None:
    agent = shlex.join([*WRAPPER, "--", *orders.argv])
    pane = tmux.pane(["sh", "-c", f"echo | {agent} > {tmp_path}/out; echo ended; cat"])
    orders.give("state working")
    orders.give("exit 0")
    wait_until(lambda: "ended" in tmux.screen(pane), lambda: tmux.screen(pane))
    assert b"7501" in (tmp_path / "out").read_bytes()
    assert tmux.options(pane) == ""
    assert not (tmp_path / "lifecycle-wrap").exists()
