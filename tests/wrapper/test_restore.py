"""Every recording, played through the real program into libghostty-vt: the terminal ends as if the bytes went there.

With everything of ours switched on the difference is exactly progress, OSC 7501, notifications and the title.

`python -m tests.wrapper.test_restore DIR` does the same for any folder of recordings.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from lifecycle_wrap.terminal.probe import BURST
from tests.support.engine import Engine
from tests.support.real_terminal import RealTerminal, TitledEngine
from tests.support.staying_player import PLAYED
from tests.support.terminal import WRAPPER, isolated_environment

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
PLAYER = Path(__file__).parents[1] / "support" / "staying_player.py"
GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}
BEFORE = b"\x1b[?2027h\x1b]2;the shell's\x07$ first command\r\nits output\r\n$ agent\r\n"

ALL_OFF = 'program_status = "pass"\nnotify = "off"\n[lifecycle]\nadapters = []\nosc = "off"\n'
ALL_ON = (
    'title = "state"\nnotify = "always"\nnotify_turn_after = 0\n[lifecycle]\nadapters = []\nosc = "on"\ntitles = true\n'
)

OURS = re.compile(
    rb"\x1b\](?:9;4(?:;[^\x07\x1b]*)?|7501;[^\x07\x1b]*|[02];[^\x07\x1b]*|777;notify;[^\x07\x1b]*)(?:\x07|\x1b\\)"
)
"""What the difference may be: taken out, replaced or put in."""

FEW = (
    "claude/approve-bash.ghostty14",
    "codex/plan",
    "programs/altscreen",
)


def casts() -> list[Any]:
    """Return all recordings, those that are not among the few marked as slow."""
    found = sorted(RECORDINGS.rglob("*.cast*"))
    return [pytest.param(cast, id=_name(cast), marks=[] if _name(cast) in FEW else pytest.mark.slow) for cast in found]


def _name(cast: Path) -> str:
    return f"{cast.parent.name}/{cast.name.partition('.cast')[0]}"


def written(cast: Path) -> bytes:
    """Return what the recorded program wrote."""
    return b"".join(event.text.encode("utf-8", "replace") for event in open_recording(cast) if event.kind == OUTPUT)


def played(cast: Path, folder: Path, config: str) -> tuple[dict[str, Any], bytes]:
    """Play a recording under the program; return the terminal's state and the bytes that came out by then."""
    file = folder / "config.toml"
    file.write_text(config)
    profile = cast.parent.name.partition("-")[0]
    options = ["--profile", profile] if (RECORDINGS / cast.parent.name).is_dir() and profile in KNOWN else []
    argv = [*WRAPPER, "--config", str(file), *options, "--", sys.executable, str(PLAYER), str(cast)]
    with RealTerminal(argv, isolated_environment(folder, **GHOSTTY)) as terminal:
        terminal.wait_for_bytes(PLAYED)
        return terminal.state(), bytes(terminal.output)


def _profiles() -> frozenset[str]:
    from lifecycle_detectors import Catalog

    return frozenset(Catalog().names())


KNOWN = _profiles()


def direct(data: bytes) -> dict[str, Any]:
    """Return the state of the terminal when the bytes go there directly."""
    engine = TitledEngine(Engine())
    engine.feed(BEFORE + data)
    return engine.engine.state() | {"title": engine.engine.title()}


Ending = dict[str, Any]
"""The terminal's state and, as `bytes`, what came out."""


def with_everything_off(cast: Path, folder: Path) -> tuple[Ending, Ending]:
    """Return how the terminal ends through us, and how it would without us."""
    state, came = played(cast, folder, ALL_OFF)
    expected = written(cast) + PLAYED
    return state | {"bytes": came}, direct(expected) | {"bytes": expected}


def with_everything_on(cast: Path, folder: Path) -> tuple[Ending, Ending]:
    """The same but for what may differ."""
    state, came = played(cast, folder, ALL_ON)
    expected = written(cast) + PLAYED
    ours, theirs = OURS.sub(b"", came.replace(BURST, b"", 1)), OURS.sub(b"", expected)
    return state | {"title": None, "bytes": ours}, direct(expected) | {"title": None, "bytes": theirs}


@pytest.mark.parametrize("cast", casts())
def test_with_everything_off_the_terminal_is_the_same(cast: Path, tmp_path: Path) -> None:
    through_us, without_us = with_everything_off(cast, tmp_path)
    assert through_us == without_us


@pytest.mark.parametrize("cast", casts())
def test_with_everything_on_the_difference_is_what_is_ours(cast: Path, tmp_path: Path) -> None:
    through_us, without_us = with_everything_on(cast, tmp_path)
    assert through_us == without_us


def main() -> int:
    """Compare every recording of a folder both ways and print those that differ, and in what."""
    failed = 0
    recordings = sorted(Path(sys.argv[1]).rglob("*.cast*"))
    for cast in recordings:
        for compare in (with_everything_off, with_everything_on):
            with tempfile.TemporaryDirectory() as folder:
                through_us, without_us = compare(cast, Path(folder))
            different = [name for name in without_us if through_us[name] != without_us[name]]
            failed += bool(different)
            if different:
                print(f"differs: {cast} {compare.__name__} {' '.join(different)}", flush=True)
    print(f"{len(recordings)} recordings, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
