"""The laws of each reader of bytes, as functions that take any bytes and raise where one is broken.

Owns what must hold; where the bytes come from is for `corpus`, `mutation` and the engines. Deterministic: the cuts of a
chunking law are drawn from the bytes themselves. The laws of what the wrapper reads are in `shell_laws`.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lifecycle_detectors import (
    ApprovalRequested,
    ApprovalResolved,
    Catalog,
    ExitStatus,
    ForegroundProcess,
    Profile,
    ProfileError,
    Session,
    SessionEnded,
    SessionEvent,
    Size,
    State,
    StateChanged,
    TurnCompleted,
    TurnStarted,
    make_screen,
)
from lifecycle_detectors.keyboard import MAX_REPORT, Key, Keyboard, Report
from lifecycle_detectors.osc import OscReader
from lifecycle_detectors.osc_filter import MAX_HELD, OscFilter
from lifecycle_detectors.parser import MAX_STRING, Control, Osc, Parser, Print, Token
from lifecycle_detectors.profiles import load_builtin, parse_profile
from lifecycle_detectors.screen import Screen
from lifecycle_wrap.projection import Identity, Kind, Projector
from tests.detectors.chunking import random_cuts

from .shell_laws import check_event, check_line

Merged = list[Any]


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """Byte by byte where that is cheap, and at places drawn from the bytes."""
    source = random.Random(zlib.crc32(data))
    if len(data) <= 100:
        yield [data[index : index + 1] for index in range(len(data))]
    yield random_cuts(data, source)


def parser(data: bytes) -> None:
    """Any chunking gives the same tokens, with text or without; what is held has a bound."""
    for text in (True, False):
        whole = _tokens(Parser(text=text), [data])
        for pieces in cuts(data):
            assert _tokens(Parser(text=text), pieces) == whole, pieces
    signals = [token for token in _tokens(Parser(), [data]) if isinstance(token, Osc)]
    reader = OscReader()
    told = [reader.read(osc) for osc in signals]
    reader = OscReader()
    assert [reader.read(osc) for osc in signals] == told
    assert [token for token in whole if isinstance(token, Osc)] == signals


def _tokens(reader: Parser, pieces: list[bytes]) -> Merged:
    tokens = _joined(token for piece in pieces for token in reader.feed(piece))
    assert len(reader._payload) <= MAX_STRING + 1
    assert len(reader._unfinished) <= 3
    # CAN ends whatever is unfinished: after it the parser stands at ground, whatever came before.
    reader.feed(b"\x18")
    assert reader.at_ground
    return tokens


def _joined(read: Iterable[Token]) -> Merged:
    """Tokens, text that was cut made whole."""
    tokens: Merged = []
    for token in read:
        if isinstance(token, Print) and tokens and isinstance(tokens[-1], Print):
            tokens[-1] = Print(tokens[-1].text + token.text)
        else:
            tokens.append(token)
    return tokens


def screen(data: bytes) -> None:
    """The model takes anything in sizes from 1 x 1 on, answers every question, and any chunking leaves the same."""
    rows, columns, stream = 1 + data[0] % 12 if data else 1, 1 + data[1] % 40 if data[1:] else 1, data[2:]
    whole = make_screen(Size(rows, columns), "pyte")
    before = whole.generation
    whole.feed(stream)
    assert whole.generation >= before
    shown = ask(whole)
    for pieces in cuts(stream):
        other = make_screen(Size(rows, columns), "pyte")
        for piece in pieces:
            other.feed(piece)
        assert ask(other) == shown, pieces
    for size in (Size(1, 1), Size(rows + 3, columns + 5), Size(rows, columns)):
        whole.resize(size)
        ask(whole)


def ask(model: Screen) -> tuple[Any, ...]:
    """Ask a screen everything, and return what it says."""
    rows, lines, cursor = list(model.rows()), list(model.lines()), model.cursor
    assert len(rows) == len(model.row_changed()) == model.size.rows
    assert [row for line in lines for row in range(line.first_row, line.last_row + 1)] == list(range(len(rows)))
    assert 0 <= cursor.row < model.size.rows
    assert 0 <= cursor.column < model.size.columns
    runs = [model.runs(row) for row in range(model.size.rows)]
    return rows, lines, cursor, model.alternate, model.flows, runs


def keyboard(data: bytes) -> None:
    """Any chunking gives the same presses; a report is bounded; what is held is flushed at once."""
    whole = _presses([data])
    for pieces in cuts(data):
        assert _presses(pieces) == whole, pieces


def _presses(pieces: list[bytes]) -> Merged:
    reader = Keyboard()
    presses: Merged = []
    for piece in pieces:
        for press in reader.feed(piece):
            if isinstance(press, Report):
                assert len(press.data) <= MAX_REPORT + 2
            if isinstance(press, Key) and presses and isinstance(presses[-1], Key):
                presses[-1] = Key(presses[-1].data + press.data)
            else:
                presses.append(press)
        assert len(reader._held) <= 512
    pending = reader.pending
    assert bool(reader.flush()) is pending
    assert not reader.pending
    return presses


def osc_filter(data: bytes) -> None:
    """What is let through is untouched, what is taken out is gone for every reader, whatever the chunking."""
    assert _filtered([data], lambda osc: None) == data
    without = _filtered([data], lambda osc: b"")
    for pieces in cuts(data):
        assert _filtered(pieces, lambda osc: None) == data, pieces
        assert _filtered(pieces, lambda osc: b"") == without, pieces
    # A character that a sequence cuts in two is whole without it; and a control in tmux's header is its own affair.
    plain = data.translate(None, _NOT_PLAIN).replace(b"\x1bP\x07", b"")
    assert _left(_filtered([plain], lambda osc: b"")) == _left(plain)


_NOT_PLAIN = bytes([*range(7), *range(8, 0x18), *range(0x7F, 0x100)])


def _left(data: bytes) -> Merged:
    """What the parser reads, but for the chosen sequences, and for CAN, which the filter may put in."""
    return _joined(
        token
        for token in Parser().feed(data)
        if token != Control(0x18) and not (isinstance(token, Osc) and token.data.partition(b";")[0] in (b"9", b"7501"))
    )


def _filtered(pieces: list[bytes], decide: Callable[[Osc], bytes | None]) -> bytes:
    osc = OscFilter((9, 7501), decide)
    out = b""
    for piece in pieces:
        out += osc.filter(piece)
        assert len(osc._held) <= MAX_HELD + 2
    return out + osc.flush()


PROFILES = ("claude", "codex", "gemini", "copilot", "generic", "shell", "opencode", "vibe")
WAITS = (0.001, 0.02, 0.05, 0.15, 0.5, 1.0, 1.2, 3.0, 30.0, 301.0)
MOST_TICKS = 5000
"""More than any chain of deadlines; a session that asks for more would spin."""

# What a story's bytes mean. None of them occurs in UTF-8; with the byte after them they are an operation.
WAIT, INPUT, RESIZE, PROCESS, EXIT, EXPLAIN = 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0xFA

_catalog = Catalog()
_profiles: dict[str, Profile] = {}


def _profile(number: int) -> Profile:
    name = PROFILES[number % len(PROFILES)]
    if name not in _profiles:
        _profiles[name] = load_builtin(name)
    return _profiles[name]


def operations(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Read a story: output, but for the bytes from `EXPLAIN` on, each with one argument (`INPUT`: a length)."""
    position, start = 0, 0
    while position < len(data):
        if data[position] < EXPLAIN:
            position += 1
            continue
        if position > start:
            yield 0, data[start:position]
        operation = data[position]
        argument = data[position + 1 : position + 2] or b"\0"
        position += 2
        if operation == INPUT:
            argument, position = data[position : position + argument[0]], position + argument[0]
        yield operation, argument
        start = position
    if start < len(data):
        yield 0, data[start:]


class _Story:
    """One run of a session over a story's operations."""

    def __init__(self, profile: int, size: Size) -> None:
        self.now = 100.0
        self.events: list[SessionEvent] = []
        self.session = Session(
            _profile(profile),
            size,
            self.now,
            screen=lambda size: make_screen(size, "pyte"),
            choose_profile=lambda process: _catalog.for_command(process.argv),
        )

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        for _ in range(MOST_TICKS):
            due = self.session.next_deadline
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            self.events += self.session.tick(self.now)
            assert self.session.tick(self.now) == [], "a second tick at the same time found more"
        else:
            raise AssertionError("the session does not come to rest")
        self.now = until

    def do(self, operation: int, argument: bytes, pieces: list[bytes]) -> None:
        match operation:
            case 0:
                for piece in pieces:
                    self.events += self.session.receive_output(piece, self.now)
            case 0xFF:
                self.wait(WAITS[argument[0] % len(WAITS)])
            case 0xFE:
                for piece in pieces:
                    self.events += self.session.receive_input(piece, self.now)
            case 0xFD:
                self.events += self.session.resize(Size(1 + argument[0] % 50, 1 + argument[0] * 7 % 300), self.now)
            case 0xFC:
                name = PROFILES[argument[0] % len(PROFILES)]
                process = ForegroundProcess((name,), is_agent=argument[0] % 3 == 0)
                self.events += self.session.process_changed(process, self.now)
            case 0xFB:
                self.events += self.session.child_exited(ExitStatus(argument[0], None), self.now)
            case _:
                self.session.explain(self.now)


def session(data: bytes) -> None:
    """Any chunking at the same times gives the same events; ticks may come twice; events make sense; it rests."""
    profile, rows, columns = (*data[:3], 0, 0, 0)[:3]
    size = Size(1 + rows % 50, 1 + columns % 250)
    story = list(operations(data[3:]))
    whole, cut = _Story(profile, size), _Story(profile, size)
    source = random.Random(zlib.crc32(data))
    for operation, argument in story:
        whole.do(operation, argument, [argument])
        cut.do(operation, argument, random_cuts(argument, source))
        assert cut.events == whole.events, (operation, argument)
    whole.wait(7200.0)
    assert whole.session.next_deadline is None, "an agent at rest costs a wake-up"
    _make_sense(whole.events)
    _project(whole.events)


def _make_sense(events: list[SessionEvent]) -> None:
    state, turn, waits = State.UNKNOWN, 0, False
    for number, event in enumerate(events):
        match event:
            case StateChanged():
                assert event.state is not State.UNKNOWN
                assert event.previous is state
                assert "/" in event.rule
                state = event.state
            case TurnStarted():
                turn += 1
                assert event.turn == turn
            case TurnCompleted():
                assert event.turn == turn > 0
            case ApprovalRequested():
                assert not waits
                waits = True
            case ApprovalResolved():
                assert waits
                waits = False
            case SessionEnded():
                assert number == len(events) - 1
            case _:
                pass


def _project(events: list[SessionEvent]) -> None:
    projector = Projector(Identity("agent", 1, "/work", "run"), iter(range(1, 1 << 40)).__next__)
    last = check_event(projector.started(), 0)
    for event in projector.project(events):
        last = check_event(event, last)
    released = projector.released()
    if released is not None:
        assert released.kind is Kind.RELEASE
        check_event(released, last)


def profile_loader(data: bytes) -> None:
    """A profile is read or refused in one line that names the file; a profile that was read can be run."""
    text = data.decode("utf-8", "replace")
    try:
        profile = parse_profile(text, "mine.toml", load_builtin)
    except ProfileError as error:
        check_line(error, "mine.toml")
        return
    assert parse_profile(text, "mine.toml", load_builtin) == profile
    run = Session(profile, Size(6, 40), 0.0, screen=lambda size: make_screen(size, "pyte"))
    run.receive_output(b"\x1b]0;title\x07> 1. Yes\r\nesc to cancel\r\n", 0.0)
    run.receive_input(b"y\r", 0.1)
    for _ in range(50):
        if (due := run.next_deadline) is not None:
            run.tick(due)
    json.dumps(run.explain(60.0).rule is None)
