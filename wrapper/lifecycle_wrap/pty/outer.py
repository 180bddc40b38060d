"""The outer terminal: the one the user sits at.

Owns its modes and our two descriptors of it. It must be left as it was found on every way out: `restore` is called
on each of ours, and the monitor does it when we are killed.
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    # Terminal modes as `termios.tcgetattr` gives them: four words of flags, two speeds, the control characters.
    Modes: TypeAlias = list[Any]

# Eight bytes, `struct winsize`: rows, columns and the size in pixels.
NO_SIZE = bytes(8)
USUAL_SIZE = (24, 80)
BYTE_ORDER = sys.byteorder

RAW_INPUT_OFF = (
    termios.IGNBRK
    | termios.BRKINT
    | termios.PARMRK
    | termios.ISTRIP
    | termios.INLCR
    | termios.IGNCR
    | termios.ICRNL
    | termios.IXON
)
COOKED_LOCAL = termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
CONTROLLING = "/dev/tty"


def raw_modes(modes: Modes) -> Modes:
    """The modes in which every byte passes as it is (cfmakeraw(3)), made from `modes`."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, characters = modes
    characters = list(characters)
    characters[termios.VMIN] = 1
    characters[termios.VTIME] = 0
    return [
        iflag & ~RAW_INPUT_OFF,
        oflag & ~termios.OPOST,
        cflag & ~(termios.CSIZE | termios.PARENB) | termios.CS8,
        lflag & ~COOKED_LOCAL & ~termios.ECHONL,
        ispeed,
        ospeed,
        characters,
    ]


def cooked_modes(modes: Modes) -> Modes:
    """The modes a program is started with, made from `modes`, which may be those of a shell's line editor."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, characters = modes
    return [
        iflag & ~(termios.INLCR | termios.IGNCR) | termios.ICRNL,
        oflag | termios.OPOST | termios.ONLCR,
        cflag,
        lflag | COOKED_LOCAL,
        ispeed,
        ospeed,
        characters,
    ]


class Outer:
    """The terminal on our standard input and output.

    Both are opened anew where the system lets us, so that they can be non-blocking: the descriptors we inherited share
    their flags with the user's shell and with every other program on the terminal.

    Attributes:
        input: descriptor to read what the user types from.
        output: descriptor to write to.
        found: the modes as they were before we changed them.
        raw: whether the terminal is in the modes that we set.
    """

    def __init__(self, environ: Mapping[str, str], stdin: int = 0, stdout: int = 1) -> None:
        self._environ = environ
        self.input = _open_again(stdin)
        self.output = _open_again(stdout)
        self.found: Modes = termios.tcgetattr(self.input)
        self.raw = False

    def winsize(self) -> bytes:
        """The size as `struct winsize`; never 0 rows or columns, by which full-screen programs draw nothing."""
        try:
            packed = fcntl.ioctl(self.output, termios.TIOCGWINSZ, NO_SIZE)
        except OSError:
            packed = NO_SIZE
        rows, columns = unpack_size(packed)
        if rows and columns:
            return packed
        usual = (
            size or _number(self._environ.get(name, "")) or fallback
            for size, name, fallback in zip((rows, columns), ("LINES", "COLUMNS"), USUAL_SIZE, strict=True)
        )
        return b"".join(size.to_bytes(2, BYTE_ORDER) for size in usual) + packed[4:]

    def foreground(self) -> bool:
        """Whether we may use the terminal: our group is its foreground group, or it knows no job control for us."""
        try:
            return os.tcgetpgrp(self.input) == os.getpgrp()
        except OSError:
            return True

    def alive(self) -> bool:
        """Whether the terminal still answers: a hung-up one does not."""
        try:
            termios.tcgetattr(self.input)
        except termios.error:
            return False
        return True

    def enter_raw(self) -> None:
        """Set the modes in which every byte passes as it is, keeping those found to go back to."""
        try:
            modes = termios.tcgetattr(self.input)
            raw = raw_modes(modes)
            if modes[:4] != raw[:4]:
                self.found = modes
            termios.tcsetattr(self.input, termios.TCSANOW, raw)
            self.raw = True
        except termios.error:
            return  # hung up: the next read tells

    def restore(self) -> None:
        """Put the modes found back, unless the terminal is a shell's again or gone."""
        if not self.raw:
            return
        self.raw = False
        if self.foreground():
            try:
                termios.tcsetattr(self.input, termios.TCSANOW, self.found)
            except termios.error:
                return


def unpack_size(packed: bytes) -> tuple[int, int]:
    """Rows and columns of a `struct winsize`."""
    return int.from_bytes(packed[0:2], BYTE_ORDER), int.from_bytes(packed[2:4], BYTE_ORDER)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _open_again(fd: int) -> int:
    """A descriptor with flags of its own for the terminal on `fd`, non-blocking; `fd` itself where that is refused."""
    for path in _names(fd):
        try:
            again = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            continue
        if path == CONTROLLING or os.fstat(again).st_rdev == os.fstat(fd).st_rdev:
            return again
        os.close(again)
    return fd


def _names(fd: int) -> list[str]:
    """Paths that open the terminal on `fd`, best first."""
    names = []
    try:
        names.append(os.ttyname(fd))
    except OSError:  # a terminal of another mount namespace has no name here
        names.clear()
    try:
        os.tcgetpgrp(fd)
    except OSError:  # answered for our controlling terminal only
        return names
    # Opens also where the terminal belongs to another user (su).
    return [*names, CONTROLLING]
