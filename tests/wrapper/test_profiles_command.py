"""`profiles list|show|check|test`: what they print, and how they fail: one line with the remedy, and a status."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from lifecycle_detectors import Catalog
from lifecycle_detectors.profiles import builtin_names
from lifecycle_detectors.profiles.catalog import builtin_text
from lifecycle_wrap.commands.profiles_command import BUILT_IN, check, check_all, rows, score_row, scores, table
from tests.support.commands import Commands, Finished
from tests.support.terminal import isolated_environment

FIXTURES = Path(__file__).parents[2] / "fixtures" / "recordings"
MINE = 'schema = 1\nname = "mine"\ntitle = "My agent"\nverified = ["1.0"]\n[match]\ncommands = ["mine"]\n'
DOUBTFUL = MINE + '[[rule]]\nid = "r"\nstate = "working"\nall = [{ region = "bottom", text = \'esc to interrupt\' }]\n'
WRONG = MINE.replace("title", "titel")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one profile of the user's."""
    folder = tmp_path / "home"
    profiles = (
        Path(isolated_environment(folder).get("XDG_CONFIG_HOME") or folder / ".config") / "lifecycle-wrap/profiles"
    )
    profiles.mkdir(parents=True)
    (profiles / "mine.toml").write_text(MINE)
    return folder


def profiles_of(home: Path) -> Path:
    return Path(isolated_environment(home).get("XDG_CONFIG_HOME") or home / ".config") / "lifecycle-wrap/profiles"


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(isolated_environment(home), monkeypatch, capsys)


def told_in_one_line(run: Finished, text: str, status: int) -> None:
    assert run.returncode == status
    assert text in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_the_list_has_every_profile_once() -> None:
    listed = rows(Catalog({"/p/mine.toml": MINE}))
    assert [row.name for row in listed] == sorted([*builtin_names(), "mine"])
    origins = {row.name: row.origin for row in listed}
    assert origins.pop("mine") == "/p/mine.toml"
    assert set(origins.values()) == {BUILT_IN}
    lines = table(listed).splitlines()
    assert lines[0].split() == ["NAME", "TITLE", "VERSIONS", "FROM"]
    assert len(lines) == len(listed) + 1
    assert any("unverified" in line for line in lines)


def test_list(command: Commands) -> None:
    run = command("profiles", "list")
    assert (run.returncode, run.stderr) == (0, "")
    [mine] = [line for line in run.stdout.splitlines() if line.startswith("mine ")]
    assert mine.split()[-1].endswith("profiles/mine.toml")
    as_json = [json.loads(line) for line in command("profiles", "list", "--json").stdout.splitlines()]
    assert {"name": "codex", "title": "Codex", "origin": BUILT_IN}.items() <= next(
        entry for entry in as_json if entry["name"] == "codex"
    ).items()


def test_a_profile_of_the_users_that_cannot_be_read(command: Commands, home: Path) -> None:
    (profiles_of(home) / "wrong.toml").write_text(WRONG)
    run = command("profiles", "list")
    assert "claude" in run.stdout
    told_in_one_line(run, "did you mean 'title'?", 1)
    checked = command("profiles", "check")
    assert checked.returncode == 1
    assert "error    " in checked.stdout


def test_show(command: Commands) -> None:
    run = command("profiles", "show", "codex")
    assert (run.returncode, run.stdout) == (0, builtin_text("codex"))
    assert tomllib.loads(run.stdout)["name"] == "codex"
    assert command("profiles", "show", "mine").stdout == MINE
    told_in_one_line(command("profiles", "show", "nothing"), "known: aider", 2)


def test_the_built_in_profiles_are_clean() -> None:
    results = list(check_all(Catalog()))
    assert [result.name for result in results] == builtin_names()
    assert all(not result.errors and not result.warnings for result in results), [r for r in results if r.warnings]


def test_check_of_files(tmp_path: Path) -> None:
    catalog = Catalog()
    files = {
        "fine.toml": MINE,
        "doubtful.toml": DOUBTFUL,
        "wrong.toml": WRONG,
        "none.toml": "[[",
        "long.toml": "#" * 300_000,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    results = {name: check(str(tmp_path / name), catalog) for name in [*files, "latin.toml", "gone.toml"]}
    assert not results["fine.toml"].errors
    assert not results["fine.toml"].warnings
    [warning] = results["doubtful.toml"].warnings
    assert "would take prose for it" in warning
    for name, part in (
        ("wrong.toml", "titel"),
        ("none.toml", "TOML"),
        ("long.toml", "more than"),
        ("latin.toml", "UTF-8"),
        ("gone.toml", "profiles list"),
    ):
        [error] = results[name].errors
        assert part in error
        assert name in error
        assert "; " in error
        assert "\n" not in error


def test_check_by_name(command: Commands) -> None:
    run = command("profiles", "check", "codex", "mine")
    assert (run.returncode, run.stdout) == (0, "2 checked: 0 errors, 0 warnings\n")


def test_a_warning_fails_only_where_it_is_asked_to(command: Commands, tmp_path: Path) -> None:
    file = tmp_path / "doubtful.toml"
    file.write_text(DOUBTFUL)
    assert command("profiles", "check", str(file)).returncode == 0
    strict = command("profiles", "check", "--strict", str(file))
    assert strict.returncode == 1
    assert strict.stdout.startswith(f"warning  {file}: rule 'r' ")


def write_cast(path: Path, *markers: tuple[float, str], end: float = 9.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    events: list[list[object]] = [[at, "m", f"state:{state}"] for at, state in markers]
    events += [
        [1.0, "o", "\x1b]7501;state=working:app=x\x07"],
        [5.0, "o", "\x1b]7501;state=done:app=x\x07"],
        [end, "o", ""],
    ]
    events.sort(key=lambda event: str(event[0]))
    lines = [json.dumps({"version": 2, "width": 40, "height": 5}), *map(json.dumps, events)]
    path.write_text("\n".join(lines) + "\n")


def test_scores(tmp_path: Path) -> None:
    write_cast(tmp_path / "a" / "right.cast", (1.0, "working"), (5.5, "idle"))
    write_cast(tmp_path / "a" / "wrong.cast", (1.0, "blocked"), (5.5, "idle"))
    write_cast(tmp_path / "a" / "unmarked.cast")
    (tmp_path / "a" / "broken.cast").write_text("no")
    results = list(scores(tmp_path, Catalog(), None, screen=True, signals=True))
    assert {result.path.name: result.passed for result in results} == {
        "broken.cast": False,
        "right.cast": True,
        "wrong.cast": False,
    }
    told = {result.path.name: score_row(result) for result in results}
    assert "2 of 2 changes in time, 0 false (profile generic)" in told["right.cast"]
    assert "1 of 2 changes in time, 1 false" in told["wrong.cast"]
    assert told["broken.cast"].startswith("ERROR")


def test_test(command: Commands, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    write_cast(folder / "right.cast", (1.0, "working"), (5.5, "idle"))
    run = command("profiles", "test", str(folder))
    assert run.returncode == 0
    assert run.stdout.splitlines()[-1] == "1 recordings: 2 of 2 changes in time, 0 false"
    write_cast(folder / "wrong.cast", (1.0, "blocked"), (5.5, "idle"))
    short = command("profiles", "test", "-v", "--profile", "mine", str(folder))
    assert short.returncode == 1
    assert "SHORT" in short.stdout
    assert "derived:" in short.stdout
    blind = command("profiles", "test", "--no-signals", str(folder))
    assert "0 of 4 changes" in blind.stdout


def test_test_of_nothing(command: Commands, tmp_path: Path) -> None:
    told_in_one_line(command("profiles", "test", str(tmp_path / "gone")), "no such folder", 2)
    (tmp_path / "empty").mkdir()
    told_in_one_line(command("profiles", "test", str(tmp_path / "empty")), "record --annotate", 1)
    told_in_one_line(command("profiles", "test", "--profile", "nothing", str(tmp_path)), "known: ", 2)


def test_real_recordings_score(command: Commands) -> None:
    run = command("profiles", "test", str(FIXTURES / "llm"))
    assert run.returncode == 0, run.stdout
