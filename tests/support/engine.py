"""libghostty-vt as the outer terminal of a test: it reads bytes, and tells all that they have left behind."""

from __future__ import annotations

import re
from typing import Any

from pyghostty._ffi import ffi, lib
from pyghostty.core import Terminal, init_sized, read_buf

ALTERNATE = 1


class Engine:
    """A terminal.

    Attributes:
        replies: what it has answered, in order.
        progress: each OSC 9;4 that it took: (state, percent or None).
        bells: how often it rang.
        unknown: OSC and APC sequences that it does not know.
    """

    def __init__(self, rows: int = 30, columns: int = 100) -> None:
        self.terminal = Terminal(columns, rows, scrollback=1000)
        self.replies: list[bytes] = []
        self.progress: list[tuple[int, int | None]] = []
        self.bells = 0
        self.unknown: list[bytes] = []
        self.terminal.on_reply(self.replies.append)
        self.terminal.on_unknown_sequence(lambda sequence: self.unknown.append(sequence.content))
        self._keep = [
            ffi.callback("GhosttyTerminalBellFn", self._rang),
            ffi.callback("GhosttyTerminalProgressReportFn", self._progressed),
        ]
        for option, function in zip(("BELL", "PROGRESS_REPORT"), self._keep, strict=True):
            lib.ghostty_terminal_set(self.terminal._t[0], getattr(lib, f"GHOSTTY_TERMINAL_OPT_{option}"), function)

    def feed(self, data: bytes) -> None:
        """Read."""
        self.terminal.feed(data)

    def ask(self, query: bytes) -> bytes:
        """Return what it answers to a query."""
        before = len(self.replies)
        self.terminal.feed(query)
        answer = b"".join(self.replies[before:])
        del self.replies[before:]
        return answer

    def on_alternate(self) -> bool:
        """Tell whether the alternate screen is shown."""
        return bool(self.terminal.get("active_screen", "GhosttyTerminalScreen") == ALTERNATE)

    def title(self) -> str:
        """Return the window's title."""
        text = self.terminal.get("title", "GhosttyString")
        return bytes(ffi.buffer(text.ptr, text.len)).decode() if text.len else ""

    def keyboard(self) -> bytes:
        """Return kitty's keyboard flags on the screen that is shown, as told to a program."""
        return self.ask(b"\x1b[?u")

    def text(self) -> str:
        """Return the screen's text."""
        return str(self.terminal.text())

    def state(self) -> dict[str, Any]:
        """Return everything that a program can leave behind, to be compared.

        The dump is libghostty-vt's own, as the bytes that bring a terminal there: modes, margins, tab stops, keyboard,
        cursor, pen, hyperlink, protection, character sets (ASCII that was asked for is the same as ASCII that was not).
        """
        return {
            "dump": re.sub(r"\x1b[()*+]B", "", self._dump()),
            "cursor": self.terminal.cursor,
            "alternate": self.on_alternate(),
            "keyboard": self.keyboard(),
            "shape": self.ask(b"\x1bP$q q\x1b\\"),
            "colours": self.ask(b"\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\\x1b]4;1;?\x1b\\\x1b]4;200;?\x1b\\"),
            "pointer": int(self.terminal.get("mouse_shape", "int")),
        }

    def _dump(self) -> str:
        options = init_sized("GhosttyFormatterTerminalOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
        options.trim = True
        extra = options.extra
        for name in ("modes", "scrolling_region", "tabstops", "keyboard"):
            setattr(extra, name, True)
        for name in ("cursor", "style", "hyperlink", "protection", "kitty_keyboard", "charsets"):
            setattr(extra.screen, name, True)
        formatter = ffi.new("GhosttyFormatter*")
        assert lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, self.terminal._t[0], options[0]) == 0
        try:
            return str(read_buf(lambda *buffer: lib.ghostty_formatter_format_buf(formatter[0], *buffer)))
        finally:
            lib.ghostty_formatter_free(formatter[0])

    def _rang(self, *_: object) -> None:
        self.bells += 1

    def _progressed(self, *arguments: Any) -> None:
        report = arguments[-1]
        self.progress.append((int(report.state), int(report.progress) if report.progress >= 0 else None))
