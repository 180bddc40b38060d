"""What a life costs the real program: memory, descriptors and threads, from beginning to end."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import psutil

from tests.support.terminal import isolated_environment
from tests.support.wrapped_agent import Wrapped

PLAYER = Path(__file__).with_name("player.py")
CONFIG = '[[lifecycle.commands]]\nname = "sink"\ncommand = ["{true}"]\n'


class Sample(NamedTuple):
    """The program at one moment: seconds since the start, bytes in memory, and counts."""

    at: float
    memory: int
    descriptors: int
    threads: int


class Body(NamedTuple):
    """What was measured.

    Attributes:
        samples: in order.
        status: the exit code.
        output: how many bytes came out.
    """

    samples: tuple[Sample, ...]
    status: int
    output: int

    @property
    def settled(self) -> Sequence[Sample]:
        """The samples after the warm-up: the first quarter, in which everything is loaded and used once."""
        return self.samples[len(self.samples) // 4 :]

    def slope(self) -> float:
        """Return bytes of memory gained a second after the warm-up, by least squares."""
        at, memory = ([sample[column] for sample in self.settled] for column in (0, 1))
        mean_at, mean_memory = fmean(at), fmean(memory)
        spread = sum((one - mean_at) ** 2 for one in at)
        return sum((x - mean_at) * (y - mean_memory) for x, y in zip(at, memory, strict=True)) / spread

    def growth(self) -> float:
        """Return bytes of memory that the last third of the settled time has more than its first."""
        third = len(self.settled) // 3
        first, last = self.settled[:third], self.settled[-third:]
        return fmean(sample.memory for sample in last) - fmean(sample.memory for sample in first)

    def counts(self, column: str) -> tuple[float, float, int]:
        """Return the usual count at the beginning and at the end of the settled time, and the most there was.

        A descriptor more for a moment is a file being written.
        """
        values = [getattr(sample, column) for sample in self.settled]
        half = len(values) // 2
        return median(values[:half]), median(values[half:]), max(values)


def live(agent: str, seconds: float, speed: float, folder: Path, interval: float) -> Body:
    """Run the player under the real program and look at it every `interval` seconds."""
    config = folder / "config.toml"
    config.write_text(CONFIG.format(true="/bin/true"))
    argv = [sys.executable, str(PLAYER), agent, str(seconds), str(speed)]
    samples, output = [], 0
    with Wrapped(argv, isolated_environment(folder), ["--config", str(config)]) as wrapped:
        ours = psutil.Process(wrapped.pid)
        begin = time.monotonic()
        while wrapped.status is None:
            time.sleep(interval)
            try:
                with ours.oneshot():
                    sample = ours.memory_info().rss, ours.num_fds(), ours.num_threads()
            except psutil.Error:
                break  # it has ended
            samples.append(Sample(time.monotonic() - begin, *sample))
            output += len(wrapped.output)
            wrapped.output.clear()
        status = wrapped.wait()
        output += len(wrapped.output)
    return Body(tuple(samples), status, output)
