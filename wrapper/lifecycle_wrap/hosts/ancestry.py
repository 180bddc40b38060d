"""Who opened the terminal we run in: the parent of our session's leader; and whether an observed agent has started us.

A terminal server that opens its panes itself is the parent of each pane's first process, and that process leads the
session of all that runs there. An inherited environment can name another pane; ancestry cannot. Asked by a host's
`owns_pane`, off the pump's thread; a Unix system may refuse to tell.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from lifecycle_wrap.environment import living_session


def opener() -> tuple[int, str] | None:
    """Return process number and name of whatever opened our terminal, or None where the system does not tell."""
    import psutil

    try:
        parent = psutil.Process(os.getsid(0)).parent()
        return None if parent is None else (parent.pid, parent.name())
    except psutil.Error:
        return None


def started_by_agent(environ: Mapping[str, str]) -> bool:
    """Tell whether a wrapped session that still lives has started us, though on another terminal: a tool of its agent.

    A terminal server is no descendant of the session that its environment may name: it has cut itself loose.
    """
    session = living_session(environ)
    if session is None:
        return False
    import psutil

    try:
        return any(process.pid == session for process in psutil.Process().parents())
    except psutil.Error:
        return True  # the mark is there, and nothing says otherwise
