"""What fuzzing starts from: the recordings, the probes of terminals, the built-in profiles, files as we write them.

Owns the seeds and the words of each target's grammar. All of it is in the repository, and nothing is random.
"""

from __future__ import annotations

import codecs
import gzip
import json
import random
from functools import cache
from importlib import resources
from pathlib import Path

import lifecycle_detectors.profiles
import lifecycle_wrap.commands
from tests.detectors.chunking import _SNIPPETS
from tests.detectors.compare_screens import read_recording

from . import laws, shell_laws

FIXTURES = Path(__file__).parents[2] / "fixtures"

STREAM_BYTES = 600
"""Of a seed: a session takes about a millisecond for each 300 bytes."""
SEEDS_OF_A_RECORDING = 4


@cache
def casts() -> tuple[Path, ...]:
    """Return the recordings, by name."""
    return tuple(sorted((FIXTURES / "recordings").rglob("*.cast*")))


@cache
def probes() -> tuple[bytes, ...]:
    """Return the streams of the terminal probes."""
    entries = json.loads((FIXTURES / "vt_probes.json").read_text())
    return tuple(codecs.decode(entry["bytes"].encode("latin-1"), "unicode_escape").encode() for entry in entries)


@cache
def streams() -> tuple[bytes, ...]:
    """Return pieces of the recordings' output, with the probes."""
    source = random.Random(1)
    pieces: list[bytes] = []
    for path in casts():
        _, events = read_recording(path)
        output = "".join(text for _, kind, text in events if kind == "o").encode("utf-8", "surrogateescape")
        for _ in range(SEEDS_OF_A_RECORDING):
            start = source.randrange(max(1, len(output) - STREAM_BYTES))
            pieces.append(output[start : start + source.randint(1, STREAM_BYTES)])
    return (*probes(), *pieces)


@cache
def keys() -> tuple[bytes, ...]:
    """Return what was typed in the recordings, with what terminals answered."""
    typed = []
    for path in casts():
        _, events = read_recording(path)
        typed.append("".join(text for _, kind, text in events if kind == "i").encode("utf-8", "surrogateescape")[:2000])
    return tuple(filter(None, typed))


@cache
def stories() -> tuple[bytes, ...]:
    """Return beginnings and middles of recordings as stories: output, keys, resizes, and the time between."""
    source = random.Random(2)
    told = []
    for number, path in enumerate(casts()):
        _, events = read_recording(path)
        for _ in range(2):
            start = source.choice((0, source.randrange(max(1, len(events)))))
            told.append(bytes((number % 8, 24, 80)) + _story(events[start : start + 30]))
    return tuple(told)


def _story(events: list[tuple[float, str, str]]) -> bytes:
    story = bytearray()
    before = events[0][0] if events else 0.0
    for at, kind, text in events:
        longest = [number for number, wait in enumerate(laws.WAITS) if wait <= at - before]
        if longest:
            story += bytes((laws.WAIT, longest[-1]))
        before = at
        data = text.encode("utf-8", "surrogateescape")
        if kind == "o":
            story += data.translate(None, bytes(range(laws.EXPLAIN, 256)))[:STREAM_BYTES]
        elif kind == "i":
            story += bytes((laws.INPUT, len(data[:100]))) + data[:100]
        elif kind == "r":
            story += bytes((laws.RESIZE, len(data)))
        if len(story) > STREAM_BYTES:
            break
    return bytes(story)


@cache
def profiles() -> tuple[bytes, ...]:
    """Return the built-in profiles."""
    folder = resources.files(lifecycle_detectors.profiles)
    return tuple(file.read_bytes() for file in sorted(folder.iterdir(), key=str) if file.name.endswith(".toml"))


@cache
def configurations() -> tuple[bytes, ...]:
    """Return the commented configuration, as it is and with every line in force."""
    template = resources.files(lifecycle_wrap.commands).joinpath("config_template.toml").read_text()
    in_force = "\n".join(line.removeprefix("# ").removeprefix("#") for line in template.splitlines() if " = " in line)
    return template.encode(), in_force.encode(), b"[lifecycle]\nadapters = [1]\n[[lifecycle.commands]]\nname = 1\n"


@cache
def recordings() -> tuple[bytes, ...]:
    """Return beginnings of recordings, version 3 and gzip among them."""
    heads = [gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in casts()[::5]]
    third = (
        b'{"version": 3, "term": {"cols": 80, "rows": 24}}\n[0.1, "o", "a"]\n# x\n[0.2, "r", "9x9"]\n[1, "x", "0"]\n'
    )
    return (*(head[:2000] for head in heads), third, gzip.compress(third))


@cache
def records() -> tuple[bytes, ...]:
    """Return a record of the register, and random draws for `shell_laws._mixed`."""
    return (shell_laws.record_text(), *noise())


@cache
def journals() -> tuple[bytes, ...]:
    """Return lines as they stand in a journal."""
    lines = [path.read_bytes().strip() + b"\n" for path in sorted((FIXTURES / "events").glob("*.json"))]
    return (*lines, b"".join(lines) * 3)


@cache
def topics() -> tuple[bytes, ...]:
    """Return topics of a broker."""
    return b"lifecycle/me@host/1-a/state", b"lifecycle/me@host/1-a/events", b"lifecycle/+/+/state", b"other"


@cache
def noise() -> tuple[bytes, ...]:
    """Return random bytes, for targets that draw their values."""
    source = random.Random(3)
    return tuple(source.randbytes(source.randint(1, 200)) for _ in range(50))


def sequences() -> list[bytes]:
    """Return control sequences, and what cuts and confuses them."""
    return [*_SNIPPETS, b"\x1b[?1049l", b"\x1b[99999999999m", b"\x1b[;;;;m", b"\x1b]9;4;4;100\x1b\\", b"\x1b[?2027h"]


def story_words() -> list[bytes]:
    """Return sequences and the operations of a story."""
    waits = [bytes((laws.WAIT, number)) for number in range(len(laws.WAITS))]
    typed = [bytes((laws.INPUT, len(keys))) + keys for keys in (b"\r", b"\x03", b"\x1b", b"y", b"/model\r", b"\x1b[I")]
    others = [bytes((code, n)) for code in (laws.RESIZE, laws.PROCESS, laws.EXPLAIN) for n in (0, 3, 40, 200)]
    return [*sequences(), *waits, *waits, *typed, *others, bytes((laws.EXIT, 0))]


def profile_words() -> list[bytes]:
    """Return words of profiles."""
    odd = [b"a." * 300, b"'a'." * 300, b"'(a+)+$'", b"'.*.*.*='", b"'('", b"= -1", b"= 1e309", b"[[rule]]", b"nan"]
    return [*_words(b"\n".join(profiles())), *odd]


def configuration_words() -> list[bytes]:
    """Return words of a configuration."""
    odd = [b"a." * 300, b"'a'." * 300, b"= -1", b"inf", b"nan", b"[[[", b'"\\u0000"', b"1979-05-27"]
    return [*_words(b"\n".join(configurations())), *odd]


def record_words() -> list[bytes]:
    """Return pieces of JSON."""
    return [*_words(shell_laws.record_text()), b"null", b"1e999", b"NaN", b'"\\ud800"', b"[" * 50, b"\n", b"\\u001b"]


def recording_words() -> list[bytes]:
    """Return pieces of recordings."""
    return [*record_words(), b'[1, "o", "x"]', b'"r", "80x24"', b"1e400", b"-0", b"\xe2\x80\xa8"]


def no_words() -> list[bytes]:
    """Return nothing."""
    return []


def _words(text: bytes) -> list[bytes]:
    return sorted({word for word in text.split() if len(word) < 60})
