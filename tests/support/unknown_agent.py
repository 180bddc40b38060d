"""An agent that no profile knows, as the README's tutorial takes one: it only draws.

A composer, a row that begins with > between two rules, below it nothing; above it a status row with a spinner while it
works; a permission dialog in the place of the composer.
"""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty

RULE = "─" * 40
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def draw(*rows: str) -> None:
    sys.stdout.write("\x1b[?25l\x1b[H\x1b[J" + "\r\n".join(rows) + "\x1b[?25h")
    sys.stdout.flush()


def key_within(seconds: float) -> str:
    return os.read(0, 1).decode() if select.select([0], [], [], seconds)[0] else ""


def line(said: str) -> str:
    typed = ""
    while True:
        draw(said, "", RULE, f"> {typed}", RULE)
        key = key_within(60)
        if key in ("\r", ""):
            return typed
        typed += key


def work(said: str, seconds: float) -> None:
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < seconds:
        glyph = SPINNER[int(elapsed * 10) % len(SPINNER)]
        draw(said, "", f"{glyph} Thinking hard", "", RULE, "> ", RULE)
        key_within(0.1)


def main() -> None:
    line("my-agent 1.0")
    work("I shall look", 1.5)
    draw("I shall look", "", "May I run make?", "", "> 1. Yes", "  2. No")
    key_within(60)
    work("Running make", 1.5)
    if line("All done"):
        return


if __name__ == "__main__":
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        main()
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
