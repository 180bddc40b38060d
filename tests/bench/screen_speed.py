"""How fast the screen models follow recordings, against stock pyte in the same run.

    python -m tests.bench.screen_speed [FILE...]

CPU time of the thread, event by event as recorded, best of three. The last columns look at the rows and lines after
each event, which a session does a few times a second at most.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyte

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Engine, make_screen
from tests.detectors.compare_screens import read_recording

ENGINES: tuple[Engine, ...] = ("pyte", "ghostty")
RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"


def measure(follow: Callable[[], None]) -> float:
    """The least CPU time in seconds."""
    times = []
    for _ in range(3):
        start = time.thread_time()
        follow()
        times.append(time.thread_time() - start)
    return min(times)


def stock(size: Size, output: list[bytes]) -> None:
    """pyte as it comes; what it raises costs it the rest of the event."""
    stream = pyte.ByteStream(pyte.Screen(size.columns, size.rows))
    for data in output:
        try:
            stream.feed(data)
        except Exception:
            continue


def model(size: Size, output: list[bytes], engine: Engine, *, look: bool) -> None:
    """One of ours."""
    screen = make_screen(size, engine)
    for data in output:
        screen.feed(data)
        if look:
            screen.rows()
            screen.lines()
            screen.row_changed()


def main(arguments: list[str]) -> None:
    """Measure what is named on the command line, else the fixtures."""
    paths = [Path(argument) for argument in arguments] or sorted(RECORDINGS.rglob("*.cast*"))
    print(f"{'recording':44}{'kB':>6}{'stock':>8}{'pyte':>8}{'ghostty':>9}{'pyte+look':>11}{'ghostty+look':>14}  MB/s")
    totals = [0.0] * 6
    for path in paths:
        size, events = read_recording(path)
        output = [text.encode("utf-8", "surrogateescape") for _, kind, text in events if kind == "o"]
        megabytes = sum(map(len, output)) / 1e6
        times = [measure(partial(stock, size, output))]
        for look in (False, True):
            for engine in ENGINES:
                times.append(measure(partial(model, size, output, engine, look=look)))
        totals = [total + value for total, value in zip(totals, [megabytes, *times], strict=True)]
        show(f"{path.parent.name}/{path.name.partition('.cast')[0]}", megabytes, times)
    show("all", totals[0], totals[1:])


def show(name: str, megabytes: float, times: list[float]) -> None:
    """One row of the table."""
    stock_rate, pyte_rate, ghostty_rate, pyte_look, ghostty_look = (megabytes / max(value, 1e-9) for value in times)
    print(
        f"{name:44}{megabytes * 1e3:6.0f}{stock_rate:8.2f}{pyte_rate:8.2f}{ghostty_rate:9.1f}"
        f"{pyte_look:11.2f}{ghostty_look:14.2f}  pyte/stock {pyte_rate / stock_rate:.2f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
