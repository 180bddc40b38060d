"""The README's table of agents: what each tells by itself, and how well its states match the recordings.

usage: python -m tests.agents_table [--write] [FOLDER ...]      (default: fixtures/recordings)

Each cell is hits of true transitions, and false ones where there are any: with everything, without signals, without the
screen.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from lifecycle_detectors import Catalog
from lifecycle_wrap.commands.replay import profile_for
from lifecycle_wrap.recordings.recording import open_recording
from lifecycle_wrap.recordings.scoring import compare

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- agents: python -m tests.agents_table -->", "<!-- /agents -->"
WAYS = ({}, {"signals": False}, {"screen": False})


class Sum(NamedTuple):
    """Scores added up."""

    hits: int = 0
    transitions: int = 0
    false: int = 0

    def __str__(self) -> str:
        false = f", {self.false} false" if self.false else ""
        return f"{self.hits}/{self.transitions}{false}" if self.transitions else "-"


def rows(folders: list[Path], catalog: Catalog) -> dict[str, list[Sum]]:
    """Score every recording below the folders, by profile."""
    sums: dict[str, list[Sum]] = defaultdict(lambda: [Sum()] * len(WAYS))
    for folder in folders:
        for cast in sorted(folder.rglob("*.cast*")):
            recording = open_recording(cast)
            profile = profile_for(recording, catalog)
            for index, way in enumerate(WAYS):
                score = compare(recording, profile, **way).score
                before = sums[profile.name][index]
                sums[profile.name][index] = Sum(
                    before.hits + score.hits, before.transitions + score.transitions, before.false + len(score.false)
                )
    return sums


def table(folders: list[Path]) -> str:
    """Return the table in Markdown: agents with recordings first, those from facts alone below in one line."""
    catalog = Catalog()
    scored = rows(folders, catalog)
    lines = [
        "| agent | versions | transitions hit | without its signals | without the screen |",
        "| --- | --- | --- | --- | --- |",
    ]
    from_facts = []
    for name in catalog.names():
        profile = catalog.get(name)
        if name in scored:
            cells = " | ".join(map(str, scored[name]))
            lines.append(f"| {profile.title} | {', '.join(profile.verified)} | {cells} |")
        elif profile.commands:
            from_facts.append(profile.title)
    return "\n".join([*lines, "", f"From facts alone, unverified: {', '.join(from_facts)}."])


def main() -> int:
    """Print the table, or put it into the README."""
    arguments = sys.argv[1:]
    write = "--write" in arguments
    folders = [Path(a) for a in arguments if a != "--write"] or [ROOT / "fixtures" / "recordings"]
    made = table(folders)
    if not write:
        print(made)
        return 0
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
