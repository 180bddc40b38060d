r"""The table `[answered]` of a profile: what the agent leaves out where its OSC 7501 query is answered.

Grammar, in TOML, all keys optional; a STATE is one that OSC 7501 reports: idle, working, blocked, done, error:

    [answered]
    frame_seconds = 0.96                          # how long each frame of a title stands
    still_between = true                          # inside a multiplexer it writes the title of idle only
    resting = '^\d+ shells? still running$'       # a working report with such a message counts as idle
    bell = ["blocked"]                            # states that ring the bell when they begin
    unfocused_bell = ["blocked", "done"]          # ... only while the terminal has lost the focus

    [answered.titles]                             # per STATE the title, {title} in it; several are frames
    working = ["◐ {title}", "◑ {title}"]

    [answered.unfocused]                          # the same while the terminal has lost the focus
    blocked = ["{title} - Action Required"]

What it is for: see `put_back`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle_detectors.program_status import ProgramState
from lifecycle_detectors.put_back import TITLE, Answered, Titles

if TYPE_CHECKING:
    from .table import Table

STATES = frozenset(state.value for state in ProgramState if state is not ProgramState.CLEAR)


def read_answered(table: Table, titles: Table | None, unfocused: Table | None) -> Answered:
    """Read the table.

    Args:
        table: `[answered]`.
        titles: its table of titles, where it has one.
        unfocused: the same for `unfocused`.

    Raises:
        ProfileError: as `parse_profile`.
    """
    seconds = table.seconds("frame_seconds")
    if seconds == 0:
        raise table.error("frame_seconds", "is 0", "give seconds above 0")
    answered = Answered(
        titles=_titles(titles),
        unfocused=_titles(unfocused),
        frame_seconds=1.0 if seconds is None else seconds,
        still_between=table.take("still_between", bool, False),
        bell=_states(table, "bell"),
        unfocused_bell=_states(table, "unfocused_bell"),
        resting=table.pattern("resting") if table.has("resting") else None,
    )
    table.finish()
    return answered


def _titles(table: Table | None) -> Titles:
    if table is None:
        return {}
    titles: dict[ProgramState, tuple[str, ...]] = {}
    for state in sorted(STATES):
        if table.has(state):
            frames = table.strings(state)
            if not frames or any(frame.count(TITLE) != 1 for frame in frames):
                raise table.error(state, f"has an entry without {TITLE}", f"give titles with one {TITLE} each")
            titles[ProgramState(state)] = frames
    table.finish()
    return titles


def _states(table: Any, key: str) -> frozenset[ProgramState]:
    if not table.has(key):
        return frozenset()
    return frozenset(ProgramState(name) for name in table.names(key, STATES))
