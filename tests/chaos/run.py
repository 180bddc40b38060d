"""One chaos run from its seed: set up, done, looked at, cleared away."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from tests.support.real_terminal import RealTerminal

from .driver import Driver, Stuck
from .laws import Laws
from .plan import draw
from .surroundings import Surroundings


class Result(NamedTuple):
    """What came of a run.

    Attributes:
        seed: its seed.
        faults: what was to happen.
        seconds: how long it took.
        violations: a line for each law that did not hold.
    """

    seed: int
    faults: tuple[str, ...]
    seconds: float
    violations: tuple[str, ...]


def run(seed: int, only: Collection[str] = (), stall: float = 0.5) -> Result:
    """Do one run; the arguments are those of `plan.draw`."""
    plan = draw(seed, only, stall)
    begin = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="ch"))
    around = Surroundings(plan, folder)
    driver = Driver(plan, around, folder)
    try:
        with RealTerminal(around.argv(driver.orders.argv), around.environ) as terminal:
            around.seat(terminal.pid)
            try:
                driver.play(terminal)
                # What comes from now on is no agent's: where we were killed, its modes still make the terminal report.
                came = bytes(terminal.output)
                terminal.resize(30, 100) if terminal.master >= 0 else None
                violations = tuple(Laws(plan, around, driver, terminal, came).broken())
            except Stuck as stuck:
                violations = (str(stuck),)
    finally:
        driver.orders.close()
        around.close()
        shutil.rmtree(folder, ignore_errors=True)
    return Result(seed, tuple(sorted(plan.faults)), time.monotonic() - begin, violations)
