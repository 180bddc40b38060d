"""Runs without a terminal: the agent is run as it is, and hosts learn working, idle and the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import DEADLINE, wait_until

PROGRAM = """
import os, sys
from lifecycle_wrap.arguments import Options
from lifecycle_wrap.headless import run
from lifecycle_wrap.program import find_program
argv = sys.argv[2:]
sys.exit(run(Options(config=sys.argv[1]), find_program(argv[0], os.environ), argv, os.environ))
"""


class Run:
    """One run with a sink that notes its events."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._told = folder / "told"
        sink = folder / "sink"
        sink.write_text(f"#!/bin/sh\ncat >> {self._told}\n")
        sink.chmod(0o755)
        config = folder / "config.toml"
        config.write_text(f'[[lifecycle.commands]]\nname = "notes"\ncommand = ["{sink}"]\n')
        self.config = str(config)
        self.environ = isolated_environment(folder)

    def start(self, argv: Sequence[str], **environ: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, self.config, *argv],
            env=self.environ | environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._told.read_text().splitlines()] if self._told.exists() else []

    def states(self) -> list[str]:
        return [event["state"] or event["kind"] for event in self.events()]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_the_streams_are_the_agents_own_and_its_life_is_told(run: Run) -> None:
    process = run.start(["sh", "-c", "cat; echo said; echo complained >&2; exit 3"])
    wait_until(lambda: run.states() == ["working"], lambda: str(run.states()))
    output, errors = process.communicate(b"asked\n", DEADLINE)
    assert (output, errors, process.returncode) == (b"asked\nsaid\n", b"complained\n", 3)
    assert run.states() == ["working", "idle", "release"]
    assert {event["pid"] for event in run.events()} == {process.pid}
    assert not list((Path(run.environ["XDG_RUNTIME_DIR"]) / "lifecycle-wrap").iterdir())


def test_even_a_short_run_ends_idle_and_released(run: Run) -> None:
    process = run.start(["true"])
    process.communicate(timeout=DEADLINE)
    assert run.states() in (["working", "idle", "release"], ["idle", "release"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_to_us_reaches_the_agent(run: Run, number: int) -> None:
    process = run.start(["sh", "-c", f"trap 'echo caught; exit 7' {number}; echo ready; while :; do sleep 0.05; done"])
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE)
    assert (output, process.returncode) == (b"caught\n", 7)


def test_an_agent_that_a_signal_ends(run: Run) -> None:
    process = run.start(["sh", "-c", "kill -KILL $$"])
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 137
    assert run.states()[-2:] == ["idle", "release"]


def test_an_agent_that_cannot_be_executed(run: Run, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_bytes(b"\x7fELF\0nonsense")
    agent.chmod(0o755)
    process = run.start([str(agent)])
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 126
    assert errors == f"lifecycle-wrap: {agent}: Exec format error; it may be built for another machine\n".encode()


def test_inside_a_wrapped_session_nothing_is_told(run: Run) -> None:
    leader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True)
    process = run.start(["sh", "-c", "exit 4"], LIFECYCLE_WRAP_SESSION=f"{leader.pid}:5")
    process.communicate(timeout=DEADLINE)
    leader.communicate()
    assert process.returncode == 4
    assert run.events() == []


def test_a_headless_run_inside_of_another_is_silent(run: Run) -> None:
    inner = [sys.executable, "-c", PROGRAM, run.config, "sh", "-c", "exit 5"]
    process = run.start(inner)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 5
    assert run.states().count("release") == 1


@pytest.mark.parametrize("mark", ["", "x:y", "999999999:1", "-1:0", "99999999999999999999:0"])
def test_a_mark_without_a_living_session_means_nothing(run: Run, mark: str) -> None:
    process = run.start(["true"], LIFECYCLE_WRAP_SESSION=mark)
    process.communicate(timeout=DEADLINE)
    assert run.states()[-1:] == ["release"]


def test_switched_off_nothing_is_told(run: Run) -> None:
    process = run.start(["sh", "-c", "exit 6"], LIFECYCLE_WRAP="0")
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 6
    assert run.events() == []


def test_the_command_line_asks_for_it_and_names_its_one_value(tmp_path: Path) -> None:
    refused = subprocess.run([*WRAPPER, "--headless", "talk", "--", "true"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "the one value there is: report" in refused.stderr
    argv = [*WRAPPER, "--headless", "report", "--", "sh", "-c", "cat; exit 4"]
    ran = subprocess.run(
        argv, input=b"through", capture_output=True, timeout=60, env=isolated_environment(tmp_path), check=False
    )
    assert (ran.returncode, ran.stdout) == (4, b"through")
