"""Dialogs, work and rest keep their states on screens of 30 to 300 columns and 8 to 60 rows, and through a resize."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

import pytest

from lifecycle_detectors import Catalog, Session, Size, State, make_screen
from tests.support.scenes import AGENTS, Agent
from tests.support.stage import Stage

WIDTHS = (30, 36, 44, 60, 100, 200, 300)
HEIGHTS = (8, 12, 20, 30, 60)
FRAME = 0.1
CHOICE = re.compile(r"[\s│┃]*(?:[❯›●→] ?(?:\d\.|○|Yes|Approve)|△|1\. Alpha|Cline needs)")
"""From this row on a dialog has to be on the screen."""
SIZES = [Size(rows=height, columns=width) for width, height in product(WIDTHS, HEIGHTS)]
BY_NAME = {agent.profile: agent for agent in AGENTS}

pytestmark = pytest.mark.parametrize("profile", BY_NAME)


class Actor(Stage):
    """An agent that draws its scenes at the terminal's size, on the alternate screen."""

    def __init__(self, agent: Agent, size: Size) -> None:
        session = Session(Catalog().get(agent.profile), size, 0.0, screen=make_screen)
        super().__init__(session, 0.0, size)
        self.agent = agent
        self.draw(b"\x1b[?1049h\x1b[?25l")

    def show(self, rows: Sequence[str]) -> None:
        """Draw rows at the bottom; what has no room is cut off above."""
        shown = [*[""] * self.size.rows, *rows][-self.size.rows :]
        drawn = "".join(f"\x1b[{number};1H\x1b[2K{row}" for number, row in enumerate(shown, 1))
        self.draw(f"\x1b[?2026h{drawn}\x1b[?2026l".encode())

    def rest(self) -> None:
        self.show(self.agent.at_rest(self.size.columns))

    def work(self, seconds: float = 1.5) -> None:
        for frame in range(int(seconds / FRAME)):
            self.show(self.agent.at_work(self.size.columns, frame))
            self.wait(FRAME)

    def ask(self, dialog: Sequence[str]) -> None:
        self.show(self.agent.asking(self.size.columns, dialog))

    def begin(self) -> None:
        """Come to rest, then take a task."""
        self.rest()
        self.wait(3.0)
        assert self.state is State.IDLE
        self.type(b"task")
        self.wait(0.5)
        self.type(b"\r")

    def resize(self, size: Size) -> None:
        self.session.resize(size, self.now)
        self.size = size


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
