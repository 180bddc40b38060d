"""What a program can leave behind in a terminal: each thing, and all of it at once."""

from __future__ import annotations

ST = b"\x1b\\"

EVERY_MODE = (
    b"\x1b[22;0t\x1b]0;\xe2\xa0\x8b busy\x07\x1b]2;busy\x07"  # title stack and title
    b"\x1b[>1u\x1b[=3;1u"  # kitty's keyboard flags of the main screen
    b"\x1b[33m\x1b(0\x1b[4 q"
    b"%s"  # the alternate screen, or not
    b"\x1b[>5u\x1b[>7u\x1b[=2;2u\x1b[>4;2m\x1b[>1;1m"
    b"\x1b[?1h\x1b=\x1b[4h\x1b[20h\x1b[?5h\x1b[?7l"
    b"\x1b[?1000;1002;1003h\x1b[?1006;1016h\x1b[?1004h\x1b[?2004h\x1b[?2031h\x1b[?2048h\x1b[?1007l\x1b[?12h"
    b'\x1b)0\x0e\x1b[1;4:3;38;5;1;48:2::1:2:3m\x1b[5 q\x1b[1"q\x1b]8;;http://example.invalid\x1b\\'
    b"\x1b]4;1;#010203\x07\x1b]4;200;#040506\x07\x1b]10;#aabbcc\x07\x1b]11;#112233\x07\x1b]12;#445566\x07\x1b]22;wait\x07"
    b"\x1b]9;4;3;0\x1b\\"
)
MARGINS = b"\x1b[3;10r\x1b[?6h\x1b[?69h\x1b[5;60s"
CURSOR_HIDDEN = b"\x1b[?25l"


def every_mode(alternate: bool) -> bytes:
    """Return bytes that set all of it, on the alternate screen or on the main one."""
    return EVERY_MODE % (b"\x1b[?1049h" if alternate else b"")
