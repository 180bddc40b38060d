"""Cuts bytes: every reader of a stream has to give the same whole, byte by byte and cut at any place."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def every_cut(data: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, and in two pieces cut at each place."""
    yield [data]
    yield [data[index : index + 1] for index in range(len(data))]
    for cut in range(1, len(data)):
        yield [data[:cut], data[cut:]]


def random_cuts(data: bytes, source: random.Random) -> list[bytes]:
    """Pieces of random length, some empty."""
    pieces = []
    while data:
        length = source.choice((0, 1, 2, 3, 5, 8, 40, len(data)))
        pieces.append(data[:length])
        data = data[length:]
    return pieces


_SNIPPETS: Sequence[bytes] = (
    b"text ", "✳ é 日本 👩‍💻".encode(), b"\xe2\x9c", b"\xff\xc3", b"\x9c\x9d\x90", b"\r\n", b"\x07", b"\x00\x7f",
    b"\x18", b"\x1a", b"\x1b", b"\x1b\\", b"\x1bc", b"\x1b(0", b"\x1b7", b"\x1b[", b"\x1b[31m", b"\x1b[38:2::1:2:3m",
    b"\x1b[?1049h", b"\x1b[?2026h", b"\x1b[?2026l", b"\x1b[>4;2m", b"\x1b[2\r;3H", b"\x1b[1;?m", b"\x1b[3 q",
    b"\x1b]", b"\x1b]0;title\x07", "\x1b]2;✳ t\x1b\\".encode(), b"\x1b]9;4;3;\x07", b"\x1b]9;4;", b"\x1b]9;hello\x1b\\",
    b"\x1b]7501;?\x07", b"\x1b]7501;state=working:app=x\x1b\\", b"\x1b]7501;state=", b"\x1b]133;D;1\x07", b"\x1b]75",
    b"\x1b]99;i=1:d=0;a\x1b\\", b"\x1b]777;notify;a;b\x07", b"\x1b]7;file://h/tmp%20x\x07", b"\x1bP+q544e\x1b\\",
    b"\x1bP", b"\x1bPtmux;\x1b\x1b]0;x\x07\x1b\x1b]7501;?\x1b\x1b\\\x1b\\", b"\x1bPtmux;", b"\x1b_Gi=1;AA\x1b\\",
    b"\x1b^pm\x1b\\", b"\x1bXsos", b"\x1b\x1b]", b"\x1b[200~paste\r\x1b[201~", b"\x1b[27u", b"\x1b[13;1:3u",
    b"\x1b[99;5u",
    b"\x1b[M !!", b"\x1b[<0;1;1M", b"\x1b[?62;4c", b"\x1b[1;1R", b"\x1bOA", b"\x1b[I", b"\r",
    b"\x03", b"0123456789;:", b"mHJh~u",
)  # fmt: skip


def random_stream(source: random.Random, longest: int = 12) -> bytes:
    """Sequences in any order, some of them mutated: a byte changed, left out or put in."""
    stream = bytearray()
    for _ in range(source.randrange(1, longest)):
        stream += source.choice(_SNIPPETS)
    for _ in range(source.choice((0, 0, 1, 3))):
        place = source.randrange(len(stream))
        match source.randrange(3):
            case 0:
                stream[place] = source.randrange(256)
            case 1:
                stream[place : place + 1] = b""
            case _:
                stream.insert(place, source.randrange(256))
        if not stream:
            break
    return bytes(stream)


def same_over_every_cut(data: bytes, read: Callable[[list[bytes]], Result]) -> Result:
    """Read `data` over every cut, check that the results agree, and return them."""
    whole = read([data])
    for pieces in every_cut(data):
        assert read(pieces) == whole, pieces
    return whole
