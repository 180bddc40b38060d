"""The herdr adapter against a fake server and a fake CLI that judge reports as herdr does."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from lifecycle_wrap.hosts.base import Call, Detection, ErrorClass, HostError, HostGone, Setup
from lifecycle_wrap.hosts.herdr import SOURCE, Herdr
from tests.support import fake_herdr_cli
from tests.support.events import event, release, started
from tests.support.fake_herdr import FakeHerdr, Pane, ask, now
from tests.support.waiting import wait_until

PANE = "w1:p1"


@pytest.fixture
def server() -> Iterator[FakeHerdr]:
    with tempfile.TemporaryDirectory(prefix="he") as folder:
        fake = FakeHerdr(Path(folder) / "s")
        fake.panes[PANE] = Pane(shell_pid=os.getsid(0))
        fake.start()
        yield fake
        fake.stop()


@pytest.fixture
def environ(server: FakeHerdr) -> dict[str, str]:
    return {"HERDR_ENV": "1", "HERDR_SOCKET_PATH": str(server.path), "HERDR_PANE_ID": PANE, "PATH": os.environ["PATH"]}


@pytest.fixture
def herdr(environ: dict[str, str]) -> Herdr:
    return Herdr(Setup(environ))


class Quick(Herdr):
    """Tells again sooner, so that a test need not wait."""

    repeats: ClassVar[tuple[float, float] | None] = (0.05, 0.1)


def publish(host: Herdr, state: str, **rest: object) -> None:
    host.publish(event(state, **rest), Call(2))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "herdr pane and socket detected"),
        ({"HERDR_ENV": "true"}, "HERDR_ENV=1 is not present"),
        ({"HERDR_PANE_ID": " "}, "HERDR_PANE_ID is missing"),
        ({"HERDR_SOCKET_PATH": "/nowhere", "PATH": "/nowhere"}, "herdr CLI was not found"),
    ],
)
def test_detection(environ: dict[str, str], server: FakeHerdr, change: dict[str, str], reason: str) -> None:
    assert Herdr.detect(environ | change) == Detection(reason.endswith("detected"), reason)
    assert server.requests == []


def test_the_requests_of_a_session(server: FakeHerdr, herdr: Herdr) -> None:
    told = [event("working"), event("blocked", title="a title"), event("idle")]
    for one in told:
        herdr.publish(one, Call(2))
    herdr.release(last := release(), Call(2))
    base = {"pane_id": PANE, "source": SOURCE}
    report = base | {"agent": "claude"}
    extra = {"applies_to_source": SOURCE}
    assert [(request["method"], request["params"]) for request in server.requests] == [
        ("pane.report_agent", report | {"seq": told[0].sequence, "state": "working", "message": "Working"}),
        ("pane.get", {"pane_id": PANE}),
        (
            "pane.report_agent",
            report | {"seq": told[1].sequence, "state": "blocked", "message": "Waiting for approval"},
        ),
        (
            "pane.report_metadata",
            base
            | extra
            | {"seq": told[1].sequence, "title": "a title", "state_labels": {"blocked": "Waiting for approval"}},
        ),
        ("pane.report_agent", report | {"seq": told[2].sequence, "state": "idle"}),
        (
            "pane.report_metadata",
            base | extra | {"seq": told[2].sequence, "clear_title": True, "clear_state_labels": True},
        ),
        ("pane.release_agent", report | {"seq": last.sequence}),
    ]
    assert server.panes[PANE].status() == "unknown"
    assert herdr.notice == ""


def test_a_session_that_ends_at_work_goes_idle_first(server: FakeHerdr, herdr: Herdr) -> None:
    publish(herdr, "blocked")
    herdr.release(release(), Call(2))
    assert server.methods() == [
        "pane.report_agent",
        "pane.report_metadata",
        "pane.report_agent",
        "pane.release_agent",
        "pane.report_metadata",
    ]
    pane = server.panes[PANE]
    assert (pane.authority, pane.unseen, pane.metadata[SOURCE]) == (None, True, {"applies_to_source": SOURCE})


def test_every_sequence_number_is_above_the_last_and_from_the_clock(server: FakeHerdr, environ: dict[str, str]) -> None:
    host = Quick(Setup(environ))
    manager = started([host])
    before = now()
    manager.publish(event("working", sequence=before))
    wait_until(lambda: len([m for m in server.methods() if m == "pane.report_agent"]) > 3, "repetitions")
    manager.publish(release())
    manager.close()
    numbers = [request["params"]["seq"] for request in server.requests if request["method"] in ("pane.report_agent",)]
    assert numbers == sorted(set(numbers))
    assert before == numbers[0] < numbers[1] <= now()
    assert server.panes[PANE].authority is None


def test_a_new_run_is_seen_where_an_earlier_one_has_used_numbers(server: FakeHerdr, environ: dict[str, str]) -> None:
    for _ in range(2):
        host = Herdr(Setup(environ))
        publish(host, "working", sequence=now())
        assert server.panes[PANE].status() == "working"
        host.release(release(), Call(2))
        assert server.panes[PANE].status() == "unknown"


def test_titles_are_cut_by_herdr_and_cleared_when_empty(server: FakeHerdr, herdr: Herdr) -> None:
    publish(herdr, "working", title="x" * 200)
    assert server.panes[PANE].shown_metadata() == {"title": "x" * 80}
    publish(herdr, "working", title="")
    assert server.panes[PANE].shown_metadata() == {}


def test_a_restarted_server_learns_the_state_again(server: FakeHerdr, environ: dict[str, str]) -> None:
    manager = started([Quick(Setup(environ))])
    manager.publish(event("blocked", sequence=now()))
    wait_until(lambda: server.panes[PANE].status() == "blocked", "the state")
    server.restart()
    wait_until(lambda: server.panes[PANE].status() == "blocked", "the state again")
    manager.publish(release())
    manager.close()
    assert server.panes[PANE].status() == "unknown"


def claim_session(server: FakeHerdr) -> None:
    """Do what herdr's own hook does at the start of the agent."""
    params = {"pane_id": PANE, "source": "herdr:claude", "agent": "claude", "agent_session_id": "s", "seq": now()}
    assert ask(server.path, "pane.report_agent_session", params)["result"] == {"type": "ok"}


def test_an_owner_conflict_is_noticed_though_the_answer_is_ok(server: FakeHerdr, environ: dict[str, str]) -> None:
    claim_session(server)
    log: list[str] = []
    host = Quick(Setup(environ))
    manager = started([host], log, debug=True)
    manager.publish(event("working", sequence=now()))
    wait_until(lambda: host.notice, "the notice")
    assert host.notice == "herdr ignores our reports (owner: herdr:claude)"
    assert manager.notices() == {"herdr": host.notice}
    params = {"pane_id": PANE, "source": "herdr:claude", "agent": "claude", "seq": now()}
    server.panes[PANE].session = None
    assert "result" in ask(server.path, "pane.report_agent", params | {"state": "idle"})
    wait_until(lambda: not host.notice, "the notice's end")
    manager.publish(release())
    manager.close()
    assert log == ['lifecycle-wrap: host "herdr" send was ignored by the host']


def test_an_idle_that_nobody_saw_is_no_conflict(server: FakeHerdr, herdr: Herdr) -> None:
    publish(herdr, "working")
    publish(herdr, "idle")
    assert server.panes[PANE].status() == "done"
    herdr.publish(herdr._told, Call(2))  # type: ignore[arg-type]  # the worker repeats the same event
    assert herdr.notice == ""


def test_the_pane_is_ours_only_when_its_shell_leads_our_session(server: FakeHerdr, herdr: Herdr) -> None:
    assert herdr.owns_pane(Call(2)) is True
    server.panes[PANE].shell_pid = 1
    assert herdr.owns_pane(Call(2)) is False
    del server.panes[PANE]
    with pytest.raises(HostGone):
        herdr.owns_pane(Call(2))


def test_what_a_killed_run_has_left_is_released_at_the_start(server: FakeHerdr, environ: dict[str, str]) -> None:
    publish(Herdr(Setup(environ)), "blocked", sequence=now())
    host = Herdr(Setup(environ))
    host.prepare(Call(2))
    assert server.panes[PANE].status() == "unknown"
    publish(host, "idle", sequence=now())
    assert server.panes[PANE].status() == "idle"


def test_a_pane_without_leftovers_is_only_looked_at(server: FakeHerdr, herdr: Herdr) -> None:
    herdr.prepare(Call(2))
    assert server.methods() == []


def test_a_pane_that_is_gone_gets_nothing_more(server: FakeHerdr, environ: dict[str, str]) -> None:
    manager = started([Quick(Setup(environ))])
    manager.publish(event("working"))
    wait_until(lambda: server.methods(), "the report")
    del server.panes[PANE]
    wait_until(lambda: not any(worker.is_alive() for worker in manager._workers), "the worker's end")
    count = len(server.requests)
    manager.publish(event("idle"))
    manager.publish(release())
    manager.close()
    assert len(server.requests) == count


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\n', HostGone),
        (b'{"id":"x","error":{"code":"server_unavailable","message":"bye"}}\n', HostError),
        (b'{"id":"x","error":{"code":"invalid_agent","message":""}}\n', HostError),
        (b"garbage\n", HostError),
        (b"[]\n", HostError),
        (b'{"id":"x"}\n', HostError),
        (b'{"id":"x","res', HostError),
        (b"", HostError),
        (b"x" * 100_000 + b"\n", HostError),
    ],
)
def test_bad_answers(server: FakeHerdr, herdr: Herdr, answer: bytes, error: type[HostError]) -> None:
    server.answer = lambda request: answer
    with pytest.raises(HostError) as caught:
        publish(herdr, "working")
    assert type(caught.value) is error


def test_a_server_that_hangs_costs_half_a_second_a_request(server: FakeHerdr, herdr: Herdr) -> None:
    def hang(request: object) -> bytes:
        time.sleep(2)
        return b""

    server.answer = hang
    begin = time.monotonic()
    with pytest.raises(HostError) as caught:
        publish(herdr, "working")
    assert caught.value.error_class is ErrorClass.TIMED_OUT
    assert 0.4 < time.monotonic() - begin < 1.5


def test_a_socket_that_nobody_serves(server: FakeHerdr, herdr: Herdr) -> None:
    server.crash()
    with pytest.raises(HostError) as caught:
        publish(herdr, "working")
    assert caught.value.error_class is ErrorClass.UNAVAILABLE


def test_nothing_that_herdr_forbids_is_ever_sent(server: FakeHerdr, environ: dict[str, str]) -> None:
    host = Quick(Setup(environ))
    manager = started([host])
    for state in ("working", "blocked", "idle", "working"):
        manager.publish(event(state, sequence=now()))
        wait_until(lambda state=state: server.panes[PANE].status() in (state, "done"), state)
    manager.publish(release())
    manager.close()
    sent = [request for request in server.requests if request["method"] in server.methods()]
    assert all(request["params"]["source"] == SOURCE and request["params"]["seq"] for request in sent)
    assert {request["params"].get("state") for request in sent} <= {"working", "blocked", "idle", None}


@pytest.fixture
def cli(environ: dict[str, str], server: FakeHerdr, tmp_path: Path) -> dict[str, str]:
    """An environment with the CLI and no socket to be seen; the CLI finds the server at its default place."""
    binary = tmp_path / "bin" / "herdr"
    binary.parent.mkdir()
    binary.write_text(f"#!{sys.executable}\n" + Path(fake_herdr_cli.__file__).read_text())
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    default = tmp_path / ".config" / "herdr" / "herdr.sock"
    default.parent.mkdir(parents=True)
    default.symlink_to(server.path)
    del environ["HERDR_SOCKET_PATH"]
    return environ | {
        "HOME": str(tmp_path),
        "PATH": f"{binary.parent}:/usr/bin:/bin",
        "FAKE_HERDR_CALLS": str(tmp_path / "calls"),
    }


def test_the_cli_stands_in_where_there_is_no_socket(server: FakeHerdr, cli: dict[str, str], tmp_path: Path) -> None:
    assert Herdr.detect(cli) == (True, "herdr pane and CLI detected")
    host = Herdr(Setup(cli))
    host.prepare(Call(10))
    told = [event("working"), event("blocked", title="--a title"), event("idle")]
    for one in told:
        host.publish(one, Call(10))
        assert server.panes[PANE].status() in (one.state, "done")
    host.release(last := release(), Call(10))
    assert server.panes[PANE].status() == "unknown"
    numbers = [str(one.sequence) for one in (*told, last)]
    agent = ["--source", SOURCE, "--agent", "claude"]
    metadata = ["pane", "report-metadata", PANE, "--source", SOURCE, "--applies-to-source", SOURCE]
    assert [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()] == [
        ["pane", "report-agent", PANE, *agent, "--seq", numbers[0], "--state", "working", "--message", "Working"],
        [
            *("pane", "report-agent", PANE, *agent, "--seq", numbers[1]),
            *("--state", "blocked", "--message", "Waiting for approval"),
        ],
        [
            *metadata,
            *("--seq", numbers[1], "--title", "--a title", "--state-label", "blocked=Waiting for approval"),
        ],
        ["pane", "report-agent", PANE, *agent, "--seq", numbers[2], "--state", "idle"],
        [*metadata, "--seq", numbers[2], "--clear-title", "--clear-state-labels"],
        ["pane", "release-agent", PANE, *agent, "--seq", numbers[3]],
    ]


def test_a_cli_of_another_protocol_fails_and_the_socket_goes_on(
    server: FakeHerdr, cli: dict[str, str], environ: dict[str, str]
) -> None:
    host = Herdr(Setup(cli | {"FAKE_HERDR_PROTOCOL": "22"}))
    with pytest.raises(HostError) as caught:
        host.publish(event("working"), Call(10))
    assert caught.value.error_class is ErrorClass.FAILED
    assert server.requests[-1]["method"] == "ping"
    over_socket = Herdr(Setup(cli | {"FAKE_HERDR_PROTOCOL": "22", "HERDR_SOCKET_PATH": str(server.path)}))
    over_socket.publish(event("working"), Call(2))
    assert server.panes[PANE].status() == "working"


def test_the_cli_tells_a_pane_that_is_gone(server: FakeHerdr, cli: dict[str, str]) -> None:
    del server.panes[PANE]
    with pytest.raises(HostGone):
        Herdr(Setup(cli)).publish(event("working"), Call(10))
    server.stop()
    with pytest.raises(HostError) as caught:
        Herdr(Setup(cli)).publish(event("working"), Call(10))
    assert type(caught.value) is HostError


def test_the_bundled_binary_comes_first(cli: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\nexit 0\n")
    other.chmod(0o755)
    assert Herdr.detect(cli | {"HERDR_BIN_PATH": str(other), "PATH": "/nowhere"}).detected
    assert not Herdr.detect(cli | {"HERDR_BIN_PATH": "/nowhere", "PATH": "/nowhere"}).detected


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("stale number", "working"),
        ("no number after one", "working"),
        ("another agent is detected", "unknown"),
        ("the agent has exited", "unknown"),
        ("an owner", "unknown"),
        ("an official name", "unknown"),
        ("a dialog on the screen", "blocked"),
        ("last writer wins", "done"),
        ("authority cleared", "working"),
    ],
)
def test_the_fake_judges_as_herdr_does(server: FakeHerdr, case: str, status: str) -> None:
    """What the adapter relies on, so that the fake cannot grow lenient."""
    pane = server.panes[PANE]
    base = {"pane_id": PANE, "source": SOURCE, "agent": "claude"}
    working = base | {"state": "working", "seq": 10}
    then: dict[str, object] | None = None
    if case == "stale number":
        then = base | {"state": "idle", "seq": 10}
    elif case == "no number after one":
        then = base | {"state": "idle"}
    elif case == "another agent is detected":
        pane.detected = "codex"
    elif case == "the agent has exited":
        pane.detected = "claude"
        pane.process_exits()
    elif case == "an owner":
        claim_session(server)
    elif case == "an official name":
        working |= {"source": "herdr:claude"}
    elif case == "a dialog on the screen":
        pane.detected, pane.screen_blocked = "claude", True
    elif case == "last writer wins":
        then = base | {"source": "custom:other", "state": "idle", "seq": 1}
    elif case == "authority cleared":
        claim_session(server)
        pane.session = None
        ask(server.path, "pane.report_agent", working | {"seq": 5})
        claim_session(server)
        ask(server.path, "pane.clear_agent_authority", {"pane_id": PANE, "source": SOURCE, "seq": 6})
    assert ask(server.path, "pane.report_agent", working)["result"] == {"type": "ok"}
    if then is not None:
        assert ask(server.path, "pane.report_agent", then)["result"] == {"type": "ok"}
    assert pane.status() == status


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("pane.report_agent", {"source": "x", "agent": "a", "state": "done"}, "invalid_request"),
        ("pane.report_agent", {"source": "x", "agent": "a"}, "invalid_request"),
        ("pane.report_agent", {"source": "x", "agent": " ", "state": "idle"}, "invalid_agent"),
        ("pane.nonsense", {}, "invalid_request"),
        ("pane.report_metadata", {"source": "é", "title": "t"}, "invalid_metadata_source"),
        ("pane.report_metadata", {"source": "x"}, "invalid_metadata_request"),
        ("pane.report_metadata", {"source": "x", "title": "t", "clear_title": True}, "invalid_metadata_request"),
        ("pane.report_metadata", {"source": "x", "state_labels": {"busy": "t"}}, "invalid_state_label"),
        ("pane.report_metadata", {"source": "x", "title": "t", "ttl_ms": 0}, "invalid_metadata_ttl"),
        ("pane.report_metadata", {"source": "x", "tokens": {"a b": "t"}}, "invalid_metadata_token"),
        ("pane.get", {"pane_id": "w9:p9"}, "pane_not_found"),
    ],
)
def test_the_fake_refuses_as_herdr_does(server: FakeHerdr, method: str, params: dict[str, object], code: str) -> None:
    assert ask(server.path, method, {"pane_id": PANE} | params)["error"]["code"] == code
