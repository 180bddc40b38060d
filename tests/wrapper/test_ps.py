"""`ps` as a person, a prompt and a status line call it; the register's writer is the real one."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.hosts.base import Place
from lifecycle_wrap.terminal.cells import width
from tests.support.orders import Orders
from tests.support.registered import Registered, run
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(tmp_path)


@pytest.fixture
def three(environ: dict[str, str]) -> Iterator[list[Registered]]:
    """An idle, a working and a blocked session, and one that has just begun."""
    made = [
        Registered(environ, "codex", 101, cwd="/work/one", tty="/dev/pts/1"),
        Registered(environ, "claude", 102, cwd="/work/two", tty="/dev/pts/2"),
        Registered(environ, "gemini", 103, cwd="/work/three", place=Place("tmux %3", ("tmux", "select-pane", ";"))),
        Registered(environ, "aider", 104, cwd="/work/four"),
    ]
    for session, state in zip(made, ("idle", "working", "blocked"), strict=False):
        session.tell(state)
    yield made
    for session in made:
        session.end()


def fields(environ: dict[str, str], *arguments: str) -> list[str]:
    done = run(environ, "ps", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_waits_for_the_user_comes_first(environ: dict[str, str], three: list[Registered]) -> None:
    rows = [row.split() for row in fields(environ)]
    assert rows[0] == ["STATE", "AGENT", "SINCE", "ABOUT", "TERMINAL", "PID", "DIRECTORY"]
    assert [(row[0], row[1], row[-2], row[-1]) for row in rows[1:]] == [
        ("blocked", "gemini", "103", "/work/three"),
        ("working", "claude", "102", "/work/two"),
        ("idle", "codex", "101", "/work/one"),
        ("starting", "aider", "104", "/work/four"),
    ]
    assert rows[1][3:8] == ["Waiting", "for", "approval", "tmux", "%3"]
    assert rows[2][-3] == "pts/2"


def test_of_those_that_wait_the_longest_comes_first(environ: dict[str, str], three: list[Registered]) -> None:
    three[0].tell("blocked")
    assert fields(environ, "--state", "blocked", "--format", "{pid}") == ["103", "101"]


def test_json_tells_the_whole_record(environ: dict[str, str], three: list[Registered]) -> None:
    listed = json.loads(run(environ, "ps", "--json").stdout)
    first = listed[0]
    assert [one["pid"] for one in listed] == [103, 102, 101, 104]
    assert first["name"] == "gemini@three"
    assert (first["state"], first["message"], first["pane"]) == ("blocked", "Waiting for approval", "tmux %3")
    assert first["focus"] == ["tmux", "select-pane", ";"]
    assert set(first) == {
        *("name", "agent", "pid", "state", "message", "since", "started", "cwd", "session_id", "tty", "pane", "focus"),
        *("attention", "attention_at", "blocked_on", "background", "failed", "notices"),
        *("user", "host", "lost"),
    }


def test_a_template_has_a_field_for_everything(environ: dict[str, str], three: list[Registered]) -> None:
    template = "{mark}{agent:>8}|{name}|{state}|{color}|{about}|{age}|{cwd}|{dir}|{terminal}|{tty}|{pid}|{id}|{focus}"
    line = fields(environ, "--format", template, "--state", "blocked")[0]
    assert line.split("|") == [
        *("!  gemini", "gemini@three", "blocked", "red", "Waiting for approval"),
        line.split("|")[5],
        *("/work/three", "three", "tmux %3", "/dev/pts/7", "103", "", "tmux select-pane ';'"),
    ]
    assert line.split("|")[5][-1] in "sm"


def test_sessions_are_joined_into_one_line(environ: dict[str, str], three: list[Registered]) -> None:
    assert fields(environ, "--format", "{mark}{agent}", "--join", " ") == ["!gemini *claude -codex ?aider"]


@pytest.mark.parametrize("template", ["{nothing}", "{agent", "{}", "{agent.upper}", "{agent!x}"])
def test_a_wrong_template_is_told_with_the_fields_even_where_no_session_runs(
    environ: dict[str, str], template: str
) -> None:
    done = run(environ, "ps", "--format", template)
    assert done.returncode == 2
    assert done.stderr.startswith("lifecycle-wrap: --format: ")
    assert "{agent}, {name}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_rare_form_and_the_quick_one_say_the_same(environ: dict[str, str], three: list[Registered]) -> None:
    quick = fields(environ, "--format={pid}")
    rare = fields(environ, "--format={pid}", *(f"--state={state}" for state in ("idle", "working", "blocked")))
    assert rare == quick[:3]
    assert fields(environ, "--json") == fields(environ, "--json", "--json")


def test_a_prompt_does_not_wait_for_the_core_or_for_typer(environ: dict[str, str], three: list[Registered]) -> None:
    program = (
        "import sys; from lifecycle_wrap.__main__ import main; sys.argv[1:] = ['ps', '--format', '{agent}']\n"
        "main(); print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert "gemini" in done.stdout
    slow = {"lifecycle_detectors", "typer", "dataclasses", "typing", "subprocess", "pathlib", "wcwidth", "psutil"}
    assert not slow & set(modules)


def test_nobody_is_told_as_such_only_to_a_person(environ: dict[str, str]) -> None:
    assert fields(environ) == []
    assert fields(environ, "--format", "{agent}") == []
    assert json.loads(run(environ, "ps", "--json").stdout) == []
    shown, status = run_to_the_end([*WRAPPER, "ps"], environ)
    assert status == 0
    assert b"lifecycle-wrap -- AGENT" in shown


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 200])
def test_the_table_fits_the_terminal(environ: dict[str, str], three: list[Registered], columns: int) -> None:
    wide = Registered(environ, "claude", 105, cwd="/work/漢字漢字漢字漢字漢字漢字漢字漢字/深い/場所")
    wide.tell("blocked")
    shown, _ = run_to_the_end([*WRAPPER, "ps"], environ | {"NO_COLOR": "1"}, columns=columns)
    lines = shown.decode().splitlines()
    assert len(lines) == 6
    assert max(map(width, lines)) <= columns
    assert all(word in lines[1] for word in ("blocked", "gemini", "ree"))
    assert lines[2].endswith("場所")
    assert "\x1b" not in shown.decode()
    wide.end()


def test_states_are_coloured_on_a_terminal_only(environ: dict[str, str], three: list[Registered]) -> None:
    shown, _ = run_to_the_end([*WRAPPER, "ps"], environ)
    assert b"\x1b[1;31mblocked " in shown
    assert "\x1b" not in "".join(fields(environ))


def test_what_is_not_printable_drives_no_terminal(environ: dict[str, str]) -> None:
    evil = Registered(environ, "claude", 9, cwd="/work/a\x1b[2Jb", place=Place("herdr \x1b]2;x\x07", ()))
    evil.tell("idle")
    assert "\x1b" not in run(environ, "ps").stdout
    assert "\x1b" not in run(environ, "ps", "--format", "{terminal}").stdout
    evil.end()


def test_a_session_that_was_killed_is_not_listed(environ: dict[str, str], tmp_path: Path) -> None:
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ) as wrapped:
        orders.give("state working")
        wait_until(lambda: fields(environ, "--format", "{pid} {state}") == [f"{wrapped.pid} working"], "the session")
        wrapped.signal(signal.SIGKILL)
        wrapped.wait()
        wait_until(lambda: fields(environ) == [], "its end")


def test_the_register_of_somebody_else_is_not_believed(environ: dict[str, str], three: list[Registered]) -> None:
    os.chmod(f"{environ['XDG_RUNTIME_DIR']}/lifecycle-wrap", 0o755)
    assert fields(environ) == []


def examples(marker: str) -> list[str]:
    """Return the indented lines that follow a line of `ps --help`."""
    lines = subprocess.run([*WRAPPER, "ps", "--help"], capture_output=True, text=True, check=True).stdout.splitlines()
    start = next(index for index, line in enumerate(lines) if marker in line)
    indent = len(lines[start]) - len(lines[start].lstrip())
    found = []
    for line in lines[start + 1 :]:
        if not line.startswith(" " * (indent + 2)):
            break
        found.append(line.strip())
    return found


def on_path(folder: Path) -> str:
    """Make a folder whose `lifecycle-wrap` is the program under test; return a PATH that begins with it."""
    folder.mkdir()
    program = folder / "lifecycle-wrap"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(WRAPPER)} "$@"\n')
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_the_snippet_for_starship_works(environ: dict[str, str], three: list[Registered], tmp_path: Path) -> None:
    module = tomllib.loads("\n".join(examples("starship")))["custom"]["agents"]
    assert module["when"] is True
    path = on_path(tmp_path / "bin")
    done = subprocess.run(
        ["sh", "-c", module["command"]], env=environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "gemini!\n"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_the_snippet_for_tmux_works(environ: dict[str, str], three: list[Registered], tmp_path: Path) -> None:
    """The status line of one tmux, seen in a pane of another."""
    (line,) = examples("tmux's")
    inner, outer = Tmux(tmp_path), Tmux(tmp_path / "outer")
    (tmp_path / "outer").mkdir()
    (tmp_path / "inner.conf").write_text(f"{line}\nset -g status-right-length 60\nset -g status-interval 1\n")
    inner.environ["PATH"] = outer.environ["PATH"] = on_path(tmp_path / "bin")
    try:
        socket = str(tmp_path / "tmux")
        client = ["env", "-u", "TMUX", "tmux", "-S", socket, "-f", str(tmp_path / "inner.conf"), "new-session", "cat"]
        pane = outer.pane(client, **inner.environ)
        wait_until(lambda: "!gemini *claude -codex" in outer.screen(pane), lambda: outer.screen(pane))
        assert "\x1b[31m" in outer("capture-pane", "-e", "-p", "-t", pane).splitlines()[-1]
    finally:
        inner.kill()
        outer.kill()
