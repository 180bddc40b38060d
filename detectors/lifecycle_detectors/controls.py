"""Names for control bytes, OSC numbers, DEC modes and progress codes, so that no other module spells them as numbers.

Values are those of ECMA-48 (C0, the ESC-coded C1 introducers), xterm's ctlseqs (OSC, DECSET) and ConEmu (OSC 9;4).
"""

from __future__ import annotations

from enum import IntEnum

BEL = 0x07
SO = 0x0E
SI = 0x0F
CAN = 0x18
SUB = 0x1A
ESC = 0x1B
DEL = 0x7F

ST = b"\x1b\\"
"""String terminator. The C1 byte 0x9C is none in UTF-8: it is the middle of characters such as U+2733."""


class OscNumber(IntEnum):
    """The OSC commands that carry a meaning for us."""

    TITLE_AND_ICON = 0
    TITLE = 2
    WORKING_DIRECTORY = 7
    CONEMU = 9
    KITTY_NOTIFICATION = 99
    PROMPT_MARK = 133
    NOTIFICATION = 777
    PROGRAM_STATUS = 7501


class ProgressState(IntEnum):
    """The state field of OSC 9;4."""

    NONE = 0
    NORMAL = 1
    ERROR = 2
    INDETERMINATE = 3
    PAUSED = 4


SYNCHRONIZED_UPDATE = 2026
"""DECSET mode: the terminal holds its drawing back until it is reset."""
