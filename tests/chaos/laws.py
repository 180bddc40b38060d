"""What holds after every chaos run, whatever happened in it."""

from __future__ import annotations

import json
import termios
from collections.abc import Iterator
from pathlib import Path

from lifecycle_wrap.hosts.register import sweep
from tests.support.broken import NOTHING_KNOWN
from tests.support.left_behind import left_behind
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER
from tests.support.waiting import wait_until

from .alignment import ANSWERS, ECHOED, OURS, came_through
from .driver import Driver
from .output import SAVE_TITLE
from .plan import Plan
from .surroundings import Surroundings

REFUSED = 126
CUT_AT_MOST = 64
"""Bytes of a sequence that the agent's end cut, so that it is not known for one that we take out."""


class Laws:
    """Looks at what a run has left.

    Args:
        plan: the run.
        around: its surroundings.
        driver: what was done.
        terminal: the terminal, whose program has ended.
        came: what had come out by then.
    """

    def __init__(self, plan: Plan, around: Surroundings, driver: Driver, terminal: RealTerminal, came: bytes) -> None:
        self._plan = plan
        self._around = around
        self._driver = driver
        self._terminal = terminal
        self._came = came
        self._killed = plan.end.verb == "kill us"

    def broken(self) -> Iterator[str]:
        """Yield a line for each law that does not hold."""
        yield from self._exit_code()
        yield from self._processes()
        if self._plan.closed == "stdin":
            return  # the agent ran in our place: all that follows is its own affair
        yield from self._terminal_as_found()
        yield from self._output()
        yield from self._input()
        yield from self._sink()
        yield from self._hosts()
        yield from self._register()
        yield from self._log()
        yield from self._recording()

    def _exit_code(self) -> Iterator[str]:
        allowed = self._driver.codes if self._driver.started else {REFUSED}
        if self._terminal.status not in allowed:
            yield f"the exit code is {self._terminal.status}, not {sorted(allowed)}"

    def _processes(self) -> Iterator[str]:
        place = self._around.place
        if self._killed:  # a sink that hangs is nobody's then
            for process in place.processes():
                if process.name() in ("sleep", "cat", "sink", "sh"):
                    process.kill()
        try:
            place.await_no_process()
        except AssertionError as error:
            yield str(error)

    def _terminal_as_found(self) -> Iterator[str]:
        terminal, plan = self._terminal, self._plan
        if plan.end.verb == "hang up":
            return
        try:
            wait_until(lambda: termios.tcgetattr(terminal.master) == terminal.attributes, "", 5.0)
        except AssertionError:
            yield "the terminal's modes (termios) are not as they were"
        if self._killed:
            terminal.run([*WRAPPER, "reset"], self._around.environ)
        blind = self._killed or plan.limited or bool(plan.own_fault) or not plan.stream.startswith(SAVE_TITLE)
        after, before = left_behind(terminal, title=not blind)
        unknown = plan.own_fault in NOTHING_KNOWN
        # In a pane of theirs we are not in a Ghostty, and the reset of last resort does not know where it is.
        if roughly := bool(plan.faults & {"tmux", "herdr"}) or self._killed or plan.limited or unknown:
            for name in ("title", "pointer"):
                del after[name], before[name]
            after["dump"] = str(after["dump"]).replace("\x1b[?1007l", "")
        if self._killed or plan.limited or unknown:  # it cannot take origin mode back without moving the cursor
            after["dump"] = str(after["dump"]).replace("\x1b[?6h", "")
        for name in before:
            if after[name] != before[name]:
                yield f"the terminal's {name} is {after[name]!r}, and was {before[name]!r}"
        if not roughly and (progress := [state for state, _ in terminal.engine.progress][-1:]) not in ([], [0]):
            yield f"progress stands at {progress}"

    def _output(self) -> Iterator[str]:
        driver, quiet = self._driver, self._plan.quiet
        sent, came = self._plan.stream[: driver.orders.ordered], self._came
        written = driver.orders.written()
        whole = sent[:written]
        if not quiet:
            sent, came, whole = (OURS.sub(b"", data) for data in (sent, came, whole))
            # Answers that take a loaded machine too long come when we have left, and a shell's terminal echoes them.
            came = ECHOED.sub(b"", came)
        length, wrong = came_through(sent, came, stops=driver.stops)
        if wrong:
            yield wrong
        wanted = len(whole) - (0 if quiet else CUT_AT_MOST)
        if length < wanted and self._plan.end.verb not in ("hang up", "kill us"):
            yield f"{length} of {len(whole)} bytes of output came out, not {whole[length : length + 80]!r}"
        if self._plan.orderly and driver.ended_orderly and written != driver.orders.ordered:
            yield f"the agent could print {written} of {driver.orders.ordered} bytes"

    def _input(self) -> Iterator[str]:
        driver = self._driver
        sent, received = bytes(self._terminal.sent), driver.orders.received()
        if not self._plan.quiet:
            sent, received = ANSWERS.sub(b"", sent), ANSWERS.sub(b"", received)
        if not sent.startswith(received):
            length = len(_common_prefix(sent, received))
            read, typed = received[length : length + 80], sent[length : length + 80]
            yield f"input differs after {length} bytes: {read!r}, not {typed!r}"
        elif self._plan.orderly and driver.ended_orderly and len(received) < driver.typed_before_end:
            yield f"{len(received)} of {len(sent)} bytes of input were read"

    def _sink(self) -> Iterator[str]:
        told = self._around.told()
        sequences = [event["sequence"] for event in told]
        if sequences != sorted(set(sequences)):  # type: ignore[type-var]
            yield f"the sequences do not rise: {sequences}"
        kinds = [event["kind"] for event in told]
        if "release" in kinds[:-1]:
            yield f"events after the release: {kinds}"
        if kinds and kinds[-1] != "release" and not (self._killed or self._plan.limited):
            yield f"the good sink was not released: {kinds}"

    def _hosts(self) -> Iterator[str]:
        if self._killed or self._plan.limited:
            return
        tmux, herdr = self._around.tmux, self._around.herdr
        if tmux is not None and not self._driver.did("kill tmux"):
            shown = tmux.shown(self._around.environ["TMUX_PANE"])
            if shown != "||":
                yield f"tmux still shows {shown}"
        holds = herdr is not None and any(pane.authority is not None for pane in herdr.panes.values())
        if herdr is not None and holds and not self._driver.did("trouble herdr"):
            yield f"herdr is not released: {herdr.methods()}"

    def _register(self) -> Iterator[str]:
        register = self._around.register
        if self._killed and register.is_dir():
            sweep(register)
        if register.is_dir() and not register.is_symlink() and (left := sorted(register.iterdir())):
            yield f"the register holds {[path.name for path in left]}"

    def _log(self) -> Iterator[str]:
        log = self._around.log
        text = log.read_text() if log.is_file() else ""
        if not (self._plan.own_fault or self._plan.limited) and ("Traceback" in text or "crashed" in text):
            yield f"the log tells a fault of ours: {text[-1500:]}"
        if b"Traceback" in self._terminal.output:
            yield f"a traceback on the terminal: {bytes(self._terminal.output[-1500:])!r}"

    def _recording(self) -> Iterator[str]:
        recording: Path = self._around.recording
        if not recording.is_file() or self._driver.did("fill disk") or self._killed:
            return
        for number, line in enumerate(recording.read_text().splitlines(), 1):
            try:
                json.loads(line)
            except ValueError:
                yield f"line {number} of the recording is {line[:80]!r}"


def _common_prefix(one: bytes, other: bytes) -> bytes:
    length = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        length += 1
    return one[:length]
