"""Reading recordings: both versions, gzip, odd characters, and one line with place and remedy for all that is wrong."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle_wrap.recordings.recording import (
    MAX_CELLS,
    RecordedEvent,
    Recording,
    RecordingError,
    open_recording,
    parse_resize,
)

HEADER = {"version": 2, "width": 80, "height": 24, "title": "demo", "command": "claude", "env": {"TERM": "xterm"}}
HEADER_3 = {"version": 3, "term": {"cols": 80, "rows": 24}, "command": "claude"}


def write(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    data = ("\n".join(texts) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["demo.cast", "demo.cast.gz"])
def test_version_2(tmp_path: Path, name: str) -> None:
    recording = open_recording(write(tmp_path / name, HEADER, [0.5, "o", "a\u2028b\u0085c"], "", [2, "i", "x"]))
    assert (recording.version, recording.columns, recording.rows) == (2, 80, 24)
    assert (recording.title, recording.command, recording.environment) == ("demo", "claude", {"TERM": "xterm"})
    assert list(recording) == [RecordedEvent(0.5, "o", "a\u2028b\u0085c"), RecordedEvent(2.0, "i", "x")]
    assert list(recording) == list(recording), "each walk begins anew"


def test_version_3_has_intervals_and_comments(tmp_path: Path) -> None:
    file = write(tmp_path / "demo.cast", HEADER_3, [1, "o", "a"], "# a comment", [0.5, "o", "b"], [0.25, "x", "0"])
    recording = open_recording(file)
    assert (recording.version, recording.columns, recording.rows) == (3, 80, 24)
    assert [(event.at, event.kind) for event in recording] == [(1.0, "o"), (1.5, "o"), (1.75, "x")]


def test_fields_of_another_type_are_left_out(tmp_path: Path) -> None:
    header = {**HEADER, "title": 3, "command": None, "env": [1]}
    recording = open_recording(write(tmp_path / "demo.cast", header))
    assert (recording.title, recording.command, recording.environment) == ("", "", {})


def refused(path: Path) -> str:
    with pytest.raises(RecordingError) as caught:
        list(open_recording(path))
    told = str(caught.value)
    assert "\n" not in told
    assert told.startswith(str(path))
    assert ";" in told, f"no remedy: {told}"
    return told


HEADERS = {
    "no JSON": "asciicast",
    "no table": "[]",
    "no version": {"width": 80, "height": 24},
    "another version": {**HEADER, "version": 1},
    "no size": {"version": 2},
    "a size of text": {**HEADER, "width": "80"},
    "a size of nothing": {**HEADER, "height": 0},
    "a boolean for a size": {**HEADER, "height": True},
    "a size no terminal has": {**HEADER, "width": MAX_CELLS + 1},
    "version 3 without a terminal": {"version": 3, "width": 80, "height": 24},
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_cannot_be_used(tmp_path: Path, case: str) -> None:
    assert ":1: " in refused(write(tmp_path / "demo.cast", HEADERS[case]))


EVENTS = {
    "no JSON": "[1, ",
    "a number": 3,
    "nothing in it": [],
    "two parts": [1, "o"],
    "no time": ["o", "o", "x"],
    "a time before the start": [-1, "o", "x"],
    "a time that is none": '[NaN, "o", "x"]',
    "a boolean for a time": [True, "o", "x"],
    "a kind that is none": [1, 2, "x"],
    "no text": [1, "o", None],
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("case", EVENTS)
def test_an_event_that_is_none_is_told_with_its_line(tmp_path: Path, case: str) -> None:
    assert ":3: " in refused(write(tmp_path / "demo.cast", HEADER, [0, "o", "fine"], EVENTS[case]))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nothing.cast")
    assert "directory" in refused(tmp_path).lower()
    (tmp_path / "empty.cast").write_bytes(b"")
    assert "is empty" in refused(tmp_path / "empty.cast")
    (tmp_path / "latin.cast").write_bytes(json.dumps(HEADER).encode() + b'\n[0, "o", "\xe9"]\n')
    assert "UTF-8" in refused(tmp_path / "latin.cast")
    (tmp_path / "plain.cast.gz").write_bytes(b"no gzip")
    assert "cannot be read" in refused(tmp_path / "plain.cast.gz")
    whole = gzip.compress(json.dumps(HEADER).encode() + b"\n" + b'[0, "o", "x"]\n' * 1000)
    (tmp_path / "cut.cast.gz").write_bytes(whole[: len(whole) // 2])
    assert "cannot be read" in refused(tmp_path / "cut.cast.gz")


@pytest.mark.parametrize(
    ("text", "size"),
    [("80x24", (80, 24)), ("1x1", (1, 1)), ("0x5", None), ("80", None), ("80x", None), ("-1x5", None), ("٣x٣", (3, 3))],
)  # fmt: skip
def test_resizes(text: str, size: tuple[int, int] | None) -> None:
    assert parse_resize(text) == size


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_file_does_more_than_be_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "any.cast"
    file.write_bytes(json.dumps(HEADER).encode() + b"\n" + data)
    with contextlib.suppress(RecordingError):
        recording = open_recording(file)
        assert isinstance(recording, Recording)
        list(recording)
