"""A pytest plugin for authors of profiles: each recording of a folder is a test.

    pytest --lifecycle-recordings DIR [--lifecycle-profile NAME] [--lifecycle-without signals|screen]

A recording (`.cast` or `.cast.gz`, asciicast v2 or v3, anywhere below DIR) is replayed and has to show every state that
its markers tell, in time, and no other. Its profile is found as `lifecycle-wrap replay` finds it: by the recording's
command, its title or its folder's name; your own profiles come first. With `--lifecycle-without` the session gets no
signals (titles, progress, notifications, bells, OSC 7501) or no screen, and only a false `blocked` fails: that is what
a person is called for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_detectors import Catalog

from .catalog import user_catalog
from .commands.replay import profile_for
from .recordings.recording import RecordingError, open_recording
from .recordings.scoring import compare, difference

SUFFIXES = (".cast", ".cast.gz")
_FOLDER = pytest.StashKey[Path]()
_CATALOG = pytest.StashKey[Catalog]()


class WrongStatesError(Exception):
    """A replay differs from the markers; `str()` is what `scoring.difference` tells."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("lifecycle-wrap", "recordings of agents")
    group.addoption("--lifecycle-recordings", metavar="DIR", help="score each recording below DIR against its markers")
    group.addoption("--lifecycle-profile", metavar="NAME", help="use this profile for all of them")
    group.addoption("--lifecycle-without", choices=("signals", "screen"), help="leave one kind of evidence out")


def pytest_configure(config: pytest.Config) -> None:
    """Add the folder to what is collected."""
    given = config.getoption("lifecycle_recordings")
    if given is None:
        return
    folder = Path(given).resolve()
    if not folder.is_dir():
        raise pytest.UsageError(f"--lifecycle-recordings: {given}: no such folder; give a folder of .cast files")
    catalog = user_catalog(os.environ)
    name = config.getoption("lifecycle_profile")
    if name is not None and name not in catalog.names():
        raise pytest.UsageError(f"--lifecycle-profile: no profile {name!r}; known: {', '.join(catalog.names())}")
    config.stash[_FOLDER] = folder
    config.stash[_CATALOG] = catalog
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = []
    config.args.append(str(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the recordings below the folder."""
    folder = parent.config.stash.get(_FOLDER, None)
    if folder is None or not file_path.name.endswith(SUFFIXES) or folder not in file_path.resolve().parents:
        return None
    return RecordingFile.from_parent(parent, path=file_path)


class RecordingFile(pytest.File):
    """One recording."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its only test."""
        yield RecordingItem.from_parent(self, name="states")


class RecordingItem(pytest.Item):
    """The states of one recording."""

    def runtest(self) -> None:
        """Replay the recording and compare."""
        without = self.config.getoption("lifecycle_without")
        kinds = {"screen": without != "screen", "signals": without != "signals"}
        recording = open_recording(self.path)
        catalog = self.config.stash[_CATALOG]
        name = self.config.getoption("lifecycle_profile")
        profile = catalog.get(name) if name else profile_for(recording, catalog)
        comparison = compare(recording, profile, **kinds)
        if not comparison.truth:
            pytest.skip("no state markers")
        false_blocked = any(change.state == "blocked" for change in comparison.score.false)
        if false_blocked or (without is None and not comparison.score.perfect):
            raise WrongStatesError(difference(comparison, **kinds))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Show the timelines, not our stack."""
        if isinstance(excinfo.value, (WrongStatesError, RecordingError)):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the test after its recording."""
        return self.path, None, self.path.name
