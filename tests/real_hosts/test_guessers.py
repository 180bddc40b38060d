"""Tools that guess an agent's state from a tmux pane read the same from a wrapped agent as from a bare one.

Recordings are played side by side in two panes of a real tmux, and all that such a tool can read is compared in
between: the screen, the pane's variables, and in control mode the bytes, which are what counts as activity, too.
`python -m tests.real_hosts.test_guessers DIR` does the same for any folder of recordings.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from lifecycle_wrap.terminal.attention import FOCUS_ON
from lifecycle_wrap.terminal.probe import BURST
from tests.recordings.test_transparency import REPORT, written
from tests.support.orders import Orders
from tests.support.terminal import WRAPPER
from tests.support.tmux_server import Tmux
from tests.support.waiting import wait_until

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
PLAYER = Path(__file__).parents[1] / "support" / "paced_player.py"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

STEPS = 8
READABLE = (
    "#{pane_title}|#{cursor_x},#{cursor_y}|#{cursor_flag}|#{alternate_on}|#{window_bell_flag}|#{window_activity_flag}|"
    "#{mouse_any_flag}|#{keypad_flag}|#{insert_flag}|#{wrap_flag}|#{pane_in_mode}"
)


def read(tmux: Tmux, pane: str) -> tuple[str, str]:
    """Return what a tool can read of a pane: its screen with all attributes, and its variables."""
    return tmux("capture-pane", "-p", "-e", "-t", pane), tmux("display-message", "-p", "-t", pane, READABLE)


class ControlMode:
    """A reader of all panes' bytes in tmux's control mode, as TaskTTY is one.

    Args:
        tmux: a server that has a session.
        folder: where the bytes go.
    """

    def __init__(self, tmux: Tmux, folder: Path) -> None:
        self._path = folder / "control"
        with self._path.open("wb") as file:
            self._client = subprocess.Popen(
                ["tmux", "-S", str(tmux.folder / "tmux"), "-C", "attach", "-f", "ignore-size"],
                env=tmux.environ,
                stdin=subprocess.PIPE,
                stdout=file,
            )
        wait_until(lambda: b"%session-changed" in self._path.read_bytes(), "control mode")

    def written(self, pane: str) -> bytes:
        """Return what was written in a pane, but for our question at the start, see `comparable`."""
        mark = b"%output " + pane.encode() + b" "
        lines = self._path.read_bytes().splitlines()
        escaped = b"".join(line[len(mark) :] for line in lines if line.startswith(mark))
        output = re.sub(rb"\\([0-7]{3})", lambda octal: bytes((int(octal[1], 8),)), escaped)
        return comparable(output.replace(BURST, b"", 1))

    def close(self) -> None:
        self._client.communicate()


def comparable(output: bytes) -> bytes:
    """Leave out what draws nothing and differs: reports that only we get to see, and the wish to know the focus."""
    return REPORT.sub(b"", output).replace(FOCUS_ON, b"")


def steps_done(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def compare(cast: Path, tmux: Tmux, folder: Path) -> None:
    """Play a recording bare and wrapped.

    Raises:
        AssertionError: the two panes did not come to show the same.
    """
    recording = open_recording(cast)
    events = sum(event.kind == OUTPUT for event in recording)
    names = [f"{cast.parent.name}-{cast.name}-{way}" for way in ("bare", "wrapped")]
    with Orders(folder, names[0], PLAYER) as bare, Orders(folder, names[1], PLAYER) as wrapped:
        panes = [tmux.pane([*bare.argv, str(cast)]), tmux.pane([*WRAPPER, "--", *wrapped.argv, str(cast)])]
        tmux("select-window", "-t", ":0")  # a window that a client looks at notes no bell
        for pane in panes:
            tmux("resize-window", "-t", pane, "-x", str(recording.columns), "-y", str(recording.rows))
        control = ControlMode(tmux, folder)
        for step in range(1, STEPS + 1):
            for orders in (bare, wrapped):
                orders.give(str(events // STEPS + 1))
            for name in names:
                wait_until(lambda name=name, step=step: steps_done(folder / f"{name}.done") == step, f"{name}: {step}")
            wait_until(
                lambda: read(tmux, panes[0]) == read(tmux, panes[1]) != ("", ""),
                lambda: f"{cast}:\n{read(tmux, panes[0])}\n{read(tmux, panes[1])}",
            )
        expected = comparable(written(cast))
        wait_until(
            lambda: [control.written(pane) for pane in panes] == [expected, expected],
            lambda: f"{cast}: {expected[-200:]!r}\n{[control.written(pane)[-200:] for pane in panes]}",
        )
        control.close()
    for pane in panes:
        tmux("kill-window", "-t", pane)


def casts() -> list[Path]:
    """Return one recording of each agent: all of them take minutes."""
    return list({path.parent: path for path in sorted(RECORDINGS.rglob("*.cast*"))}.values())


@pytest.mark.parametrize("cast", casts(), ids=lambda path: f"{path.parent.name}/{path.name.partition('.cast')[0]}")
def test_both_panes_read_the_same(cast: Path, tmp_path: Path) -> None:
    tmux = Tmux(tmp_path)
    try:
        compare(cast, tmux, tmp_path)
    finally:
        tmux.kill()


def main() -> int:
    """Compare every recording of a folder."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        tmux = Tmux(Path(name))
        for cast in sorted(Path(sys.argv[1]).absolute().rglob("*.cast*")):
            try:
                compare(cast, tmux, Path(name))
                print("same     ", cast.parent.name, cast.name, flush=True)
            except AssertionError as error:
                failed += 1
                print("DIFFERENT", error, flush=True)
        tmux.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
