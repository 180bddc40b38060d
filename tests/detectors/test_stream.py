"""What the stream says of the bytes that it has just read."""

from __future__ import annotations

import pytest

from lifecycle_detectors.events import Size
from lifecycle_detectors.stream import OutputStream


@pytest.mark.parametrize(
    "data",
    [b"text\r\n\t", b"\x1b[1;31mred\x1b[m", b"\x1b[3;4H\x1b[2K\x1b[5A", b"\x1b[?2026hframe\x1b[?2026l", b"\x1b[3"],
)
def test_what_only_draws(data: bytes) -> None:
    stream = OutputStream(Size(24, 80))
    stream.feed(data)
    assert stream.only_drew


@pytest.mark.parametrize(
    ("before", "data"),
    [
        (b"", b"text\x1b[?25l"),
        (b"", b"\x1b[3;20r"),
        (b"", b"\x1b[3g"),
        (b"", b"\x1bH"),
        (b"", b"\x0e"),
        (b"", b"\x1b]0;title"),
        (b"\x1b]0;", b"title\r\n"),
        (b"\x1b]0;title", b"\x18text"),
        (b"\x1bP1;2", b"3"),
        (b"\x1bPq", b"picture\r\n"),
        (b"\x1b[?25", b"l"),
    ],
)
def test_what_does_more(before: bytes, data: bytes) -> None:
    stream = OutputStream(Size(24, 80))
    stream.feed(before)
    stream.feed(data)
    assert not stream.only_drew
    stream.feed(b"\x1b\\")
    stream.feed(b"text")
    assert stream.only_drew
