"""The laws of what the wrapper reads: configuration, recordings, the register and its journals, and of what it writes.

As in `laws`: any bytes, and an exception where something is broken.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

import lifecycle_wrap
from lifecycle_detectors import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    ExitStatus,
    Message,
    ProfileChanged,
    ProgressChanged,
    SessionEnded,
    SessionEvent,
    Source,
    State,
    StateChanged,
    TitleChanged,
    TurnCompleted,
    TurnStarted,
    WorkingDirectoryChanged,
)
from lifecycle_wrap.commands import ps, sessions
from lifecycle_wrap.commands.tail import _Journals
from lifecycle_wrap.config import PATIENCE_LIMIT, TIMEOUT_LIMIT, Config, parse_config
from lifecycle_wrap.hosts.broker import parse_topic
from lifecycle_wrap.hosts.records import JOURNAL, RECORD, list_sessions
from lifecycle_wrap.projection import Identity, LifecycleEvent, Projector
from lifecycle_wrap.recordings.recording import RecordingError, open_recording, parse_resize

_SCHEMA = json.loads((Path(lifecycle_wrap.__file__).parent / "event.schema.json").read_text())
_LINE_BYTES = 4 * (4096 + 64 * 4096 + 2048)
"""No event is longer, its strings being bounded in code points."""


@cache
def _validator() -> Any:
    return jsonschema.Draft202012Validator(_SCHEMA)


def check_event(event: LifecycleEvent, last: int) -> int:
    """Hold an event against the schema and the sequence; returns its sequence."""
    line = event.to_json()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert len(line) <= _LINE_BYTES
    fields = json.loads(line)
    _validator().validate(fields)
    assert event.sequence > last
    return event.sequence


def check_line(error: Exception, place: str) -> None:
    """Hold an error against the form of all of ours: one line that begins with the place."""
    assert str(error).startswith(place)
    assert "\n" not in str(error)


class Choices:
    """Draws values from bytes; with none left all of them are the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def left(self) -> bool:
        """Whether there are bytes left."""
        return self._position < len(self._data)

    def byte(self) -> int:
        """Draw a number below 256."""
        taken = self._data[self._position : self._position + 1] or b"\0"
        self._position += 1
        return taken[0]

    def one(self, values: Any) -> Any:
        """Draw one of the values."""
        options = list(values)
        return options[self.byte() % len(options)]

    def text(self) -> str:
        """Draw a text of up to 255 bytes; what is no UTF-8 in it becomes a lone surrogate, as in a path."""
        length = self.byte()
        taken = self._data[self._position : self._position + length]
        self._position += length
        return taken.decode("utf-8", "surrogateescape") * self.one((1, 1, 1, 50))


def json_event(data: bytes) -> None:
    """Whatever the core says, and whatever the session is called, what goes out is schema version 1."""
    choices = Choices(data)
    identity = Identity(
        agent=choices.text(),
        pid=choices.byte(),
        cwd=choices.text(),
        run_id="run",
        launcher=("lifecycle-wrap", "--"),
        resume=tuple(choices.text() + "{session_id}" for _ in range(choices.byte() % 80)),
        session_id=choices.text(),
        profile=choices.text(),
    )
    clock = [1]

    def time_ns() -> int:
        clock[0] += choices.one((0, 1, -5, 10**9, 10**15))
        return max(clock[0], 0)

    projector = Projector(identity, time_ns, titles=bool(choices.byte() % 2))
    last = check_event(projector.started(), 0)
    while choices.left:
        for event in projector.project([_core_event(choices)]):
            last = check_event(event, last)
        if choices.byte() % 8 == 0:
            projector.set_session(choices.text(), ("agent", choices.text()))
    released = projector.released()
    if released is not None:
        check_event(released, last)
    assert projector.released() is None


def _core_event(choices: Choices) -> SessionEvent:
    at, turn = float(choices.byte()), choices.byte()
    match choices.byte() % 11:
        case 0:
            return TurnStarted(at, turn)
        case 1:
            return TurnCompleted(at, turn, bool(choices.byte() % 2))
        case 2:
            return ApprovalRequested(at, turn, choices.one(Message))
        case 3:
            return ApprovalResolved(at, turn)
        case 4:
            return Attention(at, choices.one(Source))
        case 5:
            return TitleChanged(at, choices.text())
        case 6:
            return ProgressChanged(at, choices.one((None, 0, 50, 100)))
        case 7:
            return WorkingDirectoryChanged(at, choices.text())
        case 8:
            return ProfileChanged(at, choices.text())
        case 9 if choices.byte() % 16 == 0:
            return SessionEnded(at, ExitStatus(choices.byte(), None))
        case _:
            return StateChanged(
                at,
                choices.one(State),
                choices.one(State),
                choices.text(),
                choices.one(Source),
                choices.one(Message),
                choices.one(("", "permission", "question", "auth")),
                bool(choices.byte() % 2),
                bool(choices.byte() % 2),
            )


def config_loader(data: bytes) -> None:
    """Any text is a configuration: what is wrong in it has its default, and a line that can be printed."""
    text = data.decode("utf-8", "replace")
    config, problems = parse_config(text, "config.toml")
    assert (config, problems) == parse_config(text, "config.toml")
    for problem in problems:
        assert str(problem).startswith("lifecycle-wrap: config.toml")
        assert "\n" not in str(problem)
    assert isinstance(config, Config)
    assert 0 <= config.notify_blocked_after <= PATIENCE_LIMIT
    for command in config.commands:
        assert command.argv
        assert 0 < command.timeout <= TIMEOUT_LIMIT
    parse_config(text, "config.toml", strict=True)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


def recording(data: bytes) -> None:
    """A recording is read to its end or refused in one line that names the file; times are finite."""
    with _folder() as folder:
        path = folder / ("x.cast.gz" if data[:2] == b"\x1f\x8b" else "x.cast")
        path.write_bytes(data)
        try:
            opened = open_recording(path)
            for event in opened:
                assert 0 <= event.at < float("inf")
                if event.kind == "r":
                    parse_resize(event.text)
            opened.count()
        except RecordingError as error:
            check_line(error, str(path))


def register(data: bytes) -> None:
    """A record in the register is a session or nothing: `ps`, its templates and `wait` take what is read."""
    with _folder() as folder:
        (folder / f"1-a{RECORD}").write_bytes(data)
        (folder / f"2-b{RECORD}").write_bytes(_mixed(data))
        for session in list_sessions(folder):
            sessions.by_state(session)
            sessions.changes_at(session, 0.0)
            json.dumps(ps.as_object(session))
            fields = "".join(f"{{{field}}}" for field in sessions.FIELDS)
            [line] = sessions.fill_in(fields, [session], 0.0)
            printable = ps._table([session], 0.0, {"COLUMNS": "80", "LANG": "C.UTF-8"})
            assert "\x1b" not in printable, "a record's text reached the terminal"
            assert sessions.find([session], str(session.pid)) is session
            assert isinstance(line, str)


_RECORD = {
    "version": 1,
    "agent": "claude",
    "tty": "/dev/pts/1",
    "pane": "tmux %3",
    "focus": ["tmux", "select-pane"],
    "started": "2026-11-30T20:11:51.451901346Z",
    "since": "2026-11-30T20:11:51.451901346Z",
    "attention": 1,
    "attention_at": "",
    "blocked_on": "permission",
    "background": False,
    "failed": False,
    "notices": {"herdr": "x"},
    "event": {"pid": 5, "state": "blocked", "message": "Waiting for approval", "cwd": "/work", "session_id": "s"},
}


def record_text() -> bytes:
    """Return a record as the register writes it."""
    return json.dumps(_RECORD).encode()


def _mixed(data: bytes) -> bytes:
    """A good record in which one field has a value drawn from the bytes."""
    choices = Choices(data)
    text = choices.text().encode("utf-8", "replace").decode()
    values = (text, 0, -1, 10**30, 1e308, None, True, [], [text, 1], {}, {text: text}, {"pid": 5, "state": text})
    record: dict[str, Any] = json.loads(json.dumps(_RECORD))
    for _ in range(1 + choices.byte() % 3):
        table = choices.one((record, record["event"])) if isinstance(record["event"], dict) else record
        if table:
            table[choices.one(table)] = copy.deepcopy(choices.one(values))  # one that was set before may be the table
    return json.dumps(record).encode()


def journal(data: bytes) -> None:
    """Whatever grows in a journal, in whatever pieces: what is told are whole lines of it that are JSON objects."""
    source = random.Random(zlib.crc32(data))
    with _folder() as folder:
        path = folder / f"1-a{JOURNAL}"
        path.touch()
        journals = _Journals(str(folder), "1-a")
        told = list(journals.past())
        position = 0
        while position < len(data):
            length = source.randint(1, 200)
            with path.open("ab") as file:
                file.write(data[position : position + length])
            position += length
            told += journals.new()
        path.unlink()
        told += journals.new()
        for line in told:
            assert line.text in data + b"\n"
            assert isinstance(json.loads(line.text), dict)


def topic(data: bytes) -> None:
    """A topic on a broker is one of ours or none; what is taken of it makes the same topic again."""
    text = data.decode("utf-8", "replace")
    parsed = parse_topic("lifecycle", text)
    if parsed is not None:
        topics, last = parsed
        assert getattr(topics, last) == text
