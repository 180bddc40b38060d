"""`ps`, `watch`, `wait` and `tail` with `--broker`: all machines in one list, and what of it is to be believed."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle_wrap.broker_config import Address, Broker
from lifecycle_wrap.commands import board as board_module
from lifecycle_wrap.commands.board import Board
from lifecycle_wrap.commands.command_line import with_broker_value
from lifecycle_wrap.commands.doctor import changes, examine
from lifecycle_wrap.commands.ps import listing
from lifecycle_wrap.commands.session_source import NoBrokerError, Source, choose_broker
from lifecycle_wrap.commands.session_table import Table
from lifecycle_wrap.commands.sessions import AmbiguousSessionError, find
from lifecycle_wrap.hosts.broker import KEPT_SECONDS, STALE_SECONDS, BrokerProblem
from lifecycle_wrap.projection import Kind
from lifecycle_wrap.terminal.cells import width
from tests.support.fleet import Aboard
from tests.support.mosquitto import PASSWORD, Mosquitto, configure, needs_mosquitto
from tests.support.registered import Registered, next_line, run, start, watches
from tests.support.terminal import isolated_environment
from tests.support.waiting import DEADLINE, wait_until

pytestmark = needs_mosquitto


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path) as running:
        yield running


@pytest.fixture
def environ(tmp_path: Path, server: Mosquitto) -> dict[str, str]:
    made = isolated_environment(tmp_path)
    configure(made, server.address, host="here")
    return made


@pytest.fixture
def fleet(server: Mosquitto) -> Iterator[dict[str, Aboard]]:
    """A session on each of two other machines."""
    made = {
        host: Aboard(Broker(server.address, host=f"{host}.example"), {}, agent, 7)
        for host, agent in (("web1", "claude"), ("web2", "codex"))
    }
    made["web1"].tell("working", cwd="/srv/shop")
    made["web2"].tell("blocked", cwd="/srv/漢字")
    yield made
    for one in made.values():
        one.end()


def rows(environ: dict[str, str], *arguments: str) -> list[str]:
    done = run(environ, "ps", "--broker", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_all_machines_in_one_table(environ: dict[str, str], server: Mosquitto, fleet: dict[str, Aboard]) -> None:
    local = Registered(environ, "gemini", 9, cwd="/work/local")
    local.tell("idle")
    again = Aboard(Broker(server.address, host="here"), {}, "gemini", 9, session=local.register._key)
    again.tell("idle")
    cut_off = Aboard(Broker(server.address, host="web3"), {}, "aider", 8)
    cut_off.tell("idle")
    cut_off.drop()
    with Board(Broker(server.address), environ) as board:
        wait_until(lambda: "gone" in [one.lost for one in board.running()], "the last will, once it has stood a second")
    template = "{state}|{mark}|{agent}|{host}|{pid}|{dir}|{about}"
    assert rows(environ, "--format", template) == [
        "blocked|!|codex|web2.example|7|漢字|Waiting for approval",
        "working|*|claude|web1.example|7|shop|Working",
        "idle|-|gemini|here|9|local|",
        "gone|x|aider|web3|8|project|Cut off",
    ]
    table = rows(environ)
    assert table[0].split() == ["STATE", "AGENT", "SINCE", "ABOUT", "HOST", "TERMINAL", "PID", "DIRECTORY"]
    assert [line.split()[0] for line in table[1:]] == ["blocked", "working", "idle", "gone"]
    with Board(Broker(server.address, host="here"), environ) as board, Source(environ, board) as source:
        everywhere = source.running()
    assert listing(environ, states=["idle"], template="{agent}", everywhere=everywhere) == "gemini\n"
    listed = json.loads(listing(environ, as_json=True, everywhere=everywhere))
    assert [(one["host"], one["lost"]) for one in listed][2:] == [("here", ""), ("web3", "gone")]
    assert run(environ, "ps", "--format", "{agent}{host}").stdout == "gemini\n", "without --broker nobody is asked"
    again.end()


def test_what_nobody_tells_again_is_stale(environ: dict[str, str], server: Mosquitto, fleet: dict[str, Aboard]) -> None:
    topic, payload = next((t, p) for t, p in server.retained().items() if "web1" in t)
    event = json.loads(payload) | {"pid": 77}
    for age, session in ((STALE_SECONDS - 100, "1-young"), (STALE_SECONDS + 10, "1-old")):
        server.put(topic.rsplit("/", 2)[0] + f"/{session}/state", json.dumps(event).encode(), KEPT_SECONDS - int(age))
    told = rows(environ, "--format", "{state} {about}")
    assert told == ["blocked Waiting for approval", *["working Working"] * 2, "stale Was working"]


def test_what_anyone_may_write_there_drives_nothing(
    environ: dict[str, str], server: Mosquitto, fleet: dict[str, Aboard]
) -> None:
    _, payload = next(iter(server.retained().items()))
    good = json.loads(payload)
    evil = good | {
        "sequence": good["sequence"] + 1,
        "agent": "\x1b]2;evil\x07\x9b31m",
        "cwd": "/a\x1b[2J\u202e",
        "session_id": "\x1b",
    }
    bad = (b"\xff", b"[]", b"{", b"9" * 5000, b"[" * 100_000, json.dumps(good | {"state": "done"}).encode())
    bad += (json.dumps(good | {"pid": "1"}).encode(), json.dumps({"sequence": 3}).encode())
    for number, text in enumerate(bad):
        server.put(f"lifecycle/a@b/{number}/state", text, KEPT_SECONDS)
    server.put("lifecycle/a@evil/1/state", json.dumps(evil).encode(), KEPT_SECONDS)
    server.put("lifecycle/none/of/ours", b"x", KEPT_SECONDS)
    told = rows(environ, "--format", "{agent} {cwd} {id}", "--state", good["state"])
    assert len(told) == 2
    assert all(line.isprintable() for line in told)
    process = start(environ, "tail", "--broker")
    lines = [next_line(process) for _ in range(3)]
    assert all(line.isprintable() for line in lines)
    process.kill()


def test_an_older_state_does_not_count(server: Mosquitto, fleet: dict[str, Aboard]) -> None:
    topic, payload = next((t, p) for t, p in server.retained().items() if "web1" in t)
    with Board(Broker(server.address), {}) as board:
        older = json.loads(payload) | {"sequence": 5, "state": "idle", "message": ""}
        server.put(topic, json.dumps(older).encode(), KEPT_SECONDS)
        fleet["web2"].tell("idle")
        wait_until(lambda: [one.state for one in board.running() if one.agent == "codex"] == ["idle"], "the next one")
        assert [one.state for one in board.running() if one.agent == "claude"] == ["working"]


def test_a_broker_that_comes_back(environ: dict[str, str], server: Mosquitto, fleet: dict[str, Aboard]) -> None:
    """Nothing is kept over this restart; what ended meanwhile is not there again, the rest tells itself."""
    process = start(environ, "watch", "--plain", "--broker")

    def lines(count: int) -> set[str]:
        return {next_line(process)[9:] for _ in range(count)}

    names = "7 web1.example:claude@shop", "7 web2.example:codex@漢字"
    assert lines(2) == {f"{names[0]} working Working", f"{names[1]} blocked Waiting for approval"}
    server.stop()
    assert lines(2) == {f"{names[0]} stale Was working", f"{names[1]} stale Was blocked"}
    fleet.pop("web2").end()
    server.start()
    back = ["", ""]
    while not (back[-2].endswith("working Working") or back[-1].endswith("working Working")) or "ended" not in str(
        back
    ):
        back.append(next_line(process)[9:])
    # The reader may be back before the session is.
    assert set(back[2:]) <= {f"{names[0]} working Working", f"{names[1]} ended", f"{names[0]} ended"}
    fleet["web1"].tell("blocked", cwd="/srv/shop")
    assert lines(1) == {f"{names[0]} blocked Waiting for approval"}
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130


def test_waiting_for_another_machine(environ: dict[str, str], fleet: dict[str, Aboard]) -> None:
    done = run(environ, "wait", "--broker", "web2.example:codex", "--until", "blocked")
    assert (done.returncode, done.stdout) == (0, "7 web2.example:codex@漢字 blocked Waiting for approval\n")
    waiting = start(environ, "wait", "web1.example:7", "--broker", "--until", "idle")
    gone = start(environ, "wait", "web2.example:7", "--broker", "--until", "idle")
    ended = start(environ, "wait", "web2.example:7", "--broker", "--until", "exit")
    fleet["web1"].tell("idle", cwd="/srv/shop")
    assert next_line(waiting) == "7 web1.example:claude@shop idle"
    assert waiting.wait(DEADLINE) == 0
    assert run(environ, "wait", "7", "--broker", "--until", "idle").returncode == 2, "it may be either"
    fleet["web2"].drop()
    assert gone.wait(DEADLINE) == 5
    assert ended.wait(DEADLINE) == 0
    del fleet["web2"]


def test_the_events_of_all_machines(environ: dict[str, str], fleet: dict[str, Aboard]) -> None:
    local = Registered(environ, "gemini", 9, cwd="/work/local")
    process = start(environ, "tail", "--broker", "-n", "9")
    told = [json.loads(next_line(process)) for _ in range(3)]
    assert [one.get("host", "") for one in told] == ["web1.example", "web2.example", ""]
    assert [one["kind"] for one in told] == ["state", "state", "session_started"]
    fleet["web1"].tell("idle")
    assert json.loads(next_line(process))["state"] == "idle"
    local.tell("working")
    assert json.loads(next_line(process))["pid"] == 9
    fleet["web2"].tell("blocked", kind=Kind.TURN_STARTED, turn_id="t-1")
    assert json.loads(next_line(process))["turn_id"] == "t-1"
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130
    one = start(environ, "tail", "--broker", "web1.example:claude")
    assert json.loads(next_line(one))["state"] == "idle"
    fleet.pop("web1").end()
    assert json.loads(next_line(one))["kind"] == "release"
    assert one.wait(DEADLINE) == 0


def test_a_session_that_both_tell_is_told_once(environ: dict[str, str], server: Mosquitto) -> None:
    local = Registered(environ, "gemini", 9)
    aboard = Aboard(Broker(server.address, host="here"), {}, "gemini", 9, session=local.register._key)
    process = start(environ, "tail", "--broker", "-n", "0")
    wait_until(lambda: watches(process), "the tail")
    for number in range(3):
        now = time.time_ns()
        for one in (aboard, local):
            one.tell("working" if number % 2 else "idle", sequence=now, timestamp=now)
    sequences = [json.loads(next_line(process))["sequence"] for _ in range(3)]
    assert len(set(sequences)) == 3
    process.kill()
    aboard.end()
    local.end()


SECRET = "mqtt://me:secret@127.0.0.1"


@pytest.mark.parametrize(
    ("command", "url", "status", "text"),
    [
        ("ps", SECRET, 2, "a URL is no place for a password"),
        ("watch", "http://x", 2, 'expected "mqtts://HOST[:PORT]"'),
        ("wait", "mqtt://127.0.0.1:1", 1, "the broker mqtt://127.0.0.1:1: Connection refused"),
        ("tail", "mqtts://127.0.0.1:1", 1, "the broker mqtts://127.0.0.1:1: Connection refused"),
    ],
)
def test_what_is_wrong_is_one_line(environ: dict[str, str], command: str, url: str, status: int, text: str) -> None:
    done = run(environ, command, "--broker", url)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done.stderr
    assert text in done.stderr
    assert "secret" not in done.stderr


def test_without_a_broker_or_with_a_wrong_password(tmp_path: Path) -> None:
    environ = isolated_environment(tmp_path)
    done = run(environ, "ps", "--broker")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no broker is configured" in done.stderr
    with Mosquitto(tmp_path, tls=True) as server:
        secret = tmp_path / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        more = f'user = "fleet"\nca = "{server.authority}"\n'
        configure(environ, server.address, more=f'{more}password_file = "~/secret"\n')
        wide = run(environ, "ps", "--broker")
        assert (wide.returncode, wide.stderr.count("\n")) == (1, 1)
        assert f"others may read {secret}; chmod 600 it" in wide.stderr
        found = [finding.text for finding in changes(examine(None, environ))]
        assert f"lifecycle.broker: others may read {secret}; chmod 600 it" in found
        secret.chmod(0o600)
        with Board(choose_broker("", environ), environ) as board:
            assert board.running() == []
        configure(environ, server.address, more=more)
        table = choose_broker(str(server.address), environ)
        with pytest.raises(BrokerProblem, match="it refuses the user name or password"):
            Board(table, {"LIFECYCLE_WRAP_MQTT_PASSWORD": "wrong"}).__enter__()
        with Board(table, {"LIFECYCLE_WRAP_MQTT_PASSWORD": PASSWORD}) as board:
            assert board.running() == []


def test_a_list_that_is_cut_short_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker's own limit is lowered here, and ours with it; the real one is 1,900 sessions."""
    monkeypatch.setattr(board_module, "AT_ONCE", 2)
    monkeypatch.setattr(board_module, "QUEUE", 3)
    with Mosquitto(tmp_path, more="max_queued_messages 3") as server:
        sessions = [Aboard(Broker(server.address), {}, pid=number, session=f"{number}-a") for number in range(9)]
        for session in sessions[:4]:
            session.tell("idle")
        with Board(Broker(server.address), {}) as board:
            assert len(board.running()) == 4
        for session in sessions[4:]:
            session.tell("idle")
        with pytest.raises(BrokerProblem, match="max_queued_messages 0"):
            Board(Broker(server.address), {}).__enter__()
        for session in sessions:
            session.end()


def test_another_broker_is_not_shown_the_password(tmp_path: Path) -> None:
    environ = isolated_environment(tmp_path)
    address = Address("a", 8883, True)
    configure(environ, address, more='user = "me"\npassword_file = "/secret"\nprefix = "p"\n')
    configured = choose_broker("", environ)
    assert (configured.user, configured.password_file) == ("me", "/secret")
    assert choose_broker("mqtts://a", environ) == configured
    other = choose_broker("mqtts://b", environ)
    assert (other.url.host, other.prefix, other.user, other.password_file) == ("b", "p", "", "")
    with pytest.raises(NoBrokerError):
        choose_broker("mqtts://", environ)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["ps", "--broker"], ["ps", "--broker="]),
        (["wait", "--broker", "claude", "--until", "idle"], ["wait", "--broker=", "claude", "--until", "idle"]),
        (["ps", "--broker", "mqtt://x", "--json"], ["ps", "--broker", "mqtt://x", "--json"]),
        (["ps", "--broker=mqtt://x"], ["ps", "--broker=mqtt://x"]),
        ([], []),
    ],
)
def test_the_value_may_be_missing(given: list[str], meant: list[str]) -> None:
    assert with_broker_value(given) == meant


@pytest.mark.parametrize("columns", [24, 32, 40, 60, 80, 120, 0])
def test_any_width(server: Mosquitto, fleet: dict[str, Aboard], columns: int) -> None:
    with Board(Broker(server.address), {}) as board:
        listed = board.running()
    table = Table(listed, time.time(), home="", columns=columns, color=False)
    for row in (table.heading, *table.rows):
        assert not columns or width(row) <= columns
    claude, codex = sorted(table.rows, key=lambda row: "codex" in row)
    assert claude.split()[:2] == ["working", "claude"]
    if columns == 32:
        assert claude.split()[3:] == ["web1:shop"]
        assert codex.split()[3:] == ["web2:漢字"]
    if columns >= 60:
        assert "web1.example" in claude


def test_a_machine_before_the_name(server: Mosquitto, fleet: dict[str, Aboard], environ: dict[str, str]) -> None:
    with Board(Broker(server.address), {}) as board, Source(environ, board) as source:
        listed = source.running()
        assert find(listed, "web1.example:claude").agent == "claude"
        assert find(listed, "codex").host == "web2.example"
        with pytest.raises(AmbiguousSessionError, match=r"web1\.example:7 \(claude@shop\)"):
            find(listed, "7")
