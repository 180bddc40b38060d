"""A short look at each target on every run of the tests, by mutated seeds and drawn grammar; a long one by command.

`test_regressions` keeps what fuzzing has found: each input once broke a law.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle_detectors.events import Size
from tests.fuzz import corpus, runs
from tests.fuzz.operations import reduced
from tests.fuzz.screens import difference, mutated
from tests.fuzz.screens import main as compare
from tests.fuzz.targets import TARGETS

RUNS = {"screen": 60, "session": 40, "profile_loader": 60}
OTHER_RUNS = 150

FOUND: list[tuple[str, bytes]] = [
    # Another process came to the foreground after the agent's end, and the profile's change was told.
    ("session", b"\x00\x18\x50\xfb\x00\xfc\x01\xff\x04"),
    # JSON and TOML that nest deeply, and numbers that are none or too long, went past the errors that were expected.
    ("register", b"[" * 100_000),
    ("journal", b'{"sequence": 1e999, "timestamp": ""}\n' + b"[" * 100_000 + b"\n"),
    ("profile_loader", b"x = " + b"[" * 20_000),
    ("profile_loader", b"schema = " + b"9" * 5000),
    ("config_loader", b"x = " + b"[" * 20_000),
    ("config_loader", b"notify_turn_after = " + b"9" * 5000),
]


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_seeds(name: str, tmp_path: Path) -> None:
    result = runs.run(name, TARGETS[name], runs=RUNS.get(name, OTHER_RUNS), seconds=None, seed=0, folder=tmp_path)
    assert result.found == []
    assert result.runs == RUNS.get(name, OTHER_RUNS)


STREAM_TARGETS = ("parser", "screen", "session", "keyboard", "osc_filter")
stream_parts = st.lists(st.one_of(st.sampled_from(corpus.story_words()), st.binary(max_size=6)), max_size=30)


@pytest.mark.parametrize("name", STREAM_TARGETS)
def test_drawn_streams(name: str) -> None:
    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(stream_parts)
    def check(parts: list[bytes]) -> None:
        TARGETS[name].check(b"".join(parts))

    check()


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_regressions(name: str, data: bytes) -> None:
    TARGETS[name].check(data)


def test_what_breaks_a_law_is_kept_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def check(data: bytes) -> None:
        assert b"\x1b" not in data, "an ESC"

    target = TARGETS["parser"]._replace(check=check)
    result = runs.run("parser", target, runs=100, seconds=None, seed=0, folder=tmp_path)
    [path] = result.found
    assert b"\x1b" in path.read_bytes()
    assert f"python -m tests.fuzz parser --repeat {path}" in capsys.readouterr().out


def test_mutated_recordings_look_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(200, None, 0, None, tmp_path) == 0, capsys.readouterr().out


def test_a_disagreement_would_be_seen_and_reduced() -> None:
    source = random.Random(1)
    size, operations = mutated(source)
    unlike = [*operations, b"\x1b[Habc\x1b[?69h\x1b[2;3s\x1b[H", Size(5, 20), b"z"]
    assert difference(size, operations) == ""
    least = reduced(unlike, lambda some: bool(difference(size, some)))
    assert len(b"".join(one for one in least if isinstance(one, bytes))) <= 20
