"""Other users of the machine: the register is believed and written only where nobody else can have a hand in it."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.commands import sessions
from lifecycle_wrap.hosts.base import Call, HostError, Setup
from lifecycle_wrap.hosts.records import RECORD, directory, is_private, list_sessions
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.log import Log
from tests.fuzz.shell_laws import record_text
from tests.support.events import event, release

STRANGER = 54321
"""A user that no machine has."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


def write_to(environ: dict[str, str]) -> None:
    register = Register(Setup(environ))
    register.prepare(Call(5.0))
    register.publish(event("working"), Call(5.0))


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of another user's."""
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, STRANGER, STRANGER)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A directory in which nothing may change."""
    folder = tmp_path / "victim"
    folder.mkdir(mode=0o700)
    for suffix in (".lock", ".json", ".events"):
        (folder / f"1-a{suffix}").write_text("precious")
    yield folder
    assert sorted(path.name for path in folder.iterdir()) == ["1-a.events", "1-a.json", "1-a.lock"]
    assert {path.read_text() for path in folder.iterdir()} == {"precious"}


def test_only_the_user_reads_what_is_written(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_to({"XDG_RUNTIME_DIR": str(tmp_path)})
    finally:
        os.umask(before)
    folder = tmp_path / "lifecycle-wrap"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.suffix for path in folder.iterdir()} == {".lock", ".json", ".events"}


@needs_root
def test_a_runtime_directory_of_another_user_is_left_alone(theirs: Path, tmp_path: Path) -> None:
    """As after `su`: its owner could put a symbolic link in the register's place at any time."""
    environ = {"XDG_RUNTIME_DIR": str(theirs), "TMPDIR": str(tmp_path)}
    assert directory(environ) == f"{tmp_path}/lifecycle-wrap-{os.getuid()}"
    write_to(environ)
    assert list(theirs.iterdir()) == []
    assert directory({"XDG_RUNTIME_DIR": str(theirs), "TMPDIR": str(theirs)}).startswith("/tmp/lifecycle-wrap-")


def test_a_runtime_directory_that_others_write_in_is_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for mode, used in ((0o777, False), (0o775, False), (0o1777, True), (0o755, True), (0o700, True)):
        shared.chmod(mode)
        assert (directory({"XDG_RUNTIME_DIR": str(shared)}) == f"{shared}/lifecycle-wrap") == used, oct(mode)
    assert not directory({"XDG_RUNTIME_DIR": "relative"}).startswith("relative")


@needs_root
def test_a_register_that_another_user_has_made_is_neither_written_nor_read(theirs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lifecycle-wrap"
    theirs.rename(folder)
    (folder / f"1-a{RECORD}").write_bytes(record_text())
    with pytest.raises(HostError):
        write_to({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert [path.name for path in folder.iterdir()] == [f"1-a{RECORD}"]
    assert list_sessions(folder) == []


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o750, 0o702, 0o777])
def test_a_register_that_others_can_enter_is_neither_written_nor_read(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "lifecycle-wrap"
    folder.mkdir()
    (folder / f"1-a{RECORD}").write_bytes(record_text())
    folder.chmod(mode)
    with pytest.raises(HostError):
        write_to({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert list_sessions(folder) == []


def test_a_symbolic_link_in_the_registers_place_leads_nowhere(tmp_path: Path, victim: Path) -> None:
    """Neither are its files written, nor are those removed that look like a dead session's."""
    (tmp_path / "lifecycle-wrap").symlink_to(victim)
    with pytest.raises(HostError):
        write_to({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert not is_private(tmp_path / "lifecycle-wrap")
    assert sessions.running({"XDG_RUNTIME_DIR": str(tmp_path)}) == []


@pytest.mark.parametrize("kind", ["a directory", "a symbolic link"])
def test_what_comes_into_the_registers_place_later_gets_nothing(tmp_path: Path, victim: Path, kind: str) -> None:
    """Between the check and a later write, as where a cleaner of /tmp has made room for another user."""
    register = Register(Setup({"XDG_RUNTIME_DIR": str(tmp_path)}, session="1-a"))
    register.prepare(Call(5.0))
    register.publish(event("working"), Call(5.0))
    folder = tmp_path / "lifecycle-wrap"
    folder.rename(tmp_path / "away")
    if kind == "a directory":
        victim.rename(folder)
    else:
        folder.symlink_to(victim)
    register.publish(event("idle"), Call(5.0))
    register.release(release(), Call(5.0))
    if kind == "a directory":
        folder.rename(victim)
    assert list((tmp_path / "away").iterdir()) == []


def test_files_in_the_register_that_are_no_plain_files_of_ours_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lifecycle-wrap"
    folder.mkdir(mode=0o700)
    good, elsewhere = folder / f"1-a{RECORD}", tmp_path / "elsewhere"
    for path in (good, elsewhere):
        path.write_bytes(record_text())
    (folder / f"2-b{RECORD}").symlink_to(elsewhere)
    os.mkfifo(folder / f"3-c{RECORD}")
    (folder / f"4-d{RECORD}").mkdir()
    if os.geteuid() == 0:
        theirs = folder / f"5-e{RECORD}"
        theirs.write_bytes(record_text())
        os.chown(theirs, STRANGER, STRANGER)
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)  # the path may be longer than a socket's name can be
        listener.bind(f"6-f{RECORD}")
        assert [session.key for session in list_sessions(folder)] == ["1-a"]


def test_the_log_is_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        log = Log({"XDG_STATE_HOME": str(tmp_path / "state")})
        log.write("x")
    finally:
        os.umask(before)
    path = Path(log.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
