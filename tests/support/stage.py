"""A session in front of a real agent's screen, at rest or at work, onto which a test draws what it likes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path

from lifecycle_detectors import Catalog, Session, SessionEvent, Size, State, StateChanged, make_screen
from lifecycle_detectors.evidence import ScreenView
from lifecycle_wrap.commands.replay import profile_for, walk
from lifecycle_wrap.recordings.recording import open_recording
from lifecycle_wrap.recordings.scoring import read_truth

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"

SYNTHETIC = {
    "amp": b"\x1b]0;task - amp - project\x07\x1b[20;1H"
    b"\xe2\x95\xad" + "─".encode() * 60 + b"\xe2\x95\xae\r\n\xe2\x94\x82"
    b" \x1b[61G \xe2\x94\x82\r\n\xe2\x95\xb0" + "─".encode() * 60 + b"\xe2\x95\xaf\x1b[21;3H",
    "antigravity": ("\x1b[24;1H" + "─" * 80 + "\r\n>\r\n" + "─" * 80 + "\r\n? for shortcuts\x1b[25;3H").encode(),
    "cursor": (
        "\x1b[24;1H┌" + "─" * 78 + "┐\r\n│ → Add a follow-up\x1b[80G│\r\n└" + "─" * 78 + "┘\r\n  Auto\x1b[25;5H"
    ).encode(),
    "droid": ("\x1b[24;1H╭" + "─" * 78 + "╮\r\n│ >\x1b[80G│\r\n╰" + "─" * 78 + "╯\r\n ? for help\x1b[25;5H").encode(),
    "grok": "\x1b]0;grok\x07\x1b[26;1H│ ❯\x1b[80G│\r\n  ctrl+.:shortcuts\x1b[26;5H".encode(),
    "hermes": "\x1b]0;✓ hermes\x07\x1b[26;1H❯ \r\n  model · 12%\x1b[26;3H".encode(),
    "kiro": "\x1b[24;1H ask a question or describe a task ↵\r\n\r\n /copy to clipboard\x1b[24;2H".encode(),
    "generic": b"\x1b]133;A\x07$ \x1b]133;B\x07",
}
"""Idle screens from facts alone, for agents that could not be recorded: 100 columns, 30 rows."""


_ENDS_AT_REST = re.compile(r"(?:turn|approve|deny|question|startup-idle|idle-keys|term)\b")

SETTLED = 1.5
"""Seconds after which an agent that became idle has drawn everything."""


class Stage:
    """A session that has seen an agent's screen; its clock goes on only when told.

    Args:
        session: fed up to `now`.
        now: monotonic seconds.

    Attributes:
        changes: the state changes since the test began.
    """

    def __init__(self, session: Session, now: float, size: Size) -> None:
        self.session = session
        self.now = now
        self.size = size
        self.changes: list[StateChanged] = []

    @property
    def state(self) -> State:
        return self.session.state

    @property
    def view(self) -> ScreenView:
        view = self.session.explain(self.now).evidence.screen
        assert view is not None
        return view

    def draw(self, data: bytes) -> None:
        """Let the agent print."""
        self._keep(self.session.receive_output(data, self.now))

    def type(self, data: bytes) -> None:
        """Let the user type."""
        self._keep(self.session.receive_input(data, self.now))

    def wait(self, seconds: float) -> None:
        """Let time pass, each deadline at its own time."""
        until = self.now + seconds
        while (due := self.session.next_deadline) is not None and due <= until:
            self.now = max(self.now, due)
            self._keep(self.session.tick(due))
        self.now = until

    def _keep(self, events: list[SessionEvent]) -> None:
        self.changes += [event for event in events if isinstance(event, StateChanged)]

    def write_above(self, rows: list[str], *, gap: int = 1) -> None:
        """Draw rows above the composer (or above the cursor's row), `gap` rows between."""
        last = self._anchor() - gap
        shown = rows[-last:] if last > 0 else []
        first = last - len(shown)
        drawn = [f"\x1b[{row + 1};1H\x1b[2K" for row in range(first)]
        drawn += [f"\x1b[{first + n + 1};1H\x1b[2K{text[: self.size.columns - 1]}" for n, text in enumerate(shown)]
        drawn += [f"\x1b[{row + 1};1H\x1b[2K" for row in range(last, last + gap)]
        self.draw(("\x1b7" + "".join(drawn) + "\x1b8").encode())

    def _anchor(self) -> int:
        layout = self.view.layout
        if layout.composer.last > layout.composer.first:
            return layout.above_composer.last
        return layout.cursor_line.first

    def write_draft(self, text: str) -> None:
        """Draw a draft of one row where the user types."""
        layout = self.view.layout
        row = layout.cursor_line.first
        if not layout.composer.first <= row < layout.composer.last and layout.composer.last:
            row = layout.composer.first
        prompt = re.match(r"[\s│┃|╰─]*[❯›>$!*π→]?", layout.rows[row])
        assert prompt is not None
        column = max(prompt.end(), 1) + 1
        room = self.size.columns - column - 8
        self.draw(f"\x1b[{row + 1};{column + 1}H{text[:room]}\x1b[K\x1b[{row + 1};{column + 1}H".encode())


def stages() -> Iterator[str]:
    """Yield the names of the profiles that have an idle screen to stand on."""
    for name in Catalog().names():
        if name in SYNTHETIC or _recordings(name):
            yield name


def _recordings(profile: str) -> list[Path]:
    """The recordings of an agent that end at rest, the shortest first."""
    found = [path for path in RECORDINGS.glob(f"{profile}*/*.cast*") if _ENDS_AT_REST.match(path.name)]
    return [path for path in sorted(found, key=lambda path: path.stat().st_size) if _profile_name(path) == profile]


def _profile_name(path: Path) -> str:
    return profile_for(open_recording(path), Catalog()).name


def idle_stage(profile: str, *, signals: bool = True) -> Stage:
    """Return a session that stands at an agent's idle screen."""
    if profile in SYNTHETIC:
        stage = Stage(_session(profile, Size(30, 100), signals), 0.0, Size(30, 100))
        stage.draw(SYNTHETIC[profile])
        stage.wait(5.0)
        stage.changes = []
        return stage
    stage = recorded_stage(_recordings(profile)[0], signals=signals)
    stage.wait(2.0)
    stage.changes = []
    return stage


def _session(profile: str, size: Size, signals: bool) -> Session:
    return Session(Catalog().get(profile), size, 0.0, screen=make_screen, signals=signals)


def work_stage(profile: str) -> Stage | None:
    """Return a session in the middle of an agent's turn, or None where no recording has a long one."""
    for path in _recordings(profile):
        truth, _ = read_truth(open_recording(path))
        for change, following in pairwise(truth):
            if change.state == "working" and following.at - change.at > 2 * SETTLED:
                stage = recorded_stage(path, until=change.at + SETTLED)
                stage.wait(0.1)
                stage.changes = []
                return stage
    return None


def recorded_stage(path: Path, *, until: float | None = None, signals: bool = True) -> Stage:
    """Replay a recording up to a time, or to where the agent is idle for the last time."""
    recording = open_recording(path)
    size = Size(recording.rows, recording.columns)
    session = _session(_profile_name(path), size, signals)
    if until is None:
        truth, _ = read_truth(recording)
        until = max(change.at for change in truth if change.state == "idle") + SETTLED
    last = until
    for _ in walk(takewhile(lambda event: event.at <= last, recording), session):
        pass
    return Stage(session, until, size)
