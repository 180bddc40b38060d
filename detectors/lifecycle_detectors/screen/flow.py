r"""What a stretch of terminal output does to a screen, told from its bytes alone and at C speed.

Owns the reasons why output may be left out (`ScreenBacklog` leaves it out):

- Flow: text, CR, LF, tabs, colours, and what else touches only the cursor's row. Row by row it pushes what was there
  out of the screen, so that after enough line feeds nothing on it is older than those lines. Cut after CR LF, the rest
  of a flow shows the same screen whatever stood before; only the pen has to be carried over.
- A full reset (RIS) forgets everything before it.
- A full clear forgets the cells of the screen that is shown, but neither modes nor the other screen.

All of it supposes that the bytes begin between sequences. An ESC begins a new sequence wherever it stands, but for the
doubled ones in tmux's passthrough.
"""

from __future__ import annotations

import re

from lifecycle_detectors.controls import ESC
from lifecycle_detectors.pen import last_pen_reset

Buffer = bytes | bytearray

# The expressions name what follows ESC: where a pattern begins with that one literal, re looks for it as fast as
# memchr does; where it begins with alternatives, it tries every byte.
_SGR = rb"\[[0-9;:]*+m"
_SWITCH = rb"\[\?(?:12|25|1000|1002|1003|1004|1006|2004|2026|2031)[hl]"
"""Modes that change nothing on the screen but the cursor's look."""
_IN_ROW = rb"\[[0-9]*+[CGK]"
_OSC = rb"\](?!133)[^\x00-\x1f]*+(?:\x07|\x1b\\)"
"""Any but a prompt's mark, which may break the line."""
_SETS = rb"\[[ -?]*+[hlmrsu]|[()*+][0-9A-Z]|[78=>no]"

_NO_FLOW = re.compile(rb"\x1b(?!%s|%s|%s|%s|\\)" % (_SGR, _SWITCH, _IN_ROW, _OSC))  # ESC \ ends the OSC
_NO_FLOW_CONTROLS = (b"\x0e", b"\x0f", b"\x18", b"\x1a")
_SWITCHES = re.compile(rb"\x1b%s" % _SWITCH)
_SETTING = re.compile(rb"\x1b(?:%s|%s)" % (_SGR, _SWITCH))
_SETTINGS = re.compile(rb"(?:\x1b(?:%s|%s))+" % (_SGR, _SWITCH))
_UNPRINTED = re.compile(rb"(?:[\x00-\x20]++|\x1b\[[ -?]*+[@-~]|\x1b%s)*+" % _OSC)

_STATE = re.compile(rb"\x1b(?<!\x1b\x1b)(?:%s)" % _SETS)
_STATE_AND_SHIFTS = re.compile(rb"[\x0e\x0f]|\x1b(?<!\x1b\x1b)(?:%s)" % _SETS)
_UNFINISHED = re.compile(rb"\x1b(?:\[[ -?]*+|[ -/]*+)\Z")

_RESET = b"\x1bc"
_PRIVATE = b"\x1b[?"
_CLEAR_AT = b"\x1b[2J"
_HOME = rb"\x1b\[(?:1?;?1?)H"
_HOME_AFTER = re.compile(rb"\x1b\[2J(?:\x1b\[3J)?%s" % _HOME)
_HOME_BEFORE = re.compile(rb"(?<!\x1b)%s\Z" % _HOME)
_LONGEST_HOME = len(b"\x1b\x1b[1;1H")
_RETURN = re.compile(rb"\x1b(?:8|\[u|\[\?(?:47|1047|1048|1049)l)")


def flow_end(data: Buffer) -> int:
    """How far the data, from its beginning, is a flow."""
    other = _NO_FLOW.search(data)
    end = other.start() if other else len(data)
    for control in _NO_FLOW_CONTROLS:
        place = data.find(control, 0, end)
        end = place if place >= 0 else end
    return end


def flow_cut(data: Buffer, end: int, lines: int) -> int:
    """Where the flow `data[:end]` may begin as well: at the start of a line, with `lines` line feeds from there on.

    Returns:
        The last such place, or 0 where there is none.
    """
    place = end
    for _ in range(lines):
        place = data.rfind(b"\n", 0, place)
        if place < 0:
            return 0
    cut = data.rfind(b"\r\n", 0, place) + len(b"\r\n")
    # What follows the flow may repeat its last character (REP): there has to be one.
    unprinted = _UNPRINTED.match(data, cut, end)
    if cut < len(b"\r\n") or not unprinted or unprinted.end() == end:
        return 0
    return cut


def settings(data: Buffer) -> bytes:
    """What the colours and switches in `data` come to, as few of them as do the same.

    Each of them sets some attributes to fixed values, so only the last of equal ones counts.
    """
    data = bytes(data)
    reset = max(0, last_pen_reset(data, 0, len(data)))
    switches = _SWITCHES.findall(data, 0, reset) if data.rfind(_PRIVATE, 0, reset) >= 0 else []
    written = switches + _SETTING.findall(data, reset)
    return b"".join(reversed(dict.fromkeys(reversed(written))))


def state(data: Buffer) -> tuple[bytes, bytes]:
    """The sequences in `data` that set modes, margins, character sets and colours, without what it writes and moves.

    Returns:
        Them, and the unfinished sequence at the end, whose rest is still to come.
    """
    unfinished = _UNFINISHED.search(data)
    pattern = _STATE_AND_SHIFTS if b"\x0e" in data or b"\x0f" in data else _STATE
    kept = _SETTINGS.sub(lambda run: settings(run.group()), b"".join(pattern.findall(bytes(data))))
    return kept, bytes(unfinished.group()) if unfinished else b""


def last_reset(data: Buffer) -> int:
    """Where the last full reset begins, or -1."""
    at = data.rfind(_RESET)
    while at > 0 and data[at - 1] == ESC:
        at = data.rfind(_RESET, 0, at)
    return at


def last_clear(data: Buffer) -> int:
    """Where the last full clear of the screen, with the cursor sent home, begins, or -1."""
    at = data.rfind(_CLEAR_AT)
    while at >= 0:
        before = _HOME_BEFORE.search(data, max(0, at - _LONGEST_HOME), at)
        if before:
            return before.start()
        if _HOME_AFTER.match(data, at) and (not at or data[at - 1] != ESC):
            return at
        at = data.rfind(_CLEAR_AT, 0, at)
    return -1


def returns(data: Buffer) -> bool:
    """It goes back to a saved cursor or to the main screen."""
    return _RETURN.search(data) is not None
