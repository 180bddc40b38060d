"""When our own bytes go out, and what becomes of the agent's."""

from __future__ import annotations

import base64
import random

import pytest

from lifecycle_detectors.events import TitleChanged
from lifecycle_detectors.parser import Osc, Parser
from lifecycle_detectors.states import State
from lifecycle_wrap.hosts.outer import through_tmux
from lifecycle_wrap.terminal.emitter import sequence
from lifecycle_wrap.terminal.terminals import UNKNOWN
from tests.detectors.chunking import every_cut, random_stream
from tests.support.outward_session import ATTRIBUTES, GHOSTTY, OutwardSession, knowing, version_answer

OLD_ITERM = {"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.5"}
WORKING, BLOCKED, CLEAR = b"\x1b]9;4;3;0\x1b\\", b"\x1b]9;4;4;100\x1b\\", b"\x1b]9;4;0;0\x1b\\"


def ghostty(answers: bytes | None = None, **rest: object) -> OutwardSession:
    return OutwardSession(
        GHOSTTY, answers or version_answer("ghostty 1.3.1") + ATTRIBUTES, **({"notify": "off"} | rest)
    )


# --- safe points


@pytest.mark.parametrize(
    ("begun", "rest"),
    [
        (b"\x1b", b"[31m"),
        (b"\x1b[3", b"1m"),
        (b"\x1b]0;ti", b"tle\x07"),
        (b"\x1b]8;;http://x\x1b", b"\\"),
        (b"\x1bP+q5", b"4\x1b\\"),
        (b"\x1b_Gi=1;AA", b"AA\x1b\\"),
        ("✳".encode()[:1], "✳".encode()[1:]),
        ("✳".encode()[:2], "✳".encode()[2:]),
        ("🌕".encode()[:3], "🌕".encode()[3:]),
        (b"\x1b[?2026hframe", b"\x1b[?2026l"),
    ],
)
def test_nothing_goes_out_in_the_middle_of_something_of_the_agents(begun: bytes, rest: bytes) -> None:
    run = ghostty()
    passed = run.agent(b"text" + begun)
    assert run.enter(State.WORKING) == b""
    assert run.after(3600) == b"", "however long it takes"
    assert run.outward.deadline is None, "and nobody waits for it"
    passed += run.agent(rest)
    assert passed == b"text" + begun + rest + WORKING


def test_where_the_agent_dies_in_the_middle_the_end_comes_first() -> None:
    run = ghostty()
    run.enter(State.WORKING)
    run.agent(b"\x1b]0;half")
    assert run.end(None, 9) == b"\x18\x1b\\\x1b]8;;\x1b\\\x1b[999B\r\n" + CLEAR


def test_nothing_goes_out_before_all_that_has_passed_is_looked_at() -> None:
    run = ghostty()
    run.outward.output(b"\x1b]0;begun", 0.0)
    assert run.enter(State.WORKING) == b""
    run.stream.feed(b"\x1b]0;begun")
    assert run.outward.update(0.0) == b""


def test_between_any_bytes_ours_are_whole_and_the_agents_too() -> None:
    source = random.Random(9)
    for _ in range(100):
        data = random_stream(source, 20).replace(b"\x1bc", b"")
        run = ghostty()
        out = b""
        for byte in range(0, len(data), 3):
            run.enter(source.choice((State.IDLE, State.WORKING, State.BLOCKED)))
            out += run.agent(data[byte : byte + 3])
        ours = [WORKING, BLOCKED, CLEAR]
        for bytes_of_ours in ours:
            out = out.replace(bytes_of_ours, b"")
        flushed = run.outward.flush_output()
        kept = Parser(text=False).feed(out + flushed)
        sent = [token for token in Parser(text=False).feed(data) if not _is_report_or_progress(token)]
        assert [token for token in kept if not _is_report_or_progress(token)] == sent


def _is_report_or_progress(token: object) -> bool:
    return isinstance(token, Osc) and token.data.startswith((b"7501;state", b"7501;", b"9;4"))


def test_nothing_goes_out_while_the_terminal_is_not_ours() -> None:
    run = ghostty()
    run.outward.give_terminal()
    assert run.enter(State.WORKING) == b""


# --- progress


def test_a_state_is_told_once() -> None:
    run = ghostty()
    assert run.enter(State.WORKING) == WORKING
    assert run.enter(State.WORKING) == b""
    assert run.agent(b"text") == b"text"


def test_the_agents_progress_is_taken_out_where_ours_is_drawn_and_its_percentage_kept() -> None:
    for pieces in every_cut(b"a\x1b]9;4;1;42\x07b"):
        run = ghostty()
        assert run.enter(State.WORKING) == WORKING
        out = b"".join(run.agent(piece) for piece in pieces)
        assert out.replace(b"\x1b]9;4;1;42\x1b\\", b"", 1) == b"ab", pieces
        assert run.enter(State.BLOCKED) == BLOCKED
        assert run.enter(State.WORKING) == b"\x1b]9;4;1;42\x1b\\"
        assert run.agent(b"\x1b]9;4;3;\x07") == WORKING
        assert run.agent(b"\x1b]9;4;0;\x07") == b"", "a blink inside a turn is not idle"


def test_the_agents_progress_passes_until_a_state_is_known() -> None:
    run = ghostty()
    assert run.agent(b"\x1b]9;4;3;\x07") == b"\x1b]9;4;3;\x07"
    assert run.enter(State.IDLE) == CLEAR


@pytest.mark.parametrize("policy", ["off", "auto"])
def test_where_nothing_is_drawn_every_byte_passes_as_it_came(policy: str) -> None:
    written = b"\x1b]9;4;1;42\x07\x1b]9;4;0;\x07\x1b]9;4\x07\x1b]9;hello\x07\x1b]99;;x\x1b\\"
    for environ in ({}, OLD_ITERM):
        run = OutwardSession(environ, ATTRIBUTES, osc=policy, notify="off")
        run.enter(State.WORKING)
        assert run.agent(written) == written
    run = ghostty(osc="off")
    run.enter(State.WORKING)
    assert run.agent(written) == written


def test_notifications_of_the_agent_pass_where_its_progress_does_not() -> None:
    run = ghostty()
    run.enter(State.IDLE)
    written = b"\x1b]9;hello\x07\x1b]777;notify;a;b\x07\x1b]99;;c\x1b\\\x07"
    assert run.agent(written + b"\x1b]9;4;3\x07") == written


def test_the_end_clears_also_what_was_cleared_before() -> None:
    run = ghostty()
    run.enter(State.WORKING)
    run.enter(State.IDLE)
    assert run.end() == CLEAR
    assert ghostty().end() == b"", "but not what was never there"


def test_what_the_agent_left_itself_is_cleared_but_not_where_that_would_notify() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off")
    run.agent(b"\x1b]9;4;3;\x07")
    assert run.end() == CLEAR
    run = OutwardSession(OLD_ITERM, version_answer("iTerm2 3.6.5") + ATTRIBUTES, notify="off")
    run.agent(b"\x1b]9;4;3;\x07")
    assert run.end() == b""


def test_after_a_full_reset_all_is_told_anew() -> None:
    run = ghostty(title="state")
    run.enter(State.WORKING)
    assert run.agent(b"\x1bc") == b"\x1bc" + "\x1b]2;● claude\x1b\\".encode() + WORKING


def test_at_a_stop_all_is_taken_back_and_at_the_return_told_anew() -> None:
    run = ghostty()
    run.enter(State.WORKING)
    assert run.outward.leave(None) == CLEAR
    assert run.enter(State.BLOCKED) == b""
    assert run.outward.come_back(run.now) == BLOCKED


def test_a_failure_takes_back_what_is_shown_at_once() -> None:
    run = ghostty()
    run.enter(State.WORKING)
    assert run.outward.withdraw() == CLEAR
    assert run.enter(State.BLOCKED) == b""
    assert run.end() == b""


# --- OSC 7501, outward


def test_a_terminal_that_knows_7501_is_told_what_the_agent_does_not_tell() -> None:
    run = knowing()
    assert run.enter(State.IDLE) == b"\x1b]7501;state=idle:app=generic\x1b\\"
    assert run.enter(State.WORKING) == b"\x1b]7501;state=working:app=generic\x1b\\"
    assert run.enter(State.BLOCKED) == b"\x1b]7501;state=blocked:kind=permission:app=generic\x1b\\"
    assert run.enter(State.IDLE, failed=True) == b"\x1b]7501;state=error:app=generic\x1b\\"
    assert run.end() == b"\x1b]7501;state=clear\x1b\\"
    assert run.end() == b""


def test_an_agent_that_reports_itself_is_not_reported() -> None:
    run = knowing()
    assert run.enter(State.WORKING) != b""
    report = b"\x1b]7501;state=idle:app=x\x07"
    assert run.agent(report) == report
    assert run.enter(State.BLOCKED) == b""


def test_what_a_dead_agent_has_reported_is_cleared() -> None:
    run = knowing()
    run.agent(b"\x1b]7501;state=working:app=x\x07")
    assert run.end(None, 9) == b"\x1b]7501;state=clear\x1b\\"
    run = knowing()
    run.agent(b"\x1b]7501;state=working:app=x\x07\x1b]7501;state=done:app=x\x07")
    assert run.end() == b"", "done stays, as it would without us"


def test_a_turn_that_nobody_watched_is_done_until_somebody_looks() -> None:
    run = knowing(notify="unfocused")
    run.enter(State.WORKING)
    assert run.user(b"\x1b[O") == b""
    assert run.enter(State.IDLE) == b"\x1b]7501;state=done:app=generic\x1b\\"
    assert run.user(b"\x1b[I") == b""
    assert run.after(0.0) == b"\x1b]7501;state=idle:app=generic\x1b\\"
    run.enter(State.WORKING)
    assert run.enter(State.IDLE) == b"\x1b]7501;state=idle:app=generic\x1b\\"


def test_the_agents_title_is_told_only_where_titles_may_be() -> None:
    message = base64.b64encode(b"fix the bug").decode().encode()
    for titles, told in ((False, b""), (True, b":msg=" + message)):
        run = knowing(titles=titles)
        run.outward.take([TitleChanged(0.0, "fix the bug")])
        assert run.enter(State.WORKING) == b"\x1b]7501;state=working:app=generic" + told + b"\x1b\\"


# --- the window's title


def test_titles_pass_as_they_are() -> None:
    written = "\x1b]0;◐ Claude Code\x07\x1b]2;x\x1b\\\x1b]0;\x07\x1b]1;icon\x07".encode()
    run = OutwardSession(GHOSTTY, ATTRIBUTES, notify="off", osc="off")
    run.enter(State.WORKING)
    assert run.agent(written) == written


def test_the_state_stands_before_the_agents_title_and_its_spinner_does_not_turn() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off", osc="off", title="state")
    assert run.agent("\x1b]0;◐ Claude Code\x07".encode()) == "\x1b]0;◐ Claude Code\x07".encode()
    assert run.enter(State.WORKING) == "\x1b]2;● Claude Code\x1b\\".encode()
    for frame in "◑◐◑✳":
        assert run.agent(f"\x1b]0;{frame} Claude Code\x07".encode()) == b""
    assert run.agent(b"\x1b]0;Claude Code            \x07") == b""
    assert run.enter(State.BLOCKED) == "\x1b]2;▲ Claude Code\x1b\\".encode()
    assert run.agent(b"\x1b]2;other\x1b\\") == "\x1b]2;▲ other\x1b\\".encode()
    assert run.agent(b"\x1b]0;\x07") == "\x1b]2;▲ claude\x1b\\".encode()
    assert run.end() == b"\x1b]2;other\x1b\\", "the last title, and never an empty one"


def test_the_state_as_a_word() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off", osc="off", title="text")
    assert run.enter(State.WORKING) == b"\x1b]2;[working] claude\x1b\\"


def test_the_title_is_pushed_before_the_first_write_of_anybody_and_popped_once() -> None:
    run = OutwardSession({}, version_answer("XTerm(390)") + ATTRIBUTES, notify="off", osc="off", title="state")
    assert run.agent(b"\x1b]0;one\x07") == b"\x1b[22;0t\x1b]0;one\x07"
    assert run.enter(State.IDLE) == "\x1b]2;○ one\x1b\\".encode()
    assert run.end() == b"\x1b[23;0t"
    assert run.end() == b""


def test_a_dead_agents_title_does_not_say_that_it_works() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off")
    run.agent("\x1b]0;⠹ fix the bug | project\x07".encode())
    run.enter(State.WORKING)
    assert run.end(None, 15) == b"\x1b]2;fix the bug | project\x1b\\"
    run = OutwardSession({}, ATTRIBUTES, notify="off")
    run.agent("\x1b]0;✳ Claude Code\x07".encode())
    run.enter(State.IDLE)
    assert run.end(0) == b"", "but what an agent leaves at its good end is its own"


def test_what_was_put_back_is_put_at_rest() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off")
    run.agent("\x1b]0;✳ Claude Code\x07\x1b]7501;?\x07\x1b[c".encode())
    run.user(ATTRIBUTES)
    run.agent(b"\x1b]7501;state=idle:app=claude-code\x07\x1b]0;Claude Code\x07")
    assert run.agent(b"\x1b]7501;state=working:app=claude-code\x07").decode() == "\x1b]0;◐ Claude Code\x07"
    assert run.outward.deadline == pytest.approx(run.now + 0.96)
    assert run.after(0.96).decode() == "\x1b]0;◑ Claude Code\x07"
    assert run.end(None, 9).decode() == "\x1b]0;✳ Claude Code\x07"


def test_what_was_put_back_comes_back_after_a_stop() -> None:
    run = OutwardSession({}, ATTRIBUTES, notify="off")
    run.agent("\x1b]0;✳ Claude Code\x07\x1b]7501;?\x07\x1b[c".encode())
    run.user(ATTRIBUTES)
    run.agent(b"\x1b]0;Claude Code\x07\x1b]7501;state=working:app=claude-code\x07")
    assert run.outward.leave(None).decode() == "\x1b]0;✳ Claude Code\x07"
    assert run.outward.deadline is None
    assert run.outward.come_back(run.now).decode() == "\x1b]0;◐ Claude Code\x07"
    assert run.outward.deadline is not None


def test_held_keys_are_given_up_in_their_order() -> None:
    run = OutwardSession(GHOSTTY, version_answer("ghostty 1.3.1") + ATTRIBUTES, osc="off")
    run.agent(b"\x1b]7501;?\x07\x1b[c")
    assert run.user(b"a\x1b[?6") == b"a"
    assert run.user(b"x\x1b") == b"\x1b[?6x"
    assert run.outward.flush_input() == b"\x1b"


def test_a_sequence_is_wrapped_whole() -> None:
    assert sequence(b"9;4;3;0", UNKNOWN) == WORKING
    assert through_tmux(WORKING) == b"\x1bPtmux;\x1b\x1b]9;4;3;0\x1b\x1b\\\x1b\\"


def test_what_has_gone_out_before_us_is_not_taken_for_ours() -> None:
    run = OutwardSession({}, version_answer("XTerm(390)") + ATTRIBUTES, notify="off", osc="off", title="state")
    run.outward.give_terminal()  # the time before the observer was ready is shown to it afterwards
    assert run.agent(b"\x1b]0;one\x07") == b"\x1b]0;one\x07"
    run.outward.take_terminal()
    assert run.enter(State.WORKING) == "\x1b[22;0t\x1b]2;● one\x1b\\".encode()
