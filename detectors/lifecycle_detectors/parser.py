r"""The VT500 state machine: bytes of a terminal stream in, tokens out.

Owns the grammar of control sequences (ECMA-48 section 5; the state machine is Paul Williams' for the VT500,
vt100.net/emu/dec_ansi_parser) and the knowledge of where one sequence ends and the next may begin. What a token means
is for others.

    ground      text = any byte but C0 and DEL, decoded as UTF-8; C0 and DEL are executed
    escape      ESC intermediates final                          intermediates 20-2F, final 30-7E
    CSI         ESC [ private? parameters? intermediates? final  private < = > ?, parameters 0-9 : ;, final 40-7E
    OSC         ESC ] payload (BEL | ESC \)
    DCS         ESC P private? parameters? intermediates? final payload ESC \
    APC PM SOS  ESC _  ESC ^  ESC X, each: payload ESC \

CAN and SUB abort any sequence. ESC begins a new one; inside a string only ESC \ ends it properly, ESC and anything
else throws the string away. C0 inside an escape or CSI sequence is executed, inside an OSC dropped, inside the other
strings it is payload. The C1 bytes 80-9F are never controls, since they are parts of UTF-8 characters; bytes from 80 on
in a header are ignored, as in tmux.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from .controls import BEL, CAN, ESC, SI, SO, SUB, SYNCHRONIZED_UPDATE

MAX_STRING = 64 * 1024
"""Bytes of a string's payload; a longer string is dropped. What we read needs less; OSC 52 and images may need more."""
MAX_HEADER = 1024
"""Bytes of a sequence before its final byte; a longer one is dropped. 32 true colours with colons take 640."""
MAX_PARAMETERS = 32
"""Parameters of a sequence, and sub-parameters of a parameter; the rest is ignored. xterm keeps 30, libghostty 24."""
MAX_VALUE = 65535
"""A larger parameter counts as this, as in libghostty (16 bits)."""
_MEMO_ENTRIES = 4096
_MEMO_KEY = 64
"""How many written sequences, and how long ones, are remembered: with their tokens they stay below 4 MB."""

Parameters = tuple[tuple[int | None, ...], ...]


class Print(NamedTuple):
    """Printable text: never empty, may be cut anywhere between characters.

    Invalid UTF-8 is U+FFFD, one per maximal subpart. U+0080 to U+009F are in it: in UTF-8 they are no controls.
    """

    text: str


class Control(NamedTuple):
    """A C0 control executed in ground or inside an escape or CSI sequence, or a DEL in ground."""

    code: int


class Escape(NamedTuple):
    """An escape sequence that opens nothing: `ESC 7` is `("", "7")`, `ESC ( 0` is `("(", "0")`."""

    intermediates: str
    final: str


class Csi(NamedTuple):
    """A control sequence.

    `CSI ? 1049 h` is `("?", ((1049,),), "", "h")`. A parameter's sub-parameters (colons) are the rest of its tuple; a
    missing value is None; no parameters at all is `()`.
    """

    private: str
    params: Parameters
    intermediates: str
    final: str


class Osc(NamedTuple):
    r"""An operating system command: what stands between `ESC ]` and its end; `bel` where BEL ended it, not ESC \."""

    data: bytes
    bel: bool


class Dcs(NamedTuple):
    """A device control string: its header as in `Csi`, then its payload."""

    private: str
    params: Parameters
    intermediates: str
    final: str
    data: bytes


class StringSequence(NamedTuple):
    """A string that is neither OSC nor DCS; `kind` is `APC`, `PM` or `SOS`."""

    kind: str
    data: bytes


Token = Print | Control | Escape | Csi | Osc | Dcs | StringSequence

_HEADER = r"([<=>?]?)([0-9:;]*)([ -/]*)([@-~])"
_CSI_GRAMMAR = re.compile(r"\x1b\[" + _HEADER)
_DCS_GRAMMAR = re.compile(_HEADER)

_DRAWING_FINALS = "@A-MPSTXZ`abdefm"
"""Finals of the CSI sequences that only draw (colours, cursor, erasing, scrolling); not made with text=False."""
_DRAWS = re.compile(f"[{_DRAWING_FINALS}]")
_UPDATE_BOUNDS = tuple(Csi("?", ((SYNCHRONIZED_UPDATE,),), "", final) for final in "hl")
"""Begin and end of a synchronized update: some agents put every frame between them. Not made with text=False either."""
_SPOKEN_CONTROLS = (BEL, SO, SI)
"""The C0 controls that are more than layout; the only ones made with text=False."""
_SPOKEN = tuple(bytes((code,)) for code in _SPOKEN_CONTROLS)
_SPOKEN_CONTROL = re.compile(b"[%s]" % b"".join(_SPOKEN))

_WHOLE_CSI = re.compile(rb"\x1b\[[ -?]*+[@-~]")
_NOT_A_WHOLE_CSI = re.compile(rb"\x1b(?!\[[ -?]*+[@-~])")
_PIECES = re.compile(r"(\x1b\[[ -?]*[@-~]|[\x00-\x1f\x7f])")
_UPDATE_BOUND = b"\x1b[?%d" % SYNCHRONIZED_UPDATE
_NOT_DRAWING = re.compile(rb"\x1b(?!\[(?:[0-9:;]*+[%s]|\?2026[hl]))" % _DRAWING_FINALS.encode())
_UPDATE_SWITCH = re.compile(rb"\x1b\[\?(?:[0-9;]*;)?0*2026(?:;[0-9;]*)?[hl]")

_ESCAPE_RUN = re.compile(rb"[ -/]*")
_HEADER_RUN = re.compile(rb"[ -?]*")
_OSC_STOP = re.compile(rb"[\x07\x18\x1a\x1b]")
_STRING_STOP = re.compile(rb"[\x18\x1a\x1b]")
_C0 = bytes(range(0x20))

_UNFINISHED_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3](?:[\x80-\xbf][\x80-\xbf]?)?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)\Z"
)
"""The beginnings of a UTF-8 character (Unicode, table 3-7) at the end of the bytes."""

_STRING_INTRODUCERS = {"]": "OSC", "P": "DCS", "_": "APC", "^": "PM", "X": "SOS"}
_TMUX_HEADER = "t"
_TMUX_PREFIX = b"mux;"


class _State(IntEnum):
    GROUND = 0
    ESCAPE = 1
    CSI = 2
    DCS_HEADER = 3
    STRING = 4
    STRING_ESCAPE = 5
    """After an ESC inside a string: `\\` ends it, anything else aborts it."""


class Parser:
    r"""Turns a terminal stream into tokens, however it is cut.

    Never raises, and its memory is bounded by the limits above. tmux's passthrough (`ESC P tmux; ... ESC \`, every
    inner ESC doubled) is meant for the terminal around tmux: the OSC and BEL tokens of its inner bytes are returned in
    place; drawing is not.

    Args:
        text: False for a reader of signals only: text, CSI sequences that draw (colours, cursor, erasing, scrolling),
            the controls of layout (all but BEL, SO and SI) and the bounds of synchronized updates are skipped at C
            speed.
    """

    def __init__(self, *, text: bool = True) -> None:
        self._text = text
        self._sequences = _Sequences(text)
        self._steps = (  # by state
            self._ground if text else self._ground_without_text,
            self._header,
            self._header,
            self._header,
            self._string,
            self._string_escape,
        )
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far: the next byte is in ground."""
        self._state = _State.GROUND
        self._unfinished = b""
        self._collected = bytearray()
        self._kind = ""
        self._dcs_header = ""
        self._payload = bytearray()
        self.in_synchronized_update = False
        """DECSET 2026 is on. Terminals end it themselves after about a second: for the caller, who knows the time."""

    @property
    def at_ground(self) -> bool:
        """The stream stands between whole sequences and whole UTF-8 characters: here other bytes may be put in."""
        return self._state is _State.GROUND and not self._unfinished

    @property
    def in_string(self) -> bool:
        """The stream stands inside a string, whatever its kind."""
        return self._state >= _State.DCS_HEADER

    def feed(self, data: bytes) -> list[Token]:
        """Read on.

        Args:
            data: the next bytes, cut anywhere.

        Returns:
            The tokens that they complete. Over any chunking the same, but for where adjacent `Print`s are cut.
        """
        if self._unfinished:
            data = self._unfinished + data
            self._unfinished = b""
        tokens: list[Token] = []
        position = 0
        while position < len(data):
            position = self._steps[self._state](data, position, tokens)
        return tokens

    # Each step reads from `start` on in its state, adds tokens, and returns where the next step starts.

    def _ground(self, data: bytes, start: int, tokens: list[Token]) -> int:
        stop = _NOT_A_WHOLE_CSI.search(data, start)
        if stop:
            end = stop.start()
            self._begin(_State.ESCAPE)
        else:
            end = self._hold_unfinished(data, start)
        run = data[start:end]
        if run:
            sequences = self._sequences
            make = tuple.__new__  # Print(piece) without a call in Python: the one hot spot of text
            tokens += [
                token
                for piece in _PIECES.split(run.decode("utf-8", "replace"))
                if piece
                and (token := sequences[piece] if piece < " " or piece == "\x7f" else make(Print, (piece,))) is not None
            ]
            self._follow_synchronized_updates(data, start, end)
        return end + 1 if stop else len(data)

    def _ground_without_text(self, data: bytes, start: int, tokens: list[Token]) -> int:
        while start < len(data):
            stop = _NOT_DRAWING.search(data, start)  # begins with a literal, which re finds much faster than a class
            end = stop.start() if stop else len(data)
            if end > start:
                self._drawing(data, start, end, tokens)
            if not stop:
                self._hold_unfinished(data, start)
                return end
            csi = _WHOLE_CSI.match(data, end)
            if not csi:
                self._begin(_State.ESCAPE)
                return end + 1
            self._add(self._sequences[csi.group().decode("ascii")], tokens)
            start = csi.end()
        return start

    def _drawing(self, data: bytes, start: int, end: int, tokens: list[Token]) -> None:
        """Take `data[start:end]`, which is text, controls and sequences that draw."""
        for control in _SPOKEN:
            if data.find(control, start, end) >= 0:
                tokens += [Control(found.group()[0]) for found in _SPOKEN_CONTROL.finditer(data, start, end)]
                break
        switch = data.rfind(_UPDATE_BOUND, start, end)
        if switch >= 0:
            self.in_synchronized_update = data.startswith(b"h", switch + len(_UPDATE_BOUND))

    def _header(self, data: bytes, start: int, tokens: list[Token]) -> int:
        run = (_ESCAPE_RUN if self._state is _State.ESCAPE else _HEADER_RUN).match(data, start)
        end = run.end() if run else start
        # One byte more than allowed is kept: it tells that the header was too long.
        self._collected += data[start : min(end, start + MAX_HEADER + 1 - len(self._collected))]
        if end == len(data):
            return end
        byte = data[end]
        if byte == ESC:
            self._begin(_State.ESCAPE)
        elif byte in (CAN, SUB):
            self._abort(byte, tokens)
        elif byte < 0x20:
            if self._state is not _State.DCS_HEADER:
                self._add(self._sequences[chr(byte)], tokens)
        elif byte < 0x7F:
            self._finish_header(chr(byte), tokens)
        return end + 1

    def _string(self, data: bytes, start: int, tokens: list[Token]) -> int:
        stop = (_OSC_STOP if self._kind == "OSC" else _STRING_STOP).search(data, start)
        end = stop.start() if stop else len(data)
        self._keep(data, start, end)
        if not stop:
            return end
        byte = data[end]
        if byte == ESC:
            self._state = _State.STRING_ESCAPE
        elif byte == BEL:
            self._finish_string(tokens, bel=True)
        else:
            self._abort(byte, tokens)
        return end + 1

    def _string_escape(self, data: bytes, start: int, tokens: list[Token]) -> int:
        byte = data[start]
        if byte == 0x5C:
            self._finish_string(tokens, bel=False)
            return start + 1
        if byte == ESC and self._in_passthrough():
            self._state = _State.STRING
            self._keep(data, start, start + 1)
            return start + 1
        self._begin(_State.ESCAPE)
        return start

    def _begin(self, state: _State) -> None:
        self._state = state
        self._collected.clear()
        self._payload.clear()

    def _abort(self, byte: int, tokens: list[Token]) -> None:
        self._begin(_State.GROUND)
        self._add(self._sequences[chr(byte)], tokens)

    def _finish_header(self, final: str, tokens: list[Token]) -> None:
        state, collected = self._state, self._collected.decode("ascii")
        self._begin(_State.GROUND)
        if state is _State.CSI:
            self._add(self._sequences[f"\x1b[{collected}{final}"], tokens)
        elif state is _State.DCS_HEADER:
            self._kind, self._dcs_header, self._state = "DCS", collected + final, _State.STRING
        elif collected:
            if len(collected) <= MAX_HEADER:
                tokens.append(Escape(collected, final))
        elif final == "[":
            self._state = _State.CSI
        elif final == "P":
            self._state = _State.DCS_HEADER
        elif final in _STRING_INTRODUCERS:
            self._kind, self._state = _STRING_INTRODUCERS[final], _State.STRING
        else:
            if final == "c":
                self.in_synchronized_update = False
            tokens.append(Escape("", final))

    def _finish_string(self, tokens: list[Token], *, bel: bool) -> None:
        kind, payload = self._kind, bytes(self._payload)
        passthrough = self._in_passthrough()
        self._begin(_State.GROUND)
        if len(payload) > MAX_STRING:
            return
        if kind == "OSC":
            tokens.append(Osc(payload.translate(None, _C0), bel))
        elif passthrough:
            tokens += _passed_through(payload[len(_TMUX_PREFIX) :])
        elif kind == "DCS":
            header = _DCS_GRAMMAR.fullmatch(self._dcs_header)
            if header and len(self._dcs_header) <= MAX_HEADER:
                private, parameters, intermediates, final = header.groups()
                tokens.append(Dcs(private, _parameters(parameters), intermediates, final, payload))
        else:
            tokens.append(StringSequence(kind, payload))

    def _in_passthrough(self) -> bool:
        return self._kind == "DCS" and self._dcs_header == _TMUX_HEADER and self._payload.startswith(_TMUX_PREFIX)

    def _keep(self, data: bytes, start: int, end: int) -> None:
        # One byte more than allowed is kept: it tells that the string was too long.
        self._payload += data[start : min(end, start + MAX_STRING + 1 - len(self._payload))]

    def _hold_unfinished(self, data: bytes, start: int) -> int:
        """Hold back the character that the end of the ground text `data[start:]` cuts; returns where it begins."""
        if data[-1] >= 0x80:
            unfinished = _UNFINISHED_CHARACTER.search(data, max(start, len(data) - 3))
            if unfinished:
                self._unfinished = unfinished.group()
                return unfinished.start()
        return len(data)

    def _add(self, token: Csi | Control | None, tokens: list[Token]) -> None:
        if token is not None and (self._text or token not in _UPDATE_BOUNDS):
            tokens.append(token)
        self._follow_synchronized_update(token)

    def _follow_synchronized_updates(self, data: bytes, start: int, end: int) -> None:
        """Follow the last switch in `data[start:end]`, which is text and whole sequences."""
        if data.find(b"2026", start, end) >= 0:
            switches = _UPDATE_SWITCH.findall(data, start, end)
            if switches:
                self._follow_synchronized_update(self._sequences[switches[-1].decode("ascii")])

    def _follow_synchronized_update(self, token: Csi | Control | None) -> None:
        if not isinstance(token, Csi) or token.private != "?" or token.intermediates or token.final not in "hl":
            return
        if (SYNCHRONIZED_UPDATE,) in token.params:
            self.in_synchronized_update = token.final == "h"


class _Sequences(dict[str, "Csi | Control | None"]):
    """What each written CSI sequence or control byte means; None where no token is made of it.

    Agents write the same few hundred sequences over and over, so what was once taken apart is remembered.
    """

    def __init__(self, text: bool) -> None:
        super().__init__()
        self._text = text

    def __missing__(self, written: str) -> Csi | Control | None:
        token = self._control(ord(written)) if len(written) == 1 else self._csi(written)
        if len(written) <= _MEMO_KEY:
            if len(self) >= _MEMO_ENTRIES:
                self.clear()
            self[written] = token
        return token

    def _control(self, code: int) -> Control | None:
        return Control(code) if self._text or code in _SPOKEN_CONTROLS else None

    def _csi(self, written: str) -> Csi | None:
        grammar = _CSI_GRAMMAR.fullmatch(written)
        if not grammar or len(written) > MAX_HEADER + len("\x1b[") + 1:
            return None
        private, parameters, intermediates, final = grammar.groups()
        if not self._text and not private and not intermediates and _DRAWS.match(final):
            return None
        return Csi(private, _parameters(parameters), intermediates, final)


def _parameters(written: str) -> Parameters:
    if not written:
        return ()
    if ":" not in written:  # nearly always
        return tuple(
            [(min(int(value), MAX_VALUE) if value else None,) for value in written.split(";")[:MAX_PARAMETERS]]
        )
    return tuple(
        tuple(min(int(value), MAX_VALUE) if value else None for value in parameter.split(":")[:MAX_PARAMETERS])
        for parameter in written.split(";")[:MAX_PARAMETERS]
    )


def _passed_through(inner: bytes) -> list[Token]:
    """What tmux's passthrough says to the terminal around it, as far as it is a signal.

    A passthrough in it, for a tmux around tmux, is read too: each level doubles every ESC, so that `MAX_STRING` bounds
    the depth at 16.
    """
    return [token for token in Parser(text=False).feed(inner) if isinstance(token, Osc) or token == Control(BEL)]
