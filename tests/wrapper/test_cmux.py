"""The adapter for the cmux app against a fake of its CLI that keeps the status of each workspace."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle_wrap.hosts import cmux
from lifecycle_wrap.hosts.base import Call, HostError, HostGone, Setup
from tests.support import fake_cmux
from tests.support.events import event, release, started
from tests.support.waiting import wait_until

SURFACE = "5E1F0000-0000-4000-8000-000000000001"
WORKSPACE = "00000000-0000-4000-8000-00000000000A"
KEY = f"lifecycle-wrap:{SURFACE}"


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(cmux, "ON_MACOS", True)
    binary = tmp_path / "bin" / "cmux"
    binary.parent.mkdir()
    binary.write_text(f"#!{sys.executable}\n" + Path(fake_cmux.__file__).read_text())
    binary.chmod(0o755)
    return {
        "PATH": f"{binary.parent}:/usr/bin:/bin",
        "CMUX_SURFACE_ID": SURFACE,
        "CMUX_WORKSPACE_ID": WORKSPACE,
        "CMUX_SOCKET": "",
        "CMUX_SOCKET_PATH": "/tmp/cmux.sock",
        "FAKE_CMUX_STATE": str(tmp_path / "state"),
    }


def state(environ: dict[str, str]) -> dict[str, Any]:
    path = Path(environ["FAKE_CMUX_STATE"])
    return dict(json.loads(path.read_text())) if path.exists() else {"calls": [], "workspaces": {}}


def test_the_argument_lists_of_a_session(environ: dict[str, str]) -> None:
    host = cmux.Cmux(Setup(environ))
    host.prepare(Call(10))
    for told in (event("working"), event("blocked"), event("idle"), event("idle", failed=True), event("working")):
        host.publish(told, Call(10))
    host.release(release(), Call(10))
    workspace = f"--workspace={WORKSPACE}"
    end = ["--priority=50", "--pid=4242", workspace]
    loading = ["workspace", "loading"]
    assert state(environ)["calls"] == [
        ["clear-status", KEY, workspace],
        ["set-status", KEY, "Working", "--icon=bolt.fill", "--color=#4C8DFF", *end],
        [*loading, "on", f"--id={KEY}", workspace],
        ["set-status", KEY, "Needs input", "--icon=bell.fill", "--color=#FF9500", *end],
        [*loading, "off", f"--id={KEY}", workspace],
        ["set-status", KEY, "Idle", "--icon=pause.circle", "--color=#8E8E93", *end],
        ["set-status", KEY, "Failed", "--icon=exclamationmark.triangle.fill", "--color=#FF3B30", *end],
        ["set-status", KEY, "Working", "--icon=bolt.fill", "--color=#4C8DFF", *end],
        [*loading, "on", f"--id={KEY}", workspace],
        ["clear-status", KEY, workspace],
        [*loading, "off", f"--id={KEY}", workspace],
    ]
    assert state(environ)["workspaces"] == {WORKSPACE: {"status": {}, "loading": [], "notified": []}}


def test_it_notifies_once_for_each_wait_where_that_is_asked_for(environ: dict[str, str]) -> None:
    host = cmux.Cmux(Setup(environ, {"cmux_notify": "blocked"}))
    question = event("blocked", message="Waiting for user input")
    waits = [event("blocked"), question, event("working"), question, event("idle")]
    for told in [event("idle"), event("working"), *waits]:
        host.publish(told, Call(10))
    host.release(release(), Call(10))
    assert state(environ)["workspaces"][WORKSPACE]["notified"] == [
        {"title": "claude", "body": "Waiting for approval", "surface": SURFACE},
        {"title": "claude", "body": "Waiting for user input", "surface": SURFACE},
    ]


@pytest.mark.parametrize(("agent", "title"), [('it\'s \\ "mine"', "its  mine"), ("'", "agent"), ("--clear", "--clear")])
def test_a_name_cannot_change_what_is_asked(environ: dict[str, str], agent: str, title: str) -> None:
    cmux.Cmux(Setup(environ, {"cmux_notify": "blocked"})).publish(event("blocked", agent=agent), Call(10))
    assert [one["title"] for one in state(environ)["workspaces"][WORKSPACE]["notified"]] == [title]


def test_two_surfaces_of_a_workspace_do_not_touch_each_other(environ: dict[str, str]) -> None:
    one, two = (cmux.Cmux(Setup(environ | {"CMUX_SURFACE_ID": surface})) for surface in ("A", "B"))
    one.publish(event("working"), Call(10))
    two.publish(event("blocked"), Call(10))
    one.release(release(), Call(10))
    shown = state(environ)["workspaces"][WORKSPACE]
    assert {key: pill["value"] for key, pill in shown["status"].items()} == {"lifecycle-wrap:B": "Needs input"}
    assert shown["loading"] == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "cmux surface and CLI detected"),
        ({"CMUX_WORKSPACE_ID": ""}, "CMUX_WORKSPACE_ID and CMUX_SURFACE_ID are not both present"),
        ({"CMUX_SURFACE_ID": " "}, "CMUX_WORKSPACE_ID and CMUX_SURFACE_ID are not both present"),
        ({"PATH": "/nowhere"}, "cmux CLI was not found"),
    ],
)
def test_detection(environ: dict[str, str], change: dict[str, str], reason: str) -> None:
    assert cmux.Cmux.detect(environ | change) == (reason.endswith("detected"), reason)
    assert state(environ)["calls"] == []


def test_on_other_systems_it_is_another_program(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmux, "ON_MACOS", False)
    assert cmux.Cmux.detect(environ) == (False, "cmux integration is available only on macOS")


def test_a_process_that_the_app_refuses_tries_once(environ: dict[str, str]) -> None:
    host = cmux.Cmux(Setup(environ | {"FAKE_CMUX_REFUSE": "1"}))
    with pytest.raises(HostGone):
        host.prepare(Call(10))


def test_other_failures_pass(environ: dict[str, str]) -> None:
    host = cmux.Cmux(Setup(environ | {"PATH": "/usr/bin:/bin", "FAKE_CMUX_STATE": "/nowhere/state"}))
    with pytest.raises(HostError):
        host.publish(event("working"), Call(10))


def test_nothing_is_left_after_a_session(environ: dict[str, str]) -> None:
    manager = started([cmux.Cmux(Setup(environ))])
    manager.publish(event("working"))
    wait_until(lambda: state(environ)["workspaces"].get(WORKSPACE, {}).get("loading"), "the pill and the indicator")
    assert state(environ)["workspaces"][WORKSPACE]["status"][KEY]["pid"] == "4242"
    manager.publish(release())
    manager.close()
    assert state(environ)["workspaces"] == {WORKSPACE: {"status": {}, "loading": [], "notified": []}}
