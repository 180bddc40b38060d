"""The README's first command: the demo agent under the real program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.support.terminal import WRAPPER, isolated_environment


def test_the_demo_shows_what_a_host_was_told(tmp_path: Path) -> None:
    run = subprocess.run(
        [*WRAPPER, "demo"],
        env=isolated_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = run.stdout.partition("What a host around it was told")[2]
    states = re.findall(r"UTC  (\w+)", told)
    # On a busy machine the first idle may be over before what looks at it is loaded.
    assert states[states[0] == "idle" :] == ["working", "blocked", "working", "idle", "release"]
    assert "Waiting for approval" in told
