"""Waiting for a change in a directory without asking for it over and over.

Owns the notifications of the system: inotify(7) on Linux, kqueue(2) on macOS and the BSDs, a slow poll where neither
can be had. What has changed is for the caller to find out: a wake-up may be one too many, never one too few.
"""

from __future__ import annotations

import os
import select
import sys
import time

from lifecycle_wrap.hosts.records import LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

POLL_SECONDS = 1.0
"""How often the caller looks where nothing notifies us."""

LATER_SECONDS = 0.05
"""Linux tells of a file's closing just before it gives up the file's lock; so much later the lock is free."""

_PASSING = b".new"
"""The end of a file's name that means nothing by itself: it is renamed in a moment."""

# <sys/inotify.h>
_IN_CLOSE_WRITE = 0x8
_IN_MOVED_TO = 0x80
_IN_CREATE = 0x100
_IN_DELETE = 0x200
_IN_Q_OVERFLOW = 0x4000
_IN_IGNORED = 0x8000
_EVENT_HEADER = 16
_EVENT_BUFFER = 64 * 1024


class DirectoryChanges:
    """Wakes its user when something in a directory has changed. One thread; a context manager.

    Args:
        path: the directory, made (0700) where it is missing: what is waited for may be its first file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._source: _Source | None = None
        self._again: float | None = None
        self._open()

    def __enter__(self) -> DirectoryChanges:
        return self

    def __exit__(self, *_: object) -> None:
        if self._source is not None:
            self._source.close()

    def wait(self, seconds: float | None, descriptors: Sequence[int] = ()) -> list[int]:
        """Wait for a change, for input, or for the time to pass.

        Args:
            seconds: the longest wait, or None for ever.
            descriptors: files to wait for as well.

        Returns:
            Those of `descriptors` that have something to read.
        """
        end = None if seconds is None else time.monotonic() + max(0.0, seconds)
        while True:
            if self._source is None:
                self._open()
            limits = [limit for limit in (end, self._again, self._poll_limit()) if limit is not None]
            left = max(0.0, min(limits) - time.monotonic()) if limits else None
            own = [] if self._source is None else [self._source.fileno()]
            ready, _, _ = select.select([*descriptors, *own], [], [], left)
            wanted = [descriptor for descriptor in ready if descriptor not in own]
            if not ready:
                if self._again is not None and self._again <= time.monotonic():
                    self._again = None
                return []
            changed = len(wanted) < len(ready) and self._take()
            if wanted or changed:
                return wanted

    def _open(self) -> None:
        try:
            os.makedirs(self._path, mode=0o700, exist_ok=True)
            self._source = _Source(self._path)
        except (OSError, AttributeError):
            self._source = None

    def _poll_limit(self) -> float | None:
        if self._source is None or self._source.needs_polling:
            return time.monotonic() + POLL_SECONDS
        return None

    def _take(self) -> bool:
        """Take the notifications; tell whether any of them means something."""
        assert self._source is not None
        names = self._source.take()
        if names is None:
            self._source.close()
            self._source = None
            return True
        if any(name.endswith(LOCK.encode()) for name in names):
            self._again = time.monotonic() + LATER_SECONDS
        return any(not name.endswith(_PASSING) for name in names)


if sys.platform == "linux":

    class _Source:
        """Linux. A session's end shows too: the kernel closes its lock file, which was open for writing."""

        needs_polling = False

        def __init__(self, path: str) -> None:
            import ctypes

            libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if self._descriptor < 0:
                raise OSError(ctypes.get_errno(), "inotify_init1")
            mask = _IN_CLOSE_WRITE | _IN_MOVED_TO | _IN_CREATE | _IN_DELETE
            if libc.inotify_add_watch(self._descriptor, os.fsencode(path), mask) < 0:
                self.close()
                raise OSError(ctypes.get_errno(), "inotify_add_watch")

        def fileno(self) -> int:
            return self._descriptor

        def take(self) -> list[bytes] | None:
            """Return the names of what has changed, or None when the directory is gone."""
            names: list[bytes] = []
            while True:
                try:
                    data = os.read(self._descriptor, _EVENT_BUFFER)
                except BlockingIOError:
                    return names
                while data:
                    mask = int.from_bytes(data[4:8], sys.byteorder)
                    end = _EVENT_HEADER + int.from_bytes(data[12:16], sys.byteorder)
                    if mask & _IN_IGNORED:
                        return None
                    names.append(b"" if mask & _IN_Q_OVERFLOW else data[_EVENT_HEADER:end].rstrip(b"\0"))
                    data = data[end:]

        def close(self) -> None:
            os.close(self._descriptor)

else:

    class _Source:
        """macOS and the BSDs: files come, go and are replaced; a killed process shows nothing, hence the poll."""

        needs_polling = True

        def __init__(self, path: str) -> None:
            self._directory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self._queue = select.kqueue()
                changes = select.KQ_NOTE_WRITE | select.KQ_NOTE_DELETE | select.KQ_NOTE_RENAME
                event = select.kevent(
                    self._directory, select.KQ_FILTER_VNODE, select.KQ_EV_ADD | select.KQ_EV_CLEAR, changes
                )
                self._queue.control([event], 0)
            except BaseException:
                os.close(self._directory)
                raise

        def fileno(self) -> int:
            return self._queue.fileno()

        def take(self) -> list[bytes] | None:
            """Return one nameless change, or None when the directory is gone."""
            gone = select.KQ_NOTE_DELETE | select.KQ_NOTE_RENAME
            events = self._queue.control(None, 8, 0)
            return None if any(event.fflags & gone for event in events) else [b""]

        def close(self) -> None:
            self._queue.close()
            os.close(self._directory)
