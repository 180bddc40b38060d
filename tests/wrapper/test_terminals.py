"""What each terminal is told: environment and answers in, exact bytes out, at each version from which it is another."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from lifecycle_detectors.states import State
from lifecycle_wrap.hosts.outer import MULTIPLEXERS
from lifecycle_wrap.terminal.terminals import TERMINALS, dotted, identify, packed
from tests.support.outward_session import ATTRIBUTES, STATUS, OutwardSession, version_answer

WORKING, BLOCKED, FAILED, CLEAR = (b"\x1b]9;4;%s\x1b\\" % state for state in (b"3;0", b"4;100", b"2;100", b"0;0"))
BELL = b"\x07"
OSC_9 = b"\x1b]9;claude needs you\x1b\\"
OSC_99 = b"\x1b]99;i=lifecycle-wrap;claude needs you\x1b\\"
OSC_777 = b"\x1b]777;notify;claude;claude needs you\x1b\\"


class Case(NamedTuple):
    """A terminal: how it shows itself, and what it is to be told."""

    environ: dict[str, str]
    answer: str | None
    draws: bool
    notify: bytes
    repeats_after: float | None = None
    title_stack: bool = False


def program(name: str, version: str, **more: str) -> dict[str, str]:
    return {"TERM_PROGRAM": name, "TERM_PROGRAM_VERSION": version, **more}


TMUX = {"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%0", "TERM": "tmux-256color"}
SCREEN = {"STY": "1.pts", "TERM": "screen-256color"}

CASES: dict[str, Case] = {
    "Ghostty 1.1": Case(program("ghostty", "1.1.3"), "ghostty 1.1.3", False, OSC_777),
    "Ghostty 1.2": Case(program("ghostty", "1.2.0"), "ghostty 1.2.0", True, OSC_777, 10.0),
    "Ghostty 1.4": Case(program("ghostty", "1.4.0"), "ghostty 1.4.0-main+1a2b", True, OSC_777, 10.0),
    "Ghostty by its environment": Case(program("ghostty", "1.2.0"), None, True, OSC_777, 10.0),
    "Ghostty over ssh": Case({"TERM": "xterm-ghostty"}, "ghostty 1.3.1", True, OSC_777, 10.0),
    "Ghostty over ssh, old": Case({"TERM": "xterm-ghostty"}, None, False, OSC_777),
    "iTerm2 3.6.5": Case(program("iTerm.app", "3.6.5"), "iTerm2 3.6.5", False, OSC_9, None, True),
    "iTerm2 3.6.6": Case(program("iTerm.app", "3.6.6"), "iTerm2 3.6.6", True, OSC_9, None, True),
    "iTerm2 over ssh": Case({"LC_TERMINAL": "iTerm2", "LC_TERMINAL_VERSION": "3.6.6"}, None, True, OSC_9, None, True),
    "kitty 0.37": Case({"KITTY_WINDOW_ID": "1"}, "kitty(0.37.0)", False, OSC_99, None, True),
    "kitty 0.38": Case({"KITTY_WINDOW_ID": "1"}, "kitty(0.38.0)", True, OSC_99, 30.0, True),
    "kitty of unknown version": Case({"TERM": "xterm-kitty"}, None, False, OSC_99, None, True),
    "VTE 0.79": Case({"VTE_VERSION": "7903"}, None, False, BELL, None, True),
    "VTE 0.80": Case({"VTE_VERSION": "8000"}, None, True, BELL, None, True),
    "VTE 0.80 by its answer": Case({}, "VTE(8000)", True, BELL, None, True),
    "WezTerm, stable": Case(
        program("WezTerm", "20240203-110809-5046fc22"), "WezTerm 20240203-110809-5046fc22", False, OSC_777
    ),
    "WezTerm, nightly": Case(
        program("WezTerm", "20250429-181222-a4b5c6d7"), "WezTerm 20250429-181222-a4b5c6d7", True, OSC_777
    ),
    "Windows Terminal": Case({"WT_SESSION": "x"}, None, True, BELL),
    "ConEmu": Case({"ConEmuANSI": "ON"}, None, True, BELL),
    "VS Code 1.96": Case(program("vscode", "1.96.4"), "xterm.js(5.5.0)", False, BELL),
    "VS Code 1.97": Case(program("vscode", "1.97.0"), "xterm.js(5.6.0-beta.99)", True, BELL),
    "VS Code from another": Case(program("vscode", "1.97.0", VTE_VERSION="7600"), None, True, BELL),
    "tmux 3.3": Case(TMUX | program("tmux", "3.3a"), "tmux 3.3a", False, BELL, None, True),
    "tmux 3.6": Case(TMUX | program("tmux", "3.6"), "tmux 3.6", False, BELL, None, True),
    "tmux 3.7": Case(TMUX | program("tmux", "3.7"), "tmux 3.7", True, BELL, None, True),
    "tmux of tomorrow": Case(TMUX | program("tmux", "next-3.8"), "tmux next-3.8", True, BELL, None, True),
    "tmux in Ghostty": Case(TMUX | program("ghostty", "1.4.0"), "tmux 3.3a", False, BELL, None, True),
    "Ghostty started in tmux": Case(
        TMUX | program("ghostty", "1.4.0", TERM="xterm-ghostty"), "ghostty 1.4.0", True, OSC_777, 10.0
    ),
    "zellij 0.44": Case({"ZELLIJ": "0"} | program("ghostty", "1.4.0"), None, False, BELL, None, True),
    "zellij 0.45": Case({"ZELLIJ": "0"} | program("ghostty", "1.4.0"), "Zellij(4500)", False, BELL, None, True),
    "GNU screen": Case(SCREEN | program("ghostty", "1.4.0"), "", False, BELL),
    "herdr": Case({"HERDR_ENV": "1"} | program("ghostty", "1.4.0"), None, False, BELL),
    "cmux-tui": Case({"CMUX_TUI_TERMINAL_ID": "term_1"}, "libghostty", False, BELL),
    "Apple Terminal": Case(program("Apple_Terminal", "455"), "", False, BELL),
    "Alacritty": Case({"ALACRITTY_WINDOW_ID": "1"}, "", False, BELL, None, True),
    "foot": Case({"TERM": "foot"}, "foot(1.16.2)", False, OSC_777, None, True),
    "Konsole": Case({"KONSOLE_VERSION": "240800"}, "Konsole 24.08.0", False, BELL),
    "Rio": Case(program("rio", "0.2"), "rio 0.2.0", False, BELL),
    "xterm": Case({"XTERM_VERSION": "XTerm(390)"}, "XTerm(390)", False, BELL, None, True),
    "plain xterm": Case({"TERM": "xterm-256color"}, "", False, BELL),
    "silent": Case({"TERM": "xterm-256color"}, None, False, BELL),
    "unheard of": Case({"TERM": "xterm-256color"} | program("ghostty", "1.4.0"), "contour 0.4", False, BELL),
}


def session(case: Case, **rest: object) -> OutwardSession:
    answers = None if case.answer is None else (version_answer(case.answer) if case.answer else b"") + ATTRIBUTES
    return OutwardSession(case.environ, answers, **rest)


@pytest.mark.parametrize("name", CASES)
def test_progress(name: str) -> None:
    case = CASES[name]
    run = session(case, notify="off")
    told = [
        run.enter(State.IDLE),
        run.enter(State.WORKING),
        run.enter(State.BLOCKED),
        run.enter(State.WORKING),
        run.enter(State.IDLE),
        run.enter(State.WORKING),
        run.enter(State.IDLE, failed=True),
        run.end(),
    ]
    drawn = [b"", WORKING, BLOCKED, WORKING, CLEAR, WORKING, FAILED, CLEAR]
    assert told == (drawn if case.draws else [b""] * 8)


@pytest.mark.parametrize("name", CASES)
def test_progress_is_kept_alive_only_where_it_expires_and_never_while_idle(name: str) -> None:
    case = CASES[name]
    run = session(case, notify="off")
    for state, shown in ((State.WORKING, WORKING), (State.BLOCKED, BLOCKED)):
        run.enter(state)
        if not case.draws or case.repeats_after is None:
            assert run.outward.deadline is None
            assert run.after(3600) == b""
            continue
        for _ in range(3):
            assert run.outward.deadline == run.now + case.repeats_after
            assert run.after(case.repeats_after - 0.5) == b""
            assert run.after(0.5) == shown
    run.enter(State.IDLE, failed=True)
    assert run.outward.deadline is None


@pytest.mark.parametrize("name", CASES)
def test_notification(name: str) -> None:
    case = CASES[name]
    run = session(case, osc="off", notify="always")
    run.enter(State.WORKING)
    assert run.enter(State.BLOCKED) == case.notify


@pytest.mark.parametrize("name", CASES)
def test_title_with_the_state(name: str) -> None:
    case = CASES[name]
    run = session(case, osc="off", notify="off", title="state")
    push, pop = (b"\x1b[22;0t", b"\x1b[23;0t") if case.title_stack else (b"", None)
    assert run.enter(State.WORKING) == push + "\x1b]2;● claude\x1b\\".encode()
    assert run.enter(State.BLOCKED) == "\x1b]2;▲ claude\x1b\\".encode()
    assert run.enter(State.IDLE) == "\x1b]2;○ claude\x1b\\".encode()
    assert run.end() == (pop or b"\x1b]2;claude\x1b\\")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.answer is not None])
def test_program_status_goes_to_whoever_has_answered_the_query(name: str) -> None:
    case = CASES[name]
    for status in (STATUS, b""):
        answers = (version_answer(case.answer) if case.answer else b"") + status + ATTRIBUTES
        run = OutwardSession(case.environ, answers, osc="off", notify="off")
        told = [run.enter(state) for state in (State.IDLE, State.WORKING, State.BLOCKED, State.WORKING)]
        told += [run.enter(State.IDLE, failed=True), run.end()]
        states = (b"idle", b"working", b"blocked:kind=permission", b"working", b"error")
        reports = [b"\x1b]7501;state=%s:app=claude\x1b\\" % state for state in states]
        assert told == ([*reports, b"\x1b]7501;state=clear\x1b\\"] if status else [b""] * 6)


@pytest.mark.parametrize("name", CASES)
def test_with_nothing_wanted_nothing_is_sent(name: str) -> None:
    run = session(CASES[name], osc="off", notify="off")
    told = [run.enter(state) for state in (State.IDLE, State.WORKING, State.BLOCKED, State.IDLE)]
    assert [run.opened, *told, run.end()] == [b""] * 6


@pytest.mark.parametrize("name", CASES)
def test_progress_that_is_wanted_everywhere_goes_where_it_does_no_harm(name: str) -> None:
    case = CASES[name]
    terminal = session(case).outward.terminal
    told = session(case, osc="on", notify="off").enter(State.WORKING)
    harmful = terminal.misreads_progress or terminal.is_multiplexer
    assert told == (WORKING if case.draws or not harmful else b"")


def test_tmuxs_passthrough_is_used_only_where_the_user_and_the_pane_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from lifecycle_wrap.hosts import default_options, outer

    case = CASES["tmux 3.6"]
    options = default_options() | {"tmux": {"tmux_progress": "passthrough"}}
    for passthrough in ("off", "on", "", "all"):
        view = outer.TmuxView("3.6", passthrough, frozenset(), "")
        monkeypatch.setattr(outer, "ask_tmux", lambda _, view=view: view)
        wrapped = b"\x1bPtmux;\x1b\x1b]9;4;3;0\x1b\x1b\\\x1b\\" if passthrough == "all" else b""
        assert session(case, notify="off", host_options=options).enter(State.WORKING) == wrapped
        assert session(case, notify="off").enter(State.WORKING) == b""
    assert session(CASES["tmux 3.7"], notify="off", host_options=options).enter(State.WORKING) == WORKING


def test_every_row_says_where_its_facts_are_from_and_is_shown_by_something() -> None:
    for row in (*TERMINALS, *(terminal for _, terminal in MULTIPLEXERS)):
        assert row.sources, row.name
        assert row.marks or row.answers, row.name
        assert row.terminator == b"\x1b\\", row.name


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.6.6", (3, 6, 6)),
        ("next-3.8", (3, 8)),
        ("3.3a", (3, 3)),
        (" 1.4.0-main+1a2b", (1, 4, 0)),
        ("", ()),
        ("none", ()),
    ],
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    assert dotted(text) == version


def test_vtes_version() -> None:
    assert packed("8000") == (0, 80, 0)
    assert packed("(7903)") == (0, 79, 3)
    assert packed("0.82.1") == (0, 82, 1)
    assert packed("") == ()


def test_nothing_is_known_of_a_bare_environment() -> None:
    assert identify({}).name == "unknown"
    assert not identify({}).draws_progress
    assert identify({}).focus is None
