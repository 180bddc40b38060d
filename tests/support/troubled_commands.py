"""Commands that hang, die, flood or are not there: what a host or a sink may be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FAULTS = {
    "hangs": "sleep 600",
    "answers slowly": "sleep 0.3",
    "dies": "kill -KILL $$",
    "floods": "cat /dev/zero",
    "leaves a grandchild": "sleep 600 & exit 0",
    "leaves a grandchild and fails": "sleep 600 & exit 1",
    "floods with a grandchild": "cat /dev/zero & exit 0",
    "never reads": "exec sleep 600 < /dev/null",
    "cannot be found": "",
    "cannot be executed": "",
}
"""What is wrong, and the script of sh that has it."""


def binaries(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Install, for each fault, commands that have it; returns the folders."""
    made = {}
    for number, (fault, body) in enumerate(FAULTS.items()):
        made[fault] = folder / str(number)
        made[fault].mkdir()
        for name in names if fault != "cannot be found" else ():
            script = made[fault] / name
            script.write_text(f"#!/bin/sh\n{body}\n")
            script.chmod(0o644 if fault == "cannot be executed" else 0o755)
    return made
