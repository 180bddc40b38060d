"""What SGR makes of a cell's attributes (ECMA-48 8.3.117; colours by xterm's ctlseqs and ISO 8613-6).

Owns the codes, the names of the colours and the palette's values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lifecycle_detectors.parser import Parameters

from .cells import Cell

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_LEVELS = (0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)
_DEFAULT = Cell()

_CHANGES: dict[int, dict[str, object]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italics": True},
    4: {"underscore": True},
    5: {"blink": True},
    7: {"reverse": True},
    9: {"strikethrough": True},
    21: {"underscore": True},
    22: {"bold": False, "dim": False},
    23: {"italics": False},
    24: {"underscore": False},
    25: {"blink": False},
    27: {"reverse": False},
    29: {"strikethrough": False},
    39: {"fg": "default"},
    49: {"bg": "default"},
}
for _number, _name in enumerate(_NAMES):
    _CHANGES |= {30 + _number: {"fg": _name}, 90 + _number: {"fg": f"bright{_name}"}}
    _CHANGES |= {40 + _number: {"bg": _name}, 100 + _number: {"bg": f"bright{_name}"}}

_COLOUR_OF = {38: "fg", 48: "bg", 58: None}
"""Codes that a colour follows; an underline's is of no interest, but its numbers must not be taken for codes."""


def palette(number: int) -> str:
    """The name of a palette entry: the first 16 have names, the others the values that xterm gives them."""
    if number < 16:
        return _NAMES[number] if number < 8 else "bright" + _NAMES[number - 8]
    if number < 232:
        number -= 16
        return bytes(_LEVELS[number // step % 6] for step in (36, 6, 1)).hex()
    return bytes([8 + 10 * (number - 232)] * 3).hex()


def rendition(attributes: Cell, params: Parameters) -> Cell:
    """Return the attributes after SGR with these parameters."""
    changes: dict[str, object] = {}
    groups = iter(params or ((0,),))
    for group in groups:
        code = group[0] or 0
        if code == 0:
            attributes, changes = _DEFAULT, {}
        elif code in _COLOUR_OF:
            part = _COLOUR_OF[code]
            colour = _in_group(group) if len(group) > 1 else _in_list(groups)
            if part and colour:
                changes[part] = colour
        elif group[:2] == (4, 0):
            changes["underscore"] = False
        else:
            changes.update(_CHANGES.get(code, {}))
    return attributes._replace(**changes) if changes else attributes  # type: ignore[arg-type]


def _in_list(groups: Iterator[tuple[int | None, ...]]) -> str | None:
    """The colour in the next parameters: `5;number` or `2;red;green;blue`."""
    kind = next(groups, (0,))[0]
    values = [next(groups, (0,))[0] or 0 for _ in range({5: 1, 2: 3}.get(kind or 0, 0))]
    return _named(kind, values)


def _in_group(group: tuple[int | None, ...]) -> str | None:
    """The colour in sub-parameters: `5:number`, `2:red:green:blue`, or `2:space:red:green:blue` with more after it."""
    values = [value or 0 for value in group[2:]]
    return _named(group[1], values[1:] if group[1] == 2 and len(values) > 3 else values)


def _named(kind: int | None, values: Sequence[int]) -> str | None:
    if kind == 5 and values:
        return palette(values[0] & 255)
    if kind == 2 and len(values) > 2:
        return bytes(value & 255 for value in values[:3]).hex()
    return None
