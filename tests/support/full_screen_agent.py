"""An agent that draws a screen of its own, as editors and coding agents do, and stops itself on Ctrl-Z.

It is in raw mode on the alternate screen, so that Ctrl-Z reaches it as a key: it then leaves both, sends SIGTSTP to its
process group, and draws anew when it is continued. It draws on SIGWINCH too. Every drawing is `drawn N ROWSxCOLUMNS`, N
counted. `s` makes it stop itself by SIGSTOP, `q` leaves.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import tty


class Screen:
    """The terminal's modes and what is drawn."""

    def __init__(self) -> None:
        self._found = termios.tcgetattr(0)
        self._count = 0

    def enter(self) -> None:
        """Take the screen and draw."""
        tty.setraw(0)
        os.write(1, b"\x1b[?1049h")
        self.draw()

    def draw(self, *_: object) -> None:
        """Draw anew."""
        self._count += 1
        columns, rows = os.get_terminal_size(0)
        os.write(1, f"\x1b[Hdrawn {self._count} {rows}x{columns}".encode())

    def leave(self) -> None:
        """Give the screen back."""
        os.write(1, b"\x1b[?1049lleft\r\n")
        termios.tcsetattr(0, termios.TCSADRAIN, self._found)


def main() -> int:
    """Draw until `q`."""
    screen = Screen()
    screen.enter()
    signal.signal(signal.SIGWINCH, screen.draw)
    while True:
        key = os.read(0, 1)
        if key == b"\x1a":
            screen.leave()
            os.kill(0, signal.SIGTSTP)
            screen.enter()
        elif key == b"s":
            screen.leave()
            os.kill(os.getpid(), signal.SIGSTOP)
            screen.enter()
        elif key in (b"q", b""):
            screen.leave()
            return 0


if __name__ == "__main__":
    sys.exit(main())
