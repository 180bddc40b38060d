r"""What an agent has set in the window around the cells: title stack, colours, pointer shape, progress.

Owns those parts of `modes.Modes` (xterm's ctlseqs for OSC 4 to 119 and the title stack, kitty's pointer-shape and
colour protocols for OSC 22 and 21, ConEmu's OSC 9;4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .controls import ST, ProgressState
from .modes_screen import MAX_LEVELS, Left
from .osc import OscReader, Progress
from .parser import Osc

MAX_COLOURS = 1024
"""Colours that are remembered: the palette's 256 and the named ones of kitty's protocol many times over."""
PUSH_TITLE, POP_TITLE = 22, 23

_PALETTES = {b"4": b"104", b"5": b"105"}
_KITTY_COLOURS = b"21"


class WindowModes:
    """Follows what is set in the window; a full reset (RIS) takes none of it away in every terminal.

    Attributes:
        title: the last title that is not empty, as written.
    """

    def __init__(self) -> None:
        self.title = b""
        self._shown_title = b""
        self._osc = OscReader()
        self._titles: list[int] = []
        self._colours: dict[tuple[bytes, bytes], bytes] = {}
        self._pointer = b""
        self._pointers: list[bytes] = []
        self._progress = b""

    @property
    def standing_title(self) -> bytes:
        """As in `Modes`."""
        return b"" if self._titles else self._shown_title

    def title_stack(self, operation: int, which: int) -> None:
        """Take `CSI operation ; which t`."""
        if operation == PUSH_TITLE and len(self._titles) < MAX_LEVELS:
            self._titles.append(which)
        elif operation == POP_TITLE:
            del self._titles[-1:]

    def take(self, osc: Osc) -> None:
        """Take an OSC sequence."""
        number, _, payload = osc.data.partition(b";")
        if number in (b"0", b"2"):
            self._shown_title = payload
            self.title = payload or self.title
        elif number == b"9":
            signal = self._osc.read(osc)
            if isinstance(signal, Progress):
                self._progress = b"" if signal.state is ProgressState.NONE else osc.data
        elif number == b"22":
            self._point(payload)
        elif number.isdigit() and len(number) <= 3:
            self._colour(number, payload)

    def left(self, pointer: bytes, without: Collection[str]) -> Iterator[Left]:
        """Tell what is left.

        Args:
            pointer: the shape that the pointer has at the start.
            without: `title`, `progress`: what is left out.
        """
        for code, reset in _PALETTES.items():
            changed = {which: to for (of, which), to in self._colours.items() if of == code}
            if changed:
                redo = b";".join(b"%s;%s" % item for item in changed.items())
                yield Left(osc_sequence(reset + b";" + b";".join(changed)), osc_sequence(code + b";" + redo))
        for (code, which), to in self._colours.items():
            if code == _KITTY_COLOURS:
                yield Left(osc_sequence(b"21;%s=" % which), osc_sequence(b"21;%s=%s" % (which, to)))
            elif code not in _PALETTES:
                yield Left(osc_sequence(b"1" + code), osc_sequence(b"%s;%s" % (code, to)))
        if self._pointers:
            pushes = b"".join(osc_sequence(b"22;>" + shape) for shape in self._pointers)
            yield Left(osc_sequence(b"22;<") * len(self._pointers), pushes)
        if self._pointer:
            yield Left(osc_sequence(b"22;" + pointer), osc_sequence(b"22;" + self._pointer))
        if self._progress and "progress" not in without:
            yield Left(osc_sequence(b"9;4;0;0"), osc_sequence(self._progress))
        if self._titles and "title" not in without:
            undo = b"".join(b"\x1b[%d;%dt" % (POP_TITLE, which) for which in reversed(self._titles))
            redo = b"".join(b"\x1b[%d;%dt" % (PUSH_TITLE, which) for which in self._titles)
            yield Left(undo, redo + (osc_sequence(b"2;" + self.title) if self.title else b""))

    def _point(self, payload: bytes) -> None:
        if payload.startswith(b">"):
            self._pointers = [*self._pointers, payload[1:]][:MAX_LEVELS]
        elif payload.startswith(b"<"):
            del self._pointers[-1:]
        elif not payload.startswith(b"?"):
            shape = payload.removeprefix(b"=")
            self._pointer = b"" if shape in (b"", b"default") else shape

    def _colour(self, number: bytes, payload: bytes) -> None:
        values = payload.split(b";")
        if number in _PALETTES:
            for which, to in zip(values[::2], values[1::2], strict=False):
                self._set_colour(number, which, to)
        elif number in _PALETTES.values():
            for key in [key for key in self._colours if key[0] == number[2:] and (not payload or key[1] in values)]:
                del self._colours[key]
        elif b"10" <= number <= b"19" and len(number) == 2:
            for offset, to in enumerate(values[: 20 - int(number)]):
                self._set_colour(b"%d" % (int(number) + offset), b"", to)
        elif b"110" <= number <= b"119":
            self._colours.pop((number[1:], b""), None)
        elif number == _KITTY_COLOURS:
            for pair in values:
                which, _, to = pair.partition(b"=")
                if to:
                    self._set_colour(number, which, to)
                else:
                    self._colours.pop((number, which), None)

    def _set_colour(self, code: bytes, which: bytes, to: bytes) -> None:
        if to and not to.startswith(b"?") and len(self._colours) < MAX_COLOURS:
            self._colours[code, which] = to


def osc_sequence(data: bytes) -> bytes:
    """Write an OSC sequence."""
    return b"\x1b]" + data + ST
