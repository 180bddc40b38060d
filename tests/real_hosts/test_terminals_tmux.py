"""A real tmux as the outer terminal: what reaches the terminal around it, and what stays behind there.

A PTY of the test's is the terminal that the tmux client runs in; it answers as Ghostty would.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.orders import Orders
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

GHOSTTY = {"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}
SLOW = pytest.mark.slow
PASSTHROUGH = (pytest.param("off", marks=SLOW), "on")


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


class Attached:
    """A tmux server with a client attached to it in a terminal of ours, and the agent in its window."""

    def __init__(self, folder: Path, orders: Orders, passthrough: str, config: str = "") -> None:
        self.tmux = Tmux(folder)
        file = folder / "config.toml"
        file.write_text(config)
        self.argv = [*WRAPPER, "--config", str(file), "--", *orders.argv]
        self.tmux("new-session", "-d", "-x", "100", "-y", "29", "cat")
        for option, value in (
            ("allow-passthrough", passthrough),
            ("set-titles", "on"),
            ("set-titles-string", "#{pane_title}"),
            ("remain-on-exit", "on"),
            ("focus-events", "on"),
        ):
            self.tmux("set-option", "-g", option, value)
        self.pane = self.tmux("new-window", "-P", "-F", "#{pane_id}", shlex.join(self.argv))
        attach = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null", "attach"]
        self.terminal = RealTerminal(attach, isolated_environment(folder, **GHOSTTY))

    def __enter__(self) -> Attached:
        self.terminal.wait_for("ready")
        return self

    def __exit__(self, *error: object) -> None:
        self.tmux.kill()
        self.terminal.__exit__(None, None, None)

    def title(self) -> str:
        """Return the pane's title."""
        return self.tmux("display-message", "-p", "-t", self.pane, "#{pane_title}")

    def state(self, state: str) -> None:
        """Wait until the pane's option has the state."""
        wait_until(lambda: self.tmux.shown(self.pane).startswith(f"{state}|"), lambda: self.tmux.shown(self.pane))


@pytest.mark.parametrize("passthrough", PASSTHROUGH)
@pytest.mark.parametrize("osc", [pytest.param("auto", marks=SLOW), "on"])
def test_no_progress_reaches_the_terminal_around_an_old_tmux(
    tmp_path: Path, orders: Orders, passthrough: str, osc: str
) -> None:
    config = f'[lifecycle]\nosc = "{osc}"\ntmux_progress = "passthrough"\n'
    with Attached(tmp_path, orders, passthrough, config) as attached:
        for state in ("working", "blocked:kind=permission", "working", "idle"):
            orders.give(f"state {state}")
            attached.state(state.partition(":")[0])
        orders.give("text end")
        attached.terminal.wait_for("end")
        assert attached.terminal.engine.progress == []
        assert b"9;4" not in attached.terminal.output
        assert b"7501" not in attached.terminal.output, "tmux keeps the question, and there is no report"


@pytest.mark.parametrize("passthrough", PASSTHROUGH)
@pytest.mark.parametrize(
    "end", ["switch", *(pytest.param(end, marks=SLOW) for end in ("detach", "kill-pane", "respawn"))]
)
def test_no_bar_is_left_when_the_window_is_gone_while_the_agent_works(
    tmp_path: Path, orders: Orders, passthrough: str, end: str
) -> None:
    config = '[lifecycle]\nosc = "on"\ntmux_progress = "passthrough"\n'
    with Attached(tmp_path, orders, passthrough, config) as attached:
        orders.give("state working")
        attached.state("working")
        match end:
            case "switch":
                attached.tmux("select-window", "-t", ":0")
                orders.give("state idle")
                attached.state("idle")
                attached.tmux("select-window", "-t", ":1")
                attached.terminal.wait_for("ready")
            case "detach":
                attached.tmux("detach-client")
                attached.terminal.wait()
            case "kill-pane":
                attached.tmux("kill-pane", "-t", attached.pane)
                wait_until(lambda: attached.pane not in attached.tmux("list-panes", "-a"), "the pane's end")
            case "respawn":
                attached.tmux("respawn-pane", "-k", "-t", attached.pane, "echo respawned; exec cat")
                attached.terminal.wait_for("respawned")
        assert [state for state, _ in attached.terminal.engine.progress][-1:] in ([], [0])


@pytest.mark.parametrize("passthrough", PASSTHROUGH)
def test_the_agents_titles_and_bells_reach_the_terminal_around_it(
    tmp_path: Path, orders: Orders, passthrough: str
) -> None:
    with Attached(tmp_path, orders, passthrough) as attached:
        for title in ("✳ Claude Code", "◐ Claude Code", "plain"):
            orders.give(f"title {title}")
            attached.terminal.wait_for(title)
            assert attached.title() == title
        orders.give("bell")
        wait_until(lambda: attached.terminal.engine.bells == 1, "the bell")


def test_the_state_in_the_title_goes_back_to_the_panes_title_before(tmp_path: Path, orders: Orders) -> None:
    config = 'title = "state"\n[lifecycle]\nadapters = ["tmux"]\n'
    with Attached(tmp_path, orders, "off", config) as attached:
        before = attached.title()
        orders.give("state working")
        attached.terminal.wait_for("● told_agent")
        orders.give("title one")
        attached.terminal.wait_for("● one")
        orders.give("title ◐ two")
        attached.terminal.wait_for("● two")
        orders.give("state blocked:kind=permission")
        attached.terminal.wait_for("▲ two")
        orders.give("exit 0")
        wait_until(lambda: attached.tmux.ended(attached.pane), "the end")
        wait_until(lambda: attached.title() == before, attached.title)


def test_the_panes_screen_is_the_agents(tmp_path: Path, orders: Orders) -> None:
    with Attached(tmp_path, orders, "on", 'title = "state"\nnotify = "always"\n[lifecycle]\nosc = "on"\n') as attached:
        for state in ("working", "blocked:kind=question", "idle"):
            orders.give(f"state {state}")
            orders.give(f"text now {state}")
            attached.state(state.partition(":")[0])
        attached.terminal.wait_for("now idle")
        shown = attached.tmux("capture-pane", "-p", "-t", attached.pane).split("\n")
        assert [line for line in shown if line] == ["ready", "now working", "now blocked:kind=question", "now idle"]


def test_the_user_is_told_by_the_bell_when_the_client_has_lost_the_focus(tmp_path: Path, orders: Orders) -> None:
    with Attached(tmp_path, orders, "off") as attached:
        orders.give("state working")
        attached.state("working")
        attached.terminal.wait_for_bytes(b"\x1b[?1004h")
        attached.terminal.type(b"\x1b[O")
        wait_until(
            lambda: "focused" not in attached.tmux("list-clients", "-F", "#{client_flags}"), "the focus to be lost"
        )
        orders.give("state blocked:kind=permission")
        wait_until(lambda: attached.terminal.engine.bells == 1, "the bell")
        orders.give("state working")
        attached.state("working")
        attached.terminal.type(b"\x1b[I")
        wait_until(lambda: "focused" in attached.tmux("list-clients", "-F", "#{client_flags}"), "the focus")
        orders.give("state blocked:kind=permission")
        attached.state("blocked")
        orders.give("text end")
        attached.terminal.wait_for("end")
        assert attached.terminal.engine.bells == 1


def test_status_tells_what_is_around(tmp_path: Path, orders: Orders) -> None:
    with Attached(tmp_path, orders, "on") as attached:
        # tmux asks the terminal around it who it is when the client attaches; that may answer later.
        wait_until(lambda: attached.tmux("list-clients", "-F", "#{client_termtype}"), "the answer to tmux")
        status = attached.tmux("new-window", "-P", "-F", "#{pane_id}", shlex.join([*WRAPPER, "status"]))
        wait_until(lambda: attached.tmux.ended(status), "the end")
        shown = attached.tmux("capture-pane", "-J", "-p", "-t", status)
        version = attached.tmux("display-message", "-p", "#{version}")
        assert "Terminal: tmux 3." in shown
        assert "(by its answer)" in shown
        assert "around it: ghostty 1.3.1 (features: " in shown
        assert f"tmux {version}, allow-passthrough on" in shown
