"""Output that the screen model has not been fed yet.

Owns the order of output and resizes, the bound on what waits, and when output is left out. The model is fed in slices
after the bytes were forwarded, so it never delays them; where it falls behind, it skips what cannot be seen any more
(`screen_flow.py` says why), and where that does not help, it is `lost` until a place from which the screen is known
again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from .events import Size
from .screen import HISTORY_ROWS, Screen
from .screen_flow import flow_cut, flow_end, last_clear, last_reset, returns, settings, state

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

_Pieces = list[bytes | Size]


class ScreenBacklog:
    """Feeds a screen piece by piece.

    Args:
        screen: the model; from now on it is fed by nothing else.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._waiting: deque[bytes | Size] = deque()
        self._pending = 0
        self._untried = 0
        """Bytes that came or were fed since skipping was tried: with few of them it need not be tried again."""
        self._lost = False
        self._doubtful = False
        """The screen that is shown is right, but neither the other one nor the saved cursor need be."""
        self._tail = b""
        """The end of what was looked at last: a sequence may have been cut there."""

    @property
    def pending(self) -> int:
        """How many bytes wait, and one for each resize."""
        return self._pending

    @property
    def lost(self) -> bool:
        """Output had to be left out, so that the model does not show what the terminal shows."""
        return self._lost

    def push(self, data: bytes) -> None:
        """Take output, to be fed later."""
        if not data:
            return
        if self._lost:
            data, self._tail = self._tail + data, b""
        elif self._doubtful:
            seen = self._tail + data
            self._lost = returns(seen)
            self._tail = b"" if self._lost else seen[-_LONGEST_RETURN:]
        self._waiting.append(data)
        self._pending += len(data)
        self._untried += len(data)
        if self._lost and self._pending > BEHIND:
            self._drop()
        elif self._pending > MOST:
            self._skip()
            if self._pending > MOST:
                self._give_up()

    def resize(self, size: Size) -> None:
        """Take a change of the size, which counts for the output after it."""
        if self._waiting and isinstance(self._waiting[-1], Size):
            self._waiting.pop()
            self._pending -= 1
        self._waiting.append(size)
        self._pending += 1

    def work(self, limit: int) -> bool:
        """Feed about `limit` bytes; returns whether more is waiting."""
        if self._lost:
            self._drop()
        elif self._pending > BEHIND and self._untried > TRY_EACH:
            self._skip()
        while self._waiting and limit > 0:
            first = self._waiting.popleft()
            if isinstance(first, Size):
                self._screen.resize(first)
                self._pending -= 1
                continue
            if len(first) > limit:
                self._waiting.appendleft(first[limit:])
                first = first[:limit]
            self._screen.feed(first)
            self._pending -= len(first)
            self._untried += len(first)
            limit -= len(first)
        return bool(self._waiting)

    def _skip(self) -> None:
        """Leave out what cannot be seen once all that waits was fed."""
        self._untried = 0
        pieces = self._pieces()
        if self._resume(pieces, last_reset, None):
            return
        first = pieces[0]
        if isinstance(first, Size) or not self._screen.flows:
            self._keep(pieces)
            return
        end = flow_end(first)
        rows = self._screen.size.rows
        # The screen's height once for the cursor to come to the bottom, wherever it starts, once for fresh rows only.
        cut, forget = flow_cut(first, end, 2 * rows + HISTORY_ROWS), b""
        if cut < WORTH:
            cut, forget = flow_cut(first, end, 2 * rows), _FORGET_HISTORY
        if cut >= WORTH:
            pieces[0] = settings(first[:cut]) + forget + b"\r" + first[cut:]
        self._keep(pieces)

    def _give_up(self) -> None:
        self._lost = True
        self._tail = b""
        self._screen.feed(_CAN)
        self._drop()

    def _drop(self) -> None:
        """While lost: keep of what waits only the modes it sets, and begin anew where the screen is known again."""
        pieces = self._pieces()
        if self._resume(pieces, last_reset, None):
            self._lost = self._doubtful = False
            return
        states: _Pieces = []
        for piece in pieces:
            if isinstance(piece, Size):
                states.append(piece)
            else:
                kept, unfinished = state(piece)
                self._tail = unfinished or self._tail
                states.append(kept)
        if self._resume(pieces, last_clear, states):
            self._lost, self._doubtful = False, True
            self._tail = b""
            return
        self._keep(states)

    def _resume(self, pieces: _Pieces, find: Callable[[bytes], int], before: _Pieces | None) -> bool:
        """Begin anew at the last place that `find` knows.

        Args:
            pieces: all that waits.
            find: gives a place in a piece, or -1.
            before: what to feed in the place of each piece before, or None for the last size only.

        Returns:
            Whether there is such a place.
        """
        for number in reversed(range(len(pieces))):
            piece = pieces[number]
            place = -1 if isinstance(piece, Size) else find(piece)
            if isinstance(piece, Size) or place < 0:
                if before is not None and isinstance(piece, bytes) and returns(piece):
                    return False
                continue
            if before is not None and returns(piece[place:]):
                return False
            if before is None:
                kept = list[bytes | Size](size for size in pieces[:number] if isinstance(size, Size))[-1:]
            else:
                kept = [*before[:number], state(piece[:place])[0]]
            self._keep([*kept, _CAN + piece[place:], *pieces[number + 1 :]])
            return True
        return False

    def _pieces(self) -> _Pieces:
        """All that waits, with the bytes between two resizes as one."""
        pieces: _Pieces = []
        run: list[bytes] = []
        for item in [*self._waiting, None]:
            if isinstance(item, bytes):
                run.append(item)
                continue
            if run:
                pieces.append(b"".join(run))
                run = []
            if item is not None:
                pieces.append(item)
        return pieces

    def _keep(self, pieces: Iterable[bytes | Size]) -> None:
        self._waiting = deque(piece for piece in pieces if piece)
        self._pending = sum(1 if isinstance(piece, Size) else len(piece) for piece in self._waiting)
