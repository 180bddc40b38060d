"""Kinds of faults that users of similar tools report: turns that end too soon, never, or begin by themselves.

Rows of facts/reports.md: A 5, 13 (and test_profiles_width.py), 14, 15, 16, 20, 21, 22, 26, 27, 37, 38; B S3, S4, S9,
S10, S11, S12, S15, S16, S17, S22, S23, S29, S30, S35, S36, S37; C 22.
"""

from __future__ import annotations

import base64

import pytest

from lifecycle_detectors import (
    Catalog,
    ExitStatus,
    Session,
    SessionEnded,
    Size,
    State,
    TurnCompleted,
    TurnStarted,
    make_screen,
)
from tests.support.actor import BY_NAME, act


@pytest.mark.parametrize("profile", BY_NAME)
def test_one_frame_without_the_cue_is_no_end(profile: str) -> None:
    actor = act(profile)
    actor.turn()
    for _ in range(5):
        actor.rest()
        actor.wait(0.1)
        actor.work(0.5)
    assert actor.states == []


@pytest.mark.parametrize("profile", BY_NAME)
def test_a_turns_end_is_told_once(profile: str) -> None:
    actor = act(profile)
    actor.turn()
    actor.rest()
    actor.wait(0.2)
    actor.work(0.3)
    actor.rest()
    actor.wait(10.0)
    assert actor.states == [State.IDLE]


@pytest.mark.parametrize("profile", BY_NAME)
def test_new_work_after_the_end_is_a_new_turn(profile: str) -> None:
    """An agent may go on by itself, without a key of the user's."""
    actor = act(profile)
    actor.turn()
    actor.rest()
    actor.wait(5.0)
    actor.work(2.0)
    assert actor.states == [State.IDLE, State.WORKING]


@pytest.mark.parametrize("profile", BY_NAME)
def test_an_interrupt_ends_a_turn_though_nothing_says_so(profile: str) -> None:
    actor = act(profile)
    actor.turn()
    actor.type(b"\x1b")
    actor.rest()
    actor.wait(4.0)
    assert actor.states == [State.IDLE]


@pytest.mark.parametrize("profile", BY_NAME)
@pytest.mark.parametrize("key", [b"\x1b", b"\x1b[27u", b"\x03", b"\x1b[99;5u"])
def test_a_key_alone_ends_nothing(profile: str, key: bytes) -> None:
    """Esc may have closed an overlay only."""
    actor = act(profile)
    actor.turn()
    actor.type(key)
    actor.work(3.0)
    assert actor.states == []


@pytest.mark.parametrize("profile", BY_NAME)
@pytest.mark.parametrize("keys", [b"\r", b"some words", b"\x1b[200~pasted\x1b[201~", b"\x1b[A\r"])
def test_keys_alone_begin_nothing(profile: str, keys: bytes) -> None:
    actor = act(profile)
    actor.rest()
    actor.wait(3.0)
    actor.type(keys)
    actor.rest()
    actor.wait(5.0)
    assert actor.states == [State.IDLE]


def test_a_status_line_of_nine_rows() -> None:
    actor = act("claude")
    actor.begin()
    extra = [
        f"  {name}: {number} %"
        for number, name in enumerate(("cpu", "memory", "disk", "git", "cost", "usage", "model", "time", "net"))
    ]
    for frame in range(15):
        actor.show([*actor.agent.at_work(100, frame)[:-1], *extra])
        actor.wait(0.1)
    assert actor.state is State.WORKING
    actor.show([*actor.agent.at_rest(100)[:-1], *extra])
    actor.wait(3.0)
    assert actor.state is State.IDLE


def test_a_message_that_is_queued_below_the_working_row() -> None:
    actor = act("codex")
    actor.begin()
    for frame in "•◦" * 8:
        status = [
            f"{frame} Working (3s • esc to interrupt)",
            "",
            "  • Queued follow-up messages",
            "    ↳ and then this",
        ]
        actor.show([*status, "", *actor.agent.composer(100), *actor.agent.work])
        actor.wait(0.1)
    assert actor.state is State.WORKING


@pytest.mark.parametrize(
    "title", ["Planning the change", "**Reading** the code", "Đang suy nghĩ", "Starting MCP servers (1/3): git"]
)
def test_a_working_row_whose_words_are_others(title: str) -> None:
    """Its shape tells, the time and the key, not the word."""
    actor = act("codex")
    actor.begin()
    for seconds in range(3):
        actor.show([f"• {title} ({seconds}s • esc to interrupt)", "", *actor.agent.composer(100), *actor.agent.work])
        actor.wait(1.0)
    assert actor.state is State.WORKING


def test_a_spinner_that_turns_once_a_second_and_has_a_hollow_frame() -> None:
    actor = act("codex")
    actor.begin()
    for seconds in range(4):
        glyph = "•◦"[seconds % 2]
        actor.show(
            [f"{glyph} Working ({seconds}s • esc to interrupt)", "", *actor.agent.composer(100), *actor.agent.work]
        )
        actor.wait(1.0)
    assert actor.states == [State.IDLE, State.WORKING]


@pytest.mark.parametrize(
    "mode", ["⏵⏵ bypass permissions on (shift+tab to cycle)", "⏵⏵ auto mode on", "⏸ plan mode on", "⏵⏵ accept edits on"]
)
def test_a_modes_footer_says_nothing(mode: str) -> None:
    actor = act("claude")
    actor.begin()
    for frame in range(15):
        actor.show([*actor.agent.at_work(100, frame)[:-1], f"  {mode}"])
        actor.wait(0.1)
    assert actor.state is State.WORKING
    actor.show([*actor.agent.at_rest(100)[:-1], f"  {mode}"])
    actor.wait(4.0)
    assert actor.state is State.IDLE


def test_background_agents_are_work() -> None:
    """The row that waits for them stands still, and so do their counters at times."""
    actor = act("claude")
    actor.turn()
    agents = ["● main", "◯ general-purpose  look around  8s · ↑ 182 tokens"]
    footer = ["  ? for shortcuts · ↓ to manage", "", *agents]
    actor.show(["✻ Waiting for 1 background agent to finish", "", *actor.agent.composer(100), *footer])
    actor.wait(30.0)
    assert actor.states == []


def test_a_background_shell_alone_is_rest() -> None:
    actor = act("claude")
    actor.turn()
    actor.status("state=working:app=claude-code")
    actor.show(["✻ Baked for 2s · 1 shell still running", "", *actor.agent.composer(100), "  1 shell · ↓ to manage"])
    running = base64.b64encode(b"1 shell still running").decode()
    actor.status(f"state=working:app=claude-code:msg={running}")
    actor.wait(4.0)
    assert actor.states == [State.IDLE]
    assert actor.changes[-1].background


def test_a_background_terminal_alone_is_rest() -> None:
    actor = act("codex")
    actor.turn()
    row = "  1 background terminal running · /ps to view · /stop to close"
    actor.show(["  Worked for 6s • 18:33", "", row, "", *actor.agent.composer(100), *actor.agent.rest])
    actor.wait(4.0)
    assert actor.states == [State.IDLE]


def test_a_queued_message_is_no_work_by_itself() -> None:
    actor = act("claude")
    actor.rest()
    actor.wait(3.0)
    actor.show(["❯ and then this", "  ⎿  Queued · ctrl+enter to send now", "", *actor.agent.at_rest(100)[-4:]])
    actor.wait(5.0)
    assert actor.states == [State.IDLE]


def test_a_retry_is_work_and_its_last_failure_is_rest() -> None:
    actor = act("claude")
    actor.turn()
    for seconds in range(8, 0, -1):
        row = f"✻ API error · retrying in {seconds}s · attempt 5/5"
        actor.show([row, "", *actor.agent.composer(100), *actor.agent.work])
        actor.wait(1.0)
    assert (actor.state, actor.changes[-1].message) == (State.WORKING, "Retrying")
    actor.show(["● API Error: 529 overloaded", "", *actor.agent.at_rest(100)[-4:]])
    actor.wait(3.0)
    assert actor.state is State.IDLE


def test_a_viewer_keeps_the_state_and_signals_pass_through() -> None:
    actor = act("claude")
    actor.rest()
    actor.wait(3.0)
    viewer = [
        *(f"  line {number}" for number in range(20)),
        "─" * 100,
        "  Showing detailed transcript · ctrl+o to toggle",
    ]
    actor.show(viewer)
    actor.wait(5.0)
    assert actor.states == [State.IDLE]
    for glyph in "◐◑" * 3:
        actor.title(f"{glyph} Claude Code")
        actor.wait(0.9)
    assert actor.states == [State.IDLE, State.WORKING]
    actor.title("✳ Claude Code")
    actor.rest()
    actor.wait(4.0)
    assert actor.states == [State.IDLE, State.WORKING, State.IDLE]


@pytest.mark.parametrize("profile", BY_NAME)
def test_a_screen_that_nobody_knows_changes_nothing(profile: str) -> None:
    """There is no state for whatever is left."""
    for rest in (True, False):
        actor = act(profile)
        actor.turn()
        if rest:
            actor.rest()
            actor.wait(4.0)
        actor.changes = []
        actor.show([f"  something else, row {number}" for number in range(30)])
        actor.wait(60.0)
        assert actor.states == []


@pytest.mark.parametrize("profile", BY_NAME)
def test_nothing_is_told_before_the_agent_has_drawn(profile: str) -> None:
    """The shell echoes the command line; the launcher prints a line of its own."""
    session = Session(Catalog().get(profile), Size(30, 100), 0.0, screen=make_screen)
    session.receive_output(b"$ agent --flag\r\n> starting up, esc to interrupt\r\n", 0.1)
    assert session.tick(30.0) == []
    assert session.state is State.UNKNOWN


@pytest.mark.parametrize("profile", BY_NAME)
def test_the_first_rest_completes_no_turn(profile: str) -> None:
    actor = act(profile)
    events = actor.session.receive_output(b"", actor.now)
    actor.rest()
    for tick in range(100):
        events += actor.session.tick(actor.now + tick / 10)
    kinds = {type(event) for event in events}
    assert actor.session.state is State.IDLE
    assert not kinds & {TurnStarted, TurnCompleted}


def test_the_agents_end_is_told_at_once() -> None:
    actor = act("claude")
    actor.turn()
    ended = actor.session.child_exited(ExitStatus(code=None, signal=9), actor.now)
    assert [type(event) for event in ended] == [SessionEnded]
    assert actor.session.next_deadline is None


@pytest.mark.parametrize("profile", BY_NAME)
def test_a_cue_that_has_no_room_leaves_the_state(profile: str) -> None:
    """On a screen of three rows nothing is to be seen, and nothing is concluded from it."""
    actor = act(profile)
    actor.turn()
    actor.resize(Size(3, 100))
    actor.show(["", "  some words of the answer", "  and some more"])
    actor.wait(30.0)
    assert actor.states == []
