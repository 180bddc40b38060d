"""`lifecycle-wrap record`: the normal run, and an asciicast of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lifecycle_wrap.arguments import Options
from lifecycle_wrap.recordings.recorder import RecorderOptions


def record(options: Options, recorder: RecorderOptions, argv: Sequence[str], *, overwrite: bool) -> int:
    """Run an agent and record it; return the exit status."""
    problem = _problem(recorder.path, overwrite=overwrite)
    if problem:
        print(f"lifecycle-wrap: {problem}", file=sys.stderr)
        return 2
    print(
        f"lifecycle-wrap: recording to {recorder.path}: it holds all that the agent prints"
        f"{' and all that you type' if recorder.input else ''}, secrets too",
        file=sys.stderr,
    )
    options.record = recorder
    from lifecycle_wrap.launch import run

    return run(options, argv)


def _problem(path: Path, *, overwrite: bool) -> str:
    if not (os.isatty(0) and os.isatty(1)):
        return "record: stdin and stdout have to be a terminal; run it in one"
    if path.exists() and not overwrite:
        return f"{path}: it is there already; name another file or add --overwrite"
    try:
        with open(path, "ab"):
            return ""
    except OSError as error:
        return f"{path}: cannot be written ({error.strerror}); name a file that can"
