"""The zellij adapter against a script that notes its arguments: exact ones, and none where panes have no ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle_wrap.hosts.base import Call, HostError, HostGone, Setup
from lifecycle_wrap.hosts.zellij import Zellij
from tests.support.events import event, release


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"ZELLIJ": "0", "ZELLIJ_PANE_ID": "3", "PATH": f"{tmp_path}:/usr/bin:/bin"}


def install(folder: Path, *, pane_ids: bool = True, failure: str = "") -> Path:
    """Install a `zellij`; returns the file that gets its arguments, each word a line and an empty line a call."""
    calls = folder / "calls"
    usage = "  -p, --pane-id <PANE_ID>" if pane_ids else "  -h, --help"
    script = folder / "zellij"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--help) echo "{usage}"; exit 0;; esac\n'
        f'printf "%s\\n" "$@" "" >> {calls}\n' + (f'echo "{failure}" >&2; exit 2\n' if failure else "")
    )
    script.chmod(0o755)
    return calls


def read(calls: Path) -> list[list[str]]:
    return [call.split("\n") for call in calls.read_text().removesuffix("\n\n").split("\n\n")]


def test_the_pane_is_named_and_its_name_undone(environ: dict[str, str], tmp_path: Path) -> None:
    calls = install(tmp_path)
    host = Zellij(Setup(environ))
    host.prepare(Call(10))
    told = [event("working"), event("blocked"), event("idle"), release()]
    for one in told[:-1]:
        host.publish(one, Call(10))
    host.release(told[-1], Call(10))
    named = ["action", "rename-pane", "--pane-id", "terminal_3"]
    made = read(calls)
    assert [call for call in made if call[0] == "action"] == [
        [*named, "claude: Working"],
        [*named, "claude: Waiting for approval"],
        [*named, "claude: idle"],
        ["action", "undo-rename-pane", "--pane-id", "terminal_3"],
    ]
    pipes = [call for call in made if call[0] == "pipe"]
    assert [call[:-1] for call in pipes] == [["pipe", "--name", "lifecycle", "--"]] * 4
    assert [json.loads(call[-1]) for call in pipes] == [
        {"pane": 3, "agent": "claude", **json.loads(one.to_json())} for one in told
    ]


@pytest.mark.parametrize(("pane_ids", "option"), [(False, "state"), (True, "off")])
def test_no_pane_is_named_without_ids_or_against_the_users_will(
    environ: dict[str, str], tmp_path: Path, pane_ids: bool, option: str
) -> None:
    calls = install(tmp_path, pane_ids=pane_ids)
    host = Zellij(Setup(environ, {"zellij_rename": option}))
    host.prepare(Call(10))
    host.publish(event("working"), Call(10))
    host.release(release(), Call(10))
    assert {call[0] for call in read(calls)} == {"pipe"}


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ("Pane with id Terminal(3) not found", HostGone),
        ("Session 'x' not found. The following sessions are active:", HostGone),
        ("There is no active session!", HostGone),
        ("something else", HostError),
    ],
)
def test_a_pane_that_is_gone(environ: dict[str, str], tmp_path: Path, failure: str, error: type[HostError]) -> None:
    install(tmp_path, failure=failure)
    with pytest.raises(HostError) as caught:
        Zellij(Setup(environ)).publish(event("working"), Call(10))
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "zellij pane and CLI detected"),
        ({"ZELLIJ_PANE_ID": "terminal_3"}, "ZELLIJ_PANE_ID is missing"),
        ({"PATH": "/nowhere"}, "zellij CLI was not found"),
    ],
)
def test_detection(environ: dict[str, str], tmp_path: Path, change: dict[str, str], reason: str) -> None:
    calls = install(tmp_path)
    assert Zellij.detect(environ | change) == (reason.endswith("detected"), reason)
    assert not calls.exists()
