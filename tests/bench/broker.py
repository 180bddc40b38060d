r"""Many sessions on one broker: how fast they tell it, what it holds for them, how soon `ps --broker` has them all.

usage: python -m tests.bench.broker [--sessions 2000] [--processes 8] [--rounds 20] [--records 0]

A real mosquitto on a loopback port. Each session is the real adapter with its own connection; the processes share them
out. Everything is on one machine, so the sessions take their part of its processors: the rates are lower bounds.
`--records` puts so many more records there that nobody stands behind: a list of any length without its connections.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing import Barrier, Process
from multiprocessing.synchronize import Barrier as Meeting
from pathlib import Path

import psutil
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from lifecycle_wrap.broker_config import Address, Broker
from lifecycle_wrap.commands.board import Board
from tests.support.fleet import Aboard
from tests.support.mosquitto import Mosquitto, configure
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import wait_until

PATIENCE = 300.0


def take_part(address: Address, first: int, count: int, rounds: int, meeting: Meeting) -> None:
    """Be some of the sessions; meet the others before each part."""
    table = Broker(address, host=f"bench{first}")
    numbers = range(first + 1, first + count + 1)
    sessions = [Aboard(table, {}, "claude", number, f"{number}-bench") for number in numbers]
    for session in sessions:
        session.tell("working", cwd="/home/someone/projects/a-project")
    wait_until(lambda: all(_has_told(session) for session in sessions), "the first states", PATIENCE)
    meeting.wait()
    meeting.wait()
    for number in range(rounds):
        for session in sessions:
            session.tell("working" if number % 2 else "blocked", cwd="/home/someone/projects/a-project")
        wait_until(lambda: all(_has_told(session) for session in sessions), "the states of a round", PATIENCE)
    meeting.wait()
    meeting.wait()
    os._exit(0)  # without a goodbye, which would take longer than what is measured


def _has_told(session: Aboard) -> bool:
    link = session.host.link
    return link is not None and link.online and link._is_told and link._unconfirmed is None


def main() -> int:
    """Run the measures and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--records", type=int, default=0)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="lifecycle-bench-") as name:
        folder = Path(name)
        with Mosquitto(folder, quiet=True, more="max_queued_messages 0") as server:
            _measure(server, folder, options)
    return 0


def _measure(server: Mosquitto, folder: Path, options: argparse.Namespace) -> None:
    broker = psutil.Process(server.pid)
    meeting = Barrier(options.processes + 1)
    each = options.sessions // options.processes
    total = each * options.processes
    before = broker.memory_info().rss
    began = time.perf_counter()
    members = [
        Process(target=take_part, args=(server.address, number * each, each, options.rounds, meeting), daemon=True)
        for number in range(options.processes)
    ]
    for member in members:
        member.start()
    meeting.wait(PATIENCE)
    print(f"{total} sessions connected and told in {time.perf_counter() - began:.1f} s")
    held = broker.memory_info().rss - before
    print(f"broker memory {broker.memory_info().rss / 1e6:.1f} MB, {held / total / 1e3:.2f} kB a session")
    _list(server, folder, total)
    if options.records:
        _put(server, options.records)
        print(f"{options.records} records more: broker memory {broker.memory_info().rss / 1e6:.1f} MB")
        _list(server, folder, total + options.records)
    used = sum(broker.cpu_times()[:2])
    meeting.wait(PATIENCE)
    began = time.perf_counter()
    meeting.wait(PATIENCE)
    seconds = time.perf_counter() - began
    rate = total * options.rounds / seconds
    busy = (sum(broker.cpu_times()[:2]) - used) / (total * options.rounds)
    print(f"{rate:.0f} states/s told and acknowledged; the broker's processor takes {busy * 1e6:.0f} us for each")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    meeting.wait(PATIENCE)


def _put(server: Mosquitto, count: int) -> None:
    payload = _a_record(server)
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    client.connect("127.0.0.1", server.address.port)
    client.loop_start()
    for number in range(count):
        told = client.publish(f"lifecycle/a@many/{number}-bench/state", payload, 1, retain=True)
        if number % 1000 == 0 or number == count - 1:
            told.wait_for_publish(PATIENCE)
    client.disconnect()


def _a_record(server: Mosquitto) -> str:
    """Return one record as it stands there."""
    command = ["mosquitto_sub", "-p", str(server.address.port), "-t", "lifecycle/#", "-C", "1"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _list(server: Mosquitto, folder: Path, total: int) -> None:
    environ = isolated_environment(folder)
    configure(environ, server.address)
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run([*WRAPPER, "ps", "--broker", "--json"], env=environ, stdout=subprocess.PIPE, check=True)
        seconds = time.perf_counter() - began
        print(f"ps --broker: {len(json.loads(done.stdout))} of {total} sessions after {seconds:.2f} s")
    began = time.perf_counter()
    with Board(Broker(server.address), environ) as board:
        print(f"the board alone: {len(board.running())} after {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
