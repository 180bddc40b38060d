"""The pyte model against libghostty-vt on recordings that were mutated: the same text, cursor and screen.

Owns the mutation of recordings, the comparison, and the reduction of what disagrees. `agreement` lists what may.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import Screen, make_screen
from tests.detectors.compare_screens import read_recording

from . import corpus
from .agreement import reason
from .operations import Operation, Operations, reduced, written
from .results import keep

WINDOW = 40
"""Events of a recording that are taken at a time: what came before is mostly drawn over."""
MOST_BYTES = 6000
MOST_UNLIKE = 25
"""Disagreements without a reason after which a run ends."""

_FINALS = "@ABCDEFGHIJKLMPSTXZ`abdefgmrsuhlnpqcx"
_NUMBERS = ("", "", "0", "1", "2", "3", "5", "7", "8", "24", "25", "80", "99", "999", "65535", "70000")
_MODES = (1, 3, 5, 6, 7, 12, 25, 45, 47, 66, 1000, 1004, 1047, 1048, 1049, 2004, 2026, 2027)


@cache
def _recording(number: int) -> tuple[Size, tuple[Operation, ...]]:
    size, events = read_recording(corpus.casts()[number])
    operations: list[Operation] = []
    for _, kind, text in events:
        if kind == "o" and text:
            operations.append(text.encode("utf-8", "surrogateescape"))
        elif kind == "r":
            columns, rows = map(int, text.split("x"))
            operations.append(Size(rows, columns))
    return size, tuple(operations)


def mutated(source: random.Random) -> tuple[Size, Operations]:
    """Draw a piece of a recording, with chunks left out, doubled and swapped, bytes changed, sequences and resizes."""
    size, whole = _recording(source.randrange(len(corpus.casts())))
    start = source.choice((0, source.randrange(max(1, len(whole)))))
    operations = _bounded(whole[start : start + source.randint(1, WINDOW)])
    if source.random() < 0.3:
        size = Size(source.randint(1, 40), source.randint(2, 120))
    for _ in range(source.choice((1, 1, 2, 4))):
        if operations:
            _mutate(operations, source)
    return size, operations


def _bounded(taken: tuple[Operation, ...]) -> Operations:
    operations: Operations = []
    left = MOST_BYTES
    for operation in taken:
        if isinstance(operation, bytes):
            operation, left = operation[:left], left - len(operation)
        operations.append(operation)
        if left <= 0:
            break
    return operations


def _mutate(operations: Operations, source: random.Random) -> None:
    place = source.randrange(len(operations))
    chosen = operations[place]
    match source.randrange(7):
        case 0:
            del operations[place]
        case 1:
            operations.insert(place, chosen)
        case 2:
            other = source.randrange(len(operations))
            operations[place], operations[other] = operations[other], operations[place]
        case 3 if isinstance(chosen, bytes) and chosen:
            changed = bytearray(chosen)
            for _ in range(source.randint(1, 4)):
                changed[source.randrange(len(changed))] = source.randrange(256)
            operations[place] = bytes(changed)
        case 4 if isinstance(chosen, bytes):
            cut = source.randint(0, len(chosen))
            operations[place] = chosen[:cut] + _sequence(source) + chosen[cut:]
        case 5:
            operations.insert(place, Size(source.randint(1, 40), source.randint(2, 120)))
        case _:
            if isinstance(chosen, bytes):
                cut = source.randint(0, len(chosen))
                end = min(len(chosen), cut + source.randint(0, 30))
                operations[place] = chosen[:cut] + chosen[end:]


def _sequence(source: random.Random) -> bytes:
    if source.random() < 0.3:
        return f"\x1b[?{source.choice(_MODES)}{source.choice('hl')}".encode()
    parameters = ";".join(source.choice(_NUMBERS) for _ in range(source.choice((0, 1, 1, 2, 3))))
    private = source.choice(("", "", "", "", "?", ">"))
    return f"\x1b[{private}{parameters}{source.choice(_FINALS)}".encode()


def difference(size: Size, operations: Operations) -> str:
    """Feed both models and say what differs after any of the operations; empty where nothing does."""
    ours, reference = make_screen(size, "pyte"), make_screen(size, "ghostty")
    for operation in operations:
        for model in (ours, reference):
            if isinstance(operation, Size):
                model.resize(operation)
            else:
                model.feed(operation)
        if found := next(_differences(ours, reference), ""):
            return found
    return ""


def _differences(ours: Screen, reference: Screen) -> Iterator[str]:
    for number, (mine, theirs) in enumerate(zip(ours.rows(), reference.rows(), strict=True)):
        if mine != theirs:
            yield f"row {number}: {mine!r} instead of {theirs!r}"
    for name, mine, theirs in (
        ("cursor", ours.cursor, reference.cursor),
        ("alternate", ours.alternate, reference.alternate),
    ):
        if mine != theirs:
            yield f"{name}: {mine} instead of {theirs}"


def main(runs: int | None, seconds: float | None, seed: int, repeat: Path | None, folder: Path) -> int:
    """Compare until a limit is reached; print each disagreement that has no reason, reduced."""
    if repeat is not None:
        size, operations = read(repeat)
        print(difference(size, operations) or "they agree")
        return 0
    source = random.Random(seed)
    began = time.monotonic()
    count, unlike = 0, 0
    reasons: Counter[str] = Counter()
    while (runs is None or count < runs) and (seconds is None or time.monotonic() - began < seconds):
        size, operations = mutated(source)
        count += 1
        if not difference(size, operations):
            continue
        if why := reason(size, operations, difference):
            reasons[why] += 1
            continue
        unlike += 1
        _report(size, operations, folder)
        if unlike >= MOST_UNLIKE:
            break
    print(f"seed {seed}: {count} screens in {time.monotonic() - began:.0f} s, {unlike} disagreements without a reason")
    for why, times in reasons.most_common():
        print(f"{times:8} {why}")
    return 1 if unlike else 0


def _report(size: Size, operations: Operations, folder: Path) -> None:
    least = reduced(operations, lambda some: bool(difference(size, some)) and not reason(size, some, difference))
    path = keep("screens", written(size, least), folder)
    print(f"{size}: {least}\n  {difference(size, least)}\n  python -m tests.fuzz screens --repeat {path}", flush=True)


def read(path: Path) -> tuple[Size, Operations]:
    """Read a file that `written` made."""
    head, *rest = json.loads(path.read_text())
    return Size(*head), [Size(*one) if isinstance(one, list) else one.encode("latin-1") for one in rest]
