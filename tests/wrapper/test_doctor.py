"""`doctor` on a machine with nothing, inside tmux, and with what can be wrong."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from lifecycle_wrap.commands import doctor
from lifecycle_wrap.commands.doctor import Mark, changes, examine, to_text
from tests.support.registered import Registered, run
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine on which there is nothing."""
    (tmp_path / "bin").mkdir()
    return isolated_environment(tmp_path, PATH=str(tmp_path / "bin"), SHELL="/bin/bash")


def agent(environ: dict[str, str], name: str, script: str) -> None:
    file = Path(environ["PATH"]) / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def findings(environ: dict[str, str], title: str, path: Path | None = None) -> list[str]:
    (section,) = (section for section in examine(path, environ) if section.title.startswith(title))
    return [f"{finding.mark} {finding.text}" for finding in section.findings]


def test_a_machine_with_nothing(environ: dict[str, str]) -> None:
    done = run(environ, "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "input or output is no terminal",
        f"all defaults; there is no {environ['HOME']}/.config/lifecycle-wrap/config.toml",
        "no known agent is on PATH; install one, or see how it works with lifecycle-wrap demo",
        "tmux is not told: TMUX not set",
        "herdr is not told: HERDR_ENV not set",
        "register is told: writes to",
        "no host is told here but the register",
        "0 running",
        '~/.bashrc: eval "$(lifecycle-wrap shell-init bash)"',
    ):
        assert said in done.stdout
    assert done.stdout.endswith("\nnothing to change\n")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_inside_tmux(tmp_path: Path) -> None:
    tmux = Tmux(tmp_path)
    try:
        pane = tmux.pane([*WRAPPER, "doctor"])
        wait_until(lambda: tmux.ended(pane), "the end")
        screen = " ".join(tmux("capture-pane", "-p", "-S", "-100", "-t", pane).split())
    finally:
        tmux.kill()
    assert "100 columns, 30 rows" in screen
    assert "ok tmux is told: tmux pane and CLI detected" in screen
    assert "zellij is not told: ZELLIJ not set" in screen
    assert "nothing to change" in screen


def test_the_terminal_and_what_it_is_sent(environ: dict[str, str]) -> None:
    ghostty = environ | {"TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}
    assert any(
        line.startswith("ok Ghostty 1.3.1 ") and "progress is sent; it is notified by OSC 777" in line
        for line in findings(ghostty, "Terminal")
    )
    config = Path(environ["HOME"]) / "config.toml"
    config.write_text('notify = "off"\n[lifecycle]\nosc = "off"\n')
    switched = findings(ghostty, "Terminal", config)
    assert any("progress is switched off; notifications are switched off" in line for line in switched)
    unknown = findings(environ, "Terminal")
    assert any(line.startswith("- unknown ") and "no progress is sent" in line for line in unknown)
    dumb = findings(environ | {"TERM": "dumb"}, "Terminal")
    assert any("watch prints plain lines" in line for line in dumb)


def test_what_is_broken_is_told_with_file_and_remedy(environ: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "lifecycle-wrap"
    (folder / "profiles").mkdir(parents=True)
    config = folder / "config.toml"
    config.write_text(
        '[lifecycle]\nosc = "onn"\n[[lifecycle.commands]]\nname = "gone"\ncommand = ["/no/such/program"]\n'
    )
    profile = folder / "profiles" / "mine.toml"
    profile.write_text('schema = 1\nname = "mine"\n[match]\ncommands = ["mine"]\n[[rule]]\nid = "x"\nstate = "ide"\n')
    done = run(environ, "doctor")
    assert done.returncode == 1
    marked = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("! ")]
    assert len(marked) == 3
    assert marked[0].startswith(f"!  {config}: lifecycle.osc: ")
    assert 'did you mean "on"?' in marked[0]
    assert "command sink 'gone': /no/such/program: No such file or directory" in marked[1]
    assert marked[2].startswith(f"!  {profile}: ")
    assert done.stdout.endswith("to change: 3, marked with !\n")
    config.write_text("[[[")
    assert any(line.startswith(f"! {config}: it is not valid TOML") for line in findings(environ, "Configuration"))


def test_switches(environ: dict[str, str]) -> None:
    off = environ | {"LIFECYCLE_WRAP": "0"}
    assert "! LIFECYCLE_WRAP=0 in the environment switches everything off; unset it" in findings(off, "Configuration")
    assert any("disabled by LIFECYCLE_WRAP=0" in line for line in findings(off, "Hosts"))
    one = environ | {"LIFECYCLE_WRAP_TMUX": "0", "TMUX": "/x,1,0"}
    assert "- LIFECYCLE_WRAP_TMUX=0 in the environment: tmux is not told" in findings(one, "Configuration")
    assert not any(line.startswith("!") for line in findings(one, "Hosts"))


def test_a_host_that_is_there_but_cannot_be_told(environ: dict[str, str]) -> None:
    inside = environ | {"TMUX": "/tmp/x,1,0", "TMUX_PANE": "%1"}
    assert "! tmux is around us but cannot be told: tmux CLI was not found" in findings(inside, "Hosts")


def test_agents_their_versions_and_how_well_they_are_known(environ: dict[str, str]) -> None:
    agent(environ, "claude", 'echo "2.1.332 (Claude Code)"')
    agent(environ, "codex", 'echo "codex-cli 99.0.1-alpha"')
    agent(environ, "aider", "exit 1")
    agent(environ, "llm", "echo no number")
    told = findings(environ, "Agents")
    path = environ["PATH"]
    assert f"ok claude 2.1.332 at {path}/claude; profile claude, tried with this version" in told
    assert any(line.startswith(f"ok codex 99.0.1-alpha at {path}/codex; profile codex, tried with ") for line in told)
    assert any(line.startswith(f"ok aider (tells no version) at {path}/aider") for line in told)
    assert any(line.startswith("ok llm (tells no version)") for line in told)


def test_an_agent_that_hangs_or_floods_is_given_up(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "VERSION_SECONDS", 1.0)
    agent(environ, "claude", "exec /bin/sleep 60")
    agent(environ, "codex", f"exec {shlex.quote(sys.executable)} -c 'while True: print(1.5)'")
    began = time.monotonic()
    told = findings(environ, "Agents")
    assert time.monotonic() - began < 15
    assert [line.split()[2] for line in told] == ["(tells", "(tells"]


def test_the_register(environ: dict[str, str], tmp_path: Path) -> None:
    session = Registered(environ, "claude", 1)
    folder = tmp_path / "lifecycle-wrap"
    assert findings(environ, "Sessions") == [f"ok 1 running, listed in {folder}"]
    session.end()
    os.chmod(folder, 0o755)
    (told,) = findings(environ, "Sessions")
    assert told.startswith(f"! {folder} is not yours alone")


def test_a_shell_that_has_the_line(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text('eval "$(lifecycle-wrap shell-init bash)"\n')
    assert findings(environ, "Shell") == ["ok ~/.bashrc wraps the installed agents in new shells"]
    assert findings(environ | {"SHELL": "/bin/tcsh"}, "Shell")[0].startswith("- SHELL is none of")
    fish = findings(environ | {"SHELL": "/usr/bin/fish"}, "Shell")[0]
    assert fish.endswith("~/.config/fish/config.fish: lifecycle-wrap shell-init fish | source")


def test_only_what_is_wrong_counts(environ: dict[str, str]) -> None:
    sections = examine(None, environ)
    assert changes(sections) == []
    assert {finding.mark for section in sections for finding in section.findings} == {Mark.GOOD, Mark.NOTE}
    assert to_text(sections).endswith("nothing to change")
