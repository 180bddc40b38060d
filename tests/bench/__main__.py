"""What a wrapper costs, against others, in one run.

usage: python -m tests.bench [--rounds N] [--megabytes N] [--only MEASURE] [--cast FILE] [--without NAME ...]

`--only flood`, which takes minutes, is run only when it is asked for: a gigabyte through each.
Every figure of all contenders is measured in the same run, in turn; the table gives medians, and below each its ratio
to the bare command. Figures of different runs do not compare: the machines are shared.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from tests.bench import loop, workloads
from tests.bench.terminal import Terminal, voluntary_switches

Wrap = Callable[[list[str]], list[str]]
IDLE_SECONDS = 10.0
LOADED_SECONDS = 1.0
"""After this long all of us is loaded."""
KEYS = 150
FLOOD_MEGABYTES = 1024
OFF = "us (off)"
"""With LIFECYCLE_WRAP=0, when we become the agent: there is a start to measure, and nothing else."""


def contenders(folder: Path) -> dict[str, Wrap]:
    """Return the wrappers that this machine has, the bare command first."""
    script = f"{sys.executable} -c"
    found: dict[str, Wrap] = {"bare": lambda argv: argv}
    if shutil.which("script"):
        found["script(1)"] = lambda argv: ["script", "-qec", shlex.join(argv), "/dev/null"]
    spawn = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    found["pty.spawn"] = lambda argv: [*shlex.split(script), spawn, *argv]
    found["a loop"] = lambda argv: [sys.executable, str(Path(loop.__file__)), *argv]
    if shutil.which("asciinema", path=_path()):
        found["asciinema"] = lambda argv: ["asciinema", "rec", "-q", "--overwrite", "-c", shlex.join(argv), "/dev/null"]
    if shutil.which("tmux"):
        found["tmux"] = lambda argv: ["tmux", "-L", f"bench{os.getpid()}", "-f", "/dev/null", "new", shlex.join(argv)]
    found[OFF] = lambda argv: ["env", "LIFECYCLE_WRAP=0", "lifecycle-wrap", "--", *argv]
    for name, text in _configurations(folder).items():
        config = folder / f"{name.split()[-1]}.toml"
        config.write_text(text)
        found[name] = lambda argv, config=config: [  # type: ignore[misc]
            *("lifecycle-wrap", "--config", str(config), "--profile", "claude", "--"),
            *argv,
        ]
    return found


def _path() -> str:
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def _configurations(folder: Path) -> dict[str, str]:
    sinks = "".join(f'[[lifecycle.commands]]\nname = "sink{number}"\ncommand = ["/bin/true"]\n' for number in range(2))
    return {
        "us (a) nothing": 'screen = "off"\n[lifecycle]\nadapters = []\nosc = "off"\n',
        "us (b) signals": 'screen = "off"\n[lifecycle]\nadapters = ["register"]\nosc = "off"\n',
        "us (c) screen": '[lifecycle]\nadapters = ["register"]\nosc = "off"\n',
        "us (d) hosts": f'[lifecycle]\nadapters = ["register"]\nosc = "off"\n{sinks}',
    }


class Bench:
    """One run: collects figures by contender and measure."""

    def __init__(self, folder: Path, wraps: dict[str, Wrap]) -> None:
        self.folder = folder
        self.wraps = wraps
        self.figures: dict[str, dict[str, list[float]]] = {name: {} for name in wraps}
        self.environ = {
            **os.environ,
            "PATH": _path(),
            "TERM": "xterm-256color",
            "XDG_RUNTIME_DIR": str(folder),
            "HOME": str(folder),
            "ASCIINEMA_CONFIG_HOME": str(folder),
        }
        self.environ.pop("TMUX", None)

    def start(self, name: str, argv: list[str]) -> Terminal:
        return Terminal(self.wraps[name](argv), self.environ)

    def note(self, name: str, measure: str, figure: float) -> None:
        self.figures[name].setdefault(measure, []).append(figure)

    def throughput(self, name: str, label: str, file: Path) -> None:
        terminal = self.start(name, ["cat", str(file)])
        size = terminal.drain()
        seconds = time.perf_counter() - terminal.began
        cpu = terminal.wait()
        self.note(name, f"{label} MB/s", size / seconds / 1e6)
        self.note(name, f"{label} CPU ms/MB", cpu * 1e3 / (size / 1e6))

    def startup(self, name: str) -> None:
        """Measure the start of an agent that ends at once, and the end of one that has lived for a while."""
        if name == "bare":
            python = Terminal([sys.executable, "-c", "pass"], self.environ)
            python.drain()
            self.note(name, "python -c pass ms", (time.perf_counter() - python.began) * 1e3)
            python.wait()
        terminal = self.start(name, ["sh", "-c", "printf XYZZY; read key"])
        terminal.read_until(b"XYZZY")
        self.note(name, "start ms", (time.perf_counter() - terminal.began) * 1e3)
        self._exit(name, terminal, "exit at once ms")
        terminal = self.start(name, ["sh", "-c", "printf XYZZY; read key"])
        terminal.read_until(b"XYZZY")
        time.sleep(LOADED_SECONDS)
        self._exit(name, terminal, "exit ms")

    def _exit(self, name: str, terminal: Terminal, measure: str) -> None:
        terminal.write(b"\n")
        began = time.perf_counter()
        terminal.drain()
        terminal.wait()
        self.note(name, measure, (time.perf_counter() - began) * 1e3)

    def latency(self, name: str, label: str, argv: list[str]) -> None:
        terminal = self.start(name, argv)
        terminal.read_until(workloads.READY)
        terminal.read_for(LOADED_SECONDS)
        figures = []
        for key in range(KEYS):
            mark = bytes([0x41 + key % 20])
            began = time.perf_counter()
            terminal.write(mark)
            terminal.read_until(mark if label != "flood" else b"<" + mark + b">")
            figures.append((time.perf_counter() - began) * 1e6)
        terminal.write(workloads.STOP)
        terminal.drain()
        terminal.wait()
        figures.sort()
        self.note(name, f"{label} p50 us", figures[len(figures) // 2])
        self.note(name, f"{label} p99 us", figures[int(len(figures) * 0.99)])

    def idle(self, name: str) -> None:
        argv = workloads.script(self.folder, "echo", workloads.ECHO)
        terminal = self.start(name, argv)
        terminal.read_until(workloads.READY)
        time.sleep(3 * LOADED_SECONDS)
        processes = [p for p in terminal.processes() if p.cmdline() != argv]
        before = voluntary_switches(processes)
        time.sleep(IDLE_SECONDS)
        self.note(name, "wake-ups/s", (voluntary_switches(processes) - before) / IDLE_SECONDS)
        self.note(name, "memory MB", _resident(processes) / 1e6)
        terminal.kill()

    def flood(self, name: str, file: Path, times: int) -> None:
        """Measure how much a wrapper's memory grows while the last three quarters of a flood pass."""
        again = f"for n in $(seq {times}); do cat {shlex.quote(str(file))}; done"
        terminal = self.start(name, ["sh", "-c", again])
        ours = [p for p in terminal.processes() if p.name() not in ("sh", "cat", "seq")]
        size, total = 0, file.stat().st_size * times
        early = late = 0
        while data := terminal.read():
            size += len(data)
            if not early and size > total / 4:  # by now all is loaded
                early = _resident(ours)
            elif early and not late and size > total * 0.99:
                late = _resident(ours)
        terminal.wait()
        self.note(name, "flood memory MB", late / 1e6)
        self.note(name, "flood growth MB", (late - early) / 1e6)

    def table(self) -> str:
        measures = list(dict.fromkeys(m for figures in self.figures.values() for m in figures))
        lines = [f"{'':28}" + "".join(f"{name:>16}" for name in self.figures)]
        for measure in measures:
            medians = {n: statistics.median(f[measure]) for n, f in self.figures.items() if measure in f}
            lines.append(
                f"{measure:28}" + "".join(f"{medians[n]:16.1f}" if n in medians else f"{'-':>16}" for n in self.figures)
            )
            bare = medians.get("bare")
            if bare:
                ratios = (f"{medians[n] / bare:15.2f}x" if n in medians else f"{'-':>16}" for n in self.figures)
                lines.append(f"{'':28}" + "".join(ratios))
        return "\n".join(lines)


def _resident(processes: Sequence[psutil.Process]) -> int:
    """Return the resident memory of all of them; pages that they share count twice."""
    return sum(process.memory_info().rss for process in processes)


def main() -> int:
    """Run the measures and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--only", choices=["throughput", "startup", "latency", "idle", "flood"])
    parser.add_argument("--cast", type=Path, help="the recording that is repeated; without it that row is left out")
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lifecycle-bench-") as name:
        folder = Path(name)
        wraps = {n: w for n, w in contenders(folder).items() if n not in options.without}
        bench = Bench(folder, wraps)
        _measure(bench, options)
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    print(bench.table())
    return 0


def _measure(bench: Bench, options: argparse.Namespace) -> None:
    size = options.megabytes << 20
    files = {"text": workloads.coloured_text(size), "yes": workloads.short_lines(size)}
    if options.cast:
        files["claude"] = workloads.recorded(options.cast, size)
    for label, data in files.items():
        (bench.folder / label).write_bytes(data)
    latencies = {"echo": workloads.ECHO, "spinner": workloads.SPINNER, "flood": workloads.FLOOD}
    for number in range(options.rounds):
        for name in bench.wraps:
            print(f"round {number + 1}: {name}", file=sys.stderr)
            if options.only in (None, "startup"):
                for _ in range(4):
                    bench.startup(name)
            if name == OFF:
                continue
            if options.only in (None, "throughput"):
                for label in files:
                    bench.throughput(name, label, bench.folder / label)
            if options.only in (None, "latency"):
                for label, text in latencies.items():
                    bench.latency(name, label, workloads.script(bench.folder, label, text))
    if options.only in (None, "idle"):
        for name in bench.wraps:
            if name not in ("bare", OFF):
                bench.idle(name)
    if options.only == "flood":
        for name in bench.wraps:
            if name not in ("bare", OFF):
                bench.flood(name, bench.folder / "text", FLOOD_MEGABYTES // options.megabytes)


if __name__ == "__main__":
    sys.exit(main())
