"""Fuzzing: every reader of foreign bytes against its laws.

    python -m tests.fuzz all --seconds 60            # or a target's name; --runs N for a number of inputs
    python -m tests.fuzz parser --guided --runs 100000    # coverage-guided, with atheris (pip install '.[fuzz]')
    python -m tests.fuzz screens --runs 10000        # our screen against libghostty-vt on mutated recordings
    python -m tests.fuzz parser --repeat FILE        # once more what was found

Prints how many inputs each target took and what broke; exits with 1 if anything did. What broke a law is kept in a
folder (`--keep`). The seed is printed and draws the same inputs again (`--seed`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import guided, runs, screens
from .targets import TARGETS


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=[*TARGETS, "all", "screens"])
    parser.add_argument("--seconds", type=float, help="for all targets together")
    parser.add_argument("--runs", type=int, help="inputs of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--guided", action="store_true", help="coverage-guided, with atheris")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "lifecycle-wrap-fuzz")
    parser.add_argument("--repeat", type=Path, help="an input that broke a law")
    options = parser.parse_args(arguments)
    if options.runs is None and options.seconds is None and options.repeat is None:
        parser.error("give --seconds or --runs")
    if options.target == "screens":
        return screens.main(options.runs, options.seconds, options.seed, options.repeat, options.keep)
    if options.repeat:
        TARGETS[options.target].check(options.repeat.read_bytes())
        print("nothing is broken")
        return 0
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    names = list(TARGETS) if options.target == "all" else [options.target]
    weight = sum(TARGETS[name].weight for name in names)
    found = 0
    print(f"seed {options.seed}")
    for name in names:
        seconds = options.seconds and options.seconds * TARGETS[name].weight / weight
        limits = {"runs": options.runs, "seconds": seconds, "seed": options.seed, "folder": options.keep}
        result = guided.run(name, **limits) if options.guided else runs.run(name, TARGETS[name], **limits)
        found += len(result.found)
        print(f"{name:16} {result.runs:9} inputs {result.seconds:8.1f} s   {len(result.found)} found", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
