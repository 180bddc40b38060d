"""How fast recordings are replayed, against a bare read of the same file and against stock pyte in the same run.

    python -m tests.bench.replay_speed [FILE...]

Each recording (of the fixtures, the longest of some agents) is repeated to `MEGABYTES` for `signals`, which is what
`replay --no-screen` does, and to `MINUTES` of the agent's time for the others, which follow the screen too. CPU seconds
of the process, best of two; the start of Python is not in them.

- json: json.loads on each line, nothing else.
- pyte: stock pyte fed the same output, event by event.
- all: the whole replay, the screen model and the rules together.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyte

from lifecycle_detectors import Catalog
from lifecycle_wrap.commands.replay import new_session, profile_for, state_changes
from lifecycle_wrap.recordings.recording import INPUT, OUTPUT, RecordedEvent, open_recording

MEGABYTES = 10
MINUTES = 10
FIXTURES = Path(__file__).parents[2] / "fixtures" / "recordings"
AGENTS = ("claude", "codex", "opencode", "gemini")


def repeated(events: list[RecordedEvent]) -> Iterator[RecordedEvent]:
    """Yield a recording's events over and over, its end left out, a second between the end and the next beginning."""
    lasting = [event for event in events if event.kind in (OUTPUT, INPUT)]
    period = lasting[-1].at + 1
    turn = 0
    while True:
        for event in lasting:
            yield event._replace(at=round(event.at + turn * period, 6))
        turn += 1


def write(source: Path, target: Path, *, size: float, seconds: float) -> None:
    """Write a recording that is repeated until it has `size` bytes or lasts `seconds`."""
    recording = open_recording(source)
    header = {"version": 2, "width": recording.columns, "height": recording.rows, "command": profile_name(source)}
    written = 0
    with target.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")
        for event in repeated(list(recording)):
            line = json.dumps(event, ensure_ascii=False) + "\n"
            file.write(line)
            written += len(line.encode())
            if written >= size or event.at >= seconds:
                return


def profile_name(source: Path) -> str:
    return profile_for(open_recording(source), Catalog()).name


def least(work: Callable[[], None]) -> float:
    """Return the least CPU time in seconds."""
    times = []
    for _ in range(2):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def read(file: Path) -> None:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)


def stock(file: Path) -> None:
    recording = open_recording(file)
    stream = pyte.ByteStream(pyte.Screen(recording.columns, recording.rows))
    for event in recording:
        if event.kind == OUTPUT:
            with suppress(Exception):  # what it raises costs it the rest of the event
                stream.feed(event.text.encode())


def replay(file: Path, name: str, *, screen: bool) -> None:
    recording = open_recording(file)
    for _ in state_changes(recording, new_session(recording, Catalog().get(name), screen=screen)):
        pass


def longest() -> list[Path]:
    """Return the largest recording of each agent."""
    return [max((FIXTURES / agent).glob("*.cast*"), key=lambda file: file.stat().st_size) for agent in AGENTS]


def measure(source: Path, folder: Path) -> str:
    """Return a row of the table."""
    name = profile_name(source)
    large, long = folder / "large.cast", folder / "long.cast"
    write(source, large, size=MEGABYTES * 1e6, seconds=float("inf"))
    write(source, long, size=float("inf"), seconds=MINUTES * 60.0)
    bare, signals = least(lambda: read(large)), least(lambda: replay(large, name, screen=False))
    alone, everything = least(lambda: stock(long)), least(lambda: replay(long, name, screen=True))
    return (
        f"{f'{source.parent.name}/{source.name}':32}{bare:8.2f}{signals:10.2f}{signals / bare:6.1f}x"
        f"{long.stat().st_size / 1e6:10.1f}{alone:8.2f}{everything:8.2f}{everything / alone:6.1f}x"
    )


def main(arguments: list[str]) -> None:
    """Measure what is named on the command line, else the fixtures."""
    print(f"{'':32}{f'{MEGABYTES} MB:':>8}{f'{MINUTES} minutes:':>27}")
    print(f"{'':32}{'json s':>8}{'signals s':>10}{'':7}{'MB':>10}{'pyte s':>8}{'all s':>8}")
    for source in [Path(argument) for argument in arguments] or longest():
        with tempfile.TemporaryDirectory(prefix="lifecycle-bench-") as folder:
            print(measure(source, Path(folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
