r"""What the agent has set in the terminal, the bytes that undo it, and those that set it again.

Owns the list of a terminal's modes: which of an agent's sequences leave something behind when it is gone, and what
takes that back (DEC STD 070, xterm's ctlseqs, kitty's protocols; `modes_screen` and `modes_window` have their parts).
Follows tokens, knows no terminal by name and no time. What it undoes is what this agent changed, not what may be
configured otherwise: the terminal is to be as it was found. A soft reset (DECSTR) is not counted on, since not every
terminal has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from .controls import CAN, SI, SO, ST, SYNCHRONIZED_UPDATE
from .events import Size
from .modes_screen import Left, SavedCursor, ScreenModes
from .modes_window import WindowModes, osc_sequence
from .parser import Control, Csi, Escape, Osc, Parameters, Token
from .pen import Pen

ORIGIN = 6
AUTOWRAP = 7
CURSOR = 25
ALTERNATE = (47, 1047, 1049)
ALTERNATE_AND_CURSOR = 1049
SAVED_CURSOR = 1048
SIDE_MARGINS = 69

_ON_AT_START = frozenset({AUTOWRAP, CURSOR})
"""Private modes that are on in a terminal nobody has changed; the others are off."""
_VARYING = frozenset({8, 1007, 1034, 1035, 1036, 1039, 1042, 2027})
"""Those that terminals differ in (auto-repeat, alternate scroll, the Meta modes, urgency, grapheme clusters): undone
only where the caller knows how the terminal starts."""
_INTERACTIVE = frozenset({9, 1000, 1001, 1002, 1003, 2004})
"""Modes that a user interface puts away before all others (mouse, bracketed paste): left on, they say that it was cut
short and its rows are still there."""
_ANSI = frozenset({2, 4, 20})
"""ANSI modes (keyboard lock, insert, new line) that are off at the start."""

_BELOW_ALL = b"\x1b[999B\r\n"
"""Brings the cursor to a new line at the bottom, wherever it was."""
_ABORT = bytes((CAN,)) + ST + osc_sequence(b"8;;")
"""Ends a sequence that was cut. CAN is ignored by some inside a string, and a string cut by an ESC counts as whole for
some: of those, a hyperlink would go on."""


class Place(NamedTuple):
    """Where the cursor stands on the main screen.

    Attributes:
        column: its column, from 0.
        row_is_empty: nothing is in its row.
        rows_below: rows from there down to the last one with text; 0 when there is none below.
    """

    column: int
    row_is_empty: bool
    rows_below: int


class Start(NamedTuple):
    """How a terminal starts, where terminals differ.

    Attributes:
        modes: private modes that are on or off at the start; a mode of `_VARYING` that is missing is left as it is.
        pointer: the pointer's shape.
    """

    modes: Mapping[int, bool] = {}
    pointer: bytes = b"default"


USUAL_START = Start()


class Modes:
    """Follows one agent's modes.

    Args:
        size: the terminal's.

    Attributes:
        size: to be kept up to date.
        resets: counts the full resets (RIS), which take away what others have set too.
    """

    def __init__(self, size: Size) -> None:
        self.size = size
        self.resets = 0
        self._pen = Pen()
        self._window = WindowModes()
        self._reset()

    def _reset(self) -> None:
        self._private: dict[int, bool] = {}
        self._saved_private: dict[int, bool] = {}
        self._ansi: set[int] = set()
        self._keypad = False
        self._keys: dict[tuple[bytes, int], int] = {}
        self._side_margins = b""
        self._hyperlink = b""
        self._alternate = 0
        self._main = ScreenModes()
        self._other = ScreenModes()

    @property
    def on_alternate(self) -> bool:
        """The alternate screen is shown."""
        return bool(self._alternate)

    @property
    def standing_title(self) -> bytes:
        """The title that stands when all is undone; empty where it was cleared or comes back from the stack."""
        return self._window.standing_title

    def is_set(self, mode: int) -> bool:
        """Whether the agent has a private mode (DECSET) on."""
        return self._private.get(mode, mode in _ON_AT_START)

    def feed(self, data: bytes, tokens: Iterable[Token]) -> None:
        """Read on.

        Args:
            data: bytes of the agent.
            tokens: what the parser has made of them.
        """
        moves_pen = False
        for token in tokens:
            if isinstance(token, Csi):
                moves_pen |= self._csi(token)
            elif isinstance(token, Osc):
                self._osc(token)
            elif isinstance(token, Escape):
                moves_pen |= self._escape(token)
            elif isinstance(token, Control) and token.code in (SO, SI):
                self._screen.shift = b"\x0e" if token.code == SO else b""
        self._pen.feed(data, moves_pen)

    def undo(
        self,
        *,
        at_ground: bool = True,
        in_update: bool = False,
        place: Callable[[], Place | None] | None = None,
        start: Start = USUAL_START,
        without: Collection[str] = (),
    ) -> bytes:
        """Give the bytes that undo what is left; none where nothing is.

        Args:
            at_ground: the agent's last sequence is whole.
            in_update: a synchronized update (DECSET 2026) has begun; it is not begun again by `redo`.
            place: asked, where it matters, for where the cursor stands on the main screen; None where nobody knows.
            start: how the terminal starts.
            without: what somebody else undoes: `title`, `progress`.
        """
        left = list(self._left(start, without))
        undone = [item.undo for item in left]
        if in_update:
            undone.insert(0, _private(SYNCHRONIZED_UPDATE, False))
        if not at_ground:
            undone.insert(0, _ABORT)
        was_cut_short = in_update or not at_ground or any(item.interactive for item in left)
        if was_cut_short and not self._alternate:
            undone.append(_fresh_line(None if self.is_set(ORIGIN) or place is None else place()))
        return b"".join(undone)

    def redo(self, *, start: Start = USUAL_START, without: Collection[str] = ()) -> bytes:
        """Give the bytes that set again what `undo` with the same arguments has undone."""
        return b"".join(item.redo for item in reversed(list(self._left(start, without))))

    # What is left, in the order in which it is undone: what the user's keys do, then the alternate screen, then the
    # main one, the cursor last.

    def _left(self, start: Start, without: Collection[str]) -> Iterator[Left]:
        yield from self._left_keys()
        yield from self._left_private(start.modes)
        if self._alternate:
            yield from self._left_alternate()
        elif self._other.keyboard != [0]:
            show, hide = (_private(ALTERNATE[0], on) for on in (True, False))
            pop, push = self._other.left_keyboard()
            yield Left(show + pop + hide, show + push + hide)
        yield from self._left_main()
        yield from self._window.left(start.pointer, without)
        if not self.is_set(CURSOR):
            yield Left(_private(CURSOR, True), _private(CURSOR, False), interactive=True)

    def _left_keys(self) -> Iterator[Left]:
        for (final, resource), value in self._keys.items():
            yield Left(b"\x1b[>%d%s" % (resource, final), b"\x1b[>%d;%d%s" % (resource, value, final), interactive=True)
        if self._keypad:
            yield Left(b"\x1b>", b"\x1b=")
        for mode in self._ansi:
            yield Left(b"\x1b[%dl" % mode, b"\x1b[%dh" % mode)

    def _left_private(self, known: Mapping[int, bool]) -> Iterator[Left]:
        for mode, is_on in self._private.items():
            if mode in (SYNCHRONIZED_UPDATE, ORIGIN, SIDE_MARGINS, CURSOR):
                continue
            was_on = known.get(mode, is_on if mode in _VARYING else mode in _ON_AT_START)
            if is_on != was_on:
                yield Left(_private(mode, was_on), _private(mode, is_on), is_on and mode in _INTERACTIVE)

    def _left_alternate(self) -> Iterator[Left]:
        yield from self._left_margins_across()
        yield from self._other.left(self._pen.attributes, keep_cursor=False)
        leave, enter = _private(self._alternate, False), _private(self._alternate, True)
        if self._alternate != ALTERNATE_AND_CURSOR and self._main.saved:
            yield Left(leave + b"\x1b8", b"\x1b7" + enter)
        else:
            yield Left(leave, enter)

    def _left_main(self) -> Iterator[Left]:
        main, other = self._main, self._other
        if self._alternate:
            # Where the screens share these, what was set on either stands here now.
            pen = self._pen.main_attributes
            yield from main.left(pen, keep_cursor=True)
            if self._pen.attributes and not pen:
                yield Left(b"\x1b[m")
            if (other.charsets or other.shift) and not (main.charsets or main.shift):
                yield Left(other.left_charsets()[0])
            if self._alternate == ALTERNATE_AND_CURSOR and main.saved and main.saved.origin:
                yield Left(_private(ORIGIN, False) + _BELOW_ALL)
        else:
            yield from self._left_margins_across()
            yield from main.left(self._pen.attributes, keep_cursor=not self.is_set(ORIGIN))
        if self._hyperlink:
            yield Left(osc_sequence(b"8;;"), osc_sequence(self._hyperlink))

    def _left_margins_across(self) -> Iterator[Left]:
        if self.is_set(ORIGIN):  # moves the cursor home; saving and restoring that would bring the mode back
            yield Left(_private(ORIGIN, False), _private(ORIGIN, True))
        if self.is_set(SIDE_MARGINS):
            again = b"\x1b7\x1b[%ss\x1b8" % self._side_margins if self._side_margins else b""
            yield Left(_private(SIDE_MARGINS, False), _private(SIDE_MARGINS, True) + again)

    # Following.

    @property
    def _screen(self) -> ScreenModes:
        return self._other if self._alternate else self._main

    def _csi(self, csi: Csi) -> bool:
        """Take a control sequence; returns whether it may change the pen."""
        if csi.private == "?" and csi.final in "hl" and not csi.intermediates:
            on = csi.final == "h"
            return self._set_private({parameter[0]: on for parameter in csi.params if parameter[0]})
        numbers = [parameter[0] for parameter in csi.params]
        first, second = ((number or 0) for number in (*numbers, 0, 0)[:2])
        screen = self._screen
        match csi.private + csi.intermediates + csi.final:
            case "?s":
                self._saved_private.update({mode: self.is_set(mode) for mode in numbers if mode})
            case "?r":
                saved = self._saved_private
                return self._set_private({mode: saved[mode] for mode in numbers if mode in saved})
            case "h":
                self._ansi |= _ANSI.intersection(numbers)
            case "l":
                self._ansi.difference_update(numbers)
            case ">u":
                screen.push_keyboard(first)
            case "<u":
                screen.pop_keyboard(first)
            case "=u":
                screen.change_keyboard(first, second)
            case ">m" | ">f":
                self._set_keys(csi.final.encode(), numbers)
            case "r":
                whole = first in (0, 1) and (not second or second >= self.size.rows)
                screen.margins = b"" if whole else _written(csi.params)
            case "s" if self.is_set(SIDE_MARGINS):
                self._side_margins = _written(csi.params)
            case "s":
                return self._save()
            case "u":
                return self._restore()
            case " q":
                screen.cursor_style = first
            case '"q':
                screen.protected = first == 1
            case "t":
                self._window.title_stack(first, second)
        return False

    def _escape(self, escape: Escape) -> bool:
        """Take an escape sequence; returns whether it may change the pen."""
        if self._screen.designate(escape.intermediates, escape.final):
            return False
        match escape.intermediates + escape.final:
            case "7":
                return self._save()
            case "8":
                return self._restore()
            case "=" | ">":
                self._keypad = escape.final == "="
            case "n" | "o":
                self._screen.shift = b"\x1b" + escape.final.encode()
            case "c":
                self._reset()
                self.resets += 1
                return True
        return False

    def _osc(self, osc: Osc) -> None:
        if osc.data.startswith(b"8;"):
            self._hyperlink = osc.data if osc.data[2:].partition(b";")[2] else b""
        else:
            self._window.take(osc)

    def _set_private(self, modes: Mapping[int, bool]) -> bool:
        moves_pen = False
        for mode, on in modes.items():
            if mode in ALTERNATE:
                self._switch(mode, on)
                moves_pen = True
            elif mode == SAVED_CURSOR:
                moves_pen = self._save() if on else self._restore()
            else:
                self._private[mode] = on
        return moves_pen

    def _switch(self, mode: int, on: bool) -> None:
        if on and not self._alternate:
            if mode == ALTERNATE_AND_CURSOR:
                self._save()
            self._alternate = mode
            self._other = ScreenModes(keyboard=self._other.keyboard)
        elif not on and self._alternate:
            self._alternate = 0
            self._main.margins = self._main.margins or self._other.margins
            self._main.cursor_style = self._main.cursor_style or self._other.cursor_style
            if mode == ALTERNATE_AND_CURSOR:
                self._restore()
            elif self._other.charsets or self._other.shift:
                self._main.charsets, self._main.shift = dict(self._other.charsets), self._other.shift

    def _save(self) -> bool:
        screen = self._screen
        screen.saved = SavedCursor(dict(screen.charsets), screen.shift, self.is_set(ORIGIN))
        return True

    def _restore(self) -> bool:
        screen = self._screen
        saved = screen.saved or SavedCursor()
        screen.charsets, screen.shift = dict(saved.charsets), saved.shift
        self._private[ORIGIN] = saved.origin
        return True

    def _set_keys(self, final: bytes, numbers: list[int | None]) -> None:
        """Options and formats of modified keys (XTMODKEYS, XTFMTKEYS); without a value the terminal's own again."""
        if not numbers:
            self._keys = {key: value for key, value in self._keys.items() if key[0] != final}
            return
        resource, value = (*numbers, None)[:2]
        if value:
            self._keys[final, resource or 0] = value
        else:
            self._keys.pop((final, resource or 0), None)


def _fresh_line(place: Place | None) -> bytes:
    """Bring the cursor to an empty line below everything."""
    if place is None:
        return _BELOW_ALL
    down = b"\x1b[%dB" % place.rows_below if place.rows_below else b""
    if down or not place.row_is_empty:
        return down + b"\r\n"
    return b"\r" if place.column else b""


def _private(mode: int, on: bool) -> bytes:
    return b"\x1b[?%d%s" % (mode, b"h" if on else b"l")


def _written(params: Parameters) -> bytes:
    return b";".join(b"" if parameter[0] is None else b"%d" % parameter[0] for parameter in params)
