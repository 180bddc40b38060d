"""Kinds of faults that users of similar tools report: dialogs that are missed, made up, or never over.

Rows of facts/reports.md: A 8, 9 (and test_profiles_prose.py), 10, 11, 12, 17, 23, 24, 25; B S5, S6, S7, S13, S21, S25,
S27, S28, S31, S34, S38, S40; C 23.
"""

from __future__ import annotations

import pytest

from lifecycle_detectors import ApprovalRequested, ApprovalResolved, State
from tests.support.actor import BY_NAME, Actor, act
from tests.support.stage import idle_stage


def asked(profile: str, dialog: tuple[str, ...], *, start: bool = False) -> Actor:
    """Show a dialog in a turn, or before the first prompt."""
    actor = act(profile)
    if not start:
        actor.turn()
    actor.ask(dialog)
    actor.wait(1.0)
    return actor


@pytest.mark.parametrize("profile", BY_NAME)
def test_a_dialog_that_flashes_is_none(profile: str) -> None:
    actor = act(profile)
    actor.turn()
    actor.ask(actor.agent.dialogs[0])
    actor.wait(0.09)
    actor.work(2.0)
    assert actor.states == []


def test_status_text_that_looks_like_a_blocker_in_a_turn() -> None:
    actor = act("claude")
    actor.turn()
    for frame in range(20):
        rows = actor.agent.at_work(100, frame)
        rows[1] = "● Do you want to proceed? ❯ 1. Yes Esc to cancel"
        actor.show(rows)
        actor.wait(0.1)
    assert actor.states == []


@pytest.mark.parametrize(
    "question",
    ["Resume from a summary?", "Pick up where you left off?", "Welche Sitzung soll fortgesetzt werden?"],
)
def test_a_question_in_words_that_nobody_knows(question: str) -> None:
    dialog = (
        f" {question}",
        "",
        " ❯ 1. Resume from summary (recommended)",
        "   2. Full session",
        "",
        " Enter to confirm · Esc to cancel",
    )
    assert asked("claude", dialog).states == [State.BLOCKED]


def test_a_list_of_choices_without_a_footer() -> None:
    dialog = (" Claude wants to use your browser", "", " ❯ 1. Allow", "   2. Allow for this site", "   3. Deny")
    assert asked("claude", dialog).states == [State.BLOCKED]


def test_a_plan_whose_footer_names_no_escape() -> None:
    dialog = (
        " Would you like to proceed?",
        " ❯ 1. Yes, and auto-accept edits",
        "   2. No, keep planning",
        " shift+tab to approve with this feedback",
    )
    assert asked("claude", dialog).states == [State.BLOCKED]


STARTS = [
    (
        "claude",
        (
            " Let's get started.",
            "",
            " Choose the text style that looks best with your terminal",
            "",
            " ❯ 1. Dark mode ✔",
            "   2. Light mode",
            "",
            " ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌",
            "  1  function greet() {",
            " ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌",
        ),
    ),
    (
        "claude",
        (
            " Quick safety check: Is this a project you created or one you trust?",
            "",
            " ❯ No, exit",
            "   Yes, I trust this folder",
            "",
            " Enter to confirm · Esc to cancel",
        ),
    ),
    (
        "claude",
        (" Select login method:", "", " ❯ 1. Claude account with subscription", "   2. Anthropic Console account"),
    ),
    (
        "codex",
        (
            "  ✨ Update available! 0.171.0 -> 0.172.0",
            "",
            "› 1. Update now",
            "  2. Skip",
            "",
            "  Press enter to continue",
        ),
    ),
    (
        "codex",
        (
            "  Sign in with ChatGPT or use an API key",
            "",
            "> 1. Sign in with ChatGPT",
            "  2. Provide your own API key",
            "",
            "  Press enter to continue",
        ),
    ),
    (
        "codex",
        (
            "  Review the hooks of this folder",
            "",
            "› 1. Trust them",
            "  2. Ignore them",
            "",
            "  Press enter to continue",
        ),
    ),
    (
        "copilot",
        (
            "Confirm folder trust",
            "Do you trust the files in this folder?",
            "❯ 1. Yes",
            "  3. No (Esc)",
            "↑/↓ to navigate · enter to select · esc to cancel",
        ),
    ),
    ("gemini", ("Do you trust the files in this folder?", "", "● 1. Trust folder (project)", "  3. Don't trust")),
    (
        "gemini",
        (
            "? Get started",
            "How would you like to authenticate for this project?",
            "● 1. Sign in with Google",
            "(Use Enter to select)",
        ),
    ),
    ("qwen", ("Connect a Provider", "", "› 1. OpenAI", "  2. Qwen OAuth")),
]


@pytest.mark.parametrize(("profile", "dialog"), STARTS)
def test_what_has_to_be_answered_before_the_first_prompt(profile: str, dialog: tuple[str, ...]) -> None:
    assert asked(profile, dialog, start=True).states == [State.BLOCKED]


@pytest.mark.parametrize("profile", BY_NAME)
def test_a_refused_dialog_is_over_though_nothing_says_so(profile: str) -> None:
    actor = asked(profile, BY_NAME[profile].dialogs[0])
    actor.type(b"\x1b")
    actor.rest()
    actor.wait(4.0)
    assert actor.states[-1] is State.IDLE


@pytest.mark.parametrize("profile", BY_NAME)
def test_an_approved_dialog_is_over_before_the_turn_is(profile: str) -> None:
    actor = asked(profile, BY_NAME[profile].dialogs[0])
    actor.type(b"\r")
    actor.work(1.5)
    assert actor.states == [State.BLOCKED, State.WORKING]


def test_a_dialog_beats_a_spinner_that_runs_on_above_it() -> None:
    actor = act("pi")
    actor.turn()
    for frame in "⠋⠙⠹⠸" * 5:
        actor.show([f" {frame} Working...", "", *actor.agent.frame(actor.agent.dialogs[0], 100), *actor.agent.footer])
        actor.wait(0.1)
    assert actor.states == [State.BLOCKED]
    actor.work(1.0)
    assert actor.states == [State.BLOCKED, State.WORKING]


def test_a_dialog_beats_a_title_that_spins_on() -> None:
    actor = act("claude")
    actor.turn()
    actor.ask(actor.agent.dialogs[0])
    for glyph in "◐◑" * 5:
        actor.title(f"{glyph} Claude Code")
        actor.wait(0.9)
    assert actor.states == [State.BLOCKED]


@pytest.mark.parametrize(
    "hint",
    [
        "↑↓ select  enter submit  esc dismiss",
        "⇆ tab  ↑↓ select  enter confirm  esc dismiss",
        "↑↓ select  enter toggle  esc dismiss",
    ],
)
def test_hint_rows_come_in_sets(hint: str) -> None:
    dialog = ("Which colours?", "", "1. [ ] Alpha", "2. [ ] Beta", "", hint)
    assert asked("opencode", dialog).states == [State.BLOCKED]


def test_a_key_hint_that_work_and_questions_share() -> None:
    actor = act("copilot")
    actor.begin()
    for frame in "◎◉●○" * 5:
        actor.show([*actor.agent.composer(100), f" {frame} Thinking · esc cancel"])
        actor.wait(0.1)
    assert actor.state is State.WORKING
    actor.changes = []
    actor.show(
        [
            "─" * 100,
            " Copilot needs information.",
            " Which colour?",
            " ❯ Alpha",
            "   Beta",
            "",
            " ↑/↓ select · enter accept · esc cancel",
            "─" * 100,
        ]
    )
    actor.wait(1.0)
    assert actor.states == [State.BLOCKED]


def test_a_question_whose_hint_names_the_interrupt_key() -> None:
    assert asked("codex", BY_NAME["codex"].dialogs[1]).states == [State.BLOCKED]


@pytest.mark.parametrize(
    "question", ["Run this command?", "Do you want to proceed?", "Requesting permission for: sleep 4"]
)
def test_several_generations_of_a_question(question: str) -> None:
    stage = idle_stage("antigravity")
    stage.draw(f"\x1b[2J\x1b[10;1H{question}\r\n\r\n> Yes\r\n  No\r\n\r\ntab amend · edit command".encode())
    stage.wait(1.0)
    assert stage.state is State.BLOCKED


def test_a_modes_label_that_looks_like_an_option() -> None:
    stage = idle_stage("cursor")
    stage.draw(b"\x1b[28;1H  Run Everything (shift+tab to turn off)\x1b[25;5H")
    stage.wait(3.0)
    assert (stage.state, stage.changes) == (State.IDLE, [])


def test_the_menu_of_a_used_up_limit_waits_and_its_notice_does_not() -> None:
    menu = (
        " What do you want to do?",
        "",
        " ❯ 1. Stop and wait for limit to reset",
        "   2. Upgrade your plan",
        "",
        " Enter to confirm · Esc to cancel",
    )
    actor = asked("claude", menu)
    assert actor.states == [State.BLOCKED]
    actor.show(["● You've hit your session limit · resets 3pm", "", *actor.agent.at_rest(100)[-4:]])
    actor.wait(3.0)
    assert actor.states == [State.BLOCKED, State.IDLE]


def test_a_dialog_that_was_scrolled_out_of_view_still_waits() -> None:
    actor = asked("claude", BY_NAME["claude"].dialogs[0])
    actor.show([*(f"  line {number} of the transcript" for number in range(20)), "", "  Jump to bottom (ctrl+end) ↓"])
    actor.wait(10.0)
    assert actor.states == [State.BLOCKED]


def test_we_never_answer_by_ourselves() -> None:
    """A session has no way to type: it returns events only."""
    actor = asked("claude", STARTS[1][1], start=True)
    assert not hasattr(actor.session, "send")
    assert {type(event) for event in actor.session.tick(actor.now)} <= {ApprovalRequested, ApprovalResolved}
