"""Dialogs, work and rest keep their states on screens of 30 to 300 columns and 8 to 60 rows, and through a resize."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

import pytest

from lifecycle_detectors import Size, State
from tests.support.actor import BY_NAME, Actor
from tests.support.scenes import Agent

WIDTHS = (30, 36, 44, 60, 100, 200, 300)
HEIGHTS = (8, 14, 30, 60)
CHOICE = re.compile(r"[\s│┃]*(?:[❯›●→] ?(?:\d\.|○|Yes|Approve)|△|1\. Alpha|Cline needs)")
"""From this row on a dialog has to be on the screen."""
SIZES = [Size(rows=height, columns=width) for width, height in product(WIDTHS, HEIGHTS)]

pytestmark = pytest.mark.parametrize("profile", BY_NAME)


def fitting(agent: Agent, dialog: Sequence[str]) -> list[Size]:
    """The sizes on which the chosen option and all below it have room."""
    return [size for size in SIZES if _needed(agent, dialog, size.columns) <= size.rows]


def _needed(agent: Agent, dialog: Sequence[str], width: int) -> int:
    rows = agent.asking(width, dialog)
    first = next(number for number, row in enumerate(rows) if CHOICE.match(row))
    return len(rows) - first


def test_a_turn_with_a_dialog_at_each_size(profile: str) -> None:
    agent = BY_NAME[profile]
    for dialog in agent.dialogs:
        for size in fitting(agent, dialog):
            actor = Actor(agent, size)
            actor.begin()
            actor.work()
            assert actor.state is State.WORKING, size
            actor.ask(dialog)
            actor.wait(0.75)
            assert actor.state is State.BLOCKED, (size, dialog)
            actor.type(b"\r")
            actor.work()
            assert actor.state is State.WORKING, size
            actor.rest()
            actor.wait(2.0)
            assert actor.state is State.IDLE, size
            states = [change.state for change in actor.changes]
            assert states == [State.IDLE, State.WORKING, State.BLOCKED, State.WORKING, State.IDLE], size


RESIZES = [(Size(30, 100), Size(20, 44)), (Size(24, 36), Size(50, 200)), (Size(20, 60), Size(60, 30))]


@pytest.mark.parametrize(("before", "after"), RESIZES)
def test_a_resize_in_a_turn(profile: str, before: Size, after: Size) -> None:
    actor = Actor(BY_NAME[profile], before)
    actor.begin()
    actor.work()
    actor.changes = []
    actor.resize(after)
    actor.wait(0.3)
    actor.work(3.0)
    assert (actor.state, actor.changes) == (State.WORKING, [])


@pytest.mark.parametrize(("before", "after"), RESIZES)
def test_a_resize_at_a_dialog(profile: str, before: Size, after: Size) -> None:
    actor = Actor(BY_NAME[profile], before)
    actor.begin()
    actor.work()
    actor.ask(actor.agent.dialogs[0])
    actor.wait(1.0)
    assert actor.state is State.BLOCKED
    actor.changes = []
    actor.resize(after)
    actor.wait(0.3)
    actor.ask(actor.agent.dialogs[0])
    actor.wait(5.0)
    assert (actor.state, actor.changes) == (State.BLOCKED, [])


@pytest.mark.parametrize(("before", "after"), RESIZES)
def test_a_resize_at_rest(profile: str, before: Size, after: Size) -> None:
    actor = Actor(BY_NAME[profile], before)
    actor.begin()
    actor.work()
    actor.rest()
    actor.wait(2.0)
    assert actor.state is State.IDLE
    actor.changes = []
    actor.resize(after)
    actor.wait(0.3)
    actor.rest()
    actor.wait(5.0)
    assert (actor.state, actor.changes) == (State.IDLE, [])
