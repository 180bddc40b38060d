r"""An agent that sets every mode there is, draws a screen, and ends without putting anything back.

usage: leaving_agent.py SCREEN END

    SCREEN   alternate, main, or margins (the main one with margins and origin mode)
    END      exit:CODE, signal:NUMBER (it signals itself in the middle of a sequence), wait (for the test to end it), or
             stop:STATE (it tells that state, stops by SIGSTOP at a key, and then waits)

It says `ready` when all is set.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tty

from tests.support.every_mode import CURSOR_HIDDEN, MARGINS, every_mode


def main() -> int:
    """Leave it all behind."""
    screen, end = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tty.setraw(0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    os.write(1, b"row one\r\nrow two\r\n" + every_mode(screen == "alternate") + CURSOR_HIDDEN + b"\x1b(B\x0f")
    if screen == "alternate":
        os.write(1, MARGINS + b"\x1b[Hdrawn here\r\n")
    else:
        os.write(1, b"drawn here\r\n\r\nlast row\x1b[2A\r" + (MARGINS if screen == "margins" else b""))
    verb, _, argument = end.partition(":")
    if verb == "stop":
        os.write(1, b"\x1b]7501;state=%s\x1b\\\x1b]2;ready\x07" % argument.encode())
        os.read(0, 1)
    os.write(1, b"\x1b[?2026h\x1b)0\x0e\x1b]2;ready\x07")
    if verb == "exit":
        return int(argument)
    if verb == "signal":
        os.write(1, b"\x1b]0;half a ti")
        os.kill(os.getpid(), int(argument))
    if verb == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
        os.write(1, b"\x1b[?2026l\x1b]2;again\x07")
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
