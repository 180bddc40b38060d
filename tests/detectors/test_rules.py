"""Each kind of condition: when it holds, ceases to, and wants to be asked again; holds and precedence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle_detectors import Source, State
from lifecycle_detectors.evidence import NEVER, Evidence, Motion, ScreenView, Stamped
from lifecycle_detectors.layout import ComposerShape, Layout
from lifecycle_detectors.rules import (
    DEFAULT_PRIORITY,
    HOLD_PRIORITY,
    PROGRESS_LEASE,
    SUBJECTS,
    Condition,
    Moment,
    Rule,
    default_priority,
    judge,
)

TICK = 0.001
"""What a condition that ceases adds, so that it has ceased when it is asked again."""


def condition(subject: str, **narrow: Any) -> Condition:
    if isinstance(narrow.get("pattern"), str):
        narrow["pattern"] = re.compile(narrow["pattern"])
    if isinstance(narrow.get("values"), str):
        narrow["values"] = frozenset(narrow["values"].split())
    return Condition(SUBJECTS[subject], subject, **narrow)


def rule(identity: str, state: State | None, *all_of: Condition, priority: int = 100, **more: Any) -> Rule:
    return Rule(identity, state, priority, all_of=all_of, **more)


class Screen:
    """A screen drawn frame by frame: each call of `frame` is a snapshot."""

    def __init__(self, *, composer: str = "", alternate: bool = False, cursor: bool = True) -> None:
        self._motion = Motion()
        self._shapes = (ComposerShape(re.compile(composer)),) if composer else ()
        self._alternate, self._cursor = alternate, cursor
        self._asked = Stamped()

    def frame(self, rows: list[str], at: float, cursor: tuple[int, int] = (0, 0)) -> ScreenView:
        self._motion.update(rows, at)
        layout = Layout(rows, cursor, [(n, n) for n in range(len(rows))], self._shapes)
        self._asked.set(layout.asked_text, at)
        return ScreenView(layout, self._motion, self._asked.changed_at, alternate=self._alternate, cursor=self._cursor)


def stamp(text: str, at: float, changed_at: float | None = None, before_at: float = NEVER) -> Stamped:
    return Stamped(text, at, at if changed_at is None else changed_at, before_at)


def holds(wanted: Condition, evidence: Evidence, now: float) -> tuple[bool, float | None]:
    moment = Moment(now)
    return wanted.holds(evidence, moment), moment.again_at


# --- signals: value, age, the user's submit

Signal = Callable[[float], Evidence]

SIGNALS: dict[str, tuple[Condition, Signal]] = {
    "title": (condition("title", pattern="^⠋ "), lambda at: Evidence(title=stamp("⠋ Working", at))),
    "progress": (condition("progress", values="none"), lambda at: Evidence(progress=stamp("none", at))),
    "status": (condition("status", values="working"), lambda at: Evidence(status="working", status_at=at)),
    "notification": (
        condition("notification", pattern="needs"),
        lambda at: Evidence(notification=stamp("needs you", at)),
    ),
    "bell": (condition("bell"), lambda at: Evidence(bell_at=at)),
    "prompt": (condition("prompt", values="A B"), lambda at: Evidence(prompt=stamp("B", at))),
    "line_editor": (condition("line_editor"), lambda at: Evidence(line_editor=stamp("on", at))),
    "unblocked": (condition("unblocked"), lambda at: Evidence(unblocked_at=at)),
    "entered": (condition("entered", values="prompt"), lambda at: Evidence(entered=stamp("prompt", at))),
    "submit": (condition("input", values="submit"), lambda at: Evidence(submit_at=at)),
    "interrupt": (condition("input", values="interrupt key"), lambda at: Evidence(interrupt_at=at)),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_holds_while_it_stands(name: str) -> None:
    wanted, signal = SIGNALS[name]
    assert holds(wanted, signal(5.0), 5.0) == (True, None)
    assert holds(wanted, signal(5.0), 99.0) == (True, None)
    assert holds(wanted, Evidence(), 5.0) == (False, None)


@pytest.mark.parametrize("name", SIGNALS)
def test_a_fresh_signal_ceases_and_says_when(name: str) -> None:
    wanted, signal = SIGNALS[name]
    fresh = condition(wanted.subject, pattern=wanted.pattern, values=wanted.values, fresh=2.0)
    assert holds(fresh, signal(5.0), 5.5) == (True, 7.0 + TICK)
    assert holds(fresh, signal(5.0), 7.0 + TICK) == (False, None)


@pytest.mark.parametrize("name", [name for name in SIGNALS if name not in ("submit", "interrupt")])
def test_a_signal_from_before_the_submit_may_not_count(name: str) -> None:
    wanted, signal = SIGNALS[name]
    younger = condition(wanted.subject, pattern=wanted.pattern, values=wanted.values, after_submit=True)
    evidence = signal(5.0)
    assert holds(younger, evidence, 6.0)[0]
    evidence.submit_at = 5.0
    assert not holds(younger, evidence, 6.0)[0]


@pytest.mark.parametrize(
    ("wanted", "evidence"),
    [
        (condition("title", pattern="^⠋ "), Evidence(title=stamp("✳ done", 1.0))),
        (condition("progress", values="normal"), Evidence(progress=stamp("none", 1.0))),
        (condition("status", values="blocked", kinds=frozenset({"auth"})), Evidence(status="blocked", status_at=1.0)),
        (condition("status", values="working", pattern="shell"), Evidence(status="working", status_at=1.0)),
        (condition("notification", pattern="^needs"), Evidence(notification=stamp("you", 1.0))),
        (condition("prompt", values="C"), Evidence(prompt=stamp("A", 1.0))),
        (condition("line_editor", expected=False), Evidence(line_editor=stamp("on", 1.0))),
        (condition("line_editor", expected=False), Evidence()),
        (condition("entered", values="prompt"), Evidence(entered=stamp("filter", 1.0))),
        (condition("standing", values="prompt"), Evidence(standing="confirm")),
        (condition("input", values="submit"), Evidence(key_at=1.0)),
    ],
)  # fmt: skip
def test_another_value_does_not_hold(wanted: Condition, evidence: Evidence) -> None:
    assert holds(wanted, evidence, 2.0) == (False, None)


def test_progress_is_leased_but_none_is_not() -> None:
    wanted = condition("progress", values="normal indeterminate none")
    shown = Evidence(progress=stamp("normal", 10.0))
    assert holds(wanted, shown, 20.0) == (True, 10.0 + PROGRESS_LEASE + TICK)
    assert holds(wanted, shown, 10.0 + PROGRESS_LEASE + TICK) == (False, None)
    assert holds(wanted, Evidence(progress=stamp("none", 10.0)), 10.0 + 2 * PROGRESS_LEASE) == (True, None)


def test_a_title_may_have_to_move_to_stand_or_to_follow_soon() -> None:
    moving = condition("title", pattern="^⠋ ", moving=2.0)
    assert holds(moving, Evidence(title=stamp("⠋ a", 5.0), title_moved_at=5.0), 6.0) == (True, 7.0 + TICK)
    assert holds(moving, Evidence(title=stamp("⠋ a", 5.0), title_moved_at=1.0), 6.0)[0] is False
    still = condition("title", pattern="a", still=2.0)
    assert holds(still, Evidence(title=stamp("a", 9.0, changed_at=5.0)), 6.0) == (False, 7.0)
    assert holds(still, Evidence(title=stamp("a", 9.0, changed_at=5.0)), 7.0) == (True, None)
    soon = condition("title", pattern="a", soon=30.0)
    assert holds(soon, Evidence(title=stamp("a", 50.0, before_at=40.0)), 60.0)[0]
    assert not holds(soon, Evidence(title=stamp("a", 90.0, before_at=40.0)), 95.0)[0]


def test_the_line_editor_may_have_to_go_with_the_submit_and_stay_away() -> None:
    gone = condition("line_editor", expected=False, within=1.0, still=0.2)
    evidence = Evidence(line_editor=stamp("off", 5.0), submit_at=4.9)
    assert holds(gone, evidence, 5.1) == (False, 5.2)
    assert holds(gone, evidence, 5.2) == (True, None)
    evidence.submit_at = 3.0
    assert not holds(gone, evidence, 6.0)[0], "it went away by itself"
    evidence.submit_at = 5.5
    assert not holds(gone, evidence, 6.0)[0], "it went away before"


# --- output


def test_quiet_holds_after_a_while() -> None:
    quiet = condition("quiet", still=1.0)
    assert holds(quiet, Evidence(), 5.0) == (False, None)
    assert holds(quiet, Evidence(output_at=5.0), 5.5) == (False, 6.0)
    assert holds(quiet, Evidence(output_at=5.0), 6.0) == (True, None)


def test_flow_holds_while_output_comes() -> None:
    flow = condition("flow", still=1.0)
    assert holds(flow, Evidence(output_at=5.9, flow_since=5.0), 5.95) == (False, 6.0)
    assert holds(flow, Evidence(output_at=5.9, flow_since=5.0), 6.0)[0]
    assert not holds(flow, Evidence(output_at=5.0, flow_since=1.0), 6.0)[0]


def test_startup_ends_with_the_first_idle() -> None:
    assert holds(condition("startup"), Evidence(), 1.0)[0]
    assert not holds(condition("startup"), Evidence(rested_at=0.5), 1.0)[0]
    assert holds(condition("startup", expected=False), Evidence(rested_at=0.5), 1.0)[0]


# --- the screen


@pytest.mark.parametrize(
    "wanted",
    [
        condition("region", region="screen"),
        condition("composer", expected=False),
        condition("alternate", expected=False),
        condition("cursor"),
    ],
)
def test_nothing_holds_over_a_screen_that_is_not_looked_at(wanted: Condition) -> None:
    assert holds(wanted, Evidence(), 1.0) == (False, None)


def test_a_region_is_matched_by_line_as_text_or_by_row() -> None:
    view = Screen().frame(["  ┃ Allow", "  ┃ once?", ""], 1.0)
    evidence = Evidence(screen=view)
    line = condition("region", region="screen", pattern="^Allow$")
    text = condition("region", region="screen", pattern="^Allow once\\?$", flat=True)
    row = condition("region", region="screen", pattern="^  ┃ Allow", raw=True)
    assert holds(line, evidence, 2.0)[0]
    assert holds(text, evidence, 2.0)[0]
    assert holds(row, evidence, 2.0)[0]
    assert not holds(condition("region", region="screen", pattern="^Allow once", flat=False), evidence, 2.0)[0]
    assert not holds(condition("region", region="screen", pattern="^Allow", raw=True), evidence, 2.0)[0]


def test_a_region_without_a_pattern_has_text_or_is_at_rest() -> None:
    screen = Screen()
    assert holds(condition("region", region="screen"), Evidence(screen=screen.frame(["a"], 1.0)), 1.0)[0]
    assert not holds(condition("region", region="screen"), Evidence(screen=screen.frame([""], 2.0)), 2.0)[0]


def test_a_still_region_says_when_it_will_be() -> None:
    screen = Screen()
    screen.frame(["a", "b"], 1.0)
    evidence = Evidence(screen=screen.frame(["a", "c"], 5.0))
    still = condition("region", region="screen", still=1.5)
    assert holds(still, evidence, 5.5) == (False, 6.5)
    assert holds(still, evidence, 6.5) == (True, None)


def test_a_row_moves_when_only_its_glyph_or_counter_changes() -> None:
    screen = Screen()
    screen.frame(["⠋ Working 1s", "text"], 1.0)
    evidence = Evidence(screen=screen.frame(["⠙ Working 2s", "text"], 2.0))
    moving = condition("region", region="screen", pattern="Working", moving=1.0)
    spinning = condition("region", region="screen", pattern="Working", spinning=1.0)
    assert holds(moving, evidence, 2.5) == (True, 3.0 + TICK)
    assert holds(spinning, evidence, 2.5)[0]
    assert not holds(moving, evidence, 3.0 + TICK)[0]
    evidence.screen = screen.frame(["⠙ Working 3s", "text"], 4.0)
    assert holds(moving, evidence, 4.5)[0]
    assert not holds(spinning, evidence, 4.5)[0], "a counter is no spinner"
    evidence.screen = screen.frame(["⠙ Working 3s", "text that grows"], 6.0)
    assert not holds(moving, evidence, 6.0)[0]


def test_a_spinner_is_found_again_where_it_was_scrolled_to() -> None:
    screen = Screen()
    screen.frame(["⠋ Working", "", ""], 1.0)
    screen.frame(["⠙ Working", "", ""], 1.1)
    evidence = Evidence(screen=screen.frame(["answer", "⠹ Working", ""], 1.2))
    assert holds(condition("region", region="screen", pattern="Working", spinning=0.5), evidence, 1.3)[0]


def test_a_region_may_have_to_change_after_the_submit_or_not() -> None:
    screen = Screen()
    evidence = Evidence(screen=screen.frame(["a"], 5.0), submit_at=6.0)
    before = condition("region", region="screen", pattern="a", before_submit=True)
    since = condition("region", region="screen", pattern="a", since_submit=0.5)
    fresh = condition("region", region="screen", pattern="a", fresh=1.0)
    assert holds(before, evidence, 7.0)[0]
    assert not holds(since, evidence, 7.0)[0]
    evidence.screen = screen.frame(["a", "b"], 8.0)
    assert not holds(before, evidence, 8.0)[0]
    assert holds(since, evidence, 8.0)[0]
    assert holds(fresh, evidence, 8.5) == (True, 9.0 + TICK)


def test_the_age_of_asked_is_that_of_its_text() -> None:
    screen = Screen()
    screen.frame(["Name: "], 1.0, (0, 6))
    evidence = Evidence(screen=screen.frame(["Name:  ", "below"], 5.0, (0, 6)))
    assert holds(condition("region", region="asked", pattern="^Name:$", still=2.0), evidence, 5.0) == (True, None)


def test_flags_of_the_screen() -> None:
    view = Screen(composer="^> ", alternate=True, cursor=False).frame(["> draft"], 1.0)
    evidence = Evidence(screen=view)
    assert holds(condition("composer"), evidence, 1.0)[0]
    assert holds(condition("alternate"), evidence, 1.0)[0]
    assert holds(condition("cursor", expected=False), evidence, 1.0)[0]
    assert not holds(condition("composer", expected=False), evidence, 1.0)[0]


def test_an_input_may_have_to_be_the_last_key() -> None:
    rested = condition("input", values="submit", still=0.5)
    evidence = Evidence(submit_at=5.0, key_at=5.0)
    assert holds(rested, evidence, 5.2) == (False, 5.5)
    assert holds(rested, evidence, 5.5)[0]
    evidence.key_at = 5.3
    assert not holds(rested, evidence, 6.0)[0]


# --- rules and their order

YES = condition("startup")
NO = condition("startup", expected=False)


@pytest.mark.parametrize(
    ("all_of", "any_of", "none_of", "expected"),
    [
        ((YES,), (), (), True),
        ((YES, NO), (), (), False),
        ((), (NO, YES), (), True),
        ((), (NO, NO), (), False),
        ((YES,), (NO,), (), False),
        ((YES,), (), (NO,), True),
        ((YES,), (), (NO, YES), False),
    ],
)
def test_how_conditions_go_together(
    all_of: tuple[Condition, ...], any_of: tuple[Condition, ...], none_of: tuple[Condition, ...], expected: bool
) -> None:
    made = Rule("r", State.IDLE, 100, all_of=all_of, any_of=any_of, none_of=none_of)
    assert made.holds(Evidence(), Moment(1.0)) is expected


def test_the_first_rule_that_holds_speaks() -> None:
    rules = [rule("no", State.BLOCKED, NO), rule("first", State.WORKING, YES), rule("second", State.IDLE, YES)]
    found = judge(rules, Evidence(), Moment(1.0))
    assert found is not None
    assert found.id == "first"
    assert judge(rules[:1], Evidence(), Moment(1.0)) is None


def test_the_earliest_recheck_of_all_that_was_asked_counts() -> None:
    rules = [
        rule("later", State.BLOCKED, condition("quiet", still=9.0)),
        rule("sooner", State.WORKING, condition("quiet", still=3.0)),
        rule("stands", State.IDLE, YES),
        rule("never asked", State.IDLE, condition("quiet", still=1.0)),
    ]
    moment = Moment(1.0)
    judge(rules, Evidence(output_at=0.5), moment)
    assert moment.again_at == 3.5


SHOWN = condition("region", region="screen", pattern="viewer")
DIALOG = condition("region", region="screen", pattern="viewer")


def test_a_hold_silences_the_screen_and_lets_signals_through() -> None:
    held = rule("viewer", None, SHOWN, priority=HOLD_PRIORITY)
    screen_rule = rule("dialog", State.BLOCKED, DIALOG, priority=800)
    title = condition("title", pattern="^⠋ ")
    evidence = Evidence(screen=Screen().frame(["viewer"], 1.0))
    assert judge([held, screen_rule], evidence, Moment(1.0)) is None
    assert evidence.held_at == 1.0
    evidence.title = stamp("⠋ Working", 2.0)
    found = judge([held, screen_rule, rule("title", State.WORKING, title)], evidence, Moment(2.0))
    assert found is not None
    assert found.id == "title"
    assert evidence.held_at == 1.0
    evidence.screen = Screen().frame(["answer"], 3.0)
    judge([held, screen_rule], evidence, Moment(3.0))
    assert evidence.held_at == NEVER


def test_while_held_rest_counts_only_when_it_was_told_since() -> None:
    held = rule("viewer", None, SHOWN, priority=HOLD_PRIORITY)
    at_rest = rule("title", State.IDLE, condition("title", pattern="^✳ "))
    evidence = Evidence(screen=Screen().frame(["viewer"], 1.0), title=stamp("✳ done", 0.5))
    assert judge([held, at_rest], evidence, Moment(1.0)) is None
    evidence.title = stamp("✳ done", 2.0)
    assert judge([held, at_rest], evidence, Moment(2.0)) is at_rest


def test_the_order_of_trust() -> None:
    """DESIGN's table: what the agent says exactly, a live dialog, signals, the working row, rest."""
    order = [
        (Source.STATUS, State.WORKING),
        (Source.SCREEN, State.BLOCKED),
        (Source.TITLE, State.WORKING),
        (Source.PROGRESS, State.WORKING),
        (Source.SCREEN, State.WORKING),
        (Source.PROMPT, State.IDLE),
        (Source.TITLE, State.IDLE),
        (Source.SCREEN, State.IDLE),
    ]
    numbers = [DEFAULT_PRIORITY[pair] for pair in order]
    assert numbers == sorted(numbers, reverse=True)
    assert default_priority(Source.SCREEN, None) == HOLD_PRIORITY > max(DEFAULT_PRIORITY.values())
    assert default_priority(Source.INPUT, State.WORKING) < min(DEFAULT_PRIORITY.values())


def test_a_moment_keeps_the_earliest_time_and_none_that_is_past() -> None:
    moment = Moment(10.0)
    moment.recheck(9.0)
    assert moment.again_at is None
    moment.recheck(12.0)
    moment.recheck(11.0)
    moment.recheck(13.0)
    assert moment.again_at == 11.0
