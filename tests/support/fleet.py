"""Sessions on a broker without a program around them: the real adapter, told by the test."""

from __future__ import annotations

import time
from collections.abc import Mapping

from lifecycle_wrap.broker_config import Broker
from lifecycle_wrap.hosts.base import Call, Setup
from lifecycle_wrap.hosts.mqtt import Mqtt
from lifecycle_wrap.projection import Kind
from tests.support.events import event
from tests.support.waiting import DEADLINE, wait_until


class Aboard:
    """One session on a broker.

    Attributes:
        host: the adapter.
    """

    def __init__(
        self,
        broker: Broker,
        environ: Mapping[str, str],
        agent: str = "claude",
        pid: int = 1,
        session: str = "",
        *,
        starts: bool = True,
    ) -> None:
        self._facts = {"agent": agent, "pid": pid, "profile": agent}
        self.host = Mqtt(Setup(environ, options={"broker": broker}, session=session))
        if starts:
            self.tell("", kind=Kind.SESSION_STARTED)

    def tell(self, state: str, *, kind: Kind = Kind.STATE, **rest: object) -> None:
        """Tell an event of this moment."""
        now = time.time_ns()
        facts = {"sequence": now, "timestamp": now, **self._facts, **rest}
        told = event(state, kind=kind, **facts)
        self.host.publish(told, Call(DEADLINE))

    def end(self) -> None:
        """Tell the release."""
        now = time.time_ns()
        told = event("", kind=Kind.RELEASE, sequence=now, timestamp=now, **self._facts)
        self.host.release(told, Call(DEADLINE))

    def drop(self) -> None:
        """Lose the connection without a goodbye, for good: what SIGKILL does."""
        assert self.host.link is not None
        link = self.host.link
        link.finish = lambda client: None  # type: ignore[method-assign]
        link.stop()
        wait_until(lambda: not link.is_alive(), "the connection's end")
