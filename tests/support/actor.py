"""An agent that a test plays: it draws its scenes and says what its signals say."""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle_detectors import Catalog, Session, Size, State, make_screen
from tests.support.scenes import AGENTS, Agent
from tests.support.stage import Stage

FRAME = 0.1
"""Seconds between two frames of a spinner."""
USUAL = Size(30, 100)
BY_NAME = {agent.profile: agent for agent in AGENTS}


class Actor(Stage):
    """An agent that draws at the terminal's size, on the alternate screen.

    Args:
        agent: which.
        size: the terminal's.
    """

    def __init__(self, agent: Agent, size: Size = USUAL) -> None:
        session = Session(Catalog().get(agent.profile), size, 0.0, screen=make_screen)
        super().__init__(session, 0.0, size)
        self.agent = agent
        self.draw(b"\x1b[?1049h\x1b[?25l")

    @property
    def states(self) -> list[State]:
        """The states that were told, a change of the message alone left out."""
        told: list[State] = []
        for change in self.changes:
            if not told or told[-1] is not change.state:
                told.append(change.state)
        return told

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

    def turn(self) -> None:
        """Come to rest, then be in the middle of a turn."""
        self.begin()
        self.work()
        assert self.state is State.WORKING
        self.changes = []

    def title(self, text: str) -> None:
        self.draw(f"\x1b]0;{text}\x07".encode())

    def progress(self, code: str) -> None:
        self.draw(f"\x1b]9;4;{code}\x1b\\".encode())

    def status(self, report: str) -> None:
        """Report by OSC 7501."""
        self.draw(f"\x1b]7501;{report}\x1b\\".encode())

    def resize(self, size: Size) -> None:
        self.session.resize(size, self.now)
        self.size = size


def act(name: str, size: Size = USUAL) -> Actor:
    """Return an actor for the agent of that name."""
    return Actor(BY_NAME[name], size)
