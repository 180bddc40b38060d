"""The user's profiles on disk.

Owns where they are: `*.toml` in `$XDG_CONFIG_HOME/lifecycle-wrap/profiles/`. What stands in them is the core's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lifecycle_detectors import Catalog

MAX_PROFILE_BYTES = 1 << 18
"""A profile is a page or two; what is larger is none."""


def profile_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's profiles; it may not exist."""
    home = environ.get("HOME", "/")
    base = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    return Path(base) / "lifecycle-wrap" / "profiles"


def user_catalog(environ: Mapping[str, str]) -> Catalog:
    """Return the built-in profiles and the user's; what cannot be read is in `Catalog.problems` or left out."""
    texts: dict[str, str] = {}
    for file in sorted(profile_folder(environ).glob("*.toml")):
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:
                texts[str(file)] = opened.read(MAX_PROFILE_BYTES)
        except OSError:
            continue
    return Catalog(texts)
