"""One scenario of the lab, in a terminal of choice, in which an agent also rings: it asks for permission and goes on.

usage, in the lab's folder `agents`: ringing_scenario.py AGENT TERMINAL
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.getcwd())

BELLS = {
    "claude": {"preferredNotifChannel": "terminal_bell"},
    "codex": '[tui]\nnotifications = true\nnotification_condition = "always"\nnotification_method = "bel"\n',
}
"""Each agent's own setting, in the HOME of its own that the lab makes."""
FOCUS_LOST = "\x1b[O"


def main() -> int:
    """Run it; the recording goes where the lab puts it. The status says whether the agent came through it."""
    agent, terminal = sys.argv[1:]
    if agent == "vibe":
        return _vibe(terminal)
    lab = __import__(agent)
    name = f"approve-bash.{terminal}"
    return bool(lab.run({name: lambda: lab.approve_bash(name, term=terminal, config=BELLS[agent])}, []))


def _vibe(terminal: str) -> int:
    """Vibe rings only while the terminal has lost the focus; and its scenario is written for one terminal."""
    import vibe_ghostty14 as lab

    start, boot = lab.L.start, lab.boot

    def boot_unfocused(*arguments: str) -> object:
        session = boot(*arguments)
        session.key(FOCUS_LOST)
        return session

    lab.L.start = lambda *arguments, term, **rest: start(*arguments, term=terminal, **rest)
    lab.boot = boot_unfocused
    try:
        lab.approve14()
    finally:
        for session in lab.L.sessions:
            if not session.f.closed:
                session.close(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
