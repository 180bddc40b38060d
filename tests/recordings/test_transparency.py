"""The bytes that a child writes and those that come out of the real program are the same, for every recording.

With `program_status = "answer"` the terminal is asked once who it is; that question is ours, and is left out here.

`python -m tests.recordings.test_transparency DIR` does the same for any folder of recordings.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import pytest

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from lifecycle_wrap.terminal.probe import BURST
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
PLAYER = Path(__file__).parents[1] / "support" / "play_cast.py"
UNDOING = re.compile(
    rb"(?:\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][0-9]+[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]|[\r\n])*"
)
"""What follows where the recorded program was killed and left modes behind."""
REPORT = re.compile(rb"\x1b\]7501;(?!\?)[^\x07\x1b]*(?:\x07|\x1b\\)")


def written(cast: Path) -> bytes:
    """Return what the recorded program wrote."""
    events = open_recording(cast)
    return b"".join(event.text.encode("utf-8", "replace") for event in events if event.kind == OUTPUT)


def came_out(cast: Path, folder: Path, program_status: str) -> bytes:
    """Play a recording inside the wrapper and return what reached the outer terminal."""
    config = folder / f"{program_status}.toml"
    config.write_text(f'program_status = "{program_status}"\n[lifecycle]\nadapters = []\nosc = "off"\n')
    argv = [*WRAPPER, "--config", str(config), "--", sys.executable, str(PLAYER), str(cast)]
    output, status = run_to_the_end(argv, isolated_environment(folder), seconds=60)
    assert status == 0, output[-500:]
    return output.replace(BURST, b"", 1) if program_status == "answer" else output


def same_but_for_the_undoing(came: bytes, expected: bytes) -> bool:
    """Tell whether all bytes came, in order, and after them nothing but what undoes left modes."""
    return came.startswith(expected) and UNDOING.fullmatch(came, len(expected)) is not None


def casts() -> list[Path]:
    """Return two recordings of each agent; the command takes all."""
    folders = sorted({cast.parent for cast in RECORDINGS.rglob("*.cast*")})
    chosen = []
    for folder in folders:
        found = sorted(folder.glob("*.cast*"))
        chosen += dict.fromkeys([found[0], found[-1]])
    return chosen


def identifier(cast: Path) -> str:
    """Name a recording in the test's report."""
    return f"{cast.parent.name}/{cast.name.partition('.cast')[0]}"


@pytest.mark.parametrize("cast", casts(), ids=identifier)
def test_every_byte_passes(cast: Path, tmp_path: Path) -> None:
    assert same_but_for_the_undoing(came_out(cast, tmp_path, "pass"), written(cast))


@pytest.mark.parametrize("cast", casts(), ids=identifier)
def test_only_program_status_reports_are_kept_back_from_a_terminal_that_did_not_ask(cast: Path, tmp_path: Path) -> None:
    assert same_but_for_the_undoing(came_out(cast, tmp_path, "answer"), REPORT.sub(b"", written(cast)))


def main() -> int:
    """Compare every recording of a folder both ways and print those that differ."""
    failed = 0
    for cast in sorted(Path(sys.argv[1]).rglob("*.cast*")):
        with tempfile.TemporaryDirectory() as folder:
            expected = written(cast)
            same = same_but_for_the_undoing(came_out(cast, Path(folder), "pass"), expected)
            answered = same_but_for_the_undoing(came_out(cast, Path(folder), "answer"), REPORT.sub(b"", expected))
        if not (same and answered):
            failed += 1
            print(f"differs: {cast} pass={same} answer={answered}", flush=True)
    print(f"{failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
