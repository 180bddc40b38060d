"""Real agents, live, in a terminal that answers OSC 7501 and in one that does not, bare and wrapped.

The sink has to receive the same states in both, and the terminal the same titles and bells as without us. Not part of
the default run: it needs the lab, as `tests.real_agents` does.

usage: python -m tests.real_terminals LAB_FOLDER [AGENT ...]      (default: claude codex vibe)
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from tests.real_agents import EXPECTED, perform, received

SCENARIO = str(Path(__file__).parent / "support" / "ringing_scenario.py")
AGENTS = ("claude", "codex", "vibe")
TERMINALS = {"silent": "ghostty", "answering": "ghostty14"}
"""Ghostty as it is, and one that knows OSC 7501, as the lab calls them."""

SETTINGS = 'notify = "off"\n'
"""Our own notifications would ring where the terminal has no other sequence for them."""

_STRING = re.compile(r"\x1b(?:\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\)")
_FRAME = re.compile(r"^(?:[\u2800-\u28ff◐◓◑◒]|\[ [.!] \])")


class Outside(NamedTuple):
    """What the terminal was told that has to be as without us.

    Attributes:
        titles: in order, equal neighbours joined, each frame of a spinner shown as the same mark.
        bells: how often it rang.
    """

    titles: tuple[str, ...]
    bells: int


def outside(cast: Path) -> Outside:
    """Return what a recorded terminal was told."""
    output = "".join(event.text for event in open_recording(cast) if event.kind == OUTPUT)
    strings = [found["osc"] or "" for found in _STRING.finditer(output)]
    titles = [_FRAME.sub("⠿", text[2:]) for text in strings if text.startswith(("0;", "2;"))]
    return Outside(tuple(title for title, _ in groupby(titles)), _STRING.sub("", output).count("\x07"))


def performed(lab: Path, agent: str, terminal: str, wrapped: bool) -> tuple[list[str], Outside]:
    """Let an agent go through the scenario; return what the sink was told, and the terminal.

    Where the agent itself fails it gets a second chance: Vibe loses an answer of its user's now and then.
    """
    try:
        return _performed_once(lab, agent, terminal, wrapped)
    except subprocess.CalledProcessError:
        return _performed_once(lab, agent, terminal, wrapped)


def _performed_once(lab: Path, agent: str, terminal: str, wrapped: bool) -> tuple[list[str], Outside]:
    with tempfile.TemporaryDirectory() as made:
        folder, scenario = Path(made), (SCENARIO, agent, TERMINALS[terminal])
        told = []
        if wrapped:
            told = received(lab, folder, scenario, SETTINGS)
        else:
            perform(lab, folder, scenario)
        return told, outside(next(folder.rglob("*.cast")))


def differences(lab: Path, agent: str) -> list[str]:
    """Run one agent four times; return a line for everything that is not as it has to be."""
    found = []
    bells = 0
    for terminal in TERMINALS:
        _, without = performed(lab, agent, terminal, wrapped=False)
        told, with_us = performed(lab, agent, terminal, wrapped=True)
        if told != EXPECTED:
            found.append(f"{terminal}: states {' '.join(told)}")
        found += [
            f"{terminal}: {name} {theirs!r} became {ours!r}"
            for name, theirs, ours in zip(Outside._fields, without, with_us, strict=True)
            if theirs != ours
        ]
        bells += without.bells
        print(f"       {agent}, {terminal}: {len(with_us.titles)} titles, {with_us.bells} bells", flush=True)
    return found if bells else [*found, "no bell rang, so none was compared"]


def main() -> int:
    """Run the agents that were named, side by side, and compare."""
    lab, *agents = sys.argv[1:] or [""]
    agents = agents or list(AGENTS)
    if not (Path(lab) / "lab.py").is_file() or not set(agents) <= set(AGENTS):
        usage = f"usage: python -m tests.real_terminals LAB_FOLDER [{' | '.join(AGENTS)} ...]"
        print(f"{usage}; LAB_FOLDER holds lab.py", file=sys.stderr)
        return 2
    folder = Path(lab).absolute()
    with ThreadPoolExecutor(len(agents)) as runs:
        results = list(runs.map(lambda agent: differences(folder, agent), agents))
    for agent, found in zip(agents, results, strict=True):
        print(f"{'FAILED' if found else 'ok':6} {agent}", *found, sep="\n       ")
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
