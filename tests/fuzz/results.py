"""What a run came to, and the files of what it found. Imports nothing that is fuzzed: atheris has to do that."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple


class Result(NamedTuple):
    """What a run came to."""

    runs: int
    seconds: float
    found: list[Path]


def keep(name: str, data: bytes, folder: Path) -> Path:
    """Write an input that broke a law, named after its content."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path
