r"""An agent that does what it is told on its command line.

usage: scripted_agent.py STEP ...

    say:TEXT      print TEXT; escapes as in Python (\x1b, \u2713)
    for:TEXT      read the terminal until TEXT was typed or answered, escapes likewise
    echo          print what was read so far, as hexadecimal
    exit:CODE     leave

The terminal is raw: it gets every byte as the outer terminal sent it. Without `exit` it leaves with 0.
"""

from __future__ import annotations

import os
import sys
import tty


def main() -> int:
    """Do the steps in their order."""
    tty.setraw(0)
    read = b""
    for step in sys.argv[1:]:
        verb, _, argument = step.partition(":")
        data = argument.encode("ascii", "backslashreplace").decode("unicode_escape").encode()
        if verb == "say":
            os.write(1, data)
        elif verb == "for":
            while data not in read:
                more = os.read(0, 4096)
                if not more:
                    return 1
                read += more
        elif verb == "echo":
            os.write(1, read.hex().encode())
        elif verb == "exit":
            return int(argument)
    return 0


if __name__ == "__main__":
    sys.exit(main())
