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

SETTLED_MS = 500


def main() -> None:
    """Show, feed, wait until it has drawn, and tell."""
    rows, columns = int(sys.argv[1]), int(sys.argv[2])
    data = sys.stdin.buffer.read()
    window, terminal = Gtk.Window(), Vte.Terminal()
    terminal.set_size(columns, rows)
    window.add(terminal)
    titles: list[str] = []
    terminal.connect("window-title-changed", lambda *_: titles.append(terminal.get_window_title()))

    def tell() -> None:
        text = terminal.get_text_range(0, 0, rows - 1, columns - 1, None)[0]
        version = [Vte.get_major_version(), Vte.get_minor_version()]
        print(json.dumps({"screen": text.rstrip("\n"), "titles": titles, "version": version}))
        Gtk.main_quit()

    def feed() -> bool:
        terminal.feed(data)
        GLib.timeout_add(SETTLED_MS, tell)
        return False

    window.show_all()
    GLib.timeout_add(SETTLED_MS, feed)
    Gtk.main()


if __name__ == "__main__":
    main()
