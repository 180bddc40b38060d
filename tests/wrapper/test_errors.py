"""What a command gets wrong is told in one line on stderr, with an exit status; no command is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from lifecycle_wrap.commands.cli import app
from tests.support.commands import Commands
from tests.support.terminal import isolated_environment

HEADER = '{"version": 2, "width": 80, "height": 24}\n'
FILES = {
    "ok.cast": HEADER + '[0.5, "o", "x"]\n',
    "broken.cast": HEADER + "[1, \n",
    "numbers.cast": HEADER + "[1, 2, 3]\n",
    "never.cast": HEADER + '[1e999, "o", "x"]\n',
    "deep.cast": HEADER + "[" * 100_000 + "\n",
    "huge.cast": '{"version": 2, "width": 100000, "height": 24}\n',
    "four.cast": '{"version": 4, "width": 80, "height": 24}\n',
    "list.cast": "[]\n",
    "text.cast": "hello\n",
    "empty.cast": "",
    "bytes.cast": b"\xff\xfe\x00",
    "bytes.cast.gz": b"\x1f\x8b\x08 nothing",
    "there.toml": "",
    "broken.toml": "[lifecycle\n",
}
RECORDINGS = [name for name in FILES if ".cast" in name and name != "ok.cast"] + ["nowhere.cast", "."]

COULD_NOT = [
    *(f"{command} {name}" for command in ("replay", "explain") for name in RECORDINGS),
    "replay --svg nowhere/x.svg ok.cast",
    "replay --svg . ok.cast",
    "profiles test folder",
    "config show --config broken.toml",
    "config show --config nowhere.toml",
    "config init --config there.toml",
    "config init --config there.toml/x.toml",
]
"""Exit status 1."""

USAGE = [
    *(f"{command} {rest}" for command in ("replay", "explain") for rest in ("", "ok.cast more", "--at -1 ok.cast")),
    *(f"{command} --profile nobody ok.cast" for command in ("replay", "explain")),
    "profiles nothing",
    "profiles list more",
    "profiles show",
    "profiles show nobody",
    "profiles check --nothing",
    "profiles test nowhere",
    "profiles test ok.cast",
    "profiles test folder --profile nobody",
    "ps more",
    "ps --state asleep",
    "ps --format {nothing}",
    "ps --format {",
    "watch more",
    "wait one two",
    "wait --until asleep",
    "wait --timeout soon",
    "tail one two",
    "tail -n few",
    "tail -n -1",
    "shell-init",
    "shell-init tcsh",
    "shell-init bash ../x",
    "completion",
    "completion tcsh",
    "config nothing",
    "config init more",
    "config show more",
    "doctor more",
    "status more",
    "reset more",
    "demo more",
    "record",
    "record x.cast",
    "record --limit 0 x.cast -- true",
    "record --limit much x.cast -- true",
    "record --marker-key F13 x.cast -- true",
    "--config there.toml doctor",
    "--nothing",
]
"""Exit status 2."""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return Commands(isolated_environment(tmp_path), monkeypatch, capsys)


@pytest.mark.parametrize(("line", "status"), [*((line, 1) for line in COULD_NOT), *((line, 2) for line in USAGE)])
def test_one_line_and_a_status(command: Commands, line: str, status: int) -> None:
    done = command(*line.split())
    assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
    assert done.stderr.startswith("lifecycle-wrap: ") or ".toml: " in done.stderr
    assert "Error" not in done.stderr
    assert status == 2 or any(name in done.stderr for name in (*FILES, "nowhere", "folder", ".:"))


@pytest.mark.parametrize("line", ["wait nobody", "tail nobody"])
def test_a_session_that_is_not_there_has_a_status_of_its_own(command: Commands, line: str) -> None:
    done = command(*line.split())
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)


def test_no_command_is_left_out() -> None:
    def paths(group: Any, before: str = "") -> set[str]:
        below = getattr(group, "commands", {})
        found = {path for name, one in below.items() for path in paths(one, f"{before} {name}".strip())}
        return found or {before}

    shown = [*COULD_NOT, *USAGE]
    assert {path for path in paths(get_command(app)) if not any(line.startswith(path) for line in shown)} == set()
