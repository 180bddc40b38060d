r"""Tells the user's keys from what the outer terminal says by itself.

Both come in on the same line: keys, pastes, and the terminal's replies, focus and mouse reports. Only keys and pastes
are the user's word. Owns the grammar of that line: xterm's ctlseqs (keys, reports, mouse, focus, bracketed paste,
modifyOtherKeys) and kitty's keyboard protocol. Reads along only: never decides what the agent gets, knows no time.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

MAX_SEQUENCE = 256
"""Bytes of a CSI sequence; no key and no reply of any terminal is longer, what is counts as typed text."""
MAX_REPORT = 4096
"""Bytes kept of a string report (a clipboard reply may have megabytes); the rest is read over."""


class Key(NamedTuple):
    """Typed text or one key that is none of those below; text may be cut anywhere."""

    data: bytes


class Submit(NamedTuple):
    """Enter without a modifier."""


class Interrupt(NamedTuple):
    """Ctrl-C."""


class Escape(NamedTuple):
    """The Esc key."""


class Paste(NamedTuple):
    """A bracketed paste, told at its end; `size` is its length in bytes."""

    size: int


class Focus(NamedTuple):
    """The terminal window got or lost the focus (DECSET 1004)."""

    gained: bool


class Mouse(NamedTuple):
    """A mouse report of any encoding."""

    data: bytes


class ReportKind(StrEnum):
    """What the terminal tells by itself."""

    DEVICE_ATTRIBUTES = "da1"
    SECONDARY_ATTRIBUTES = "da2"
    CURSOR_POSITION = "cpr"
    STATUS = "dsr"
    MODE = "decrpm"
    KEYBOARD_MODE = "kitty-keyboard"
    WINDOW = "window"
    VERSION = "xtversion"
    PROGRAM_STATUS = "program-status"
    OSC = "osc"
    DCS = "dcs"
    APC = "apc"
    KEY_RELEASE = "key-release"
    MODIFIER = "modifier"
    OTHER = "other"


class Report(NamedTuple):
    """Not the user's word: a reply of the terminal, or a key's release or a bare modifier (kitty's keyboard protocol).

    `data` is the whole sequence, of a string at most `MAX_REPORT` bytes.
    """

    kind: ReportKind
    data: bytes


Press = Key | Submit | Interrupt | Escape | Paste | Focus | Mouse | Report

_TEXT = re.compile(rb"[^\x03\r\x1b]+")
_CSI = re.compile(rb"\x1b\[([<=>?]?)([0-9:;]*)([ -/]*)([@-~])")
_WHOLE_CSI = re.compile(rb"\x1b\[[ -?]*[@-~]")
_CUT_CSI = re.compile(rb"\x1b\[[ -?]*\Z")
_SS3 = re.compile(rb"\x1bO[ -~]")
_STRING_START = re.compile(rb"\x1b[]P_]")
_STRING_STOP = re.compile(rb"[\x00-\x1f]")
_MAYBE_A_KEY = re.compile(rb"\x1b[]O\[P_]?")
"""What the Esc key, or Alt with one of these, sends, and what a longer sequence begins with."""

_PASTE_START = b"\x1b[200~"
_PASTE_END = b"\x1b[201~"
_X10_MOUSE = b"\x1b[M"

_ENTER, _ESCAPE, _C, _KEYPAD_ENTER = 13, 27, 99, 57414
_CTRL = 0b100
_LOCKS = 0b1100_0000
"""Caps Lock and Num Lock in a kitty modifier field: they change no key's meaning here."""
_RELEASED = 3
_BARE_MODIFIERS = {57358, 57359, 57360, *range(57441, 57455)}
"""Kitty's codes of the lock and modifier keys."""

_PRIVATE_REPORTS = {
    b"?c": ReportKind.DEVICE_ATTRIBUTES,
    b">c": ReportKind.SECONDARY_ATTRIBUTES,
    b"?R": ReportKind.CURSOR_POSITION,
    b"?n": ReportKind.STATUS,
    b"?u": ReportKind.KEYBOARD_MODE,
}
_PLAIN_REPORTS = {b"n": ReportKind.STATUS, b"t": ReportKind.WINDOW}


class Keyboard:
    """Reads the outer terminal's bytes, however they are cut; holds at most one unfinished sequence."""

    def __init__(self) -> None:
        self._held = b""
        self._string: bytearray | None = None
        self._pasted: int | None = None

    @property
    def pending(self) -> bool:
        """The bytes end in a key or in a sequence's begin; `flush` says, when nothing follows, that it was a key."""
        return self._string is None and self._pasted is None and bool(_MAYBE_A_KEY.fullmatch(self._held))

    def flush(self) -> list[Press]:
        """Nothing followed the ESC for long enough (50 ms is usual): it was the Esc key, or Alt with a key."""
        if not self.pending:
            return []
        held, self._held = self._held, b""
        return [Escape() if held == b"\x1b" else Key(held)]

    def feed(self, data: bytes) -> list[Press]:
        """Read on; over any cut of the same bytes the same presses, but for where typed text is cut."""
        data, self._held = self._held + data, b""
        presses: list[Press] = []
        position = 0
        while position < len(data):
            if self._pasted is not None:
                position = self._paste(data, position, self._pasted, presses)
            elif self._string is not None:
                position = self._report_string(data, position, self._string, presses)
            else:
                position = self._key(data, position, presses)
        return presses

    # Each step reads from `start` on, adds presses, and returns where the next step starts.

    def _key(self, data: bytes, start: int, presses: list[Press]) -> int:
        text = _TEXT.match(data, start)
        if text:
            presses.append(Key(text.group()))
            return text.end()
        if data[start] == 0x1B:
            return self._sequence(data, start, presses)
        presses.append(Submit() if data[start] == _ENTER else Interrupt())
        return start + 1

    def _sequence(self, data: bytes, start: int, presses: list[Press]) -> int:
        following = data[start + 1 : start + 2]
        if following == b"[":
            return self._csi(data, start, presses)
        if following == b"\x1b":
            presses.append(Escape())
            return start + 1
        if _MAYBE_A_KEY.fullmatch(data, start):
            self._held = data[start:]
            return len(data)
        if _STRING_START.match(data, start):
            self._string = bytearray(data[start : start + 2])
            return start + 2
        ss3 = _SS3.match(data, start)
        if ss3:
            presses.append(Submit() if ss3.group() == b"\x1bOM" else Key(ss3.group()))
            return ss3.end()
        # Alt with a key: the next byte, were it Enter or Ctrl-C, is no submit and no interrupt.
        presses.append(Key(data[start : start + 2]))
        return start + 2

    def _csi(self, data: bytes, start: int, presses: list[Press]) -> int:
        csi = _WHOLE_CSI.match(data, start, start + MAX_SEQUENCE)
        if not csi:
            if _CUT_CSI.match(data, start) and len(data) - start < MAX_SEQUENCE:
                self._held = data[start:]
                return len(data)
            presses.append(Key(data[start : start + 2]))
            return start + 2
        sequence, end = csi.group(), csi.end()
        if sequence == _PASTE_START:
            self._pasted = 0
        elif sequence == _X10_MOUSE:
            end += 3
            if len(data) < end:
                self._held = data[start:]
                return len(data)
            presses.append(Mouse(data[start:end]))
        else:
            presses.append(_classify(sequence))
        return end

    def _paste(self, data: bytes, start: int, size: int, presses: list[Press]) -> int:
        end = data.find(_PASTE_END, start)
        if end >= 0:
            presses.append(Paste(size + end - start))
            self._pasted = None
            return end + len(_PASTE_END)
        end = len(data) - _length_of_cut(data, start, _PASTE_END)
        self._pasted = size + end - start
        self._held = data[end:]
        return len(data)

    def _report_string(self, data: bytes, start: int, string: bytearray, presses: list[Press]) -> int:
        stop = _STRING_STOP.search(data, start)
        end = stop.start() if stop else len(data)
        string += data[start : min(end, start + MAX_REPORT - len(string))]
        if not stop:
            return end
        if data[end:] == b"\x1b":
            self._held = b"\x1b"
            return len(data)
        terminator = _terminator(data, end, string)
        if len(string) > len(b"\x1b]"):
            presses.append(Report(_string_kind(string), bytes(string + terminator)))
        else:
            # No terminal reports nothing: it was Alt with a key, and here is the next key.
            presses.append(Key(bytes(string)))
            terminator = b""
        self._string = None
        return end + len(terminator)


def _terminator(data: bytes, start: int, string: bytearray) -> bytes:
    r"""BEL (of an OSC) or ESC \ at `start`; b"" for a control that is no part of any report: there a key cut in."""
    if data[start] == 0x07 and string[1:2] == b"]":
        return b"\x07"
    return b"\x1b\\" if data.startswith(b"\x1b\\", start) else b""


def _length_of_cut(data: bytes, start: int, whole: bytes) -> int:
    """How many bytes at the end of `data[start:]` are a beginning of `whole`."""
    longest = min(len(whole) - 1, len(data) - start)
    return next((length for length in range(longest, 0, -1) if data.endswith(whole[:length])), 0)


def _string_kind(string: bytearray) -> ReportKind:
    if string.startswith(b"\x1b]7501;"):
        return ReportKind.PROGRAM_STATUS
    if string.startswith(b"\x1bP>|"):
        return ReportKind.VERSION
    return {b"]": ReportKind.OSC, b"P": ReportKind.DCS, b"_": ReportKind.APC}[bytes(string[1:2])]


def _classify(sequence: bytes) -> Press:
    """Say what a whole CSI sequence is."""
    grammar = _CSI.fullmatch(sequence)
    if not grammar:
        return Report(ReportKind.OTHER, sequence)
    private, written, intermediates, final = grammar.groups()
    if intermediates:
        kind = ReportKind.MODE if intermediates + final == b"$y" else ReportKind.OTHER
        return Report(kind, sequence)
    if private == b"<" and final in b"Mm":
        return Mouse(sequence)
    if private:
        return Report(_PRIVATE_REPORTS.get(private + final, ReportKind.OTHER), sequence)
    if final in b"IO" and not written:
        return Focus(gained=final == b"I")
    if final == b"M":
        return Mouse(sequence)
    if final in _PLAIN_REPORTS:
        return Report(_PLAIN_REPORTS[final], sequence)
    parameters = [[int(value or b"0") for value in parameter.split(b":")] for parameter in written.split(b";")]
    if final == b"R" and len(parameters) > 1:
        # Also what xterm sends for F3 with a modifier. A cursor report is likelier, and to miss a key does less harm.
        return Report(ReportKind.CURSOR_POSITION, sequence)
    return _classify_key(sequence, parameters, final)


def _classify_key(sequence: bytes, parameters: list[list[int]], final: bytes) -> Press:
    """Keys in kitty's form `code:shifted:base ; modifiers:event u`, xterm's `27 ; modifiers ; code ~`, and the rest."""
    codes, modifiers = parameters[0], parameters[1] if len(parameters) > 1 else [1]
    if final == b"~" and codes == [27] and len(parameters) > 2:
        codes = parameters[2]
    elif final != b"u":
        codes = []
    if modifiers[1:2] == [_RELEASED]:
        return Report(ReportKind.KEY_RELEASE, sequence)
    if not _BARE_MODIFIERS.isdisjoint(codes):
        return Report(ReportKind.MODIFIER, sequence)
    held = max(modifiers[0] - 1, 0) & ~_LOCKS
    if not held and codes[:1] in ([_ENTER], [_KEYPAD_ENTER]):
        return Submit()
    if not held and codes[:1] == [_ESCAPE]:
        return Escape()
    if held == _CTRL and _C in codes:
        return Interrupt()
    return Key(sequence)
