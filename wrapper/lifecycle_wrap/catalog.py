"""The user's profiles on disk.

Owns their reading: `*.toml` in `$XDG_CONFIG_HOME/lifecycle-wrap/profiles/`. What stands in them is the core's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lifecycle_detectors import Catalog

from .agents import profile_folder
from .bounded_toml import MAX_LENGTH


def user_catalog(environ: Mapping[str, str]) -> Catalog:
    """Return the built-in profiles and the user's; what cannot be read is in `Catalog.problems` or left out."""
    texts: dict[str, str] = {}
    for file in sorted(Path(profile_folder(environ)).glob("*.toml")):
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:
                texts[str(file)] = opened.read(MAX_LENGTH + 1)
        except OSError:
            continue
    return Catalog(texts)
