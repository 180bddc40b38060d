"""`lifecycle-wrap profiles`: what profiles there are, what stands in them, and how good they are.

Owns the listing, the checking of files and the scoring of a folder of recordings. What a profile means is the core's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lifecycle_detectors import Catalog, Profile, ProfileError
from lifecycle_detectors.profiles import parse_profile
from lifecycle_detectors.profiles.lint import doubts
from lifecycle_wrap.bounded_toml import read_bounded
from lifecycle_wrap.recordings.recording import RecordingError, open_recording
from lifecycle_wrap.recordings.scoring import Comparison, compare

from .replay import profile_for

SUFFIXES = (".cast", ".cast.gz")
BUILT_IN = "built in"
UNVERIFIED = "unverified"


class Row(NamedTuple):
    """One profile of the list.

    Attributes:
        name, title: as its file says.
        verified: the versions whose recordings pass; empty where it was written from facts alone.
        origin: its file, or `built in`.
    """

    name: str
    title: str
    verified: tuple[str, ...]
    origin: str


def rows(catalog: Catalog) -> list[Row]:
    """Return all profiles in the order of their names."""
    found = []
    for name in catalog.names():
        profile = catalog.get(name)
        found.append(Row(name, profile.title, profile.verified, catalog.file(name) or BUILT_IN))
    return found


def table(listed: Iterable[Row]) -> str:
    """Return the list as a table."""
    cells = [("NAME", "TITLE", "VERSIONS", "FROM")]
    cells += [(row.name, row.title, ", ".join(row.verified) or UNVERIFIED, row.origin) for row in listed]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in cells
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with a profile, and what is doubtful; each one line with its remedy."""

    name: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_all(catalog: Catalog) -> Iterator[Checked]:
    """Check every profile there is, the user's that cannot be read too."""
    for problem in catalog.problems:
        yield Checked(str(problem), (str(problem),))
    for name in catalog.names():
        yield _checked(catalog.get(name), catalog.file(name) or name)


def check(target: str, catalog: Catalog) -> Checked:
    """Check one profile: a TOML file, or a name of the catalog."""
    path = Path(target)
    if not path.is_file():
        if target in catalog.names():
            return _checked(catalog.get(target), catalog.file(target) or target)
        remedy = "give a TOML file, or a name from `lifecycle-wrap profiles list`"
        return Checked(target, (f"{target}: no such file or profile; {remedy}",))
    try:
        text = read_bounded(path)
        return _checked(parse_profile(text, target, catalog.get), target)
    except ProfileError as error:
        return Checked(target, (str(error),))
    except OSError as error:
        return Checked(target, (f"{target}: cannot be read ({error.strerror}); check the path",))
    except UnicodeDecodeError:
        return Checked(target, (f"{target}: is not UTF-8; save it as UTF-8",))


def _checked(profile: Profile, file: str) -> Checked:
    warnings = [f"{file}: rule {doubt.rule!r} {doubt.problem}; {doubt.remedy}" for doubt in doubts(profile)]
    return Checked(profile.name, (), tuple(warnings))


def recordings(folder: Path) -> list[Path]:
    """Return the recordings anywhere below a folder, in their order."""
    return sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file())


@dataclass(frozen=True, slots=True)
class Scored:
    """One recording of `profiles test`: its comparison, or why there is none."""

    path: Path
    comparison: Comparison | None
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether every state was told in time and no other."""
        return self.comparison is not None and self.comparison.score.perfect


def scores(folder: Path, catalog: Catalog, profile: Profile | None, *, screen: bool, signals: bool) -> Iterator[Scored]:
    """Score each recording below a folder against its markers; those without markers are left out.

    Args:
        folder: where the recordings are.
        catalog: finds each recording's profile.
        profile: the profile for all of them, or None.
        screen: False leaves the screen out.
        signals: False leaves titles, progress, status, notifications and bells out.
    """
    for path in recordings(folder):
        try:
            recording = open_recording(path)
            chosen = profile or profile_for(recording, catalog)
            comparison = compare(recording, chosen, screen=screen, signals=signals)
        except RecordingError as error:
            yield Scored(path, None, str(error))
            continue
        if comparison.truth:
            yield Scored(path, comparison)


def score_row(scored: Scored) -> str:
    """Return one recording's result as a row."""
    if scored.comparison is None:
        return f"ERROR  {scored.problem}"
    score = scored.comparison.score
    word = "ok   " if scored.passed else "SHORT"
    return (
        f"{word}  {scored.path}: {score.hits} of {score.transitions} changes in time, {len(score.false)} false"
        f" (profile {scored.comparison.profile.name})"
    )
