"""Reads a terminal's output from stdin into VTE (GNOME Terminal's widget) and prints what it made of it, as JSON.

usage: /usr/bin/python3 vte_reader.py ROWS COLUMNS < BYTES

Needs a display, and Debian's python3-gi and gir1.2-vte-2.91.
"""

import json
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Vte", "2.91")
from gi.repository import GLib, Gtk, Vte  # noqa: E402

QUESTION, ANSWER = b"\x1b[5n", "\x1b[0n"
"""A status report: VTE answers it when it has read all that stands before."""


def main() -> None:
    """Show, feed, wait for the answer to a question behind the last byte, and tell."""
    rows, columns = int(sys.argv[1]), int(sys.argv[2])
    data = sys.stdin.buffer.read()
    window, terminal = Gtk.Window(), Vte.Terminal()
    terminal.set_size(columns, rows)
    window.add(terminal)

    def tell() -> None:
        text = terminal.get_text_range(0, 0, rows - 1, columns - 1, None)[0]
        version = [Vte.get_major_version(), Vte.get_minor_version()]
        print(json.dumps({"screen": text.rstrip("\n"), "title": terminal.get_window_title(), "version": version}))
        Gtk.main_quit()

    def answered(_: object, text: str, length: int) -> None:
        if text[:length].endswith(ANSWER):
            GLib.idle_add(tell)

    terminal.connect("commit", answered)
    terminal.connect_after("map", lambda _: terminal.feed(data + QUESTION))
    window.show_all()
    Gtk.main()


if __name__ == "__main__":
    main()
