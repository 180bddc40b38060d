"""Real agents, live, under the real program: the sink has to receive idle, working, blocked, working, idle, release.

Not part of the default run: it needs the lab (a scripted model on loopback and the agents from npm, see its README).

usage: python -m tests.real_agents LAB_FOLDER [AGENT ...]         (default: claude codex)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

EXPECTED = ["idle", "working", "blocked", "working", "idle", "release"]
SCENARIO = "approve-bash"
SECONDS = 180


def perform(lab: Path, folder: Path, arguments: Sequence[str], command: str = "") -> None:
    """Run a scenario of the lab (its file and name), the agent behind `command`; the recording goes to `folder`."""
    environ = {**os.environ, "LAB_WRAP": command, "LAB_OUT": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, *arguments]
    subprocess.run(argv, cwd=lab / "agents", env=environ, check=True, timeout=SECONDS)


def received(lab: Path, folder: Path, arguments: Sequence[str], settings: str = "") -> list[str]:
    """Run a scenario wrapped, with these settings; return what the command sink got, equal neighbours joined."""
    sink = folder / "events.jsonl"
    config = folder / "config.toml"
    script = folder / "sink.py"
    script.write_text(f"import sys\nopen({str(sink)!r}, 'ab').write(sys.stdin.buffer.read())\n")
    argv = json.dumps([sys.executable, str(script)])
    config.write_text(f'{settings}[[lifecycle.commands]]\nname = "file"\ncommand = {argv}\n')
    perform(lab, folder, arguments, f"{sys.executable} -m lifecycle_wrap --config {config} --")
    told: list[str] = []
    for line in sink.read_text().splitlines():
        event = json.loads(line)
        state = event["state"] or event["kind"]
        if told[-1:] != [state]:
            told.append(state)
    return told


def main() -> int:
    """Run the agents that were named and compare."""
    lab, *agents = sys.argv[1:] or [""]
    if not (Path(lab) / "lab.py").is_file():
        print("usage: python -m tests.real_agents LAB_FOLDER [AGENT ...]; LAB_FOLDER holds lab.py", file=sys.stderr)
        return 2
    failed = 0
    for agent in agents or ["claude", "codex"]:
        with tempfile.TemporaryDirectory() as folder:
            told = received(Path(lab).absolute(), Path(folder), (f"{agent}.py", SCENARIO))
        print(f"{'ok' if told == EXPECTED else 'FAILED':6} {agent}: {' '.join(told)}", flush=True)
        failed += told != EXPECTED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
