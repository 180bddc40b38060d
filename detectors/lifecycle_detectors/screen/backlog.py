"""Output that the screen model has not been fed yet.

Owns the order of output and resizes, the bound on what waits, and when output is left out. The model is fed in slices
after the bytes were forwarded, so it never delays them; where it falls behind, it skips what cannot be seen any more
(`flow.py` says why), and where that does not help, it is `lost` until a place from which the screen is known
again.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle_detectors.events import Size

from . import HISTORY_ROWS, Screen
from .flow import flow_cut, flow_end, last_clear, last_reset, returns, settings, state

BEHIND = 256 * 1024
"""Bytes that may wait before skipping is tried: pyte needs 50 to 100 ms for them."""
MOST = 4 * 1024 * 1024
"""Bytes that may wait at all; pyte needs about a second for them. With more the screen is given up."""
WORTH = 32 * 1024
"""Bytes that are not worth the trouble of skipping."""
TRY_EACH = 64 * 1024
"""Bytes after which skipping is tried again: looking costs about a millisecond for each megabyte that waits."""
_LONGEST_RETURN = len(b"\x1b[?1049l")
_CAN = b"\x18"
"""Ends whatever sequence the model's parser stands in, and does nothing in ground."""
_FORGET_HISTORY = b"\x1b[3J"

_Piece = bytearray | Size
ScreenFactory = Callable[[Size], Screen | None]
"""Makes a screen model; None while its library is still being loaded: then it is asked again."""


class ScreenBacklog:
    """Feeds a screen piece by piece.

    Args:
        make: makes the model, which is fed by nothing else.
        size: the terminal's size at first.
    """

    def __init__(self, make: ScreenFactory, size: Size) -> None:
        self._make = make
        self._size = size
        self._screen = make(size)
        self._waiting: list[_Piece] = []
        """Output and resizes in turn: never two of a kind in a row."""
        self._untried = 0
        """Bytes that came or were fed since skipping was tried: with few of them it need not be tried again."""
        self._lost = False
        self._doubtful = False
        """The screen that is shown is right, but neither the other one nor the saved cursor need be."""
        self._tail = b""
        """The end of what was looked at last: a sequence may have been cut there."""
        self._drawing = 0
        """So many bytes at the end of what came only draw."""

    @property
    def screen(self) -> Screen | None:
        """The model; None while there is none yet."""
        if self._screen is None:
            self._screen = self._make(self._size)
        return self._screen

    @property
    def pending(self) -> int:
        """How many bytes wait, and one for each resize."""
        return sum(1 if isinstance(piece, Size) else len(piece) for piece in self._waiting)

    @property
    def lost(self) -> bool:
        """Output had to be left out, so that the model does not show what the terminal shows."""
        return self._lost

    @property
    def _flows(self) -> bool:
        """Text would flow on the screen as it was fed so far; where there is none yet, it was fed nothing."""
        return self.screen is None or self.screen.flows

    @property
    def _rows(self) -> int:
        return (self.screen.size if self.screen else self._size).rows

    def push(self, data: bytes, *, only_draws: bool = False) -> None:
        """Take output, to be fed later.

        Args:
            data: the next bytes.
            only_draws: they are text and sequences that draw, outside strings: nothing that sets a mode or a margin.
        """
        if not data:
            return
        self._drawing = self._drawing + len(data) if only_draws else 0
        if self._lost:
            data, self._tail = self._tail + data, b""
        elif self._doubtful:
            seen = self._tail + data
            self._lost = returns(seen)
            self._tail = b"" if self._lost else seen[-_LONGEST_RETURN:]
        self._append(data)
        self._untried += len(data)
        pending = self.pending
        if self._lost and pending > TRY_EACH:
            self._drop()
        elif pending > MOST:
            self._skip()
            if self.pending > MOST:
                self._give_up()
        elif self._drawing > BEHIND and self._untried > TRY_EACH:
            self._skip_drawing()

    def resize(self, size: Size) -> None:
        """Take a change of the size, which counts for the output after it."""
        if self._waiting and isinstance(self._waiting[-1], Size):
            self._waiting.pop()
        self._waiting.append(size)

    def work(self, limit: int) -> bool:
        """Feed about `limit` bytes; returns whether more is waiting."""
        screen = self.screen
        if screen is None:
            return True
        if self._lost:
            self._drop()
        elif self._untried > TRY_EACH and self.pending > BEHIND:
            self._skip()
        while self._waiting and limit > 0:
            first = self._waiting[0]
            if isinstance(first, Size):
                screen.resize(first)
                del self._waiting[0]
                continue
            data = bytes(first[:limit])
            del first[:limit]
            if not first:
                del self._waiting[0]
            screen.feed(data)
            self._untried += len(data)
            limit -= len(data)
        return bool(self._waiting)

    def _append(self, data: bytes | bytearray) -> None:
        if self._waiting and isinstance(self._waiting[-1], bytearray):
            self._waiting[-1] += data
        else:
            self._waiting.append(bytearray(data))

    def _skip(self) -> None:
        """Leave out what cannot be seen once all that waits was fed."""
        self._untried = 0
        if self._begin_at_reset() or self._skip_drawing():
            return
        first = self._waiting[0]
        if isinstance(first, Size) or not self._flows:
            return
        cut, forget = _cut(first, flow_end(first), self._rows)
        if cut >= WORTH:
            first[:cut] = settings(first[:cut]) + forget + b"\r"

    def _skip_drawing(self) -> bool:
        """Leave out what only draws, before the lines that push it out of the screen: only those need be a flow.

        Returns:
            Whether there was enough of it.
        """
        self._untried = 0
        piece = self._waiting[0]
        if isinstance(piece, Size) or len(self._waiting) > 1 or len(piece) > self._drawing or not self._flows:
            return False
        cut, forget = _cut(piece, len(piece), self._rows)
        if cut < WORTH or flow_end(piece[cut:]) < len(piece) - cut:
            return False
        piece[:cut] = _CAN + settings(piece[:cut]) + forget + b"\r"
        self._drawing = len(piece)
        return True

    def _give_up(self) -> None:
        self._lost = True
        self._tail = b""
        if self._screen is not None:
            self._screen.feed(_CAN)
        self._drop()

    def _drop(self) -> None:
        """While lost: the model gets only the modes that are set, and all from where the screen is known again."""
        if self._begin_at_reset():
            self._lost = self._doubtful = False
            return
        self._drawing = 0  # what waits may begin with the modes that are kept here
        waiting, self._waiting = self._waiting, []
        known_from = _last_known(waiting)
        for number, piece in enumerate(waiting):
            if isinstance(piece, Size):
                self._resize_now(piece)
            elif known_from is None or number < known_from[0]:
                kept, unfinished = state(piece)
                self._tail = unfinished or self._tail
                self._feed_now(kept)
            elif number == known_from[0]:
                place = known_from[1]
                self._feed_now(state(piece[:place])[0])
                self._append(_CAN + piece[place:])
            else:
                self._append(piece)
        if known_from:
            self._lost, self._doubtful, self._tail = False, True, b""

    def _feed_now(self, data: bytes) -> None:
        """Feed the model, unless something waits already, or there is no model yet."""
        if self._waiting or self.screen is None:
            self._append(data)
        else:
            self.screen.feed(data)

    def _resize_now(self, size: Size) -> None:
        if self._waiting or self.screen is None:
            self.resize(size)
        else:
            self.screen.resize(size)

    def _begin_at_reset(self) -> bool:
        """Forget all before the last full reset; returns whether there is one."""
        for number in reversed(range(len(self._waiting))):
            piece = self._waiting[number]
            place = -1 if isinstance(piece, Size) else last_reset(piece)
            if isinstance(piece, bytearray) and place >= 0:
                piece[:place] = _CAN
                sizes = [size for size in self._waiting[:number] if isinstance(size, Size)]
                self._waiting[:number] = sizes[-1:]
                return True
        return False


def _cut(piece: bytearray, end: int, rows: int) -> tuple[int, bytes]:
    """Where what waits may begin as well, if its end is a flow up to `end`, and what is to be said of the history."""
    # The screen's height once for the cursor to come to the bottom, wherever it starts, once for fresh rows only.
    cut = flow_cut(piece, end, 2 * rows + HISTORY_ROWS)
    return (cut, b"") if cut >= WORTH else (flow_cut(piece, end, 2 * rows), _FORGET_HISTORY)


def _last_known(waiting: list[_Piece]) -> tuple[int, int] | None:
    """Which piece clears the screen, and where in it, with no return to something older after that."""
    for number in reversed(range(len(waiting))):
        piece = waiting[number]
        if isinstance(piece, Size):
            continue
        place = last_clear(piece)
        if returns(piece[max(place, 0) :]):
            return None
        if place >= 0:
            return number, place
    return None
