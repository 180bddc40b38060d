"""ccmanager's published detector, which guesses states from the screen, says the same of a wrapped and of a bare agent.

Not part of the default run: it needs node, and `npm install ccmanager` in some folder.

usage: python -m tests.real_hosts.compare_ccmanager NODE_MODULES RECORDINGS
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from tests.recordings.test_transparency import REPORT, came_out

SCRIPT = Path(__file__).with_name("ccmanager_states.mjs")
STRATEGIES = {"claude": "claude", "codex": "codex", "gemini": "gemini", "copilot": "github-copilot", "cline": "cline"}
STRATEGIES |= {"opencode": "opencode", "kimi": "kimi"}
PIECES = 40


def states(modules: Path, strategy: str, size: tuple[int, int], pieces: list[bytes]) -> list[str]:
    """Return what the detector says after each piece."""
    lines = b"".join(base64.b64encode(piece) + b"\n" for piece in pieces)
    argv = ["node", str(SCRIPT), str(modules), strategy, *map(str, size)]
    done = subprocess.run(argv, input=lines, stdout=subprocess.PIPE, check=True, timeout=120)
    return done.stdout.decode().split()


def compare(modules: Path, cast: Path) -> tuple[list[str], list[str]]:
    """Return the states of a recording's agent bare and wrapped."""
    recording = open_recording(cast)
    size = (recording.columns, recording.rows)
    bare = [event.text.encode("utf-8", "replace") for event in recording if event.kind == OUTPUT]
    step = len(bare) // PIECES + 1
    bare = [b"".join(bare[start : start + step]) for start in range(0, len(bare), step)]
    with tempfile.TemporaryDirectory() as folder:
        output = came_out(cast, Path(folder), "answer")
    wrapped, position = [], 0
    for number in range(1, len(bare) + 1):
        end = len(REPORT.sub(b"", b"".join(bare[:number])))
        wrapped.append(output[position:end])
        position = end
    strategy = STRATEGIES[cast.parent.name.partition("-")[0]]
    return states(modules, strategy, size, bare), states(modules, strategy, size, wrapped)


def main() -> int:
    """Compare all recordings of agents that ccmanager knows."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    modules, folder = (Path(argument).absolute() for argument in sys.argv[1:])
    failed = 0
    for cast in sorted(folder.rglob("*.cast*")):
        if cast.parent.name.partition("-")[0] in STRATEGIES:
            bare, wrapped = compare(modules, cast)
            failed += bare != wrapped
            word = "same     " if bare == wrapped else "DIFFERENT"
            print(word, cast.parent.name, cast.name, *sorted(set(bare)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
