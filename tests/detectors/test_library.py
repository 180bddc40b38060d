"""`lifecycle_detectors` as a library: the example in its docstring, run as it stands on a recording."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import lifecycle_detectors
from lifecycle_wrap.recordings.recording import OUTPUT, open_recording

TURN = Path(__file__).parents[2] / "fixtures" / "recordings" / "claude" / "approve-bash.cast"


def example() -> str:
    found = re.search(r"(?:^    .*\n|^\n)+", (lifecycle_detectors.__doc__ or "").partition("::\n\n")[2], re.MULTILINE)
    assert found
    return textwrap.dedent(found.group())


def test_the_example_tells_the_states_of_a_recording() -> None:
    output = [(event.at, event.text.encode()) for event in open_recording(TURN) if event.kind == OUTPUT]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example(), {"terminal_output": output})
    states = [line.split()[1] for line in printed.getvalue().splitlines()]
    assert states == ["idle", "working", "blocked", "working", "idle"]


def test_the_library_stands_alone() -> None:
    """Nothing of the wrapper comes with it."""
    program = f"import sys\nterminal_output = []\n{example()}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "lifecycle_detectors" in loaded
    assert not {"lifecycle_wrap", "psutil", "typer"} & loaded
