"""Sessions in the register without a program around them: the real writer, told by the test."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping

from lifecycle_wrap.hosts.base import Call, Place, Setup
from lifecycle_wrap.hosts.register import Register
from lifecycle_wrap.projection import Kind
from tests.support.events import event
from tests.support.terminal import WRAPPER
from tests.support.waiting import DEADLINE


class Registered:
    """One session in the register of an environment.

    Attributes:
        register: the writer.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        agent: str,
        pid: int,
        *,
        cwd: str = "/work/project",
        tty: str = "/dev/pts/7",
        place: Place | None = None,
    ) -> None:
        self._facts = {"agent": agent, "pid": pid, "cwd": cwd}
        self._state = ""
        self.register = Register(Setup(environ, tty=tty, place=place))
        self.register.prepare(Call(DEADLINE))
        self.tell("", kind=Kind.SESSION_STARTED)

    def tell(self, state: str, *, kind: Kind = Kind.STATE, **rest: object) -> None:
        """Tell an event of this moment."""
        self._state = state
        now = time.time_ns()
        told = event(state, kind=kind, **{"sequence": now, "timestamp": now, **self._facts, **rest})
        self.register.publish(told, Call(DEADLINE))

    def ring(self) -> None:
        """Tell a bell."""
        self.tell(self._state, kind=Kind.ATTENTION)

    def end(self) -> None:
        """Tell the release."""
        now = time.time_ns()
        told = event("", kind=Kind.RELEASE, sequence=now, timestamp=now, **self._facts)
        self.register.release(told, Call(DEADLINE))


def run(environ: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of our commands to its end."""
    return subprocess.run(
        [*WRAPPER, *arguments],
        env=dict(environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
    )


def start(environ: Mapping[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    """Start one of our commands, its output in a pipe; `next_line` reads it."""
    return subprocess.Popen(
        [*WRAPPER, *arguments],
        env=dict(environ),
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )


def next_line(process: subprocess.Popen[bytes]) -> str:
    """Return the next line of a process's output, without its end."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], DEADLINE)[0], "no line in time"
    return process.stdout.readline().decode().removesuffix("\n")


def watches(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process waits for changes of a directory: it has an inotify descriptor."""
    folder = f"/proc/{process.pid}/fd"
    try:
        return any("inotify" in os.readlink(f"{folder}/{name}") for name in os.listdir(folder))
    except OSError:
        return False
