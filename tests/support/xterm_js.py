"""xterm.js, the terminal of VS Code, as a reader of what came out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("@xterm/headless@6.0.0", "@xterm/addon-progress@0.2.0")
SCRIPT = Path(__file__).with_name("xterm_js.mjs")


@cache
def modules() -> Path:
    """Return the folder with the packages, installed once into the user's cache; skip where there is no node."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("xterm.js needs node and npm")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lifecycle-wrap-tests" / "xterm-6.0.0"
    if not (base / "node_modules" / "@xterm" / "addon-progress").is_dir():
        base.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(base), *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        if done.returncode:
            pytest.skip(f"npm could not install xterm.js: {done.stderr.strip()[-200:]}")
    return base / "node_modules"


def read(data: bytes, rows: int = 30, columns: int = 100) -> dict[str, Any]:
    """Return what xterm.js makes of a terminal's output."""
    command = ["node", str(SCRIPT), str(modules()), str(rows), str(columns)]
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=60)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
