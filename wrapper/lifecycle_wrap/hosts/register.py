"""This machine's own register: what `ps`, `watch`, `wait` and `tail` read.

Owns the writing of this session's files, and the removal of what dead sessions have left. `records` describes the
directory and the files.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from lifecycle_wrap.projection import Kind, LifecycleEvent

from .base import Call, Detection, ErrorClass, Host, HostError, Setup, new_session
from .history import History
from .records import JOURNAL, JOURNAL_LIMIT, LOCK, OLD_JOURNAL, RECORD, VERSION, directory, is_ours_alone, is_private

_PARTIAL = ".new"
_FILES = (_PARTIAL, RECORD, JOURNAL, OLD_JOURNAL, LOCK)
"""The suffixes of a session's files, the lock last."""

_RECORDED = frozenset({Kind.SESSION_STARTED, Kind.STATE, Kind.ATTENTION})
"""The kinds after which the record is a new one; the journal has all."""


class Register(Host):
    """Writes this session's files."""

    name: ClassVar[str] = "register"
    kinds: frozenset[Kind] = frozenset(Kind)
    is_pane: ClassVar[bool] = False
    wants_notices: ClassVar[bool] = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._directory = Path(directory(setup.environ))
        self._key = setup.session or new_session()
        self._folder = -1
        self._lock: int | None = None
        self._written = 0
        self._history = History()

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        """The register is always there; whether its directory can be used shows when it is."""
        return Detection(True, f"writes to {directory(environ)}")

    def prepare(self, call: Call) -> None:
        """Make the directory; what dead sessions have left is removed."""
        self._make_directory()
        sweep(self._directory)

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Write the event to the journal, and a new record where it changes what the record tells.

        The first event takes the session's lock: what was told nothing is not released, and must not leave a file.
        """
        if self._lock is None:
            self._make_directory()
            self._folder = self._open_directory()
            self._lock = self._take_lock()
        try:
            self._write_down(event)
        finally:  # each of the two files is worth having without the other
            if event.kind in _RECORDED:
                self._replace_record(event)

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Write the release to the journal, for those who follow it, and remove all files."""
        with suppress(HostError):
            self._write_down(event)
        for suffix in _FILES:
            with suppress(OSError):
                os.unlink(self._file(suffix), dir_fd=self._folder)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            self._close_directory()

    def _make_directory(self) -> None:
        try:
            with suppress(FileExistsError):
                os.makedirs(self._directory, mode=0o700)
        except OSError as error:
            raise _failure(error) from None
        if not is_private(self._directory):
            raise HostError(ErrorClass.DENIED)

    def _open_directory(self) -> int:
        """Open the directory, for all that follows: whatever comes into its place later gets nothing of ours."""
        try:
            folder = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise _failure(error) from None
        if not is_ours_alone(os.fstat(folder)):
            os.close(folder)
            raise HostError(ErrorClass.DENIED)
        return folder

    def _take_lock(self) -> int:
        try:
            return _take_lock(self._file(LOCK), self._folder)
        except OSError as error:
            self._close_directory()
            raise _failure(error) from None

    def _close_directory(self) -> None:
        os.close(self._folder)
        self._folder = -1

    def _file(self, suffix: str) -> str:
        return f"{self._key}{suffix}"

    def _open(self, suffix: str, flags: int) -> int:
        flags |= os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._file(suffix), flags, 0o600, dir_fd=self._folder)

    def _rename(self, old: str, new: str) -> None:
        os.replace(self._file(old), self._file(new), src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _write_down(self, event: LifecycleEvent) -> None:
        if event.sequence <= self._written:
            return  # told again for a notice of another host
        try:
            descriptor = self._open(JOURNAL, os.O_APPEND)
            try:
                os.write(descriptor, event.to_json())
                self._written = event.sequence
                if os.fstat(descriptor).st_size >= JOURNAL_LIMIT:
                    self._rename(JOURNAL, OLD_JOURNAL)
            finally:
                os.close(descriptor)
        except OSError:
            raise HostError from None

    def _replace_record(self, event: LifecycleEvent) -> None:
        self._history.take(event)
        place = self.setup.place
        record = {
            "version": VERSION,
            "agent": event.agent,
            "tty": self.setup.tty,
            "pane": place.name if place else "",
            "focus": place.focus if place else (),
            **self._history.facts(event),
            "notices": dict(self.setup.notices()),
            "event": json.loads(event.to_json()),
        }
        text = json.dumps(record, ensure_ascii=False) + "\n"
        try:
            with open(self._open(_PARTIAL, os.O_TRUNC), "w", encoding="utf-8", errors="replace") as partial:
                partial.write(text)
            self._rename(_PARTIAL, RECORD)
        except OSError:
            raise HostError from None


def _failure(error: OSError) -> HostError:
    return HostError(ErrorClass.DENIED if isinstance(error, PermissionError) else ErrorClass.FAILED)


def _take_lock(name: str, folder: int) -> int:
    """Lock a file, made if need be; once more from the start where a sweep has removed it in between."""
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(name, dir_fd=folder, follow_symlinks=False)):
                return descriptor
        os.close(descriptor)


def sweep(path: Path) -> None:
    """Remove the files of sessions that are gone."""
    for lock in path.glob(f"*{LOCK}"):
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for suffix in _FILES:
                path.joinpath(lock.stem + suffix).unlink(missing_ok=True)
        except OSError:
            continue  # it lives
        finally:
            os.close(descriptor)
