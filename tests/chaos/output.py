"""What an agent prints in a chaos run: pieces of every kind, drawn at random."""

from __future__ import annotations

import re
from random import Random

from tests.support.byte_agent import pattern
from tests.support.every_mode import EVERY_MODE, MARGINS

_SEQUENCE = rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[^@-~]*[@-~]|\x1b[()][0B]|\x0e|\x1b[=>78]"
MODES = re.findall(_SEQUENCE, EVERY_MODE % b"\x1b[?1049h" + MARGINS + b"\x1b[?25l")
"""Each thing that an agent can set, as `leaving_agent` does it."""
OFF = [mode[:-1] + b"l" for mode in MODES if re.fullmatch(rb"\x1b\[\??[0-9;]+h", mode)]
MOVES = (
    *(
        b"\x1b[H",
        b"\x1b[2J",
        b"\x1b[10;20H",
        b"\x1b[3A",
        b"\x1b7",
        b"\x1b8",
        b"\x1bM",
        b"\x1b[5S",
        b"\r\n\r\n",
        b"\x1b[K",
    ),
    *(b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?2026h", b"\x1b[?2026l", b"\x1b[<1u", b"\x1b[m", b"\x1b[!p", b"\x1b[r"),
)
SAVE_TITLE = b"\x1b[22;0t"
SPINNING = "\x1b]2;⠙ it\x07".encode()
STATES = ("working", "blocked:kind=permission", "blocked:kind=question", "idle", "done", "error", "clear")
CUT = (
    *(b"\x1b]0;half a ti", b"\x1b[38;5", b"\x1b", b"\x1bP+q544e", b"\xe2\x9c"),
    *(b"\x1b]7501;state=wor", b"\x1b[?200", b"\xf0\x9f", b"\x1b_Gf=100;AAAA", b"\x1b]2;busy\x1b"),
)
"""Where an ESC cuts an OSC, libghostty takes it all the same; so there is no half of one that would set something."""
QUERIES = (b"\x1b[c", b"\x1b[6n", b"\x1b[?u", b"\x1b[>q", b"\x1b]11;?\x1b\\", b"\x1b[?2026$p")
WORDS = ("plain", "brisk", "fox", "✳", "⠙", "日本語", "e\u0301", "👩‍👩‍👧", "│", "Allow? [y/n]", "Esc to interrupt")


def text(random: Random) -> bytes:
    """A line of words."""
    return (" ".join(random.choices(WORDS, k=random.randrange(1, 12))) + "\r\n").encode()


def colours(random: Random) -> bytes:
    """Words in colours."""
    return b"".join(b"\x1b[%d;38;5;%dm" % (random.randrange(10), random.randrange(256)) + text(random) for _ in "123")


def modes(random: Random) -> bytes:
    """Some of all that can be set."""
    return b"".join(random.sample(MODES, random.randrange(1, len(MODES))))


def fewer_modes(random: Random) -> bytes:
    """Some taken back."""
    return b"".join(random.choices(OFF, k=4))


def moves(random: Random) -> bytes:
    """The cursor here and there, screens changed."""
    return b"".join(random.choices(MOVES, k=8))


def cut(random: Random) -> bytes:
    """Half a sequence or half a character."""
    return random.choice(CUT)


def states(random: Random) -> bytes:
    """What the agent says of itself."""
    said = [f"\x1b]7501;state={random.choice(STATES)}\x1b\\".encode() for _ in range(random.randrange(1, 8))]
    said += [
        b"\x1b]9;4;%d;%d\x07" % (random.randrange(5), random.randrange(101)),
        b"\x07",
        b"\x1b]2;\xe2\xa0\x99 it\x07",
    ]
    random.shuffle(said)
    return b"".join(said)


def flood(random: Random) -> bytes:
    """A great deal."""
    return pattern(random.choice((65536, 200_000, 400_000)))


def queries(random: Random) -> bytes:
    """Questions to the terminal."""
    return b"".join(random.choices(QUERIES, k=3))


KINDS = {text: 4, colours: 3, modes: 4, fewer_modes: 1, moves: 2, cut: 2, states: 5, flood: 1, queries: 1}
"""How often each comes."""


def draw(random: Random, *, asks: bool) -> bytes:
    """Draw one piece; `asks` allows questions to the terminal."""
    kinds = [kind for kind in KINDS if asks or kind is not queries]
    return random.choices(kinds, [KINDS[kind] for kind in kinds])[0](random)
