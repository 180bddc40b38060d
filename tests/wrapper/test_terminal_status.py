from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle_wrap.commands.terminal_status import terminal_state
from lifecycle_wrap.hosts import outer
from lifecycle_wrap.terminal.probe import Probe
from tests.support.outward_session import ATTRIBUTES, STATUS, version_answer
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER, isolated_environment


def answered(answers: bytes) -> Probe:
    probe = Probe()
    probe.ask(0.0)
    probe.filter_input(answers, 0.0)
    return probe


def test_what_the_environment_shows() -> None:
    state = terminal_state({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.5"}, None)
    assert state.to_text() == (
        "Terminal: iTerm2 3.6.5 (by its environment)\n"
        "  progress drawn: no; program status (OSC 7501): unknown\n"
        "  notifies by: OSC 9; restores titles: yes; reports focus: yes"
    )


def test_what_the_terminal_answers_counts_more() -> None:
    answers = answered(version_answer("ghostty 1.4.0") + STATUS + ATTRIBUTES)
    state = terminal_state({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.5"}, answers)
    assert (state.name, state.version, state.known_by) == ("Ghostty", "1.4.0", "answer")
    assert (state.program_status, state.progress, state.notification) == (True, True, "OSC 777")


def test_an_unknown_terminal() -> None:
    state = terminal_state({}, answered(ATTRIBUTES))
    assert (state.name, state.known_by, state.program_status, state.focus) == ("unknown", "", False, None)


def test_what_is_around_tmux(monkeypatch: pytest.MonkeyPatch) -> None:
    view = outer.TmuxView("3.6", "off", frozenset({"RGB", "title"}), "ghostty 1.3.1")
    monkeypatch.setattr(outer, "ask_tmux", lambda _: view)
    environ = {"TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.6"}
    assert terminal_state(environ, None).around == "", "nobody is asked anything"
    state = terminal_state(environ, answered(version_answer("tmux 3.6") + ATTRIBUTES))
    assert state.around == "ghostty 1.3.1 (features: RGB, title); tmux 3.6, allow-passthrough off"
    assert state.to_text().endswith(f"  around it: {state.around}")


def test_the_command_asks_the_terminal_that_it_runs_in(tmp_path: Path) -> None:
    with RealTerminal([*WRAPPER, "status"], isolated_environment(tmp_path), knows_status=True) as terminal:
        assert terminal.wait() == 0
        assert terminal.shows("Terminal: Ghostty 1.3.1 (by its answer)")
        assert terminal.shows("program status (OSC 7501): yes")
        assert terminal.state()["dump"]
