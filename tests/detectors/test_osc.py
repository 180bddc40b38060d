import base64
import random

import pytest

from lifecycle_detectors.controls import ProgressState
from lifecycle_detectors.osc import (
    MAX_BODY,
    MAX_NOTIFICATION_BYTES,
    MAX_OPEN_NOTIFICATIONS,
    MAX_PATH,
    MAX_TITLE,
    Notification,
    OscReader,
    Progress,
    PromptMark,
    Signal,
    Title,
    WorkingDirectory,
)
from lifecycle_detectors.parser import Osc, Parser
from lifecycle_detectors.program_status import ProgramState, StatusQuery, StatusReport
from tests.detectors.chunking import random_stream, same_over_every_cut


def signals(data: bytes) -> list[Signal]:
    def read(pieces: list[bytes]) -> list[Signal]:
        parser, reader = Parser(text=False), OscReader()
        read = [reader.read(token) for piece in pieces for token in parser.feed(piece) if isinstance(token, Osc)]
        return [signal for signal in read if signal is not None]

    return same_over_every_cut(data, read)


def read_one(payload: str | bytes) -> Signal | None:
    data = payload.encode() if isinstance(payload, str) else payload
    reader = OscReader()
    signal = reader.read(Osc(data, True))
    assert OscReader().read(Osc(data, False)) == signal
    return signal


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ("0;✳ Claude Code", "✳ Claude Code"),
        ("2;[ ! ] Action Required | task | project", "[ ! ] Action Required | task | project"),
        ("0;", ""),
        ("0;◇  Ready (project)" + " " * 60, "◇  Ready (project)"),
        ("0;◐︎ Qwen - project", "◐︎ Qwen - project"),
        ("0;a;b", "a;b"),
        ("0;\u202ea\u200bb\u2066c\u0085d\ufeff", "abcd"),
        ("0;" + "x" * 300, "x" * MAX_TITLE),
        ("0;" + "日" * 300, "日" * MAX_TITLE),
    ],
)
def test_title(payload: str, text: str) -> None:
    assert read_one(payload) == Title(text)


def test_title_of_invalid_utf8() -> None:
    assert read_one(b"0;a\xffb") == Title("a\ufffdb")


@pytest.mark.parametrize(
    ("payload", "state", "percent"),
    [
        ("9;4;3", ProgressState.INDETERMINATE, None),
        ("9;4;3;", ProgressState.INDETERMINATE, None),
        ("9;4;3;0", ProgressState.INDETERMINATE, 0),
        ("9;4;3;;", ProgressState.INDETERMINATE, None),
        ("9;4;3;50;x;y", ProgressState.INDETERMINATE, 50),
        ("9;4;0", ProgressState.NONE, None),
        ("9;4;0;", ProgressState.NONE, None),
        ("9;4;0;0", ProgressState.NONE, None),
        ("9;4;0;x", ProgressState.NONE, None),
        ("9;4;0;101;", ProgressState.NONE, None),
        ("9;4;1", ProgressState.NORMAL, None),
        ("9;4;1;0", ProgressState.NORMAL, 0),
        ("9;4;1;007", ProgressState.NORMAL, 7),
        ("9;4;1;100", ProgressState.NORMAL, 100),
        ("9;4;2;100", ProgressState.ERROR, 100),
        ("9;4;4", ProgressState.PAUSED, None),
        ("9;4;4;100", ProgressState.PAUSED, 100),
    ],
)
def test_progress(payload: str, state: ProgressState, percent: int | None) -> None:
    assert read_one(payload) == Progress(state, percent)


@pytest.mark.parametrize(
    "payload",
    ["9;4", "9;4;", "9;4;5", "9;4;x", "9;4;33", "9;4;-1", "9;4;1;101", "9;4;1;1e2", "9;4;1;-1", "9;4;1; 5",
     "9;4;1;1000", "9;4;1;text", "9;4;1;٣", "9;4;;3", "9;4; 3", "9;1;100", "9;2;text", "9;3;tab", "9;5", "9;6;x",
     "9;12", "9;10;", "9;"],
)  # fmt: skip
def test_conemu_commands_and_invalid_progress_say_nothing(payload: str) -> None:
    assert read_one(payload) is None


@pytest.mark.parametrize(
    ("payload", "title", "body"),
    [
        ("9;Approval requested: sleep 4 && touch made.txt", "", "Approval requested: sleep 4 && touch made.txt"),
        ("9;4 files changed", "", "4 files changed"),
        ("9;13", "", "13"),
        ("9;10 of 12; done", "", "10 of 12; done"),
        ("9;04;3", "", "04;3"),
        ("777;notify;Claude Code;Claude needs your permission", "Claude Code", "Claude needs your permission"),
        ("777;notify;title;a;b", "title", "a;b"),
        ("777;notify;title", "title", ""),
        ("777;notify;;body", "", "body"),
        ("99;;plain", "plain", ""),
        ("99;i=1:d=1;plain", "plain", ""),
        ("99;i=1:p=body;text", "", "text"),
        ("99;e=1;" + base64.b64encode("Qwen Code ✳".encode()).decode(), "Qwen Code ✳", ""),
        ("99;e=1;b2s", "ok", ""),
        ("9;" + "x" * 2000, "", "x" * MAX_BODY),
    ],
)
def test_notification(payload: str, title: str, body: str) -> None:
    assert read_one(payload) == Notification(title, body)


@pytest.mark.parametrize(
    "payload",
    ["777;notify", "777;notify;;", "777;precmd", "777", "99", "99;", "99;i=1:p=?;", "99;i=1:p=close;",
     "99;i=1:p=alive;x", "99;i=1:d=1:a=focus;", "99;e=1;%%%", "99;i=1:p=icon;AAAA", "9;\u200b"],
)  # fmt: skip
def test_no_notification(payload: str) -> None:
    assert read_one(payload) is None


def test_kitty_chunks() -> None:
    assert signals(
        b"\x1b]99;i=7:d=0:p=title;Claude \x1b\\\x1b]99;i=8:d=0;Other\x1b\\\x1b]99;i=7:d=0:p=title;Code\x1b\\"
        b"\x1b]99;i=7:p=body;Claude needs your permission\x1b\\\x1b]99;i=7:d=1:a=focus;\x1b\\\x1b]99;i=8;!\x07"
    ) == [Notification("Claude Code", "Claude needs your permission"), Notification("Other!", "")]


def test_kitty_chunks_may_cut_a_character() -> None:
    first, second = (base64.b64encode(part) for part in ("é".encode()[:1], "é".encode()[1:]))
    assert signals(b"\x1b]99;d=0:e=1;" + first + b"\x07\x1b]99;e=1;" + second + b"\x07") == [Notification("é", "")]


def test_kitty_chunks_are_bounded() -> None:
    reader = OscReader()
    for number in range(1000):
        for _ in range(3):
            assert reader.read(Osc(b"99;i=%d:d=0;%s" % (number, b"x" * 60_000), True)) is None
    kept = reader._notifications._open
    assert len(kept) == MAX_OPEN_NOTIFICATIONS
    assert all(len(notification.title) == MAX_NOTIFICATION_BYTES for notification in kept.values())
    assert reader.read(Osc(b"99;i=0;end", True)) == Notification("end", "")
    assert reader.read(Osc(b"99;i=999:p=body;end", True)) == Notification("x" * MAX_TITLE, "end")


@pytest.mark.parametrize(
    ("payload", "kind", "exit_code"),
    [("133;A", "A", None), ("133;A;cl=m;aid=1", "A", None), ("133;B", "B", None), ("133;C;x", "C", None),
     ("133;D", "D", None), ("133;D;", "D", None), ("133;D;0", "D", 0), ("133;D;127;aid=1", "D", 127),
     ("133;D;-1", "D", -1), ("133;D;err=1", "D", None)],
)  # fmt: skip
def test_prompt_mark(payload: str, kind: str, exit_code: int | None) -> None:
    assert read_one(payload) == PromptMark(kind, exit_code)


@pytest.mark.parametrize("payload", ["133", "133;", "133;E", "133;AB", "133;P;k=i", "133;a", "133;A0"])
def test_no_prompt_mark(payload: str) -> None:
    assert read_one(payload) is None


@pytest.mark.parametrize(
    ("payload", "host", "path"),
    [("7;file://host/home/me", "host", "/home/me"), ("7;file:///a%20b/%C3%A9;c", "", "/a b/é;c"),
     ("7;file://h/100%", "h", "/100%"), ("9;9;/tmp/x", "", "/tmp/x"), ('9;9;"/tmp/x y"', "", "/tmp/x y")],
)  # fmt: skip
def test_working_directory(payload: str, host: str, path: str) -> None:
    assert read_one(payload) == WorkingDirectory(host, path)


@pytest.mark.parametrize(
    "payload",
    ["7;", "7;/home", "7;http://h/x", "7;file://host", "7;file:relative", "7;file:///a%00b", "7;file:///a%0Ab",
     "7;file:///%FF", "7;file://h%1b/x", "9;9;C:\\x", "9;9;", "7;file:///" + "x" * MAX_PATH],
)  # fmt: skip
def test_no_working_directory(payload: str) -> None:
    assert read_one(payload) is None


def test_program_status() -> None:
    assert read_one("7501;?") == StatusQuery()
    assert signals(b"\x1b]7501;state=idle:app=codex\x1b\\") == [StatusReport("", ProgramState.IDLE, app="codex")]


def test_the_length_of_a_report_counts_from_esc_to_the_end_of_its_terminator() -> None:
    fits_with_bel = b"7501;state=idle:" + b"x" * (4096 - 2 - 1 - 16)
    assert OscReader().read(Osc(fits_with_bel, True)) is not None
    assert OscReader().read(Osc(fits_with_bel, False)) is None


@pytest.mark.parametrize(
    "payload", ["", "1;icon", "8;;http://x", "52;c;aGk=", "1337;SetMark", "x", ";", "12345678;a", "²;a"]
)
def test_other_sequences_say_nothing(payload: str) -> None:
    assert read_one(payload) is None


def test_random_payloads_raise_nothing() -> None:
    source = random.Random(99)
    reader = OscReader()
    numbers = [
        b"0;",
        b"2;",
        b"7;file://",
        b"9;",
        b"9;4;",
        b"99;i=1:",
        b"99;d=0:e=1;",
        b"133;",
        b"777;notify;",
        b"7501;",
    ]
    for _ in range(30_000):
        payload = source.choice(numbers) + random_stream(source, 4)[: source.randrange(60)]
        reader.read(Osc(payload, source.random() < 0.5))
