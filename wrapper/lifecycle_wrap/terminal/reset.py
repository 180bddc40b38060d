"""The reset of last resort: bytes and terminal attributes that make any terminal usable again.

For when nobody knows what an agent has left behind: our own observation has failed, or SIGKILL has ended us and the
user runs `lifecycle-wrap reset`. It asks nothing and, unlike reset(1) and RIS, clears nothing that is on the screen.
"""

from __future__ import annotations

import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_STRING_END = "\x1b\\"
_OFF = (1, 5, 9, 66, 69, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031, 2048, 5522, 9001)
"""Private modes that are off in a terminal nobody has changed, and that programs leave on."""
_NO_KEYBOARD_FLAGS = "\x1b[<99u\x1b[=0;1u"

RESET = "".join(
    (
        "\x18" + _STRING_END,  # whatever sequence was cut
        "".join(f"\x1b[?{mode}l" for mode in _OFF),
        "\x1b[>4m\x1b>\x1b[4;20l",
        _NO_KEYBOARD_FLAGS,
        # Leaving the alternate screen restores the cursor, also where it was left before: to where it was just saved.
        "\x1b7\x1b[?1049l\x1b[?47l",
        _NO_KEYBOARD_FLAGS,
        '\x1b[m\x1b(B\x1b)B\x0f\x1b[0 q\x1b[0"q',
        "\x1b7\x1b[r\x1b8\x1b[?7h\x1b[?25h",
        f"\x1b]8;;{_STRING_END}",
        "".join(f"\x1b]{number}{_STRING_END}" for number in (104, 105, *range(110, 120))),
        # Origin mode cannot be taken back where the cursor is. A new line at the bottom is below whatever was drawn.
        "\x1b[?6l\x1b[999B\r\n",
    )
).encode()


def reset_bytes(environ: Mapping[str, str]) -> bytes:
    """Return `RESET` with what the terminal that the environment shows needs besides."""
    from .terminals import identify

    terminal = identify(environ)
    modes = "".join(f"\x1b[?{mode}{'h' if on else 'l'}" for mode, on in terminal.start.modes.items()).encode()
    pointer = b"\x1b]22;" + terminal.start.pointer + terminal.terminator
    progress = b"\x1b]9;4;0;0" + terminal.terminator if terminal.draws_progress else b""
    return RESET + modes + pointer + progress


def sane_attributes(attributes: list[object]) -> list[object]:
    """Return the attributes that a shell starts a program with, as `stty sane` sets them, made from tcgetattr's."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, characters = attributes
    assert isinstance(iflag, int)
    assert isinstance(oflag, int)
    assert isinstance(cflag, int)
    assert isinstance(lflag, int)
    iflag &= ~(termios.IGNBRK | termios.INLCR | termios.IGNCR | termios.ISTRIP | termios.IXOFF)
    iflag |= termios.ICRNL | termios.IXON
    oflag |= termios.OPOST | termios.ONLCR
    lflag |= termios.ISIG | termios.ICANON | termios.IEXTEN
    lflag |= termios.ECHO | termios.ECHOE | termios.ECHOK | termios.ECHOCTL | termios.ECHOKE
    lflag &= ~(termios.ECHONL | termios.NOFLSH | termios.TOSTOP)
    return [iflag, oflag, cflag | termios.CREAD, lflag, ispeed, ospeed, characters]


def reset_terminal(fd: int, environ: Mapping[str, str]) -> None:
    """Repair the terminal on `fd`.

    Raises:
        OSError: it is no terminal, or gone.
    """
    try:
        attributes = sane_attributes(list(termios.tcgetattr(fd)))
        termios.tcsetattr(fd, termios.TCSANOW, attributes)  # type: ignore[arg-type]
    except termios.error as error:
        raise OSError(*error.args) from None
    os.write(fd, reset_bytes(environ))
