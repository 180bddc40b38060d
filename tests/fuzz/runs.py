"""Runs a target over mutated inputs, and keeps what breaks it.

Owns the loop, its limits, and the files of broken laws. The coverage-guided engine is in `guided`.
"""

from __future__ import annotations

import random
import time
import traceback
from pathlib import Path

from .mutation import Mutator
from .results import Result, keep
from .targets import Target

MOST_FOUND = 20
"""Different broken inputs after which a target is left: the rest mostly says the same."""


def run(name: str, target: Target, *, runs: int | None, seconds: float | None, seed: int, folder: Path) -> Result:
    """Check mutated inputs until one of the limits is reached.

    Args:
        name: the target's name, for the files.
        target: what to check.
        runs, seconds: the limits; None for no limit.
        seed: the same seed draws the same inputs.
        folder: gets a file for each input that broke a law.
    """
    mutator = Mutator(target, random.Random(f"{name} {seed}"))
    found: dict[str, Path] = {}
    began = time.monotonic()
    count = 0
    while (runs is None or count < runs) and (seconds is None or time.monotonic() - began < seconds):
        data = mutator.draw()
        count += 1
        try:
            target.check(data)
        except KeyboardInterrupt:
            break
        except Exception as error:  # any: that is what is looked for
            place = traceback.extract_tb(error.__traceback__)[-1]
            known = f"{type(error).__name__} {place.filename}:{place.lineno}"
            if known not in found:
                found[known] = keep(name, data, folder)
                print(f"{name}: {known}: {str(error)[:200]}\n  python -m tests.fuzz {name} --repeat {found[known]}")
            if len(found) >= MOST_FOUND:
                break
    return Result(count, time.monotonic() - began, list(found.values()))
