"""Does what a plan says, step by step, to the real program in a real terminal."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import termios
import threading
from pathlib import Path

import psutil

from tests.support.real_terminal import RealTerminal
from tests.support.waiting import wait_until

from .orders import AGENT, Orders
from .plan import Plan, Step
from .surroundings import Surroundings

LOCAL_MODES = 3
PATIENCE = 60.0
"""Seconds for anything that must happen; a long run shares its machine."""


class Stuck(AssertionError):
    """Something that must happen did not."""


class Driver:
    """Does the steps.

    Args:
        plan: the run.
        around: its surroundings.
        folder: where the agent's files are.

    Attributes:
        orders: the agent.
        started: the agent obeys.
        codes: the exit codes that are right.
        stops: how often it was stopped.
        ended_orderly: it had read and printed everything when the end came.
        typed_before_end: how many bytes were typed until then.
    """

    def __init__(self, plan: Plan, around: Surroundings, folder: Path) -> None:
        self._plan = plan
        self._around = around
        files = folder / "agent"
        files.mkdir()
        self.orders = Orders(files, plan.stream, ignores=plan.ignores)
        self._done: list[str] = []
        self._terminal: RealTerminal | None = None
        self._agent = 0
        self._stopped = False
        self._stalled = False
        self.started = False
        self.codes: set[int] = set()
        self.stops = 0
        self.ended_orderly = False
        self.typed_before_end = 0
        self._typed = 0

    def did(self, verb: str) -> bool:
        """Tell whether a step was done."""
        return verb in self._done

    def play(self, terminal: RealTerminal) -> None:
        """Do all steps, the end, and wait for it.

        Raises:
            Stuck: something did not happen in time.
        """
        self._terminal = terminal
        self._wait(self.orders.is_ready, "the agent's start")
        self.started = self.orders.is_ready()
        if self.started:
            self._agent = self._find_agent()
            for step in self._plan.steps:
                if terminal.status is None:
                    self._do(step)
            self._finish()
        self._wait(lambda: terminal.status is not None, "the end")
        with contextlib.suppress(OSError):
            terminal.wait()

    def _finish(self) -> None:
        end = self._plan.end
        self.codes = _codes(end, self._plan.ignores)
        if self._plan.closed == "stdin":  # the agent runs in our place, and ends as itself
            self.codes |= {128 - code for code in self.codes}
        if self._plan.orderly and self._plan.closed != "stdin":
            self._read_on(0.0)
            self._settle(None)
            self.ended_orderly = True
            self.typed_before_end = self._typed
        if self.terminal.status is None:
            self._do(end)
        self._read_on(0.0)

    @property
    def terminal(self) -> RealTerminal:
        """The terminal."""
        assert self._terminal is not None
        return self._terminal

    def _do(self, step: Step) -> None:
        verb, value = step
        self._done.append(verb)
        if verb.startswith("agent "):
            self.orders.give(f"{verb.removeprefix('agent ')} {int(value)}")
        else:
            with contextlib.suppress(ProcessLookupError):
                getattr(self, "_" + verb.replace(" ", "_"))(value)

    def _write(self, value: tuple[int, int]) -> None:
        self.orders.write(*value)

    def _type(self, data: bytes) -> None:
        if self._plan.closed == "stdin":
            return
        self.terminal.type(data)
        self._typed += len(data)

    def _pause(self, seconds: float) -> None:
        threading.Event().wait(seconds)

    def _settle(self, _: object) -> None:
        if not self._stalled:
            self._wait(lambda: self.orders.written() >= self.orders.ordered, "the agent's output")
            if self._plan.closed != "stdin":
                self._wait(lambda: len(self.orders.received()) >= self._typed, "the agent's input")

    def _resize(self, size: tuple[int, int]) -> None:
        self.terminal.resize(*size)

    def _signal_us(self, number: int) -> None:
        os.kill(self.terminal.pid, number)

    def _signal_agent(self, number: int) -> None:
        os.kill(self._agent, number)

    def _kill_us(self, _: object) -> None:
        os.kill(self.terminal.pid, signal.SIGKILL)

    def _hang_up(self, _: object) -> None:
        self.terminal.hang_up()

    def _suspend(self, how: str) -> None:
        """Stop it; resumed by the next `resume`."""
        self._read_on(0.0)
        who, name = how.split()
        number = signal.Signals[name]
        if who == "agent":
            self.orders.give(f"stop {int(number)}")
            self._wait(lambda: self.terminal.stopped, "the stop")
        else:
            whom = self.terminal.pid if who == "we" else self._agent
            self._wait(lambda: self._is_stopped_by(whom, number), "the stop")
        self._stopped = self.terminal.stopped
        self.stops += 1

    def _is_stopped_by(self, pid: int, number: int) -> bool:
        """Signal it once a second: a stop signal that meets a SIGCONT on its way is lost, as under any shell."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self.terminal.stopped or self.terminal.status is not None, "", 1.0)
        return self.terminal.stopped

    def _resume(self, _: object) -> None:
        if not self._stopped:
            return
        self._stopped = False
        self.terminal.resume()
        self._wait(lambda: not any(map(_is_stopped, (self.terminal.pid, self._agent))), "the agent's going on")
        self._wait(self._is_raw, "the terminal's being ours again")

    def _is_raw(self) -> bool:
        return not termios.tcgetattr(self.terminal.master)[LOCAL_MODES] & termios.ECHO

    def _stall(self, _: object) -> None:
        self._stalled = True
        self.terminal.stall()

    def _read_on(self, seconds: float) -> None:
        if self._stalled:
            self._pause(seconds)
            self._stalled = False
            self.terminal.read_on()

    def _fill_disk(self, spare: int) -> None:
        self._around.fill_disk(spare)

    def _free_disk(self, _: object) -> None:
        self._around.free_disk()

    def _spoil_runtime(self, _: object) -> None:
        if self._plan.runtime == "goes away":
            self._around.spoil_runtime()

    def _kill_tmux(self, _: object) -> None:
        assert self._around.tmux is not None
        self._around.tmux.kill()

    def _trouble_herdr(self, _: object) -> None:
        self._around.trouble_herdr()

    def _limit(self, value: tuple[str, int]) -> None:
        name, limit = value
        if name == "RLIMIT_AS":  # so much more than it has
            limit += psutil.Process(self.terminal.pid).memory_info().vms
        number = getattr(resource, name)
        hard = resource.prlimit(self.terminal.pid, number)[1]
        resource.prlimit(self.terminal.pid, number, (limit if hard < 0 else min(limit, hard), hard))

    def _find_agent(self) -> int:
        mine = [p for p in self._around.place.processes() if str(AGENT) in p.cmdline() and p.cmdline()[1] == "-I"]
        return mine[0].pid if mine else 0

    def _wait(self, condition: object, what: str) -> None:
        assert callable(condition)
        try:
            wait_until(lambda: self.terminal.status is not None or condition(), what, PATIENCE)
        except AssertionError as error:
            raise Stuck(f"{error}; done: {self._done}") from None


def _is_stopped(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def _codes(end: Step, ignores: bool) -> set[int]:
    verb, value = end
    if verb == "agent exit":
        return {value}
    if verb == "kill us":
        return {-signal.SIGKILL}
    codes = {128 + (signal.SIGHUP if verb == "hang up" else int(value))}
    return codes | {128 + signal.SIGKILL} if ignores else codes
