"""Whether anybody looks, and when and how the user is notified."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle_detectors.events import ApprovalRequested, Attention, Message, Source
from lifecycle_detectors.states import State
from lifecycle_wrap.terminal.attention import AGENT_SECONDS, FOCUS_OFF, FOCUS_ON, KEY_DELAY, STALE_SECONDS, Notifier
from lifecycle_wrap.terminal.terminals import UNKNOWN, Notify
from tests.detectors.chunking import every_cut
from tests.support.outward_session import ATTRIBUTES, OutwardSession, version_answer

GAINED, LOST = b"\x1b[I", b"\x1b[O"
BLOCKED = b"\x1b]777;notify;claude;claude needs you\x1b\\"
FINISHED = b"\x1b]777;notify;claude;claude has finished\x1b\\"
FAILED = b"\x1b]777;notify;claude;claude has failed\x1b\\"


def ghostty(**rest: object) -> OutwardSession:
    answers = version_answer("ghostty 1.3.1") + ATTRIBUTES
    return OutwardSession({"TERM": "xterm-ghostty"}, answers, **({"osc": "off"} | rest))


def unfocused(**rest: object) -> OutwardSession:
    run = ghostty(**rest)
    assert run.user(LOST) == b""
    return run


# --- focus


def test_focus_is_asked_for_where_the_terminal_tells_it_and_given_back() -> None:
    run = ghostty()
    assert run.opened == FOCUS_ON
    assert run.end() == FOCUS_OFF


@pytest.mark.parametrize("policy", ["off", "always"])
def test_focus_is_not_asked_for_where_it_makes_no_difference(policy: str) -> None:
    run = ghostty(notify=policy)
    assert run.opened == b""
    assert run.end() == b""


def test_an_unknown_terminal_is_not_asked_for_focus() -> None:
    assert OutwardSession({}, ATTRIBUTES, osc="off").opened == b""


def test_reports_that_only_we_asked_for_are_taken_out() -> None:
    stream = b"a" + LOST + b"b\x1b[A\x1bOc" + GAINED + b"d\x1b[<0;1;1M\x1b"
    for pieces in every_cut(stream):
        run = ghostty()
        got = b"".join(run.user(piece) for piece in pieces) + run.outward.flush_input()
        assert got == b"ab\x1b[A\x1bOcd\x1b[<0;1;1M\x1b", pieces


def test_what_looks_like_a_report_in_a_paste_is_text() -> None:
    pasted = b"\x1b[200~one" + LOST + b"two\x1b[201~"
    for pieces in every_cut(pasted + GAINED + b"x"):
        run = ghostty()
        assert b"".join(run.user(piece) for piece in pieces) == pasted + b"x", pieces


def test_the_agents_own_wish_is_respected_and_its_reports_pass() -> None:
    run = ghostty()
    assert run.agent(FOCUS_ON) == FOCUS_ON
    assert run.user(LOST + b"x" + GAINED) == LOST + b"x" + GAINED
    assert run.agent(FOCUS_OFF) == FOCUS_OFF, "it may be about to end"
    assert run.enter(State.WORKING) == FOCUS_ON, "it goes on, and it is ours again"
    assert run.user(LOST + b"x") == b"x"
    assert run.end() == FOCUS_OFF


def test_the_agents_wish_in_a_sequence_that_is_cut_is_seen_too() -> None:
    for pieces in every_cut(b"\x1b[?1000;1004h"):
        run = ghostty()
        for piece in pieces:
            run.agent(piece)
        assert run.user(LOST) == LOST, pieces


def test_at_the_end_reports_are_switched_off_once() -> None:
    run = ghostty()
    run.agent(FOCUS_ON)
    assert run.end() == FOCUS_OFF, "by the agent's modes"


def test_a_key_is_held_no_longer_than_nobody_notices() -> None:
    run = ghostty()
    assert run.user(b"\x1b") == b""
    assert run.outward.deadline == run.now + KEY_DELAY
    assert run.outward.on_deadline(run.now + KEY_DELAY) == b"\x1b"
    assert run.outward.deadline is None


# --- notifications


def test_once_when_the_agent_is_blocked() -> None:
    run = unfocused()
    run.enter(State.WORKING)
    assert run.enter(State.BLOCKED) == BLOCKED
    assert run.enter(State.BLOCKED, kind="question") == b""
    assert run.after(3600) == b""


@pytest.mark.parametrize(("policy", "told"), [("off", b""), ("unfocused", b""), ("always", BLOCKED)])
def test_never_while_focused_unless_always(policy: str, told: bytes) -> None:
    run = ghostty(notify=policy)
    run.user(LOST + GAINED)
    run.enter(State.WORKING)
    assert run.enter(State.BLOCKED) == told


def test_not_while_nobody_knows_whether_somebody_looks() -> None:
    run = ghostty()
    run.enter(State.WORKING)
    assert run.enter(State.BLOCKED) == b""


@pytest.mark.parametrize(("seconds", "failed", "told"), [(10, False, b""), (10.1, False, FINISHED), (60, True, FAILED)])
def test_at_the_end_of_a_long_turn(seconds: float, failed: bool, told: bytes) -> None:
    run = unfocused()
    run.enter(State.WORKING)
    run.after(seconds)
    assert run.enter(State.IDLE, failed=failed) == told


def test_both_limits_can_be_set() -> None:
    run = unfocused(notify_turn_after=60.0, notify_blocked_after=5.0)
    run.enter(State.WORKING)
    run.after(30)
    assert run.enter(State.BLOCKED) == b""
    assert run.outward.deadline == run.now + 5
    assert run.after(5) == BLOCKED
    assert run.enter(State.IDLE) == b""
    run.enter(State.BLOCKED)
    run.after(4)
    assert run.enter(State.WORKING) == b"", "answered in time"
    assert run.outward.deadline is None


@pytest.mark.parametrize(("before", "told"), [(AGENT_SECONDS - 0.1, b""), (AGENT_SECONDS + 0.1, BLOCKED)])
def test_never_for_what_the_agent_has_just_notified_itself(before: float, told: bytes) -> None:
    run = unfocused()
    run.enter(State.WORKING)
    run.outward.take([Attention(run.now, Source.BELL)])
    run.after(before)
    assert run.enter(State.BLOCKED) == told


def test_a_bell_that_was_put_back_is_the_agents() -> None:
    run = OutwardSession({"TERM": "xterm-ghostty"}, version_answer("ghostty 1.3.1") + ATTRIBUTES, "vibe", osc="off")
    run.agent(FOCUS_ON + b"\x1b]0;Vibe\x07\x1b]7501;?\x07\x1b[c")
    run.user(ATTRIBUTES + LOST)
    run.enter(State.WORKING)
    assert (
        run.agent(b"\x1b]7501;state=blocked:kind=permission:app=vibe\x07") == b"\x07\x1b]0;Vibe - Action Required\x07"
    )
    assert run.enter(State.BLOCKED) == b""


def test_not_as_old_news() -> None:
    run = unfocused()
    run.enter(State.WORKING)
    run.agent(b"\x1b]0;half a title")
    assert run.enter(State.BLOCKED) == b""
    run.now += STALE_SECONDS + 1
    assert run.agent(b"\x07") == b"\x1b]0;half a title\x07"


def test_a_strange_name_stays_a_name() -> None:
    notifier = Notifier("always", "4;1\x1b\\;x\x07", 0.0, 10.0)
    notifier.take(ApprovalRequested(0.0, 1, Message.APPROVAL))
    notifier.use(replace(UNKNOWN, notify=Notify.OSC_9))
    assert notifier.update(0.0, True) == b"\x1b]9;41x needs you\x1b\\"
