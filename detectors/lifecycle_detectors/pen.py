r"""The pen: which attributes (SGR) the agent's next character would be drawn with.

Owns SGR's grammar (ECMA-48 8.3.117, with xterm's and kitty's additions) as far as one question goes: is the pen as a
terminal starts with, and if not, what makes it so again. Reads bytes and no tokens: a coloured stream is mostly SGR,
and only what follows its last reset counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

Attributes = dict[str, bytes]
"""What is not as at the start: the attribute, and the parameters that set it."""

MAX_CUT = 256
"""Bytes of a cut sequence that are kept for the next ones; no SGR that anyone writes is longer."""

NEAR = 4096
"""Bytes from the end in which a reset is looked for first: most programs write one in each line."""

_SGR = re.compile(rb"\x1b\[([0-9:;]*)m")
_TURN = re.compile(rb"\x1b(?:[78c]|\[(?:[su]|\?(?:47|104[789])[hl]))")
_SAVE = (b"\x1b7", b"\x1b[s", b"\x1b[?1048h")
_RESTORE = (b"\x1b8", b"\x1b[u", b"\x1b[?1048l")
_RESET = b"\x1bc"
_CUT = re.compile(rb"\x1b(?:\[[0-9:;?]*)?\Z")

_OFF = {
    22: ("bold", "faint"),
    23: ("italic",),
    24: ("underline",),
    25: ("blink",),
    27: ("inverse",),
    28: ("hidden",),
    29: ("strike",),
    10: ("font",),
    39: ("foreground",),
    49: ("background",),
    50: ("proportional",),
    54: ("frame",),
    55: ("overline",),
    59: ("underline-colour",),
    65: ("ideogram",),
    75: ("script",),
}
_ON = {
    1: "bold",
    2: "faint",
    3: "italic",
    4: "underline",
    5: "blink",
    6: "blink",
    7: "inverse",
    8: "hidden",
    9: "strike",
    20: "italic",
    21: "underline",
    26: "proportional",
    51: "frame",
    52: "frame",
    53: "overline",
    58: "underline-colour",
    73: "script",
    74: "script",
    **dict.fromkeys(range(11, 20), "font"),
    **dict.fromkeys([*range(30, 39), *range(90, 98)], "foreground"),
    **dict.fromkeys([*range(40, 49), *range(100, 108)], "background"),
    **dict.fromkeys(range(60, 65), "ideogram"),
}
_COLOURS = (38, 48, 58)
_COLOUR_LENGTH = {b"5": 3, b"2": 5}
"""How many parameters a colour takes when semicolons part them: `38;5;n`, `38;2;r;g;b`."""


class Pen:
    """Follows the pen on both screens.

    Terminals differ in what the screens share; the pen of either may be what the other goes on with, so a pen that is
    dirty on the alternate screen when that is left counts as dirty on the main one too.
    """

    def __init__(self) -> None:
        self._cut = b""
        self.reset()

    def reset(self) -> None:
        """The terminal has been reset (RIS)."""
        self._on_alternate = False
        self._current: Attributes = {}
        self._main: Attributes = {}
        self._saved: dict[bool, Attributes] = {}

    @property
    def attributes(self) -> Attributes:
        """What is not as at the start, on the screen that is shown."""
        return self._current

    @property
    def main_attributes(self) -> Attributes:
        """The same for the main screen, once the alternate one is left by DECRST 1049."""
        return self._main if self._on_alternate else self._current

    def feed(self, data: bytes, in_order: bool) -> None:
        """Read on.

        Args:
            data: the next bytes, cut anywhere.
            in_order: whether they hold anything that saves, restores or resets the pen, or switches the screen; then
                every sequence counts, else only those after the last reset.
        """
        data = self._cut + data
        cut = _CUT.search(data, max(0, len(data) - MAX_CUT))
        self._cut = cut.group() if cut else b""
        position = 0
        for turn in _TURN.finditer(data) if in_order else ():
            self._draw(data, position, turn.start())
            self._turn(turn.group())
            position = turn.end()
        self._draw(data, position, len(data))

    def _turn(self, sequence: bytes) -> None:
        if sequence in _SAVE:
            self._saved[self._on_alternate] = self._current.copy()
        elif sequence in _RESTORE:
            self._current = self._saved.get(self._on_alternate, {}).copy()
        elif sequence == _RESET:
            self.reset()
        else:
            self._switch(sequence[len(b"\x1b[?") : -1], on=sequence.endswith(b"h"))

    def _switch(self, mode: bytes, *, on: bool) -> None:
        if on and not self._on_alternate:
            self._main = self._current.copy()
            if mode == b"1049":  # in the place where DECSC saves it, for a later DECRC to find
                self._saved[False] = self._current.copy()
        elif not on and self._on_alternate:
            self._current = self._main if mode == b"1049" else self._main | self._current
        elif not on and mode == b"1049":  # left already; what was saved comes back all the same
            self._current = self._saved.get(False, {}) | self._current
        self._on_alternate = on

    def _draw(self, data: bytes, start: int, end: int) -> None:
        """Take what is drawn between two turns.

        For each attribute the last word counts, and of what is written twice the last time: read backwards, each kind
        of SGR counts once.
        """
        if data.find(b"\x1b", start, end) < 0:
            return
        start = max(start, last_pen_reset(data, start, end))
        last_words: Attributes = {}
        for parameters in dict.fromkeys(reversed(_SGR.findall(data, start, end))):
            for attribute, written in reversed(_changes(parameters)):
                if attribute is None:
                    self._current = {}
                    break
                last_words.setdefault(attribute, written)
            else:
                continue
            break
        for attribute, written in reversed(last_words.items()):
            self._current.pop(attribute, None)
            if written:
                self._current[attribute] = written


def last_pen_reset(data: bytes, start: int, end: int) -> int:
    """Where the last SGR in `data[start:end]` that resets all begins, or -1."""
    # Mostly near the end: a search through all for the form that a program does not use takes a millisecond a MB.
    for first in (max(start, end - NEAR), start):
        at = max(data.rfind(b"\x1b[m", first, end), data.rfind(b"\x1b[0m", first, end))
        if at >= 0:
            return at
    return -1


@lru_cache(maxsize=4096)
def _changes(parameters: bytes) -> tuple[tuple[str | None, bytes], ...]:
    """What one SGR changes: (attribute, what sets it or `b""`), with None for all attributes at once."""
    return tuple(_read(parameters.split(b";")))


def _read(parameters: list[bytes]) -> Iterator[tuple[str | None, bytes]]:
    while parameters:
        written = parameters.pop(0)
        head, _, style = written.partition(b":")
        number = int(head) if head and len(head) < 6 else 0
        if number in _COLOURS and not style:
            length = _COLOUR_LENGTH.get(parameters[0] if parameters else b"", 1)
            written = b";".join([written, *parameters[: length - 1]])
            del parameters[: length - 1]
        if number == 0:
            yield None, b""
        elif number in _OFF or (number == 4 and style == b"0"):
            for attribute in _OFF.get(number, ("underline",)):
                yield attribute, b""
        elif number in _ON:
            yield _ON[number], written
