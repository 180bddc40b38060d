"""An agent that moves bytes, in raw mode.

usage: byte_agent.py take SIZE [PAUSE]    read SIZE bytes, pausing PAUSE seconds after each read; print their SHA-256
       byte_agent.py give SIZE            print the known pattern of SIZE bytes, then wait for a key
       byte_agent.py flood                print until a key comes, then `<key KEY>`, and go on; `q` ends it
       byte_agent.py echo                 print what is read; `q` ends it
"""

from __future__ import annotations

import hashlib
import os
import select
import sys
import time
import tty

LINE = b"\x1b[32m%08d\x1b[0m the brisk brown fox \xe2\x9c\xb3 jumps over the lazy dog\r\n"


def pattern(size: int) -> bytes:
    """Return what `give` prints: whole lines, `size` bytes at most."""
    return b"".join(LINE % number for number in range(size // len(LINE % 0)))


def write(data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def take(size: int, pause: float) -> None:
    """Read slowly."""
    digest = hashlib.sha256()
    while size:
        data = os.read(0, min(size, 65536))
        digest.update(data)
        size -= len(data)
        time.sleep(pause)
    write(f"<sha {digest.hexdigest()}>".encode())


def flood() -> None:
    """Print without an end, but look at the keyboard after each block."""
    block = pattern(16384)
    while True:
        write(block)
        if select.select([0], [], [], 0)[0]:
            key = os.read(0, 1)
            write(b"<key %s>" % key)
            if key == b"q":
                return


def main() -> int:
    """Do one of them."""
    tty.setraw(0)
    write(b"<ready>")
    if sys.argv[1] == "take":
        take(int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    elif sys.argv[1] == "give":
        write(pattern(int(sys.argv[2])))
        os.read(0, 1)
    elif sys.argv[1] == "flood":
        flood()
    elif sys.argv[1] == "echo":
        while (data := os.read(0, 65536)) not in (b"", b"q"):
            write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
