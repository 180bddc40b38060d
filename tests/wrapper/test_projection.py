"""The canonical event: golden bytes, bounds, sanitising, sequence, and what each event of the core becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle_detectors.events import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    ExitStatus,
    Message,
    ProfileChanged,
    SessionEnded,
    Source,
    StateChanged,
    TitleChanged,
    TurnCompleted,
    TurnStarted,
    WorkingDirectoryChanged,
)
from lifecycle_detectors.states import State
from lifecycle_wrap.projection import (
    Identity,
    Kind,
    LifecycleEvent,
    Projector,
    clean,
    collapse,
    format_timestamp,
    resume_argv,
)

GOLDEN = Path(__file__).parents[2] / "fixtures" / "events"
IDENTITY = Identity(agent="claude", pid=99, cwd="/tmp", run_id="3f2a")


def changed(state: State, previous: State = State.UNKNOWN, **rest: object) -> StateChanged:
    return StateChanged(at=0.0, state=state, previous=previous, rule="p/r", source=Source.TITLE, **rest)  # type: ignore[arg-type]


def projector(identity: Identity = IDENTITY, *, times: Iterator[int] | None = None, titles: bool = False) -> Projector:
    ticks = times or iter(range(1, 10_000))
    return Projector(identity, lambda: next(ticks), titles=titles)


def one(made: list[LifecycleEvent]) -> LifecycleEvent:
    assert len(made) == 1
    return made[0]


def test_state_golden_bytes() -> None:
    event = LifecycleEvent(
        kind=Kind.STATE,
        sequence=1700000000000000001,
        timestamp=1787940306123456789,
        state="blocked",
        message="Waiting for approval",
        session_id="session-123",
        pid=4242,
        cwd="/work/project",
        resume_argv=("/usr/local/bin/lifecycle-wrap", "--", "claude", "--resume", "session-123"),
        agent="claude",
        title="a secret title",
        turn_id="3f2a-1",
    )
    assert event.to_json() == (GOLDEN / "state.json").read_bytes()


def test_release_golden_bytes() -> None:
    event = LifecycleEvent(Kind.RELEASE, 8, 1787965323000000000, "", "", "session-a", 99, "/tmp")
    assert event.to_json() == (GOLDEN / "release.json").read_bytes()


def test_other_kinds_add_the_turn() -> None:
    event = LifecycleEvent(Kind.TURN_COMPLETED, 9, 1787965323500000000, "idle", "", "", 99, "/tmp", turn_id="3f2a-2")
    assert event.to_json() == (GOLDEN / "turn_completed.json").read_bytes()


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
        (100_000_000, "1970-01-01T00:00:00.1Z"),
        (1787965323000000000, "2026-08-29T01:02:03Z"),
        (1709164800123000000, "2024-02-29T00:00:00.123Z"),
    ],
)
def test_timestamp_drops_trailing_zeros(nanoseconds: int, text: str) -> None:
    assert format_timestamp(nanoseconds) == text


@pytest.mark.parametrize(
    ("raw", "cleaned", "collapsed"),
    [
        ("  a  b  ", "a  b", "a b"),
        ("session\x1b[31m\x00", "session[31m", "session[31m"),
        ("a\nb\r\n\tc", "a b   c", "a b c"),
        ("\x7f\x85\x9c", "", ""),
        ("bad\udc80\ufffdbytes", "badbytes", "badbytes"),
        ("\u202eevil\u2066\u200b\ufeff", "evil", "evil"),
        ("é漢字✳\ufe0f", "é漢字✳\ufe0f", "é漢字✳\ufe0f"),
        ("a\u2028b", "a\u2028b", "a b"),
    ],
)
def test_text_is_sanitised(raw: str, cleaned: str, collapsed: str) -> None:
    assert clean(raw, 512) == cleaned
    assert collapse(raw, 512) == collapsed


def test_bounds_count_code_points_and_cut_before_collapsing() -> None:
    assert clean("漢" * 600, 512) == "漢" * 512
    assert collapse("a" + " " * 600 + "b", 512) == "a"


@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_gives_one_line_of_json(text: str) -> None:
    identity = Identity(agent=text, pid=1, cwd=text, run_id="r", session_id=text, launcher=(text,), resume=(text,))
    event = one(projector(identity).project([changed(State.WORKING)]))
    line = event.to_json()
    assert line.count(b"\n") == 1
    assert json.loads(line)["cwd"] == event.cwd
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in event.cwd + event.session_id + event.agent)


def test_resume_command_is_bounded_and_needs_all_its_parts() -> None:
    launcher, template = ("/bin/lifecycle-wrap", "--"), ("claude", "--resume={session_id}")
    assert resume_argv(launcher, template, "s 1") == ("/bin/lifecycle-wrap", "--", "claude", "--resume=s 1")
    assert resume_argv(launcher, template, "") == ()
    assert resume_argv(launcher, (), "s") == ()
    assert resume_argv((), template, "s") == ()
    assert len(resume_argv(launcher, ("x",) * 100, "s")) == 64
    assert resume_argv(("a" * 5000,), template, "s")[0] == "a" * 4096
    assert resume_argv(("a  b",), template, "s")[0] == "a  b"


def test_a_negative_pid_is_none() -> None:
    assert projector(Identity(agent="a", pid=-5, cwd="/", run_id="r")).started().pid == 0


def test_sequence_follows_the_clock_and_never_falls() -> None:
    wrapped = projector(times=iter([100, 100, 50, 200]))
    events = [wrapped.started(), *wrapped.project([changed(State.WORKING), changed(State.IDLE)])]
    last = wrapped.released()
    assert last is not None
    assert [event.sequence for event in [*events, last]] == [100, 101, 102, 200]
    assert [event.timestamp for event in [*events, last]] == [100, 100, 50, 200]


def test_the_session_opens_without_a_state() -> None:
    event = projector().started()
    assert (event.kind, event.state, event.message, event.agent) == (Kind.SESSION_STARTED, "", "", "claude")


def test_unknown_is_never_published() -> None:
    assert projector().project([changed(State.UNKNOWN)]) == []


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (changed(State.IDLE, message=Message.WORKING), ""),
        (changed(State.WORKING), "Working"),
        (changed(State.WORKING, message=Message.RETRYING), "Retrying"),
        (changed(State.BLOCKED), "Waiting for user input"),
        (changed(State.BLOCKED, kind="permission"), "Waiting for approval"),
        (changed(State.BLOCKED, kind="question"), "Waiting for user input"),
        (changed(State.BLOCKED, kind="auth"), "Waiting for sign-in"),
        (changed(State.BLOCKED, kind="question", message=Message.EXTERNAL_INPUT), "Waiting for external input"),
    ],
)
def test_messages_come_from_the_rule_or_are_the_most_general(event: StateChanged, message: str) -> None:
    assert one(projector().project([event])).message == message


def test_details_for_hosts_follow_the_state() -> None:
    wrapped = projector()
    blocked, idle = wrapped.project(
        [changed(State.BLOCKED, kind="auth"), changed(State.IDLE, background=True, failed=True, kind="auth")]
    )
    assert (blocked.blocked_on, blocked.background, blocked.failed) == ("auth", False, False)
    assert (idle.blocked_on, idle.background, idle.failed) == ("", True, True)


def test_turn_and_approval_events_share_an_opaque_turn() -> None:
    events = projector().project(
        [
            TurnStarted(at=0, turn=1),
            changed(State.WORKING),
            ApprovalRequested(at=0, turn=1, message=Message.NONE),
            ApprovalResolved(at=0, turn=1),
            Attention(at=0, source=Source.BELL),
            TurnCompleted(at=0, turn=1, failed=True),
            Attention(at=0, source=Source.BELL),
        ]
    )
    assert [(event.kind.value, event.turn_id) for event in events] == [
        ("turn_started", "3f2a-1"),
        ("state", "3f2a-1"),
        ("approval_requested", "3f2a-1"),
        ("approval_resolved", "3f2a-1"),
        ("attention", "3f2a-1"),
        ("turn_completed", "3f2a-1"),
        ("attention", ""),
    ]
    assert events[2].message == "Waiting for approval"
    assert events[5].failed


def test_an_approval_outside_of_turns_has_no_turn() -> None:
    assert one(projector().project([ApprovalRequested(at=0, turn=0, message=Message.SIGN_IN)])).turn_id == ""


def test_titles_stay_out_unless_asked_for() -> None:
    events = [changed(State.WORKING), TitleChanged(at=0, title="secret")]
    assert one(projector().project(events)).title == ""
    assert projector(titles=True).project(events)[1].title == "secret"


@pytest.mark.parametrize("title", ["⠋ task", "⠙ task", "✳ task", "· task", "◐  task", "⚠\ufe0f task", "task"])
def test_frames_of_a_spinner_are_one_title(title: str) -> None:
    events = projector(titles=True).project([changed(State.WORKING), TitleChanged(at=0, title=title)])
    assert events[1].title == "task"


def test_what_changes_is_told_again_once_a_state_is_known() -> None:
    wrapped = projector(Identity(agent="bash", pid=1, cwd="/a", run_id="r", launcher=("lw", "--")))
    assert wrapped.project([WorkingDirectoryChanged(at=0, path="/b"), ProfileChanged(at=0, profile="claude")]) == []
    wrapped.set_session("s1", ("claude", "{session_id}"))
    first = one(wrapped.project([changed(State.IDLE)]))
    assert (first.cwd, first.agent, first.session_id) == ("/b", "claude", "s1")
    assert first.resume_argv == ("lw", "--", "claude", "s1")
    wrapped.set_session("", ())
    back = one(wrapped.project([ProfileChanged(at=0, profile="generic")]))
    assert (back.kind, back.state, back.agent, back.session_id) == (Kind.STATE, "idle", "bash", "")
    assert back.resume_argv == ()


def test_release_comes_once_and_last() -> None:
    wrapped = projector(Identity(agent="a", pid=9, cwd="/c", run_id="r", session_id="s"))
    events = wrapped.project(
        [
            changed(State.BLOCKED, kind="auth"),
            SessionEnded(at=0, status=ExitStatus(0, None)),
            changed(State.IDLE),
            Attention(at=0, source=Source.BELL),
        ]
    )
    assert [event.kind for event in events] == [Kind.STATE, Kind.RELEASE]
    assert (events[1].state, events[1].message, events[1].blocked_on) == ("", "", "")
    assert (events[1].session_id, events[1].cwd, events[1].pid) == ("s", "/c", 9)
    assert wrapped.released() is None


def test_snapshots_differ_only_in_what_is_told() -> None:
    wrapped = projector()
    one_, two, three = wrapped.project([changed(State.IDLE), changed(State.IDLE), changed(State.WORKING)])
    assert one_ != two
    assert one_.snapshot == two.snapshot
    assert two.snapshot != three.snapshot
