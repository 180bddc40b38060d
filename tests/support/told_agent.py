"""An agent that does what it is told over a FIFO, and tells its state by OSC 7501.

usage: python told_agent.py FIFO

A line of the FIFO is `state STATE[:key=value...]`, `title TEXT`, `text TEXT`, `bell`, `exit CODE` or `signal NUMBER`.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Obey until `exit`, or until nobody can give orders any more."""
    say("ready\r\n")
    with open(sys.argv[1]) as orders:
        for line in orders:
            order, _, rest = line.rstrip("\n").partition(" ")
            if order == "state":
                say(f"\x1b]7501;state={rest}\x1b\\")
            elif order == "title":
                say(f"\x1b]2;{rest}\x1b\\")
            elif order == "text":
                say(f"{rest}\r\n")
            elif order == "bell":
                say("\x07")
            elif order == "exit":
                return int(rest)
            elif order == "signal":
                signal.signal(int(rest), signal.SIG_DFL) if int(rest) != signal.SIGKILL else None
                os.kill(os.getpid(), int(rest))
    return 0


def say(text: str) -> None:
    """Write text out at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
