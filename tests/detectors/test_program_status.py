import base64
import random

import pytest

from lifecycle_detectors.program_status import (
    MAX_MESSAGE,
    MAX_RECORDS,
    MAX_SEQUENCE,
    MAX_TITLE,
    BlockedKind,
    ProgramState,
    StatusQuery,
    StatusRecords,
    StatusReport,
    parse_program_status,
)

IDLE, WORKING, DONE, BLOCKED, ERROR, CLEAR = ProgramState


def parse(body: str | bytes) -> StatusReport | StatusQuery | None:
    data = body.encode() if isinstance(body, str) else body
    return parse_program_status(data, sequence_length=len(data) + len(b"\x1b]7501;\x1b\\"))


def report(body: str) -> StatusReport:
    parsed = parse(body)
    assert isinstance(parsed, StatusReport), body
    return parsed


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def test_query() -> None:
    assert parse("?") == StatusQuery()
    assert parse("?:state=idle") == StatusReport("", IDLE)


@pytest.mark.parametrize("state", list(ProgramState))
def test_every_state(state: ProgramState) -> None:
    assert parse(f"state={state}") == StatusReport("", state)


def test_all_keys() -> None:
    assert parse(
        f"state=blocked:kind=permission:id=task/1.a+b_c-d:progress=40:app=claude-code:title={b64('t ✳')}:msg={b64('é')}"
    ) == StatusReport("task/1.a+b_c-d", BLOCKED, BlockedKind.PERMISSION, 40, "claude-code", "t ✳", "é")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("future=1:state=done:app=pi", StatusReport("", DONE, app="pi")),
        ("state=done:nonsense:=1:UPPER=1:a1=2:app=p i:state:x=é", StatusReport("", DONE)),
        ("state=idle:state=done:app=a:app=b", StatusReport("", DONE, app="b")),
        ("state=bogus:state=done", StatusReport("", DONE)),
        ("state=done:app=a:app=b;c", StatusReport("", DONE, app="a")),
        ("state=done:app=a/b", StatusReport("", DONE)),
        ("state=done:app=", StatusReport("", DONE)),
        (":state=done::", StatusReport("", DONE)),
        ("state=working:kind=auth", StatusReport("", WORKING)),
        ("state=blocked:kind=coffee", StatusReport("", BLOCKED)),
        ("state=blocked:progress=100", StatusReport("", BLOCKED, progress=100)),
        ("state=working:progress=0", StatusReport("", WORKING, progress=0)),
        ("state=working:progress=101", StatusReport("", WORKING)),
        ("state=working:progress=-1", StatusReport("", WORKING)),
        ("state=working:progress=5.5", StatusReport("", WORKING)),
        ("state=done:progress=50", StatusReport("", DONE)),
        ("state=done:msg=b2s", StatusReport("", DONE, message="ok")),
        ("state=done:msg=", StatusReport("", DONE)),
        (f"state=done:{'k' * 16}=1", StatusReport("", DONE)),
        (f"state=done:app={'a' * 32}", StatusReport("", DONE, app="a" * 32)),
        (f"state=done:id={'s' * 32}", StatusReport("s" * 32, DONE)),
        (f"state=done:id={'/'.join('a' * 8)}", StatusReport("a/a/a/a/a/a/a/a", DONE)),
        (f"state=done:msg={b64('a' * MAX_MESSAGE)}", StatusReport("", DONE, message="a" * MAX_MESSAGE)),
        (f"state=done:title={b64('a' * MAX_TITLE)}", StatusReport("", DONE, title="a" * MAX_TITLE)),
        ("state=clear:id=a/b", StatusReport("a/b", CLEAR)),
    ],
)
def test_what_is_skipped_and_what_counts(body: str, expected: StatusReport) -> None:
    assert parse(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "??",
        "app=pi",
        "state=",
        "state=sleeping",
        "state=Idle",
        "state=done:state=bogus",
        f"state=done:{'k' * 17}=1",
        f"state=done:app={'a' * 33}",
        f"state=done:app={'a' * 33}:app=ok",
        "state=done:id=",
        "state=done:id=a//b",
        "state=done:id=/a",
        "state=done:id=a/",
        "state=done:id=a,b",
        "state=done:id=a,b:id=ok",
        f"state=done:id={'s' * 33}",
        f"state=done:id={'/'.join('a' * 9)}",
        f"state=done:id={'/'.join(['s' * 32] * 4)}",
        "state=done:msg=A",
        "state=done:msg=aG=k",
        "state=done:msg=a_-A",
        "state=done:msg=A:msg=b2s",
        f"state=done:msg={b64(bytes([0xC3]))}",
        f"state=done:msg={b64('a' * (MAX_MESSAGE + 1))}",
        f"state=done:title={b64('a' * (MAX_TITLE + 1))}",
        *(f"state=done:msg={b64(text)}" for text in ("a\nb", "\0", "x\x1b[31m", "\x7f", "\x85")),
        f"state=done:title={b64(chr(9))}",
        "state=clear:id=a//b",
    ],
)
def test_what_costs_the_whole_report(body: str) -> None:
    assert parse(body) is None


def test_the_longest_sequence() -> None:
    body = b"state=idle:"
    body += b"x" * (MAX_SEQUENCE - len(b"\x1b]7501;\x1b\\") - len(body))
    assert parse(body) == StatusReport("", IDLE)
    assert parse(body + b"x") is None


def records(*bodies: str) -> StatusRecords:
    kept = StatusRecords()
    for body in bodies:
        kept.apply(report(body))
    return kept


def test_a_report_replaces_its_record_whole() -> None:
    kept = records(f"state=working:app=pi:progress=5:msg={b64('m')}", "state=done")
    assert kept.root == StatusReport("", DONE)
    assert dict(kept.records) == {"": StatusReport("", DONE)}


def test_clear() -> None:
    bodies = ["state=working", "state=working:id=a", "state=done:id=a/b/c", "state=done:id=ab"]
    assert list(records(*bodies, "state=clear:id=a").records) == ["", "ab"]
    assert list(records(*bodies, "state=clear:id=nope").records) == ["", "a", "a/b/c", "ab"]
    assert not records(*bodies, "state=clear").records


@pytest.mark.parametrize("end", [StatusRecords.clear_on_prompt, StatusRecords.end_process])
def test_what_survives_its_program(end: object) -> None:
    kept = records("state=working", "state=blocked:id=b", "state=idle:id=i", "state=done:id=d", "state=error:id=e")
    assert callable(end)
    end(kept)
    assert list(kept.records) == ["i", "d", "e"]


def test_reset() -> None:
    kept = records("state=done", "state=error:id=e")
    kept.reset()
    assert not kept.records
    assert kept.root is None


def test_the_least_recently_updated_record_leaves() -> None:
    kept = records(*(f"state=working:id=r{number}" for number in range(MAX_RECORDS)), "state=done:id=r0")
    assert len(kept.records) == MAX_RECORDS
    kept.apply(report("state=working:id=new"))
    assert len(kept.records) == MAX_RECORDS
    assert {"r0", "new"} <= kept.records.keys()
    assert "r1" not in kept.records


def test_app_of_the_nearest_record_above() -> None:
    kept = records(
        "state=working:app=deploy", "state=working:id=eu", "state=working:id=us:app=brew", "state=done:id=us/a/1"
    )
    assert [kept.app(path) for path in ("", "eu", "us", "us/a/1", "other")] == [
        "deploy",
        "deploy",
        "brew",
        "brew",
        "deploy",
    ]
    assert StatusRecords().app("a/b") == ""


@pytest.mark.parametrize(
    ("bodies", "state", "path"),
    [
        ([], None, None),
        (["state=idle"], IDLE, ""),
        (["state=working", "state=done:id=a"], WORKING, ""),
        (["state=idle", "state=working:id=a"], IDLE, ""),
        (["state=working", "state=blocked:id=a/b:kind=question", "state=working:id=a"], BLOCKED, "a/b"),
        (["state=blocked", "state=blocked:id=a"], BLOCKED, ""),
        (["state=blocked:id=a", "state=blocked:id=b", "state=blocked:id=a"], BLOCKED, "a"),
        (["state=working:id=a", "state=done:id=b"], WORKING, "a"),
        (["state=done:id=a", "state=error:id=b"], ERROR, "b"),
        (["state=working", "state=blocked:id=a", "state=clear:id=a"], WORKING, ""),
        (["state=done", "state=working:id=a", "state=clear"], None, None),
    ],
)
def test_deciding(bodies: list[str], state: ProgramState | None, path: str | None) -> None:
    deciding = records(*bodies).deciding()
    assert (deciding and deciding.state, deciding and deciding.id) == (state, path)


def test_random_reports_raise_nothing_and_keep_the_bounds() -> None:
    source = random.Random(7501)
    alphabet = b"state=idleworkngbcpm:/.,+-_=AZ09?\x00\xff"
    words = [b"state=working", b"state=blocked", b"state=clear", b"id=a/b", b"msg=b2s=", b"title=", b"progress=7", b":"]
    kept = StatusRecords()
    for _ in range(20_000):
        parts = [
            source.choice(words) if source.random() < 0.7 else bytes(source.choices(alphabet, k=source.randrange(8)))
            for _ in range(source.randrange(8))
        ]
        parsed = parse(b":".join(parts) + (b":id=%d" % source.randrange(1000) if source.random() < 0.5 else b""))
        if isinstance(parsed, StatusReport):
            kept.apply(parsed)
        kept.deciding()
        assert len(kept.records) <= MAX_RECORDS
