"""Who opened the terminal we run in: the parent of our session's leader.

A terminal server that opens its panes itself is the parent of each pane's first process, and that process leads the
session of all that runs there. An inherited environment can name another pane; ancestry cannot. Asked by a host's
`owns_pane`, off the pump's thread; a Unix system may refuse to tell.
"""

from __future__ import annotations

import os


def opener() -> tuple[int, str] | None:
    """Return process number and name of whatever opened our terminal, or None where the system does not tell."""
    import psutil

    try:
        parent = psutil.Process(os.getsid(0)).parent()
        return None if parent is None else (parent.pid, parent.name())
    except psutil.Error:
        return None
