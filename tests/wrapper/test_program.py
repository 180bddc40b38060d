"""Finding the agent's program as a shell does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle_wrap.program import ProgramError, find_program


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def failure(name: str, environ: dict[str, str]) -> tuple[int, str]:
    with pytest.raises(ProgramError) as error:
        find_program(name, environ)
    return error.value.status, str(error.value)


def test_the_first_executable_of_the_path_is_taken(tmp_path: Path) -> None:
    program(tmp_path / "a" / "agent", 0o644)
    (tmp_path / "b" / "agent").mkdir(parents=True)
    wanted = program(tmp_path / "c" / "agent")
    program(tmp_path / "d" / "agent")
    path = ":".join(str(tmp_path / folder) for folder in "abcd")
    assert find_program("agent", {"PATH": path}) == str(wanted)


def test_an_empty_element_of_the_path_is_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "agent")
    monkeypatch.chdir(tmp_path)
    assert find_program("agent", {"PATH": "/nowhere:"}) == "./agent"


def test_a_name_with_a_slash_is_a_path(tmp_path: Path) -> None:
    wanted = str(program(tmp_path / "agent"))
    assert find_program(wanted, {"PATH": ""}) == wanted


def test_without_a_path_the_usual_one_is_searched() -> None:
    assert os.path.basename(find_program("sh", {})) == "sh"


@pytest.mark.parametrize("name", ["agent", ""])
def test_not_found_is_127(name: str) -> None:
    assert failure(name, {"PATH": "/nowhere"}) == (
        127,
        f"{name}: command not found; install it, or add its directory to PATH",
    )


def test_a_path_that_is_not_there_is_127() -> None:
    assert failure("/nowhere/agent", {}) == (
        127,
        "/nowhere/agent: No such file or directory; check the path, and the interpreter in its first line",
    )


def test_found_but_not_executable_is_126(tmp_path: Path) -> None:
    path = program(tmp_path / "agent", 0o644)
    assert failure(str(path), {}) == (126, f"{path}: Permission denied; make it executable (chmod +x)")
    assert failure("agent", {"PATH": str(tmp_path)}) == (126, "agent: Permission denied; make it executable (chmod +x)")


def test_a_folder_is_126_by_its_path_and_not_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    assert failure(str(tmp_path / "agent"), {}) == (126, f"{tmp_path}/agent: Is a directory; name a program in it")
    assert failure("agent", {"PATH": str(tmp_path)})[0] == 127


def executed(path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    code = "import os, sys; from lifecycle_wrap.program import execute; execute(sys.argv[1], sys.argv[1:], os.environ)"
    return subprocess.run([sys.executable, "-c", code, str(path), *arguments], capture_output=True, check=False)


def test_a_script_without_an_interpreter_line_is_run_by_sh(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_text('echo "$0|$1|$2"\n')
    path.chmod(0o755)
    assert executed(path, "a b", "c").stdout == f"{path}|a b|c\n".encode()


def test_what_is_neither_script_nor_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_bytes(b"\x00\x01\x02\n")
    path.chmod(0o755)
    assert b"Exec format error" in executed(path).stderr


def test_ignored_signals_are_not_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_text("#!/bin/sh\nkill -PIPE $$\necho alive\n")
    path.chmod(0o755)
    assert executed(path).stdout == b""
