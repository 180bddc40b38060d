"""What a host in trouble costs the agent: how long a key takes to its echo, with it, with a good host and with none.

usage: python -m tests.bench.troubled_hosts [--rounds N] [--seconds N]

The agent changes its state three times a second, so that every host is told all the time; a key is typed every few
milliseconds. Each kind of host is tried in each kind of trouble, and right before each the same agent with no host at
all: the ratios are to that, for machines are shared. The table gives medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench import workloads
from tests.bench.terminal import Terminal
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.troubled_commands import binaries

LOADED_SECONDS = 1.0
"""After this long all of us is loaded."""
KEY_SECONDS = 0.004
NO_HOST = "no host"
GOOD = "good"

# Echoes keys, and tells another state by OSC 7501 in between.
AGENT = r"""
import os, select, time, tty
tty.setraw(0)
os.write(1, b"READY")
states, due = 0, time.monotonic()
while True:
    ready, _, _ = select.select([0], [], [], max(0, due - time.monotonic()))
    if ready:
        data = os.read(0, 1024)
        if not data or b"q" in data:
            break
        os.write(1, data)
    if time.monotonic() >= due:
        due += 0.33
        states += 1
        os.write(1, b"\x1b]7501;state=" + (b"working", b"blocked")[states % 2] + b"\x1b\\")
"""

HOSTS = {
    "sink": ("sink", {}),
    "tmux": ("tmux", {"TMUX": "/nowhere,1,0", "TMUX_PANE": "%1"}),
    "herdr": ("herdr", {"HERDR_ENV": "1", "HERDR_PANE_ID": "w1:p1"}),
}
"""Each with the command that is in trouble, and what shows the host in the environment."""


class Setting:
    """One host in one state of health.

    Args:
        folder: its own.
        host: a key of `HOSTS`, or `NO_HOST`.
        binary: the folder with the host's command.
    """

    def __init__(self, folder: Path, host: str, binary: Path) -> None:
        folder.mkdir()
        command, marks = HOSTS.get(host, ("", {}))
        text = f'[lifecycle]\nosc = "off"\nnesting = "all"\nadapters = {[host] if marks else []}\n'.replace("'", '"')
        if command == "sink":
            text += f'[[lifecycle.commands]]\nname = "sink"\ncommand = ["{binary}/sink"]\n'
        (folder / "config.toml").write_text(text)
        self.argv = [*WRAPPER, "--config", str(folder / "config.toml"), "--"]
        self.environ = isolated_environment(folder, **marks)
        self.environ["PATH"] = f"{binary}:{self.environ['PATH']}"


def settings(folder: Path) -> dict[tuple[str, str], Setting]:
    """Return all that is measured, by host and trouble."""
    commands = [command for command, _ in HOSTS.values()]
    troubles = binaries(folder, commands)
    good = folder / GOOD
    good.mkdir()
    for command in commands:
        (good / command).write_text('#!/bin/sh\necho >> "$0.told"\n')
        (good / command).chmod(0o755)
    made = {(NO_HOST, ""): Setting(folder / NO_HOST, NO_HOST, good)}
    for host in HOSTS:
        for trouble, binary in {GOOD: good, **troubles}.items():
            made[host, trouble] = Setting(folder / f"{host} {trouble}", host, binary)
    return made


def measure(setting: Setting, agent: list[str], seconds: float) -> list[float]:
    """Type for a while; returns how long each key took to its echo, in microseconds, sorted."""
    terminal = Terminal([*setting.argv, *agent], setting.environ)
    terminal.read_until(workloads.READY)
    terminal.read_for(LOADED_SECONDS)
    figures = []
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        mark = bytes([0x41 + len(figures) % 20])
        terminal.write(mark)
        terminal.read_until(mark)
        figures.append((time.perf_counter() - began) * 1e6)
        terminal.read_for(KEY_SECONDS)
    terminal.write(workloads.STOP)
    terminal.drain()
    terminal.wait()
    return sorted(figures)


def main() -> int:
    """Run the measures and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    figures: dict[tuple[str, str], list[Pair]] = {}
    with tempfile.TemporaryDirectory(prefix="lifecycle-bench-") as name:
        folder = Path(name)
        agent = workloads.script(folder, "agent", AGENT)
        tried = settings(folder)
        for number in range(options.rounds):
            for key, setting in tried.items():
                print(f"round {number + 1}: {' '.join(key)}", file=sys.stderr)
                without, taken = (measure(one, agent, options.seconds) for one in (tried[NO_HOST, ""], setting))
                figures.setdefault(key, []).append(Pair.of(without, taken))
        for command, _ in HOSTS.values():
            assert (folder / GOOD / f"{command}.told").exists(), f"{command} was told nothing"
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(table(figures))
    return 0


class Pair(NamedTuple):
    """What one measure with a host gave, in microseconds, and its ratios to the one without."""

    middle: float
    middle_ratio: float
    late: float
    late_ratio: float

    @classmethod
    def of(cls, without: list[float], taken: list[float]) -> Pair:
        """Compare two measures, each sorted."""
        (middle, late), (middle_without, late_without) = (
            (figures[len(figures) // 2], figures[int(len(figures) * 0.99)]) for figures in (taken, without)
        )
        return cls(middle, middle / middle_without, late, late / late_without)


def table(figures: dict[tuple[str, str], list[Pair]]) -> str:
    """Return the medians of the rounds."""
    lines = [f"{'host':8}{'trouble':34}{'p50 us':>8}{'ratio':>7}{'p99 us':>9}{'ratio':>7}"]
    for (host, trouble), pairs in figures.items():
        middle, middle_ratio, late, late_ratio = (statistics.median(column) for column in zip(*pairs, strict=True))
        lines.append(f"{host:8}{trouble:34}{middle:8.0f}{middle_ratio:7.2f}{late:9.0f}{late_ratio:7.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
