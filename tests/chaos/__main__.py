"""Random interleavings of everything that can go wrong, around the real program.

    python -m tests.chaos --runs 2000 --seed 1

Each run is drawn from its own seed (`--seed` and the numbers after it): what the agent prints, the keys, and the faults
that `plan.CHANCES` lists. After each, the laws of `laws` are looked at. A violation is told with the command that
repeats its run alone. The exit status is 1 if there was one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from .plan import CHANCES
from .run import Result, run


def main() -> int:
    """Do the runs."""
    options = _options()
    print(f"seed {options.seed}, {options.runs} runs, {options.workers} at once", flush=True)
    begin = time.monotonic()
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        seeds = range(options.seed, options.seed + options.runs)
        running = [pool.submit(run, seed, options.only, options.stall) for seed in seeds]
        results: list[Result] = []
        for done in as_completed(running):
            results.append(_told(done.result(), options))
            if len(results) % 100 == 0:
                print(f"{len(results)} runs in {time.monotonic() - begin:.0f} s", flush=True)
    broken = [result for result in results if result.violations]
    faults = Counter(fault for result in results for fault in result.faults)
    print(f"{len(results)} runs in {time.monotonic() - begin:.0f} s, {len(broken)} with violations")
    print("faults:", ", ".join(f"{name} {count}" for name, count in faults.most_common()))
    return int(bool(broken))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--stall", type=float, default=0.5, help="longest time the terminal stops reading, in seconds")
    parser.add_argument("--only", type=_faults, default=(), help=f"of {', '.join(CHANCES)}: these, each time")
    return parser.parse_args()


def _faults(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(CHANCES):
        raise argparse.ArgumentTypeError(f"no such fault: {', '.join(sorted(unknown))}")
    return names


def _told(result: Result, options: argparse.Namespace) -> Result:
    for violation in result.violations:
        print(f"seed {result.seed} ({', '.join(result.faults)}; {result.seconds:.1f} s): {violation}")
    if result.violations:
        only = f" --only {','.join(options.only)}" if options.only else ""
        stall = f" --stall {options.stall:g}"
        print(f"    python -m tests.chaos --runs 1 --seed {result.seed}{only}{stall}", flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
