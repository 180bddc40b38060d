"""The agent's output, read once: its tokens for whoever asks what they mean, and the modes it leaves behind.

Owns that parser and modes keep step. The modes must stay exact even where the rest of the observation has failed, so
that somebody else can read on from the byte where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .events import Size
from .modes import USUAL_START, Modes, Place, Start
from .parser import Parser, Token


class OutputStream:
    """One agent's output.

    Args:
        size: the terminal's size.
        follow_modes: False where nobody asks what the agent leaves behind: following takes half of the reading's time.

    Attributes:
        modes: what the agent has set.
        position: how many bytes were read.
        only_drew: the bytes that were read last are text and sequences that draw, outside strings.
    """

    def __init__(self, size: Size, *, follow_modes: bool = True) -> None:
        self.modes = Modes(size)
        self._follow_modes = follow_modes
        self.position = 0
        self.only_drew = True
        self._parser = Parser(text=False)

    @property
    def at_ground(self) -> bool:
        """The output stands between whole sequences and whole characters."""
        return self._parser.at_ground

    @property
    def in_synchronized_update(self) -> bool:
        """DECSET 2026 is on."""
        return self._parser.in_synchronized_update

    def feed(self, data: bytes) -> list[Token]:
        """Read on; returns the tokens that the bytes complete, without those that only draw."""
        began_in_string = self._parser.in_string
        tokens = self._parser.feed(data)
        self.only_drew = not (tokens or began_in_string or self._parser.in_string)
        self.position += len(data)
        if self._follow_modes:
            self.modes.feed(data, tokens)
        return tokens

    def undo(
        self, place: Callable[[], Place | None] | None, start: Start = USUAL_START, without: Collection[str] = ()
    ) -> bytes:
        """Give the bytes that undo what the agent has left; the arguments are those of `Modes.undo`."""
        return self.modes.undo(
            at_ground=self.at_ground,
            in_update=self.in_synchronized_update,
            place=place,
            start=start,
            without=without,
        )
