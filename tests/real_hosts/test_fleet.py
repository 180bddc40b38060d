"""Three machines and one broker: real agents' wrappers, a real mosquitto, links that can be cut, and `watch --broker`.

A machine is a runtime directory, a host name and a link of its own. The small fleet is in the default run; the whole
one, with TLS, outages of ten seconds and twenty agents a machine, is slow.
"""

from __future__ import annotations

import json
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pytest

from lifecycle_wrap.broker_config import Address
from tests.support.mosquitto import PASSWORD, Mosquitto, configure, needs_mosquitto
from tests.support.orders import Orders
from tests.support.registered import start
from tests.support.tcp_proxy import TcpProxy
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

pytestmark = needs_mosquitto

SCRIPTED = """
while read -r order rest; do
  case $order in state) printf '\\033]7501;state=%s\\033\\\\' "$rest";; exit) exit 0;; esac
done < "$1"
"""
SHOWN_SECONDS = 0.5
STANDING_SECONDS = 0.15
"""What a state must have stood before it is one (see DESIGN.md), which is not the broker's doing."""


class Agent:
    """One scripted agent under the real program."""

    def __init__(self, folder: Path, environ: dict[str, str], number: int, host: str) -> None:
        folder.mkdir()
        self.orders = Orders(folder)
        argv = ["sh", "-c", SCRIPTED, "sh", self.orders.argv[-1]]
        self.wrapped = Wrapped(argv, environ)
        self.name = f"{self.wrapped.pid} {host}:"

    def state(self, state: str) -> None:
        self.orders.give(f"state {state}")


class Machine:
    """A runtime directory, a name, and a link to the broker."""

    def __init__(self, folder: Path, name: str, server: Mosquitto, keepalive: int) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.link = TcpProxy(server.address.port)
        self.environ = isolated_environment(self.folder, LIFECYCLE_WRAP_MQTT_PASSWORD=PASSWORD)
        configure(
            self.environ,
            Address("127.0.0.1", self.link.port, server.address.tls),
            host=name,
            keepalive=keepalive,
            more=f'user = "fleet"\nca = "{server.authority}"\n' if server.address.tls else "",
        )
        self.agents: list[Agent] = []

    def add_agent(self) -> Agent:
        agent = Agent(self.folder / f"a{len(self.agents)}", self.environ, len(self.agents), self.name)
        self.agents.append(agent)
        return agent


class Watching:
    """`watch --plain --broker` on a machine of its own; what it said last of each session, and when."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._process = start(environ, "watch", "--plain", "--broker")
        self.said: dict[str, tuple[str, float]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def of(self, agent: Agent) -> str:
        return self.said.get(agent.name, ("", 0.0))[0]

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError):
            for line in self._process.stdout:
                _, pid, name, text = line.decode().rstrip("\n").split(" ", 3)
                self.said[f"{pid} {name.partition(':')[0]}:"] = (text.partition(" ")[0], time.monotonic())


class Fleet:
    """Machines, their agents, and who watches them."""

    def __init__(self, folder: Path, server: Mosquitto, *, agents: int, keepalive: int, stack: ExitStack) -> None:
        self.server = server
        self.keepalive = keepalive
        self.machines = [Machine(folder, f"m{number}", server, keepalive) for number in range(3)]
        for machine in self.machines:
            stack.enter_context(machine.link)
        self.expected: dict[str, str] = {}
        reader = Machine(folder, "reader", server, keepalive)
        stack.enter_context(reader.link)
        self.watching = stack.enter_context(Watching(reader.environ))
        for _ in range(agents):
            added = [machine.add_agent() for machine in self.machines]
            for agent in added:
                stack.enter_context(agent.wrapped)
            for agent in added:
                self.order(agent, "working")
            wait_until(self.is_right, self.difference, seconds=60)

    @property
    def agents(self) -> list[Agent]:
        return [agent for machine in self.machines for agent in machine.agents]

    def order(self, agent: Agent, state: str) -> None:
        agent.state(state)
        self.expected[agent.name] = state

    def is_right(self) -> bool:
        return all(self.watching.of(agent) == self.expected[agent.name] for agent in self.agents)

    def difference(self) -> str:
        return str(
            [
                (agent.name, self.watching.of(agent), self.expected[agent.name])
                for agent in self.agents
                if self.watching.of(agent) != self.expected[agent.name]
            ]
        )

    def until_right(self) -> None:
        """The board must be right within the keep-alive; the machine is allowed to be busy."""
        wait_until(self.is_right, self.difference, seconds=self.keepalive + 10)


@contextmanager
def fleet(folder: Path, *, agents: int, keepalive: int, tls: bool = False) -> Iterator[Fleet]:
    with Mosquitto(folder, tls=tls) as server, ExitStack() as stack:
        made = Fleet(folder, server, agents=agents, keepalive=keepalive, stack=stack)
        yield made


def change_and_see(made: Fleet, changes: int) -> list[float]:
    """Change agents one after the other; returns how long each change took to be shown."""
    delays = []
    for number in range(changes):
        agent = made.agents[number % len(made.agents)]
        state = "blocked" if made.expected[agent.name] == "working" else "working"
        began = time.monotonic()
        made.order(agent, state)
        wait_until(lambda agent=agent: made.watching.of(agent) == made.expected[agent.name], made.difference)  # type: ignore[misc]
        delays.append(made.watching.said[agent.name][1] - began - STANDING_SECONDS)
    return delays


def an_outage(made: Fleet, begin: Callable[[], None], end: Callable[[], None], seconds: float) -> None:
    """Have agents change while they cannot be heard, and see the board right afterwards."""
    begin()
    over = time.monotonic() + seconds
    generator = random.Random(4)
    for agent in made.agents:
        for state in generator.sample(["working", "blocked"], 2):
            made.order(agent, state)
            wait_until(lambda: _acted(agent), "the agent")  # noqa: B023
    wait_until(lambda: time.monotonic() > over, "the outage's end", seconds=seconds + 5)
    end()
    made.until_right()


def _acted(agent: Agent) -> bool:
    """No agent notices anything: it reads its orders as they come."""
    return bool(agent.wrapped.output.endswith(b"\x1b\\")) and agent.wrapped.status is None


def the_end(made: Fleet) -> None:
    """A wrapper that is killed and a machine that is cut off are gone; who ends cleanly leaves nothing."""
    killed = made.machines[0].agents[0]
    killed.wrapped.signal(signal.SIGKILL)
    made.expected[killed.name] = "gone"
    began = time.monotonic()
    made.until_right()
    made.machines[1].link.cut()
    for agent in made.machines[1].agents:
        made.expected[agent.name] = "gone"
    made.until_right()
    assert time.monotonic() - began < 2 * (made.keepalive + 10)
    for agent in made.agents:
        if made.expected[agent.name] != "gone":
            agent.orders.give("exit 0")
            made.expected[agent.name] = "ended"
    made.until_right()
    for agent in made.machines[1].agents:
        agent.orders.give("exit 0")
    for agent in made.agents:
        assert agent.wrapped.wait() == (-signal.SIGKILL if agent is killed else 0)
    left = [json.loads(payload) for payload in made.server.retained().values()]
    assert len(left) == 1 + len(made.machines[1].agents)
    assert all(one["gone"] for one in left)


def test_a_small_fleet(tmp_path: Path) -> None:
    with fleet(tmp_path, agents=1, keepalive=3) as made:
        delays = change_and_see(made, 6)
        assert statistics.median(delays) < SHOWN_SECONDS, delays
        an_outage(made, made.server.stop, made.server.start, 0)
        an_outage(made, made.machines[2].link.cut, made.machines[2].link.mend, 0)
        the_end(made)


@pytest.mark.slow
def test_three_machines_with_twenty_agents_each(tmp_path: Path) -> None:
    with fleet(tmp_path, agents=20, keepalive=30, tls=True) as made:
        delays = change_and_see(made, 60)
        print(f"shown after: median {statistics.median(delays):.3f} s, worst {max(delays):.3f} s")
        assert statistics.median(delays) < SHOWN_SECONDS, delays
        an_outage(made, made.server.stop, made.server.start, 10)
        an_outage(made, made.machines[2].link.cut, made.machines[2].link.mend, 10)
        the_end(made)
