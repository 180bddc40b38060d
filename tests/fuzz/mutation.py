"""Makes inputs from seeds: bytes changed, pieces deleted, doubled, moved, spliced from other seeds, words put in."""

from __future__ import annotations

import random
import re

from .targets import Target

LONGEST = 4000
"""Bytes of an input; what is longer finds no more, and takes longer."""

_NUMBER = re.compile(rb"\d+")
_PARAMETERS = (b"", b"0", b"1", b"2", b"9", b"65535", b"65536", b"4294967296", b"-1", b"1;2", b"1:2:3", b"?")


class Mutator:
    """Draws inputs for a target.

    Args:
        target: whose seeds and words.
        source: decides everything.
    """

    def __init__(self, target: Target, source: random.Random) -> None:
        self._seeds = [*target.seeds(), b""]
        self._words = target.words()
        self._source = source

    def draw(self) -> bytes:
        """Return the next input."""
        source = self._source
        if source.random() < 0.05:
            return source.randbytes(source.randint(0, 300))
        if self._words and source.random() < 0.2:
            return b"".join(source.choices(self._words, k=source.randint(1, 20)))
        data = source.choice(self._seeds)
        for _ in range(source.choice((0, 1, 1, 2, 4, 8))):
            data = self._change(data)[:LONGEST]
        return data

    def _change(self, data: bytes) -> bytes:
        source = self._source
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 1, 1, 2, 8, 64)))
        match source.randrange(7):
            case 0:
                return data[:start] + data[end:]
            case 1:
                return data[:end] + data[start:end] * source.choice((1, 2, 20)) + data[end:]
            case 2:
                return data[:start] + source.randbytes(end - start) + data[end:]
            case 3:
                return (
                    data[:start]
                    + bytes((source.choice(b"\x00\x07\x18\x1a\x1b\\[]P_;:?mHJ\x9c\xe2\xff\n\r\"'"),))
                    + data[end:]
                )
            case 4 if self._words:
                return data[:start] + source.choice(self._words) + data[end:]
            case 5:
                return _NUMBER.sub(lambda match: self._parameter(match.group()), data)
            case _:
                other = source.choice(self._seeds)
                place = source.randint(0, len(other))
                return data[:start] + other[place : place + source.randint(1, 200)] + data[end:]

    def _parameter(self, written: bytes) -> bytes:
        return self._source.choice(_PARAMETERS) if self._source.random() < 0.1 else written
