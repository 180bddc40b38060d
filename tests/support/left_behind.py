"""What a program has left behind in a terminal, next to what was there before."""

from __future__ import annotations

import re

from tests.support.real_terminal import RealTerminal

State = dict[str, object]


def left_behind(terminal: RealTerminal, *, title: bool = True) -> tuple[State, State]:
    """Return the terminal's state now and before, without what is drawn and where the cursor stands.

    Args:
        terminal: where the program has ended, or is stopped.
        title: it could know the title to put back.
    """
    after, before = terminal.state(), dict(terminal.before)
    for state in (before, after):
        state["cursor"] = None
        state["title"] = state["title"] if title else None
        state["dump"] = _without_text(str(state["dump"]))
    return after, before


def _without_text(dump: str) -> str:
    """Drop what is drawn: text stands between the last tab stop and the cursor's place."""
    return re.sub(r"\x1b\[H.*?\x1b\[\d+;\d+H", "", dump, flags=re.DOTALL)
