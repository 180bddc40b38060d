"""The MQTT adapter against a real mosquitto: what stands there, when it goes, and what a lost broker costs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lifecycle_wrap.broker_config import FIELDS, Address, Broker
from lifecycle_wrap.commands import sessions
from lifecycle_wrap.config import parse_config
from lifecycle_wrap.hosts import mqtt
from lifecycle_wrap.hosts.base import HostError
from lifecycle_wrap.hosts.broker import LAST_SEQUENCE, PASSWORD, SEGMENT_BYTES, parse_topic, segment, topics
from lifecycle_wrap.projection import Kind
from tests.support import mosquitto
from tests.support.events import event
from tests.support.fleet import Aboard
from tests.support.mosquitto import Follower, Mosquitto, configure, free_port, needs_mosquitto
from tests.support.orders import Orders
from tests.support.registered import next_line, run
from tests.support.tcp_proxy import TcpProxy
from tests.support.terminal import isolated_environment
from tests.support.waiting import DEADLINE, wait_until
from tests.support.wrapped_agent import Wrapped

pytestmark = needs_mosquitto


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def table(server: Mosquitto, tmp_path: Path) -> Broker:
    """The broker, with a prefix that no other test has."""
    return Broker(server.address, prefix=f"t/{tmp_path.name}")


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(resources.files("lifecycle_wrap").joinpath(name).read_text(encoding="utf-8"))
    return loaded


def validated(payload: bytes | str) -> dict[str, Any]:
    """Return a message; its version 1 part and the rest must be as the schemas say."""
    message: dict[str, Any] = json.loads(payload)
    more = {key: value for key, value in message.items() if key in schema("broker.schema.json")["properties"]}
    Draft202012Validator(schema("broker.schema.json")).validate(more)
    Draft202012Validator(schema("event.schema.json")).validate({k: v for k, v in message.items() if k not in more})
    return message


@pytest.fixture
def seen(server: Mosquitto, table: Broker) -> Iterator[Follower]:
    """What stands below the test's prefix."""
    with Follower(server, table.prefix) as follower:
        yield follower


def test_another_client_reads_version_1_over_tls(tmp_path: Path) -> None:
    with Mosquitto(tmp_path, tls=True) as server:
        table = Broker(server.address, user="fleet", ca=str(server.authority), host="web/1+#\x1b")
        with server.subscriber("-t", "lifecycle/#", "-F", "%r %t %p") as reader:
            session = Aboard(table, {PASSWORD: mosquitto.PASSWORD}, "claude", 7, "7-abc")
            lines = [next_line(reader).split(" ", 2)]
            session.tell("working")
            lines.append(next_line(reader).split(" ", 2))
            session.tell("blocked", blocked_on="permission")
            lines.append(next_line(reader).split(" ", 2))
            session.tell("blocked", kind=Kind.ATTENTION)
            lines += [next_line(reader).split(" ", 2) for _ in range(2)]
            session.end()
            lines += [next_line(reader).split(" ", 2) for _ in range(2)]
        user = session.host._topics.user
        assert {topic.rpartition("/")[0] for _, topic, _ in lines} == {f"lifecycle/{user}@web_1___/7-abc"}
        told = {
            last: [payload for _, topic, payload in lines if topic.endswith(last)] for last in ("/state", "/events")
        }
        working, blocked, rung = map(validated, told["/state"][:3])
        assert told["/state"][3] == ""
        assert (working["state"], working["agent"], working["profile"]) == ("working", "claude", "claude")
        assert (blocked["state"], blocked["blocked_on"], blocked["host"]) == ("blocked", "permission", "web_1___")
        assert (rung["state"], rung["attention"], rung["since"]) == ("blocked", 1, blocked["since"])
        assert working["sequence"] < blocked["sequence"] < rung["sequence"]
        assert [validated(one)["kind"] for one in told["/events"]] == ["session_started", "attention", "release"]
        assert server.retained() == {}


def test_what_is_not_among_the_fields_stays_here(server: Mosquitto, table: Broker, seen: Follower) -> None:
    facts = {"cwd": "/secret", "session_id": "secret", "resume_argv": ("secret",), "title": "secret"}
    session = Aboard(Broker(server.address, prefix=table.prefix, fields=()), {}, "secret")
    session.tell("working", message="Running shell command", **facts)
    wait_until(lambda: seen.states() == ["working"], "the record")
    (record,) = seen.messages()
    assert "secret" not in json.dumps(record)
    assert (record["message"], "agent" in record, "title" in record) == ("", False, False)
    session.end()
    wait_until(lambda: seen.messages() == [], "the end")
    session = Aboard(Broker(server.address, prefix=table.prefix, fields=FIELDS), {}, "claude")
    session.tell("working", **facts)
    wait_until(lambda: seen.states() == ["working"], "the record")
    assert json.dumps(seen.messages()).count("secret") == 4
    session.end()


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=100))
def test_any_name_fits_into_a_level(text: str) -> None:
    made = segment(text)
    assert made.isprintable()
    assert 0 < len(made.encode()) <= SEGMENT_BYTES
    assert not set(made) & set("+#/@ \0")
    own = topics(Broker(Address("x", 1, False), host=made), {}, "1-a")
    assert parse_topic("lifecycle", own.events) == (own, "events")


@pytest.mark.parametrize("topic", ["lifecycle/a@b/c", "lifecycle/a/c/state", "lifecycle/a@b/c/d", "x/a@b/c/state", ""])
def test_topics_that_are_none_of_ours(topic: str) -> None:
    assert parse_topic("lifecycle", topic) is None


def test_a_session_that_is_cut_off_is_gone(server: Mosquitto, table: Broker, seen: Follower) -> None:
    session = Aboard(table, {})
    session.tell("working")
    wait_until(lambda: seen.states() == ["working"], "the record")
    session.drop()
    wait_until(lambda: seen.states() == ["gone"], "the last will")
    (will,) = map(validated, seen.values.values())
    assert (will["kind"], will["sequence"], will["agent"]) == ("release", LAST_SEQUENCE, "claude")


def test_a_state_that_is_told_again_does_not_take_back_a_bell(table: Broker, seen: Follower) -> None:
    session = Aboard(table, {})
    state = event("working", sequence=5)
    session.host.publish(state, mqtt.Call(DEADLINE))
    session.host.publish(event("working", kind=Kind.ATTENTION, sequence=6), mqtt.Call(DEADLINE))
    wait_until(lambda: [one["attention"] for one in seen.messages()] == [1], "the bell")
    topic = session.host._topics.state
    seen.values.pop(topic)
    session.host.publish(state, mqtt.Call(DEADLINE))
    wait_until(lambda: seen.messages(), "the state again")
    assert [(one["attention"], one["sequence"]) for one in seen.messages()] == [(1, 6)]
    session.end()


def test_a_server_that_is_no_broker(tmp_path: Path) -> None:
    """Whatever it sends, it costs the connection, and nothing is written to the terminal."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        table = Broker(Address("127.0.0.1", server.getsockname()[1], False))
        session = mqtt.Mqtt(mqtt.Setup({}, options={"broker": table}))
        thread = threading.Thread(target=lambda: session.publish(event("working"), mqtt.Call(DEADLINE)), daemon=True)
        with pytest.MonkeyPatch.context() as patch:
            broken: list[object] = []
            patch.setattr(threading, "excepthook", lambda args: broken.append(args.exc_type))
            thread.start()
            for answer in (b"\x20\x03\x00\x00\x05", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 100):
                connection, _ = server.accept()
                with connection, suppress(OSError):  # the client may have hung up
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
            thread.join(DEADLINE)
            assert broken == [HostError], "only the worker's own, which its worker takes"
        assert session.link is not None
        assert session.link.is_alive()
        session.link.stop()


def test_a_broker_that_is_away_is_told_once_and_gets_the_newest_state(tmp_path: Path) -> None:
    server = Mosquitto(tmp_path)
    table = Broker(server.address, keepalive=3)
    session = Aboard(table, {}, starts=False)
    began = time.monotonic()
    for number in range(200):
        with pytest.raises(HostError):
            session.tell("working" if number % 2 else "blocked")
        with pytest.raises(HostError):
            session.tell("working", kind=Kind.TURN_STARTED)
    assert time.monotonic() - began < 5, "somebody waited for the broker"
    assert session.host.notice == f"{server.address}: Connection refused"
    with server:
        link = session.host.link
        assert link is not None
        wait_until(lambda: link.online, lambda: link.problem)
        with server.subscriber("-t", "lifecycle/#", "-F", "%t") as reader:
            assert next_line(reader).endswith("/state")
            session.tell("idle")
            assert next_line(reader).endswith("/state"), "an event of then is of no use now"
        assert session.host.notice == ""
        assert [json.loads(text)["state"] for text in server.retained().values()] == ["idle"]
        session.end()


def test_a_link_that_takes_nothing_holds_no_more_than_the_newest(
    server: Mosquitto, table: Broker, seen: Follower
) -> None:
    with TcpProxy(server.address.port) as proxy:
        table = replace(table, url=Address("127.0.0.1", proxy.port, False))
        session = Aboard(table, {})
        session.tell("working")
        wait_until(lambda: seen.states() == ["working"], "the record")
        proxy.cut()
        padding = "x" * 4000
        for number in range(2000):
            session.tell("working", cwd=f"/{number}/{padding}")
            session.tell("working", kind=Kind.TURN_STARTED, cwd=f"/{number}/{padding}")
        link = session.host.link
        assert link is not None
        assert len(link._events) <= mqtt.EVENTS_WAITING
        session.tell("blocked")
        proxy.mend()
        wait_until(lambda: seen.states() == ["blocked"], "the newest state")
        session.end()
        wait_until(lambda: seen.messages() == [], "the end")


def test_our_will_does_not_outlive_a_new_connection(server: Mosquitto, table: Broker, seen: Follower) -> None:
    """The old connection is half open: the broker learns of its end only by the new one."""
    with TcpProxy(server.address.port) as proxy:
        table = replace(table, url=Address("127.0.0.1", proxy.port, False), keepalive=3)
        session = Aboard(table, {})
        session.tell("working")
        wait_until(lambda: seen.states() == ["working"], "the record")
        with server.subscriber("-t", f"{table.prefix}/+/+/state", "-F", "%p") as reader:
            next_line(reader)
            proxy.cut()
            assert json.loads(next_line(reader)).get("gone"), "the last will within the keep-alive"
            proxy.mend()
            # An attempt of the meantime that was given up may come through first, and leave its own will.
            wait_until(lambda: json.loads(next_line(reader))["state"] == "working", "the session")
        link = session.host.link
        assert link is not None
        wait_until(lambda: link.online and seen.states() == ["working"], lambda: f"{link.problem} {seen.states()}")
        session.end()


@pytest.mark.parametrize(("mode", "refused"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_password_file_that_others_may_read_is_refused(tmp_path: Path, mode: int, refused: bool) -> None:
    with Mosquitto(tmp_path, tls=True) as server:
        file = tmp_path / "password"
        file.write_text(f"{mosquitto.PASSWORD}\n")
        file.chmod(mode)
        table = Broker(server.address, user="fleet", password_file="~/password", ca=str(server.authority))
        if refused:
            session = mqtt.Mqtt(mqtt.Setup({"HOME": str(tmp_path)}, options={"broker": table}))
            with pytest.raises(HostError):
                session.publish(event("working"), mqtt.Call(20))
            assert session.notice == f"{server.address}: others may read {file}; chmod 600 it"
        else:
            aboard = Aboard(table, {"HOME": str(tmp_path)})
            assert aboard.host.notice == ""
            aboard.end()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ca": ""}, "its certificate is not trusted"),
        ({"user": "nobody"}, "it refuses the user name or password"),
        ({"ca": "/nowhere/ca.pem"}, "/nowhere/ca.pem cannot be used (No such file or directory)"),
        ({"certificate": "/nowhere/c.pem"}, "/nowhere/c.pem cannot be used (No such file or directory)"),
    ],
)
def test_what_is_wrong_is_told_in_words(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    with Mosquitto(tmp_path, tls=True) as server:
        values: dict[str, Any] = {"user": "fleet", "ca": str(server.authority), **changes}
        session = mqtt.Mqtt(
            mqtt.Setup({PASSWORD: mosquitto.PASSWORD}, options={"broker": Broker(server.address, **values)})
        )
        with pytest.raises(HostError):
            session.publish(event("working"), mqtt.Call(20))
        assert reason in session.notice
        assert mosquitto.PASSWORD not in session.notice
        assert session.link is not None
        session.link.stop()


UNCONFIGURED = """
import sys, threading, time
from lifecycle_wrap.config import Config, load_config
from lifecycle_wrap.hosts import discover
from lifecycle_wrap.hosts.selection import survey
from lifecycle_wrap.manager import Lookup, Manager
from pathlib import Path
config, problems = load_config(Path(sys.argv[1]), {})
hosts = discover(config, {"XDG_RUNTIME_DIR": sys.argv[2]}, Lookup(Manager(print)))
print([host.name for host in hosts], any("paho" in name for name in sys.modules), threading.active_count(),
      "lifecycle_wrap.hosts.mqtt" in sys.modules, len(problems))
"""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "['register'] False 1 False 0"),
        ("lifecycle.broker.url = 'http://x'", "['register'] False 1 False 1"),
        ("lifecycle.broker.url = 'mqtt://x'", "['register', 'mqtt'] False 1 True 0"),
        ("lifecycle.broker.url = 'mqtt://x'\nlifecycle.adapters = ['register']", "['register'] False 1 False 0"),
    ],
)
def test_nothing_is_imported_or_started_where_it_is_not_configured(tmp_path: Path, text: str, answer: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", UNCONFIGURED, str(file), str(tmp_path)],
        env={**os.environ, "TMUX": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == answer


def test_without_the_library_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "find_spec", lambda name: None)
    assert mqtt.Mqtt.detect({}) == (False, "paho-mqtt is not installed; pip install 'lifecycle-wrap[mqtt]'")


BAD: Mapping[str, tuple[str, str]] = {
    "no url": ("prefix = 'x'", "lifecycle.broker.url"),
    "another scheme": ("url = 'https://x'", "lifecycle.broker.url"),
    "no host": ("url = 'mqtt://'", "lifecycle.broker.url"),
    "a password": ("url = 'mqtt://me:secret@x'", "lifecycle.broker.url"),
    "a path": ("url = 'mqtt://x/lifecycle'", "lifecycle.broker.url"),
    "a port": ("url = 'mqtt://x:y'", "lifecycle.broker.url"),
    "a number": ("url = 1", "lifecycle.broker.url"),
    "a wildcard": ("url = 'mqtt://x'\nprefix = 'a/+'", "lifecycle.broker.prefix"),
    "an empty level": ("url = 'mqtt://x'\nprefix = 'a//b'", "lifecycle.broker.prefix"),
    "the broker's own": ("url = 'mqtt://x'\nprefix = '$SYS'", "lifecycle.broker.prefix"),
    "too alive": ("url = 'mqtt://x'\nkeepalive = 1", "lifecycle.broker.keepalive"),
    "a field": ("url = 'mqtt://x'\nfields = ['screen']", "lifecycle.broker.fields"),
    "a key": ("url = 'mqtt://x'\nfield = []", "lifecycle.broker.field"),
    "control": ("url = 'mqtt://x'\nhost = \"a\\u0007\"", "lifecycle.broker.host"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_with_a_problem_counts_for_nothing(name: str) -> None:
    text, key = BAD[name]
    config, (problem,) = parse_config(f"[lifecycle.broker]\n{text}\n", "c.toml")
    assert config.broker is None
    assert problem.key == key
    assert "secret" not in str(problem)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("mqtt://x", Address("x", 1883, False)),
        ("mqtts://x/", Address("x", 8883, True)),
        ("mqtts://[::1]:99", Address("::1", 99, True)),
    ],
)
def test_a_table(url: str, address: Address) -> None:
    config, problems = parse_config(f"[lifecycle.broker]\nurl = '{url}'\nfields = ['cwd', 'agent']\n", "c.toml")
    assert problems == ()
    assert config.broker == Broker(address, fields=("agent", "cwd"))


def test_an_agent_notices_nothing_of_a_broker_that_is_away(tmp_path: Path) -> None:
    environ = isolated_environment(tmp_path, LIFECYCLE_WRAP_DEBUG="1")
    address = Address("127.0.0.1", free_port(), False)
    configure(environ, address)
    log = tmp_path / ".local/state/lifecycle-wrap/lifecycle-wrap.log"
    with Orders(tmp_path) as orders, Wrapped(orders.argv, environ) as wrapped:
        for state in ("working", "idle", "working", "blocked"):
            orders.give(f"state {state}")
            wait_until(
                lambda state=state: [one.state for one in sessions.running(environ)] == [state],  # type: ignore[misc]
                "the register",
            )
        notices = json.loads(run(environ, "status", "--json").stdout)["notices"]
        assert [(one["host"], one["text"]) for one in notices] == [("mqtt", f"{address}: Connection refused")]
        orders.give("exit 3")
        assert wrapped.wait() == 3
    assert log.read_text().count("\n") == 1
    assert log.read_text().endswith('host "mqtt" send failed: nobody answers\n')
