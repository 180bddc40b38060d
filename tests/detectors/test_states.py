"""The table of transitions, each entry and each way to lose a pending change."""

from __future__ import annotations

import itertools

import pytest

from lifecycle_detectors.states import BRIEF_SECONDS, TRANSITIONS, Dwell, State, StateMachine

SETTLE = 1.0
TOLD = [state for state in State if state is not State.UNKNOWN]

DWELLS = {
    (State.UNKNOWN, State.IDLE): BRIEF_SECONDS,
    (State.UNKNOWN, State.WORKING): BRIEF_SECONDS,
    (State.UNKNOWN, State.BLOCKED): BRIEF_SECONDS,
    (State.IDLE, State.WORKING): BRIEF_SECONDS,
    (State.IDLE, State.BLOCKED): BRIEF_SECONDS,
    (State.WORKING, State.IDLE): SETTLE,
    (State.WORKING, State.BLOCKED): BRIEF_SECONDS,
    (State.BLOCKED, State.IDLE): SETTLE,
    (State.BLOCKED, State.WORKING): BRIEF_SECONDS,
}


def test_the_table_has_every_pair() -> None:
    pairs = {pair for pair in itertools.product(State, State) if pair[0] is not pair[1]}
    assert set(TRANSITIONS) == pairs
    assert {pair for pair, dwell in TRANSITIONS.items() if dwell is Dwell.NEVER} == pairs - set(DWELLS)


@pytest.mark.parametrize(("pair", "dwell"), DWELLS.items(), ids=lambda value: str(value))
def test_a_change_is_published_when_it_has_stood_for_its_time(pair: tuple[State, State], dwell: float) -> None:
    before, after = pair
    machine: StateMachine[str] = StateMachine(before)
    machine.propose(after, 10.0, SETTLE, "why")
    assert machine.deadline == 10.0 + dwell
    assert machine.advance(10.0 + dwell - 0.001) is None
    assert machine.state is before
    change = machine.advance(10.0 + dwell + 5.0)
    assert change is not None
    assert (change.at, change.previous, change.state, change.reason) == (10.0 + dwell, before, after, "why")
    assert machine.state is after
    assert machine.deadline is None
    assert machine.advance(100.0) is None


@pytest.mark.parametrize("state", TOLD)
def test_what_was_known_is_never_unlearned(state: State) -> None:
    machine: StateMachine[str] = StateMachine(state)
    machine.propose(State.UNKNOWN, 0.0, SETTLE, "why")
    assert machine.deadline is None


@pytest.mark.parametrize("state", TOLD)
def test_the_same_state_again_takes_a_pending_change_back(state: State) -> None:
    machine: StateMachine[str] = StateMachine(state)
    machine.propose(state, 0.0, SETTLE, "at rest", "detail")
    machine.advance(1.0)
    other = next(other for other in TOLD if other is not state)
    machine.propose(other, 2.0, SETTLE, "a flash")
    machine.propose(state, 2.05, SETTLE, "back", "detail")
    assert machine.deadline is None
    assert machine.advance(10.0) is None


def test_a_flash_shorter_than_its_time_is_not_told() -> None:
    machine: StateMachine[str] = StateMachine(State.WORKING)
    machine.propose(State.IDLE, 0.0, SETTLE, "between two tools")
    machine.withdraw()
    assert machine.advance(5.0) is None
    machine.propose(State.IDLE, 6.0, SETTLE, "the end")
    assert machine.deadline == 7.0


def test_a_change_keeps_its_age_while_rules_take_turns() -> None:
    """Several rules may speak for the same state one after the other; the newest reason counts."""
    machine: StateMachine[str] = StateMachine(State.IDLE)
    machine.propose(State.WORKING, 0.0, SETTLE, "title")
    machine.propose(State.WORKING, 0.1, SETTLE, "row")
    change = machine.advance(0.2)
    assert change is not None
    assert (change.at, change.reason) == (BRIEF_SECONDS, "row")


def test_another_state_starts_its_time_anew() -> None:
    machine: StateMachine[str] = StateMachine(State.IDLE)
    machine.propose(State.WORKING, 0.0, SETTLE, "row")
    machine.propose(State.BLOCKED, 0.1, SETTLE, "dialog")
    assert machine.advance(0.2) is None
    change = machine.advance(0.3)
    assert change is not None
    assert change.state is State.BLOCKED


def test_another_detail_of_the_same_state_is_a_change_too() -> None:
    machine: StateMachine[str] = StateMachine(State.WORKING)
    machine.propose(State.WORKING, 0.0, SETTLE, "retry", "Retrying")
    change = machine.advance(1.0)
    assert change is not None
    assert change.previous is change.state is State.WORKING
    machine.propose(State.WORKING, 2.0, SETTLE, "retry", "Retrying")
    assert machine.deadline is None


def test_the_settle_time_of_the_rule_that_speaks_counts() -> None:
    machine: StateMachine[str] = StateMachine(State.WORKING)
    machine.propose(State.IDLE, 0.0, 1.0, "slow")
    machine.propose(State.IDLE, 0.1, 0.3, "sure")
    assert machine.deadline == 0.3
