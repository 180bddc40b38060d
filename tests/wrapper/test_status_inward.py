"""OSC 7501 between the agent and the terminal: who answers the query, and where the reports go."""

from __future__ import annotations

import pytest

from lifecycle_detectors.answer import PATIENCE
from lifecycle_detectors.states import State
from lifecycle_wrap.terminal.probe import BURST, LATE
from tests.detectors.chunking import every_cut
from tests.support.outward_session import ATTRIBUTES, GHOSTTY, STATUS, OutwardSession, knowing, version_answer

WORKING = b"\x1b]9;4;3;0\x1b\\"


def test_reports_reach_no_terminal_that_has_not_answered() -> None:
    for answers in (None, ATTRIBUTES):
        for pieces in every_cut(b"a\x1b]7501;state=idle:app=x\x07b"):
            run = OutwardSession({}, answers, notify="off")
            assert b"".join(run.agent(piece) for piece in pieces) == b"ab", pieces


def test_reports_pass_untouched_to_a_terminal_that_has_answered() -> None:
    report = b"\x1b]7501;state=blocked:kind=permission:app=x:msg=aGk=\x07\x1b]7501;state=clear:id=a\x1b\\"
    for pieces in every_cut(report):
        run = knowing()
        run.enter(State.IDLE)
        assert b"".join(run.agent(piece) for piece in pieces) == report, pieces


def test_the_agents_own_question_is_answered_once_whoever_answers() -> None:
    for answers, theirs in ((STATUS + ATTRIBUTES, STATUS + ATTRIBUTES), (ATTRIBUTES, STATUS + ATTRIBUTES)):
        run = OutwardSession({}, answers, notify="off")
        assert run.agent(b"\x1b]7501;?\x07\x1b[c") == b"\x1b]7501;?\x07\x1b[c"
        assert run.user(answers) == theirs


def test_a_report_before_the_terminal_has_answered_is_not_lost() -> None:
    run = OutwardSession(GHOSTTY, None, notify="off", osc="off")
    run.agent(b"\x1b]7501;state=working:app=codex\x1b\\")
    assert run.user(version_answer("ghostty 1.4.0") + STATUS + ATTRIBUTES) == b""
    assert run.after(0.0) == b"\x1b]7501;state=working:app=codex\x1b\\"
    assert run.agent(b"\x1b]7501;state=idle:app=codex\x1b\\") == b"\x1b]7501;state=idle:app=codex\x1b\\"
    assert run.agent(b"\x1b]7501;state=clear\x1b\\") == b"\x1b]7501;state=clear\x1b\\"
    assert run.end() == b"", "it has cleared itself"


def test_with_pass_nothing_is_asked_answered_or_taken_out() -> None:
    run = OutwardSession(GHOSTTY, None, program_status="pass", notify="off", osc="off")
    assert run.opened == b""
    written = b"\x1b]7501;?\x07\x1b[c\x1b]7501;state=working:app=x\x07\x1b]0;t\x07"
    assert run.agent(written) == written
    assert run.user(ATTRIBUTES) == ATTRIBUTES
    assert run.enter(State.BLOCKED) == b""


@pytest.mark.parametrize("term", ["", "dumb", "linux", "eterm-color"])
def test_a_terminal_that_would_print_a_question_is_not_asked(term: str) -> None:
    run = OutwardSession({"TERM": term}, None, notify="off")
    assert not run.opened.startswith(BURST)


def test_late_answers_still_tell_which_terminal_it_is() -> None:
    run = OutwardSession({"TERM": "xterm-256color"}, None, notify="off")
    assert run.enter(State.WORKING) == b""
    run.now = LATE / 2
    assert run.user(b"x" + version_answer("ghostty 1.3.1") + ATTRIBUTES + b"y") == b"xy"
    assert run.after(0.0) == WORKING


@pytest.mark.parametrize("version", [b"", version_answer("ghostty 1.4.0")])
@pytest.mark.parametrize("seconds", [2 * PATIENCE, 1.2 * LATE, 100 * LATE])
def test_a_terminal_that_answers_after_us_is_no_second_answer_and_gets_the_reports_from_then_on(
    seconds: float, version: bytes
) -> None:
    run = OutwardSession({}, None, notify="off")
    run.agent("\x1b]0;✳ Claude Code\x07\x1b]7501;?\x07\x1b[c".encode())
    run.now += PATIENCE
    assert run.outward.on_deadline(run.now) == STATUS
    report = b"\x1b]7501;state=working:app=claude-code\x07"
    assert run.agent(b"\x1b]0;Claude Code\x07" + report).endswith("\x1b]0;◐ Claude Code\x07".encode())
    run.now += seconds
    assert run.user(b"a" + version + STATUS + ATTRIBUTES + STATUS + ATTRIBUTES + b"b") == b"a" + ATTRIBUTES + b"b"
    assert run.after(0.0) == b"\x1b]7501;state=working:app=claude-code\x1b\\\x1b]0;Claude Code\x07"
    assert run.outward.deadline is None
    report = b"\x1b]7501;state=idle:app=claude-code\x07"
    assert run.agent(report) == report
