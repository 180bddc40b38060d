"""Kinds of faults that users of similar tools report: what signals say is old, wrong, silent or another program's.

Rows of facts/reports.md: A 1, 2, 3, 4, 6, 7, 18, 19; B S1, S2, S8, S14, S18, S19, S20, S26, S32, S33, S39;
C 10, 14, 20, 28.
"""

from __future__ import annotations

import base64

import pytest

from lifecycle_detectors import State
from tests.support.actor import act
from tests.support.stage import idle_stage


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_a_spinner_title_that_stopped_is_no_work() -> None:
    actor = act("claude")
    actor.begin()
    for glyph in "⠂⠐" * 3:
        actor.title(f"{glyph} Claude Code")
        actor.work(0.5)
    assert actor.state is State.WORKING
    actor.rest()  # and the title stays at its last glyph
    actor.wait(6.0)
    assert actor.state is State.IDLE


def test_a_title_that_lags_behind_the_end() -> None:
    actor = act("codex")
    actor.begin()
    actor.title("⠙ project")
    actor.work()
    actor.show(["  done", "", "  Worked for 6s • 18:33", "", *actor.agent.at_rest(100)[-4:]])
    actor.title("⠹ project")
    actor.wait(4.0)
    assert actor.state is State.IDLE


def test_a_title_at_rest_from_an_earlier_turn_hides_no_work() -> None:
    actor = act("claude")
    actor.title("✳ Claude Code")
    actor.begin()
    actor.work()
    assert actor.state is State.WORKING
    actor.work(5.0)
    assert State.IDLE not in actor.states[1:]


def test_no_title_after_the_first_is_no_rest() -> None:
    """Inside tmux Claude Code writes one title for good."""
    actor = act("claude")
    actor.title("✳ Claude Code")
    actor.turn()
    actor.work(20.0)
    assert actor.changes == []


def test_another_programs_title_is_neutral() -> None:
    actor = act("codex")
    actor.title("~/project: vim")
    actor.turn()
    actor.title("bash")
    actor.work(3.0)
    assert actor.states == []


def test_another_programs_title_is_no_rest_at_the_first_dialog() -> None:
    actor = act("codex")
    actor.title("me@host: ~/project")
    actor.ask(
        (
            "  Do you trust the contents of this directory?",
            "",
            "› 1. Yes, continue",
            "  2. No, quit",
            "",
            "  Press enter to continue",
        )
    )
    actor.wait(2.0)
    assert actor.states == [State.BLOCKED]


def test_a_title_glyph_that_nobody_knows_changes_nothing() -> None:
    actor = act("claude")
    actor.title("✳ Claude Code")
    actor.rest()
    actor.wait(3.0)
    actor.title("◈ Claude Code")
    actor.wait(10.0)
    assert actor.states == [State.IDLE]


@pytest.mark.parametrize("glyphs", ["◰◳◲◱", "◜◠◝◞", "▖▘▝▗", "+*x*"])
def test_a_spinner_of_glyphs_that_nobody_knows_is_told_by_its_motion(glyphs: str) -> None:
    actor = act("claude")
    actor.begin()
    footer = "  ⏵⏵ accept edits on (shift+tab to cycle)"
    for frame in range(15):
        status = f"{glyphs[frame % 4]} Transmogrifying… ({frame // 10}s · ↓ {frame} tokens)"
        actor.show(["", status, "", *actor.agent.composer(100), footer])
        actor.wait(0.1)
    assert actor.state is State.WORKING


@pytest.mark.parametrize("profile", ["claude", "codex", "copilot", "gemini", "qwen", "opencode", "omp"])
def test_a_long_silence_is_no_end(profile: str) -> None:
    """Neither a tool that prints nothing nor a model that stalls nor a compaction ends a turn by being quiet."""
    actor = act(profile)
    actor.turn()
    actor.wait(600.0)
    assert actor.states == []


def test_old_spinner_rows_above_the_composer_are_no_work() -> None:
    """A resize leaves copies of them behind where the agent draws on the main screen."""
    actor = act("gemini")
    actor.rest()
    actor.wait(3.0)
    stale = [" ⠧ Thinking... (esc to cancel, 2s)", "", " ⠇ Thinking... (esc to cancel, 3s)"]
    actor.show([*stale, "", "✦ done", "", *actor.agent.at_rest(100)[3:]])
    actor.wait(5.0)
    assert actor.states == [State.IDLE]


def test_progress_that_blinks_inside_a_turn_is_no_rest() -> None:
    actor = act("copilot")
    actor.begin()
    actor.progress("3;0")
    actor.work()
    actor.changes = []
    for _ in range(5):
        actor.progress("0;0")
        actor.work(0.3)
        actor.progress("3;0")
        actor.work(0.5)
    assert actor.states == []


def test_progress_that_was_cleared_does_not_answer_a_dialog() -> None:
    actor = act("claude")
    actor.turn()
    actor.ask(actor.agent.dialogs[0])
    actor.wait(1.0)
    actor.progress("0;")
    actor.title("✳ Claude Code")
    actor.wait(5.0)
    assert actor.states == [State.BLOCKED]


@pytest.mark.parametrize("profile", ["claude", "codex", "gemini", "opencode", "pi", "cline"])
@pytest.mark.parametrize("code", ["1;40", "3;0", "2;100"])
def test_a_tools_own_progress_is_no_turn(profile: str, code: str) -> None:
    actor = act(profile)
    actor.rest()
    actor.wait(3.0)
    actor.progress(code)
    actor.wait(5.0)
    assert actor.states == [State.IDLE]


@pytest.mark.parametrize("code", ["4;60", "4", "4;", "4;100"])
def test_progress_in_its_paused_state_is_no_wait_by_itself(code: str) -> None:
    """Kiro tells by it how full the context is."""
    stage = idle_stage("kiro")
    stage.draw(f"\x1b]9;4;{code}\x07".encode())
    stage.wait(5.0)
    assert (stage.state, stage.changes) == (State.IDLE, [])


def test_a_screen_at_rest_vetoes_progress_that_never_ends() -> None:
    actor = act("copilot")
    actor.progress("3;0")
    actor.turn()
    actor.rest()
    for _ in range(4):
        actor.progress("3;0")
        actor.wait(5.0)
    assert actor.states == [State.IDLE]


def test_a_dialog_vetoes_progress_that_goes_on() -> None:
    actor = act("copilot")
    actor.progress("3;0")
    actor.turn()
    actor.ask(actor.agent.dialogs[0])
    for _ in range(4):
        actor.progress("3;0")
        actor.wait(5.0)
    assert actor.states == [State.BLOCKED]


def test_a_childs_report_after_the_end_revives_nothing() -> None:
    actor = act("claude")
    actor.turn()
    actor.status("state=working:app=claude-code")
    actor.status("state=done:app=claude-code")
    actor.rest()
    actor.wait(3.0)
    actor.status(f"state=working:app=claude-code:id=a1:title={encoded('look around')}")
    actor.wait(5.0)
    assert actor.states == [State.IDLE]


def test_a_childs_end_does_not_end_its_parents_turn() -> None:
    actor = act("claude")
    actor.turn()
    actor.status("state=working:app=claude-code")
    actor.status("state=working:app=claude-code:id=a1")
    actor.status("state=done:app=claude-code:id=a1")
    actor.status("state=clear:id=a1")
    actor.wait(5.0)
    assert actor.states == []


def test_a_childs_question_blocks_the_whole() -> None:
    actor = act("claude")
    actor.turn()
    actor.status("state=working:app=claude-code")
    actor.status("state=blocked:app=claude-code:kind=permission:id=a1")
    actor.wait(2.0)
    actor.status("state=working:app=claude-code:id=a1")
    actor.wait(2.0)
    assert actor.states == [State.BLOCKED, State.WORKING]
