"""Runs one target under atheris (libFuzzer): inputs that reach new code of ours are kept and mutated further.

`python -m tests.fuzz.guided TARGET SEEDS_FOLDER LIBFUZZER_OPTIONS...`, a process of its own: libFuzzer ends the process
itself, and what it watches has to be imported under its instrumentation. `python -m tests.fuzz --guided` starts it.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .results import Result

_EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
_COVERAGE = re.compile(r"cov: (\d+)")
LONGEST = 2000


def run(name: str, *, runs: int | None, seconds: float | None, seed: int, folder: Path) -> Result:
    """Start the process for one target and read what it reports."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    before = set(folder.iterdir())
    with tempfile.TemporaryDirectory(prefix="fuzz-seeds-") as seeds:
        command = [sys.executable, "-m", "tests.fuzz.guided", name, seeds, f"-artifact_prefix={folder}/{name}-"]
        command += [f"-seed={seed or 1}", f"-max_len={LONGEST}", "-print_final_stats=1", "-rss_limit_mb=0"]
        command += [f"-runs={runs}"] if runs is not None else []
        command += [f"-max_total_time={max(1, round(seconds))}"] if seconds is not None else []
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    found = sorted(set(folder.iterdir()) - before)
    executed = _EXECUTED.search(done.stderr)
    if executed is None or (done.returncode and not found):
        raise RuntimeError(f"{name}: atheris failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    if found:
        print(
            f"{done.stdout[-3000:]}\n" + "".join(f"  python -m tests.fuzz {name} --repeat {path}\n" for path in found)
        )
    coverage = _COVERAGE.findall(done.stderr)
    print(f"{name}: coverage {coverage[0]} -> {coverage[-1]}" if coverage else f"{name}: no coverage")
    return Result(int(executed[1]), time.monotonic() - began, found)


def main(arguments: list[str]) -> None:
    """Be the fuzzed process; libFuzzer does not return."""
    import atheris

    name, seeds, *options = arguments
    with atheris.instrument_imports(include=["lifecycle_detectors", "lifecycle_wrap"]):
        from .targets import TARGETS
    target = TARGETS[name]
    for seed in target.seeds():
        (Path(seeds) / hashlib.sha256(seed).hexdigest()).write_bytes(seed[:LONGEST])
    atheris.Setup([sys.argv[0], *options, seeds], target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
