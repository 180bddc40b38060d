"""Waiting for changes of a directory, with the system's notifications and without."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle_wrap.commands import directory_changes
from lifecycle_wrap.commands.directory_changes import DirectoryChanges
from tests.support.waiting import DEADLINE

NOTHING_SECONDS = 0.2


def wakes(changes: DirectoryChanges, change: Callable[[], object]) -> bool:
    """Tell whether a change ends a wait before its time."""
    thread = threading.Timer(0.05, change)
    thread.start()
    began = time.monotonic()
    changes.wait(DEADLINE)
    thread.join()
    return time.monotonic() - began < DEADLINE / 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "register"


@pytest.fixture(params=["notified", "polling"])
def changes(folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DirectoryChanges:
    if request.param == "polling":

        def refused(path: str) -> None:
            raise OSError

        monkeypatch.setattr(directory_changes, "_Source", refused)
        monkeypatch.setattr(directory_changes, "POLL_SECONDS", 0.1)
    return DirectoryChanges(str(folder))


def test_the_directory_is_made_for_the_user_alone(folder: Path, changes: DirectoryChanges) -> None:
    with changes:
        assert folder.stat().st_mode & 0o777 == 0o700


def test_files_that_come_grow_and_go(folder: Path, changes: DirectoryChanges) -> None:
    file = folder / "1-a.json"
    with changes:
        assert wakes(changes, lambda: file.write_text("x"))
        assert wakes(changes, lambda: file.write_text("xy"))
        assert wakes(changes, lambda: file.rename(folder / "1-a.events"))
        assert wakes(changes, (folder / "1-a.events").unlink)


def test_the_time_ends_a_wait_and_input_does(changes: DirectoryChanges) -> None:
    reader, writer = os.pipe()
    with changes:
        assert changes.wait(NOTHING_SECONDS, [reader]) == []
        os.write(writer, b"x")
        assert changes.wait(DEADLINE, [reader]) == [reader]
    os.close(reader)
    os.close(writer)


def test_a_file_that_is_about_to_be_renamed_wakes_nobody(folder: Path) -> None:
    with DirectoryChanges(str(folder)) as changes:
        began = time.monotonic()
        threading.Timer(0.05, lambda: (folder / "1-a.new").write_text("x")).start()
        changes.wait(NOTHING_SECONDS)
        assert time.monotonic() - began >= NOTHING_SECONDS


def test_a_lock_that_is_given_up_wakes_once_more_when_it_is_free(folder: Path) -> None:
    with DirectoryChanges(str(folder)) as changes:
        lock = os.open(folder / "1-a.lock", os.O_RDWR | os.O_CREAT)
        changes.wait(DEADLINE)
        changes.wait(DEADLINE)
        assert wakes(changes, lambda: os.close(lock))
        began = time.monotonic()
        changes.wait(DEADLINE)
        assert time.monotonic() - began < DEADLINE / 2


def test_a_directory_that_is_removed_and_made_again(folder: Path) -> None:
    with DirectoryChanges(str(folder)) as changes:
        assert wakes(changes, folder.rmdir)
        changes.wait(0)
        assert folder.is_dir()
        assert wakes(changes, lambda: (folder / "1-a.json").write_text("x"))
