"""What is known about the agent right now, each piece with its age.

Owns `Evidence` (a plain record that the session fills) and `ScreenView` (one snapshot of the screen with the times of
its rows' last change and last motion). Must not decide anything: rules do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .frames import bare, is_frame
from .layout import Layout, Region

SPINNERS = re.compile(
    "["
    "\u2800-\u28ff"  # braille
    "◐◑◒◓◴◵◶◷◰◱◲◳"  # quarters and halves
    "◜◝◞◟◠◡"
    "·✢✳✶✻✽✺✹✸✷✵✴⋆∗*"  # asterisks that pulse
    "●◉◎○◌◦•∙⬤"  # discs that pulse
    "■□▪▫⬝▰▱"  # bars of cells
    "░▒▓█▁▂▃▄▅▆▇▏▎▍▌▋▊▉"  # blocks
    "🌑🌒🌓🌔🌕🌖🌗🌘🕐-🕧"
    "⬡⬢◆◇◈✦✧⏳⌛"
    r"|/\\\-+=#"
    "\ufe0e\ufe0f"
    "]"
)
"""Glyph classes that agents animate: shape and motion tell a spinner, not one agent's set."""

_COUNTERS = re.compile(r"\d+(?:[.,]\d+)*")


def skeleton(text: str) -> str:
    """Return what of a row stays the same while a spinner turns and its counters run."""
    return _COUNTERS.sub("0", SPINNERS.sub("", text)).strip()


@dataclass(slots=True)
class _Row:
    text: str
    changed_at: float
    moved_at: float
    spun_at: float


NEVER = float("-inf")

FLOW_GAP = 0.5
"""Seconds without output that end a flow: a program that draws an animation prints several times a second."""


class Motion:
    """Follows the rows of a screen over time.

    A row *changed* when its text is another; it *moved* when it changed but for counters and spinner glyphs it is the
    same text; it *spun* when a spinner glyph was another. A row is found again after it was scrolled.
    """

    def __init__(self) -> None:
        self._rows: list[_Row] = []

    def update(self, rows: Sequence[str], now: float) -> None:
        """Take the snapshot of `now`."""
        before = self._rows
        past = _Past(before, rows)
        self._rows = [
            before[index] if index < len(before) and before[index].text == text else past.follow(text, now)
            for index, text in enumerate(rows)
        ]

    def rows(self, region: Region) -> Sequence[_Row]:
        """Return what is known of a region's rows."""
        return self._rows[region.first : region.last]


class _Past:
    """The rows before, to find a changed row's past self among them.

    A row whose text stood elsewhere was scrolled. One whose text is gone from the screen, and that was the same but for
    glyphs and counters, moved; where that text still stands, the screen holds a list of a spinner's frames.
    """

    def __init__(self, before: Sequence[_Row], rows: Sequence[str]) -> None:
        self._before = before
        self._rows = rows

    @cached_property
    def _by_text(self) -> dict[str, _Row]:
        return {row.text: row for row in self._before}

    @cached_property
    def _gone(self) -> dict[str, _Row]:
        shown = set(self._rows)
        return {skeleton(row.text): row for row in self._before if row.text not in shown}

    def follow(self, text: str, now: float) -> _Row:
        """Return what is known of a row that shows `text` now and did not before."""
        if not text.strip():
            return _Row(text, now, NEVER, NEVER)
        scrolled = self._by_text.get(text)
        if scrolled is not None:
            return _Row(text, now, scrolled.moved_at, scrolled.spun_at)
        old = self._gone.get(skeleton(text))
        if old is None:
            return _Row(text, now, NEVER, NEVER)
        spun = SPINNERS.findall(old.text) != SPINNERS.findall(text)
        return _Row(text, now, now, now if spun else old.spun_at)


class ScreenView:
    """The screen as rules see it: regions by name, as lines or as one flat text, with ages.

    Args:
        layout: the regions.
        motion: the history of the rows.
        asked_since: since when the region `asked` has had its text.
        alternate: the alternate screen is shown.
        cursor: the cursor is visible.
    """

    def __init__(self, layout: Layout, motion: Motion, asked_since: float, *, alternate: bool, cursor: bool) -> None:
        self.layout = layout
        self.alternate = alternate
        self.cursor = cursor
        self._asked_since = asked_since
        self._motion = motion
        self._lines: dict[str, list[str]] = {}
        self._text: dict[str, str] = {}

    @property
    def has_composer(self) -> bool:
        """The agent's input area is on the screen."""
        return self.layout.composer.last > self.layout.composer.first

    def lines(self, region: str) -> list[str]:
        """A region's logical lines, without box sides and outer blanks."""
        if region not in self._lines:
            self._lines[region] = self.layout.region_lines(region)
        return self._lines[region]

    def rows(self, region: str) -> Sequence[str]:
        """A region's rows as they are rendered."""
        first, last = self.layout.region(region)
        return self.layout.rows[first:last]

    def text(self, region: str) -> str:
        """A region's lines as one line, frames left out: what the agent wrapped itself is whole again."""
        if region not in self._text:
            self._text[region] = " ".join(line for line in self.lines(region) if not is_frame(line))
        return self._text[region]

    def moved_at(self, region: str, pattern: re.Pattern[str] | None, *, spun: bool, raw: bool = False) -> float:
        """When the youngest motion was in a row of the region, one that matches where a pattern is given.

        `raw` matches the row as it is rendered, else as `lines` gives it.
        """
        newest = NEVER
        for row in self._motion.rows(self.layout.region(region)):
            at = row.spun_at if spun else row.moved_at
            if at <= newest:
                continue
            if pattern is None or pattern.search(row.text if raw else " ".join(bare(row.text).split())):
                newest = at
        return newest

    def changed_at(self, region: str) -> float:
        """When a row of the region last changed; what the user types into the row changes no `asked`."""
        if region == "asked":
            return self._asked_since
        return max((row.changed_at for row in self._motion.rows(self.layout.region(region))), default=NEVER)


@dataclass(slots=True)
class Stamped:
    """A signal's last value, when it was last set and last became another, and when the one before it had come."""

    text: str = ""
    set_at: float = NEVER
    changed_at: float = NEVER
    before_at: float = NEVER

    def set(self, text: str, now: float) -> bool:
        """Take a new value; tell whether it differs from the last one."""
        self.set_at = now
        if self.text == text:
            return False
        self.text = text
        self.before_at, self.changed_at = self.changed_at, now
        return True


@dataclass(slots=True)
class Evidence:
    """All pieces of evidence. Times are the session's monotonic seconds, `NEVER` where nothing came yet.

    Attributes:
        title: the window title.
        title_moved_at: when the title last changed only in spinner glyphs and counters.
        progress: the name of the OSC 9;4 state (`none`, `normal`, `error`, `indeterminate`, `paused`), or empty.
        status: the deciding OSC 7501 record's state, or empty.
        status_kind, status_text: its kind and its decoded message (content: never leaves the core).
        notification: the last desktop notification's text (content: never leaves the core).
        prompt: the last OSC 133 mark.
        output_at, key_at, submit_at, interrupt_at: when the agent last printed, the user last pressed a key, ...
        command_at: when the user last pressed Enter after a draft that began with a slash.
        held_at: since when a hold rule holds.
        unblocked_at: when a dialog was last seen to be gone.
        rested_at: when the agent was last published as idle; `NEVER` as long as it starts.
        standing: the id of the rule that last spoke for the published state, or empty.
        line_editor: `on` while the agent has bracketed paste (DECSET 2004) on, else `off`; empty when it never had.
        spoke: the id of the rule that last spoke for any state, or empty.
        entered: when the user last pressed Enter after having typed something, and what `spoke` was then.
        flow_since: since when output has come without a pause of `FLOW_GAP`.
        asked: the text of the region `asked`.
        undrafted: what stood left of the cursor when the user began to type, or empty while no draft is being typed.
        screen: the present view, or None where the screen is not looked at.
    """

    title: Stamped = field(default_factory=Stamped)
    title_moved_at: float = NEVER
    progress: Stamped = field(default_factory=Stamped)
    status: str = ""
    status_kind: str = ""
    status_text: str = ""
    status_at: float = NEVER
    notification: Stamped = field(default_factory=Stamped)
    bell_at: float = NEVER
    prompt: Stamped = field(default_factory=Stamped)
    started_at: float = NEVER
    output_at: float = NEVER
    key_at: float = NEVER
    submit_at: float = NEVER
    interrupt_at: float = NEVER
    command_at: float = NEVER
    held_at: float = NEVER
    unblocked_at: float = NEVER
    rested_at: float = NEVER
    standing: str = ""
    line_editor: Stamped = field(default_factory=Stamped)
    spoke: str = ""
    entered: Stamped = field(default_factory=Stamped)
    flow_since: float = NEVER
    asked: Stamped = field(default_factory=Stamped)
    undrafted: str = ""
    screen: ScreenView | None = None
