r"""Takes chosen OSC sequences out of the agent's output, or puts others in their place, and lets every other byte pass.

Owns where a chosen sequence begins and ends in a stream that is cut anywhere, and that what is left is still what the
agent meant: a sequence that an OSC cut short stays cut short without it. Which sequences, and what becomes of them, the
caller decides. The grammar is parser.py's, whose tokens the tests hold against it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from .controls import BEL, ST
from .parser import Osc

MAX_HELD = 8192
"""Bytes of a chosen sequence, held until its end comes; a longer one passes. 7501 may have 4,096, 9;4 needs twenty."""

_CAN = b"\x18"
_STRING_START = re.compile(rb"\x1b[\]P]")
_OSC_STOP = re.compile(rb"[\x07\x18\x1a\x1b]")
_TMUX = b"\x1bPtmux;"
_IN_TMUX = re.compile(rb"(?:[^\x18\x1a\x1b]++|\x1b\x1b)*+")
"""The inside of tmux's passthrough: an ESC there is doubled, so that a doubled `ESC ]` begins no sequence."""

_UNFINISHED = re.compile(
    rb"\x1b(?:\](?P<osc>[^\x07\x18\x1a]*)|[P_^X](?P<string>[^\x18\x1a]*)|\[(?P<csi>[^@-~\x18\x1a]*)|[^0-~\x18\x1a]*)"
)
_GOES_ON = {
    "osc": re.compile(rb"[^\x07\x18\x1a]*"),
    "string": re.compile(rb"[^\x18\x1a]*"),
    "csi": re.compile(rb"[^@-~\x18\x1a]*"),
    None: re.compile(rb"[^0-~\x18\x1a]*"),
}
"""What may follow an unfinished sequence (by its group in `_UNFINISHED`) without ending it."""


class OscFilter:
    """Filters one stream.

    Args:
        numbers: the OSC numbers that are looked at.
        decide: gets a whole sequence with one of these numbers and says what goes out in its place: None for the
            sequence as it came, `b""` for nothing, else whole sequences.
    """

    def __init__(self, numbers: Collection[int], decide: Callable[[Osc], bytes | None]) -> None:
        written = [str(number).encode("ascii") for number in numbers]
        starts = [b"\x1b]" + number for number in written]
        self._decide = decide
        self._start = re.compile(rb"\x1bPtmux;|\x1b\](?=(?:%s)[;\x07\x18\x1a\x1b])" % b"|".join(written))
        self._beginnings = {whole[:length] for whole in [*starts, _TMUX] for length in range(1, len(whole) + 1)} - {
            _TMUX
        }
        self._longest_beginning = max(map(len, self._beginnings))
        self._held = b""
        self._in_tmux = False
        self._unfinished: re.Pattern[bytes] | None = None
        """What continues the sequence that the bytes gone out so far leave unfinished; None at ground."""

    def filter(self, data: bytes) -> bytes:
        """Take the next bytes and give those that go out now.

        Held back is only what may begin a chosen sequence, or is one whose end has not come. Where nothing is held and
        nothing to be decided, what comes back is the argument itself. If it raises (there is no memory, `decide` has
        failed), it holds what it held before.
        """
        held = self._held
        try:
            return self._filter(held + data if held else data)
        except BaseException:
            self._held = held
            raise

    def _filter(self, data: bytes) -> bytes:
        self._held = b""
        if not self._in_tmux and not _STRING_START.search(data) and not self._beginning(data):
            self._pass(data, 0, len(data))
            return data
        parts: list[bytes] = []
        position = 0
        while position < len(data):
            position = (self._step_in_tmux if self._in_tmux else self._step)(data, position, parts)
        return b"".join(parts)

    def flush(self) -> bytes:
        """The stream ends: give what is held."""
        held, self._held = self._held, b""
        return held

    # Each step reads from `start` on, adds to the parts that go out, and returns where the next step starts.

    def _step(self, data: bytes, start: int, parts: list[bytes]) -> int:
        found = self._start.search(data, start)
        if not found:
            end = len(data) - len(self._beginning(data[start:]))
            self._held = data[end:]
            parts.append(self._pass(data, start, end))
            return len(data)
        if found.group() == _TMUX:
            self._in_tmux = True
            parts.append(self._pass(data, start, found.end()))
            return found.end()
        parts.append(self._pass(data, start, found.start()))
        return self._chosen(data, found.start(), parts)

    def _chosen(self, data: bytes, start: int, parts: list[bytes]) -> int:
        """Deal with the chosen sequence that begins at `start`."""
        stop = _OSC_STOP.search(data, start + 2)
        if (not stop or data[stop.start() :] == b"\x1b") and len(data) - start <= MAX_HELD:
            self._held = data[start:]
            return len(data)
        end = stop.end() + data.startswith(b"\x1b\\", stop.start()) if stop else len(data)
        whole = stop and (data[end - 1] == BEL or data[end - 2 : end] == ST)
        instead = None
        if stop and whole and end - start <= MAX_HELD:
            instead = self._decide(Osc(data[start + 2 : stop.start()], data[end - 1] == BEL))
        if instead is None:
            end = stop.start() if stop and not whole else end
            parts.append(self._pass(data, start, end))
        else:
            if self._unfinished:
                parts.append(_CAN)
            self._unfinished = None
            parts.append(instead)
        return end

    def _step_in_tmux(self, data: bytes, start: int, parts: list[bytes]) -> int:
        inside = _IN_TMUX.match(data, start)
        end = inside.end() if inside else start
        if data[end:] == b"\x1b":
            self._held = b"\x1b"
            parts.append(data[start:end])
            return len(data)
        self._in_tmux = end == len(data)
        parts.append(data[start:end])
        return end

    def _pass(self, data: bytes, start: int, end: int) -> bytes:
        """Let `data[start:end]` go out, and keep whether it leaves a sequence unfinished."""
        escape = data.rfind(b"\x1b", start, end)
        if escape >= 0:
            unfinished = _UNFINISHED.fullmatch(data, escape, end)
            self._unfinished = _GOES_ON[unfinished.lastgroup] if unfinished else None
        elif self._unfinished and not self._unfinished.fullmatch(data, start, end):
            self._unfinished = None
        return data if end - start == len(data) else data[start:end]

    def _beginning(self, data: bytes) -> bytes:
        """The end of `data` that may begin a chosen sequence or tmux's passthrough."""
        escape = data.rfind(b"\x1b", -self._longest_beginning)
        tail = data[escape:] if escape >= 0 else b""
        return tail if tail in self._beginnings else b""
