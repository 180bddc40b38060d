"""`lifecycle-wrap demo`: the demo agent under the wrapper, and after it what the hosts were told.

Runs the real program as its own child, with a command sink that appends to a file: what the demo prints at the end is
what any program around an agent would have read. Where there is no terminal it makes one and lets the agent play its
user too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

SINK = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"


def demo(*, auto: bool) -> int:
    """Run it; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="lifecycle-wrap-demo-") as folder:
        told = Path(folder, "told.jsonl")
        status = _run(_command(Path(folder), told, auto=auto or not _has_terminal()))
        _print_told(told)
    return status


def _has_terminal() -> bool:
    return os.isatty(0) and os.isatty(1)


def _command(folder: Path, told: Path, *, auto: bool) -> list[str]:
    config = folder / "config.toml"
    sink = json.dumps([sys.executable, "-c", SINK, str(told)])
    config.write_text(f'[[lifecycle.commands]]\nname = "demo"\ncommand = {sink}\n')
    agent = [sys.executable, "-m", "lifecycle_wrap.commands.demo_agent", *(["--auto"] if auto else [])]
    return [sys.executable, "-m", "lifecycle_wrap", "--config", str(config), "--", *agent]


def _run(command: list[str]) -> int:
    if _has_terminal():
        return subprocess.run(command, check=False).returncode
    import pty

    return os.waitstatus_to_exitcode(pty.spawn(command))


def _print_told(told: Path) -> None:
    print("\nWhat a host around it was told, as it happened:\n")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    for line in lines:
        event = json.loads(line)
        at = datetime.fromisoformat(event["timestamp"][:19]).strftime("%H:%M:%S")
        print(f"  {at} UTC  {event['state'] or event['kind']:8}  {event['message']}".rstrip())
    print("\nNow put it before a real agent:  lifecycle-wrap -- claude")
