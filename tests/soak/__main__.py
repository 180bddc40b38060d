"""Hours of an agent's life, and whether we are at their end as we were at their beginning.

    python -m tests.soak --hours 8 --speed 200

An agent's recordings are played one after the other until so many hours of their own time are over. Two things are
looked at, each in the way in which it means something:

- The real program in a PTY, around a player that prints the life SPEED times as fast: memory, descriptors, threads.
  What is scaled is the agent's time alone. Our own times (settling, leases, repetition) are real, so states come and
  go otherwise than in the recordings, and are not looked at here.
- A session in this process, whose clock is the recordings' own: eight hours are eight hours to it, with every deadline
  kept. The state at the end of each recording must be what it is when that recording is played alone.

The exit status is 1 where memory grows, descriptors or threads become more, or a state drifts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .body import live
from .life import recordings
from .mind import drifts

GROWTH_LIMIT = 1 << 20
"""Bytes more in the last third of the time after the warm-up than in the first; less is Python's own reserve."""


def main() -> int:
    """Live, and tell."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--speed", type=float, default=200.0)
    parser.add_argument("--agent", default="claude", help="a folder of fixtures/recordings")
    options = parser.parse_args()
    seconds = options.hours * 3600
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        body = live(options.agent, seconds, options.speed, Path(folder), interval=0.5)
    memory = [sample.memory / (1 << 20) for sample in body.settled]
    took = body.samples[-1].at
    print(
        f"{options.hours:g} h of {options.agent} in {took:.0f} s ({seconds / took:.0f} times), {body.output} bytes out"
    )
    print(f"memory after the warm-up: {min(memory):.1f} to {max(memory):.1f} MiB, {body.slope() / 1024:+.2f} KiB/s,")
    print(f"    {body.growth() / 1024:+.0f} KiB from the first third of it to the last")
    descriptors, threads = body.counts("descriptors"), body.counts("threads")
    for name, (first, last, most) in (("descriptors", descriptors), ("threads", threads)):
        print(f"{name}: {first:g} at first, {last:g} at last, {most} at most")
    count, found = drifts(recordings(options.agent), seconds)
    print(f"{count} recordings in one session of {options.hours:g} h: {len(found)} ended otherwise than alone")
    for drift in found[:20]:
        print(f"    {drift.path.name} at {drift.at:.0f} s: {drift.state}, alone {drift.alone}")
    grows = body.growth() > GROWTH_LIMIT or descriptors[1] > descriptors[0] or threads[1] > threads[0]
    return int(grows or bool(found) or body.status != 0)


if __name__ == "__main__":
    sys.exit(main())
