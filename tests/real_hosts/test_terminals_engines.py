"""Real terminals read what we write: progress, titles and notifications are as meant, the agent's screen is untouched.

libghostty-vt is the terminal that the program runs in; xterm.js then reads the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import xterm_js
from tests.support.engine import Engine
from tests.support.orders import Orders
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER, isolated_environment

GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}
VS_CODE = {"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.97.0"}
IDLE, WORKING, BLOCKED = "◇  Ready (project)", "✦  Working… (project)", "✋  Action Required (project)"
PROGRESS = {WORKING: b"\x1b]9;4;3;0\x1b\\", BLOCKED: b"\x1b]9;4;4;100\x1b\\", IDLE: b"\x1b]9;4;0;0\x1b\\"}
STEPS = (WORKING, BLOCKED, WORKING, IDLE)
PROFILE = """
schema = 1
name = "scripted"
[timing]
settle = 0.2
"""
RULE = """
[[rule]]
id = "{state}"
state = "{state}"
{kind}
all = [{{ title = '^{glyph}' }}]
"""


class Ran(NamedTuple):
    """What a session has left: the terminal, and what the agent itself wrote."""

    terminal: RealTerminal
    agent: bytes


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


def turn(folder: Path, orders: Orders, environ: dict[str, str], config: str = "", **rest: object) -> Ran:
    """Run an agent that tells its state by its titles through a turn, and end it."""
    file = folder / "config.toml"
    file.write_text(f'notify = "off"\n{config}\n[lifecycle]\nadapters = []\n')
    profiles = folder / ".config" / "lifecycle-wrap" / "profiles"
    profiles.mkdir(parents=True, exist_ok=True)
    rules = [("idle", IDLE[0], ""), ("working", WORKING[0], ""), ("blocked", BLOCKED[0], 'kind = "permission"')]
    text = "".join(RULE.format(state=state, glyph=glyph, kind=kind) for state, glyph, kind in rules)
    (profiles / "scripted.toml").write_text(PROFILE + text)
    argv = [*WRAPPER, "--config", str(file), "--profile", "scripted", "--", *orders.argv]
    terminal = RealTerminal(argv, isolated_environment(folder, **environ), **rest)  # type: ignore[arg-type]
    with terminal:
        written = "ready\r\r\n"
        for count, title in enumerate(STEPS):
            seen = terminal.output.count(PROGRESS[title])
            orders.give(f"title {title}")
            orders.give(f"text line {count} ✳ of the agent")
            written += f"\x1b]2;{title}\x1b\\line {count} ✳ of the agent\r\r\n"
            terminal.wait_for(f"line {count} ✳")
            if environ:
                terminal.wait_for_count(PROGRESS[title], seen + 1)
        orders.give("exit 0")
        assert terminal.wait() == 0
    return Ran(terminal, written.encode())


def direct(agent: bytes) -> Engine:
    """Return the terminal that the agent would have left without us."""
    engine = Engine()
    engine.feed(b"\x1b[?2027h\x1b]2;the shell's\x07$ first command\r\nits output\r\n$ agent\r\n" + agent)
    return engine


def test_ghostty_draws_the_progress_and_the_agents_screen(tmp_path: Path, orders: Orders) -> None:
    ran = turn(tmp_path, orders, GHOSTTY)
    engine, alone = ran.terminal.engine, direct(ran.agent)
    assert [state for state, _ in engine.progress] == [3, 4, 3, 0, 0]
    assert engine.state() == alone.state()
    assert engine.title() == alone.title()
    assert engine.bells == 0
    assert engine.unknown == [b"7501;?"]


def test_xterm_js_draws_the_progress_and_the_agents_screen(tmp_path: Path, orders: Orders) -> None:
    ran = turn(tmp_path, orders, VS_CODE, version="xterm.js(6.0.0)")
    ours, alone = xterm_js.read(bytes(ran.terminal.output)), xterm_js.read(ran.agent)
    assert [state for state, _ in ours.pop("progress")] == [3, 4, 3, 0, 0]
    assert alone.pop("progress") == []
    assert ours == alone


def test_the_state_in_the_title_is_drawn_and_taken_back(tmp_path: Path, orders: Orders) -> None:
    ran = turn(tmp_path, orders, VS_CODE, 'title = "state"', version="xterm.js(6.0.0)")
    ours, alone = xterm_js.read(bytes(ran.terminal.output)), xterm_js.read(ran.agent)
    texts = ["Ready (project)", "Working… (project)", "Action Required (project)"]
    marked = [title for title in ours["titles"] if title[0] in "○●▲"]
    assert [title[0] for title in marked if title[2:] == texts["○●▲".index(title[0])]] == ["●", "▲", "●", "○"]
    assert ours["titles"][-1] == texts[0], "xterm.js has no title stack: the last title, without its mark"
    assert ours["screen"] == alone["screen"]


def test_a_terminal_that_knows_7501_is_told(tmp_path: Path, orders: Orders) -> None:
    ran = turn(tmp_path, orders, GHOSTTY, version="ghostty 1.4.0", knows_status=True)
    states = [report for report in ran.terminal.engine.unknown if report.startswith(b"7501;state")]
    assert states == [
        b"7501;state=working:app=scripted",
        b"7501;state=blocked:kind=permission:app=scripted",
        b"7501;state=working:app=scripted",
        b"7501;state=idle:app=scripted",
        b"7501;state=clear",
    ]
    assert ran.terminal.engine.state() == direct(ran.agent).state()


def test_reports_of_the_agent_reach_a_terminal_that_knows_them_and_no_other(tmp_path: Path, orders: Orders) -> None:
    for knows in (True, False):
        with Orders(tmp_path, f"orders-{knows}") as given:
            argv = [*WRAPPER, "--", *given.argv]
            environ = isolated_environment(tmp_path, **GHOSTTY)
            with RealTerminal(argv, environ, knows_status=knows) as terminal:
                terminal.wait_for_bytes(b"\x1b]7501;?")
                for state in ("idle:app=x", "working:app=x:msg=aGk=", "done:app=x"):
                    given.give(f"state {state}")
                given.give("text end")
                terminal.wait_for("end")
                given.give("exit 0")
                assert terminal.wait() == 0
            reports = [told for told in terminal.engine.unknown if told.startswith(b"7501;state")]
            sent = [b"7501;state=idle:app=x", b"7501;state=working:app=x:msg=aGk=", b"7501;state=done:app=x"]
            assert reports == (sent if knows else [])


def test_an_unknown_terminal_is_sent_the_agents_bytes_after_one_question(tmp_path: Path, orders: Orders) -> None:
    ran = turn(tmp_path, orders, {}, version="contour 0.4", answers=True)
    question = b"\x1b[>q\x1b]7501;?\x1b\\\x1b[c"
    assert bytes(ran.terminal.output).replace(question, b"", 1) == ran.agent


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_answers_that_come_after_the_agents_end_are_not_typed_into_the_shell(
    tmp_path: Path, orders: Orders, pause: float
) -> None:
    environ = isolated_environment(tmp_path, **GHOSTTY)
    with RealTerminal([*WRAPPER, "--", *orders.argv], environ, answers_after=pause) as terminal:
        orders.give("text line")
        terminal.wait_for_bytes(b"\x1b[>q")
        orders.give("exit 3")
        assert terminal.wait() == 3
        assert terminal.unread() == b""
