"""What happens in one chaos run, drawn from its seed: the same seed is the same plan."""

from __future__ import annotations

import signal
from collections.abc import Collection
from random import Random
from typing import Any, NamedTuple

from tests.support.broken import FAULTS as OWN_FAULTS
from tests.support.troubled_commands import FAULTS as SINK_FAULTS

from .output import SAVE_TITLE
from .output import draw as draw_output

CHANCES = {
    "sinks": 0.5,  # commands that are told hang, die, flood, ...
    "tmux": 0.1,  # a real tmux around us dies
    "herdr": 0.15,  # a herdr around us refuses, dies, comes back
    "disk": 0.15,  # no space for log, register and recording
    "runtime": 0.15,  # the runtime directory cannot be used, or goes away
    "clock": 0.2,  # the time of day jumps
    "descriptors": 0.12,
    "memory": 0.08,
    "stall": 0.25,  # the terminal stops reading
    "resize": 0.5,
    "suspend": 0.35,  # we or the agent are stopped, and continued
    "signals": 0.35,  # to us and to the agent
    "hang-up": 0.12,  # the terminal is closed under us
    "kill": 0.08,  # SIGKILL to us
    "closed": 0.08,  # stdin or stderr is closed
    "own": 0.12,  # a part of ours breaks
    "quiet": 0.5,  # nothing of ours is written to the terminal; not a fault, but which bytes are compared
}
"""The faults, and how likely each one is in a run."""

SIZES = ((30, 100), (24, 80), (50, 200), (10, 40), (1, 1), (30, 31), (300, 300))
BRACKETED = b"\x1b[200~pasted\x1b[201~"
KEYS = (
    b"a",
    b"hello",
    b"\r",
    b"\x1b[A",
    b"\x1bOP",
    b"\x03",
    b"\x1a",
    b"\x1b",
    "日本".encode(),
    b"\x1b[200~pasted\x1b[201~",
)
PASTE = b"a longer paste, " * 250
ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
DEATHS = (*ENDINGS, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1, signal.SIGUSR2)
HARMLESS = (signal.SIGWINCH, signal.SIGCONT)
RUNTIME = ("is a file", "is a link", "is open to all", "goes away", "cannot be made")
HERDR = ("refuses", "dies", "restarts", "talks nonsense")


class Step(NamedTuple):
    """One thing that is done."""

    verb: str
    value: Any = None


class Plan(NamedTuple):
    """One run.

    Attributes:
        seed: what it was drawn from.
        faults: names from `CHANCES`.
        stream: all that the agent may print.
        steps: what is done, in order.
        end: the step that ends it.
        orderly: the agent has read and written everything before the end.
        ignores: the agent ignores the signals that end it.
        sinks: names of faults of command sinks.
        own_fault: the name of the part of ours that breaks, or empty.
        clock: the time of day jumps.
        runtime: what is wrong with the runtime directory, or empty.
        herdr: what is wrong with herdr, or empty.
        records: the session is recorded.
        closed: `stdin`, `stderr` or empty.
        limits: ulimit's letters and values from the start.
    """

    seed: int
    faults: frozenset[str]
    stream: bytes
    steps: tuple[Step, ...]
    end: Step
    orderly: bool
    ignores: bool
    sinks: tuple[str, ...]
    own_fault: str
    clock: bool
    runtime: str
    herdr: str
    records: bool
    closed: str
    limits: tuple[tuple[str, int], ...]

    @property
    def quiet(self) -> bool:
        """Nothing of ours is written to the terminal while the agent lives."""
        return "quiet" in self.faults

    @property
    def limited(self) -> bool:
        """We may run out of descriptors or memory: what only observes may fail."""
        return bool(self.faults & {"descriptors", "memory"})


def draw(seed: int, only: Collection[str] = (), stall: float = 0.5) -> Plan:
    """Draw a run.

    Args:
        seed: decides everything.
        only: the faults that all happen, and no other; by default each by its chance.
        stall: the longest time that the terminal stops reading, in seconds.
    """
    random = Random(seed)
    faults = frozenset(only or (name for name, chance in CHANCES.items() if random.random() < chance))
    own_fault = random.choice(list(OWN_FAULTS)) if "own" in faults else ""
    if "pump" in own_fault:
        faults -= {"suspend"}  # job control is given up then
    if "closed" in faults:
        faults -= {"suspend", "hang-up", "kill", "disk", "descriptors", "memory"}
    chunks: list[bytes] = []
    steps = tuple(_steps(random, faults, stall, chunks))
    end = _end(random, faults)
    return Plan(
        seed=seed,
        faults=faults,
        stream=b"".join(chunks),
        steps=steps,
        end=end,
        orderly=random.random() < 0.6,
        ignores=end.verb in ("signal us", "hang up") and random.random() < 0.15 and "closed" not in faults,
        sinks=tuple(random.sample(sorted(SINK_FAULTS), random.randrange(1, 4))) if "sinks" in faults else (),
        own_fault=own_fault,
        clock="clock" in faults,
        runtime=random.choice(RUNTIME) if "runtime" in faults else "",
        herdr=random.choice(HERDR) if "herdr" in faults else "",
        records="disk" in faults or ("closed" not in faults and random.random() < 0.2),
        closed=random.choice(("stdin", "stderr")) if "closed" in faults else "",
        limits=tuple(_limits_at_start(random, faults)),
    )


def _limits_at_start(random: Random, faults: frozenset[str]) -> list[tuple[str, int]]:
    limits = []
    if "descriptors" in faults and random.random() < 0.5:
        limits.append(("n", random.randrange(6, 40)))
    if "memory" in faults and random.random() < 0.5:
        limits.append(("v", random.randrange(40_000, 250_000)))
    return limits


def _steps(random: Random, faults: frozenset[str], stall: float, chunks: list[bytes]) -> list[Step]:
    makers = [_write] * 4 + [_type, _type, _pause, _settle]
    makers += [_resize] * 2 if "resize" in faults else []
    makers += [_suspend] if "suspend" in faults else []
    makers += [_harmless_signal] if "signals" in faults else []
    steps: list[Step] = []
    for _ in range(random.randrange(3, 14)):
        steps += random.choice(makers)(random, faults, chunks)
    for once in _once(random, faults, stall):
        place = random.randrange(len(steps) + 1)
        steps[place:place] = [once[0]]
        later = random.randrange(place + 1, len(steps) + 1)
        steps[later:later] = once[1:]
    return steps


def _once(random: Random, faults: frozenset[str], stall: float) -> list[tuple[Step, ...]]:
    """What happens once in a run: a step, or one and its counterpart later."""
    longest = stall if random.random() < 0.05 else min(stall, 0.5)
    happenings = {
        "stall": (Step("stall"), Step("read on", random.uniform(0, longest))),
        "disk": (Step("fill disk", random.choice((0, 0, 300, 4096))), Step("free disk")),
        "runtime": (Step("spoil runtime"),),
        "tmux": (Step("kill tmux"),),
        "herdr": (Step("trouble herdr"),),
        "descriptors": (Step("limit", ("RLIMIT_NOFILE", random.randrange(4, 30))),),
        "memory": (Step("limit", ("RLIMIT_AS", random.randrange(0, 40) << 20)),),
    }
    return [happening for name, happening in happenings.items() if name in faults]


def _write(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    data = b"" if chunks or random.random() < 0.3 else SAVE_TITLE
    data += b"".join(draw_output(random, asks="quiet" in faults) for _ in range(random.randrange(1, 4)))
    chunks.append(data)
    sizes = (1, 7, 100, 4096, 65536)
    return [Step("write", (len(data), random.choice(sizes if len(data) < 5000 else sizes[2:])))]


def _type(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    keys = [Step("type", random.choice(KEYS)) for _ in range(random.randrange(1, 6))]
    return [*keys, Step("type", PASTE)] if random.random() < 0.15 else keys


def _pause(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    return [Step("pause", random.choice((0.001, 0.02, 0.2)))]


def _settle(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    return [Step("settle")]


def _resize(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    return [Step("resize", random.choice(SIZES)) for _ in range(random.choice((1, 1, 5)))]


def _suspend(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    if random.random() < 0.15:
        return [Step("agent stop", signal.SIGTTOU)]  # it gets what it wants, and nobody stops
    how = random.choice(("we SIGTSTP", "we SIGSTOP", "agent SIGTSTP", "agent SIGSTOP", "it SIGSTOP"))
    while_stopped = _resize(random, faults, chunks) if random.random() < 0.3 else []
    # No SIGCONT: it would take us to the background, where the terminal is a shell's and changes what is printed.
    while_stopped += [Step("signal us", signal.SIGWINCH)] if random.random() < 0.2 else []
    return [Step("suspend", how), *while_stopped, Step("resume")]


def _harmless_signal(random: Random, faults: frozenset[str], chunks: list[bytes]) -> list[Step]:
    return [Step("signal us", random.choice(HARMLESS))]


def _end(random: Random, faults: frozenset[str]) -> Step:
    if "hang-up" in faults:
        return Step("hang up")
    if "kill" in faults:
        return Step("kill us")
    if "signals" in faults:
        kind = random.choice(("signal us", "signal us", "agent signal", "signal agent"))
        return Step(kind, random.choice(ENDINGS if kind == "signal us" else DEATHS))
    return Step("agent exit", random.choice((0, 0, 1, 3, 127, 255)))
