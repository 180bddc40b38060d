"""Fifty sessions at once: each registers, all are listed with their states, and nothing is left of any."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from lifecycle_wrap.hosts.records import list_sessions
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

SESSIONS = 50
AT_ONCE = 5
"""Sessions that start in the same moment: one that gets no processor for seconds gives up observing."""
AGENT = ["sh", "-c", r"printf '\033]7501;state=working\033\\'; read line; exit 3"]


@pytest.mark.slow
def test_fifty_sessions(tmp_path: Path) -> None:
    register = tmp_path / "lifecycle-wrap"
    environ = isolated_environment(tmp_path)
    with ExitStack() as stack:
        sessions: list[Wrapped] = []

        def at_work() -> bool:
            return [one.state for one in list_sessions(register)] == ["working"] * len(sessions)

        while len(sessions) < SESSIONS:
            sessions += [stack.enter_context(Wrapped(AGENT, environ)) for _ in range(AT_ONCE)]
            wait_until(at_work, lambda: str([one.state for one in list_sessions(register)]))
        listed = list_sessions(register)
        assert {one.pid for one in listed} == {one.pid for one in sessions}
        assert all(one.alive for one in listed)
        killed, ended = sessions[:5], sessions[5:]
        for session in killed:
            session.signal(signal.SIGKILL)
        for session in ended:
            session.type(b"\n")
        assert {session.wait() for session in ended} == {3}
        assert {session.wait() for session in killed} == {-signal.SIGKILL}
        assert sorted(one.pid for one in list_sessions(register)) == sorted(session.pid for session in killed)
        assert not any(one.alive for one in list_sessions(register))
        # The next session sweeps away what the killed ones could not.
        last = stack.enter_context(Wrapped(AGENT, environ))
        wait_until(lambda: [one.pid for one in list_sessions(register)] == [last.pid], "the sweep")
        last.type(b"\n")
        last.wait()
    assert list(register.iterdir()) == []
