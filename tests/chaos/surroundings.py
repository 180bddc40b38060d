"""What is around the program in a chaos run: sinks, hosts, disk, runtime directory, clock, limits."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.broken import BREAKER
from tests.support.broken import FAULTS as OWN_FAULTS
from tests.support.fake_herdr import FakeHerdr, Pane
from tests.support.place import Place, patched
from tests.support.tmux_server import Tmux
from tests.support.troubled_commands import FAULTS as SINK_FAULTS
from tests.support.troubled_commands import binaries

from .plan import Plan

GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.3.1"}
HERDR_PANE = "w1:p1"
DISK_BYTES = 256 << 10
TROUBLED_SECONDS = 0.5
"""How long a troubled sink may take, so that a run does not."""

HURRIED = "import lifecycle_wrap.pty.pump as pump\npump.ENDING_GRACE = 0.5\n"
JUMPING_CLOCK = """
import random, time
jumps, offset = random.Random({seed}), [0]
def jumping(real, scale):
    def now():
        if jumps.random() < 0.3:
            offset[0] = jumps.choice((-1_700_000_000, -86400, -3600, -1, 0, 1, 3600, 86400, 4_000_000_000))
        return real() + offset[0] * scale
    return now
time.time, time.time_ns = jumping(time.time, 1), jumping(time.time_ns, 10**9)
"""


class Surroundings:
    """All of it, in one folder.

    Args:
        plan: the run.
        folder: empty; its path is short, for there are sockets in it.

    Attributes:
        environ: the program's environment.
        notes: the file to which the good sink appends.
        register: the register's directory.
        recording: the recording's file.
        tmux: the server, where there is one.
        herdr: the server, where there is one.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self.place = Place(folder)
        self.notes = folder / "notes"
        self._disk = folder / "disk"
        self._mounted = "disk" in plan.faults and self._mount()
        self._disk.mkdir(exist_ok=True)
        self.runtime = self._disk if self._mounted else folder / "run"
        self.runtime.mkdir(exist_ok=True)
        self.register = self.runtime / "lifecycle-wrap"
        self.recording = self._disk / "session.cast"
        self.environ = {
            **self.place.environ,
            **GHOSTTY,
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_STATE_HOME": str(self._disk / "state"),
            "LIFECYCLE_WRAP_DEBUG": "1",
        }
        self.tmux: Tmux | None = None
        self.herdr: FakeHerdr | None = None
        if "disk" in plan.faults and not self._mounted:
            self._make_files_full()
        if "tmux" in plan.faults:
            self._start_tmux()
        if plan.herdr:
            self._start_herdr()
        self._write_config()
        if plan.runtime and plan.runtime != "goes away":
            self.spoil_runtime()

    @property
    def log(self) -> Path:
        """Our log file."""
        return self._disk / "state" / "lifecycle-wrap" / "lifecycle-wrap.log"

    def argv(self, agent: Sequence[str]) -> list[str]:
        """Return the command line of the program around an agent."""
        plan = self._plan
        prelude = HURRIED if plan.ignores else ""
        prelude += JUMPING_CLOCK.format(seed=plan.seed) if plan.clock else ""
        prelude += BREAKER.format(fault=OWN_FAULTS[plan.own_fault]) if plan.own_fault else ""
        argv = [*patched(prelude)]
        if plan.records:
            argv += ["record", "--overwrite", "--annotate", str(self.recording)]
        argv += ["--", *agent]
        script = "".join(f"ulimit -{letter} {value}; " for letter, value in plan.limits) + 'exec "$@"'
        script += {"stdin": " <&-", "stderr": " 2>&-"}.get(plan.closed, "")
        return ["sh", "-c", script, "sh", *argv] if plan.limits or plan.closed else argv

    def seat(self, pid: int) -> None:
        """Tell the hosts which process is in their pane."""
        if self.herdr is not None:
            self.herdr.panes[HERDR_PANE] = Pane(shell_pid=pid)

    def fill_disk(self, spare: int) -> None:
        """Leave so many bytes free."""
        if self._mounted:
            with contextlib.suppress(OSError), (self._disk / "filler").open("wb", buffering=0) as filler:
                filler.write(bytes(max(0, _free(self._disk) - spare)))

    def free_disk(self) -> None:
        """Give the space back."""
        (self._disk / "filler").unlink(missing_ok=True)

    def spoil_runtime(self) -> None:
        """Make the register's directory unusable, or take it away."""
        fault, path = self._plan.runtime, self.register
        if fault == "goes away":
            shutil.rmtree(path, ignore_errors=True)
        elif fault == "is a file":
            path.touch()
        elif fault == "is a link":
            path.symlink_to(self._folder)
        elif fault == "is open to all":
            path.mkdir()
            path.chmod(0o777)
        elif fault == "cannot be made":
            self.environ |= {"XDG_RUNTIME_DIR": "/dev/null/run", "TMPDIR": "/dev/null"}

    def trouble_herdr(self) -> None:
        """Let herdr have its trouble."""
        herdr = self.herdr
        assert herdr is not None
        if self._plan.herdr == "refuses":
            herdr.shutting_down = True
        elif self._plan.herdr == "dies":
            herdr.crash()
        elif self._plan.herdr == "restarts":
            herdr.restart()
        else:
            herdr.answer = lambda request: b'{"id": 7, "result": [\n'

    def close(self) -> None:
        """Leave nothing behind."""
        self.place.kill_all()
        if self.tmux is not None:
            self.tmux.kill()
        if self.herdr is not None:
            self.herdr.stop()
        if self._mounted:
            subprocess.run(["umount", "-l", str(self._disk)], check=False)

    def told(self) -> list[dict[str, object]]:
        """Return the events that the good sink got."""
        return [json.loads(line) for line in self.notes.read_bytes().splitlines()] if self.notes.exists() else []

    def _mount(self) -> bool:
        self._disk.mkdir()
        argv = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "chaos", str(self._disk)]
        try:
            return subprocess.run(argv, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def _make_files_full(self) -> None:
        """Where nothing may be mounted: a device without space in the place of log and recording."""
        self.log.parent.mkdir(parents=True)
        self.log.symlink_to("/dev/full")
        self.recording.symlink_to("/dev/full")

    def _start_tmux(self) -> None:
        self.tmux = Tmux(self._folder)
        pane = self.tmux.pane(["cat"])
        self.environ |= {"TMUX": f"{self._folder}/tmux,1,0", "TMUX_PANE": pane}

    def _start_herdr(self) -> None:
        self.herdr = FakeHerdr(self._folder / "herdr")
        self.herdr.start()
        marks = {"HERDR_ENV": "1", "HERDR_SOCKET_PATH": str(self.herdr.path), "HERDR_PANE_ID": HERDR_PANE}
        self.environ |= marks

    def _write_config(self) -> None:
        quiet = 'program_status = "pass"\n' if self._plan.quiet else ""
        osc = "off" if self._plan.quiet else "on"
        text = f'notify = "off"\n{quiet}[lifecycle]\nnesting = "all"\nosc = "{osc}"\n' + "".join(self._sinks())
        (self._folder / ".config" / "lifecycle-wrap" / "config.toml").write_text(text)

    def _sinks(self) -> Iterator[str]:
        good = self._folder / "good"
        good.write_text(f"#!/bin/sh\nexec cat >> {self.notes}\n")
        good.chmod(0o755)
        yield _sink("good", good, 20.0)
        folders = binaries(self._folder, ["sink"])
        for fault in self._plan.sinks:
            assert fault in SINK_FAULTS
            yield _sink(fault, folders[fault] / "sink", TROUBLED_SECONDS)


def _sink(name: str, path: Path, timeout: float) -> str:
    return f'[[lifecycle.commands]]\nname = "{name}"\ncommand = ["{path}"]\ntimeout = {timeout}\n'


def _free(path: Path) -> int:
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize
