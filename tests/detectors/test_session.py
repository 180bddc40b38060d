"""The session's laws: chunking, ticks, bounds, no wake-up at rest, leases, rests, holds, profiles, the end."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle_detectors import (
    ApprovalRequested,
    ApprovalResolved,
    Attention,
    Catalog,
    ExitStatus,
    ForegroundProcess,
    Profile,
    ProfileChanged,
    ProgressChanged,
    Session,
    SessionEnded,
    SessionEvent,
    Size,
    Source,
    State,
    StateChanged,
    TitleChanged,
    TurnCompleted,
    TurnStarted,
    WorkingDirectoryChanged,
    make_screen,
)
from lifecycle_detectors.profiles import load_builtin, parse_profile
from lifecycle_detectors.rules import PROGRESS_LEASE
from lifecycle_detectors.session import JUDGE_AFTER, RESIZE_REST, UPDATE_LIMIT
from lifecycle_detectors.states import BRIEF_SECONDS
from tests.detectors.chunking import every_cut, random_cuts, random_stream

SIZE = Size(rows=10, columns=60)
TOLD = JUDGE_AFTER + BRIEF_SECONDS
"""From an output to the state that it speaks for."""

TEXT = """
schema = 1
name = "test"
[composer]
prompt = '^>'
[[rule]]
id = "viewer"
state = "hold"
all = [{ region = "top", line = 'transcript' }]
[[rule]]
id = "dialog"
state = "blocked"
kind = "permission"
all = [{ region = "bottom", line = 'Allow\\?' }]
[[rule]]
id = "title"
state = "working"
all = [{ title = '^w', fresh = 2 }]
[[rule]]
id = "bar"
state = "working"
all = [{ progress = ["normal"] }]
[[rule]]
id = "row"
state = "working"
all = [{ region = "bottom", line = 'Working' }]
[[rule]]
id = "title-rest"
state = "idle"
all = [{ title = '^i' }]
[[rule]]
id = "rest"
state = "idle"
all = [{ composer = true }]
"""
PROFILE = parse_profile(TEXT, "test.toml", load_builtin)


class Run:
    """A session and its clock; `changes` are the states that were told."""

    def __init__(self, profile: Profile = PROFILE, *, screen: bool = True, signals: bool = True) -> None:
        factory = make_screen if screen else None
        self.session = Session(profile, SIZE, 0.0, screen=factory, signals=signals, choose_profile=self.choose)
        self.now = 0.0
        self.events: list[SessionEvent] = []

    def choose(self, process: ForegroundProcess) -> Profile:
        return Catalog().for_command(process.argv)

    @property
    def changes(self) -> list[tuple[float, State, str]]:
        return [(round(e.at, 3), e.state, e.rule) for e in self.events if isinstance(e, StateChanged)]

    def told(self, *kinds: type) -> list[SessionEvent]:
        return [event for event in self.events if isinstance(event, kinds)]

    def output(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.events += self.session.receive_output(data, self.now)

    def type(self, data: bytes) -> None:
        self.events += self.session.receive_input(data, self.now)

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.session.next_deadline) is not None and due <= until:
            self.now = max(self.now, due)
            self.events += self.session.tick(due)
        self.now = until


def test_while_the_screen_model_is_loaded_nothing_is_judged_and_nothing_lost() -> None:
    loaded: list[Size] = []
    run = Run()
    run.session = Session(PROFILE, SIZE, 0.0, screen=lambda size: make_screen(size) if loaded else None)
    run.output(screen("Allow?", "1. Yes"))
    run.wait(2)
    run.session.resize(Size(rows=12, columns=60), run.now)
    run.wait(2)
    assert run.changes == []
    assert run.session.place() is None
    loaded.append(SIZE)
    run.wait(1)
    assert [(state, rule) for _, state, rule in run.changes] == [(State.BLOCKED, "test/dialog")]
    assert run.session.next_deadline is None


def screen(*rows: str) -> str:
    return "\x1b[2J\x1b[H" + "\r\n".join(rows)


# --- chunking and time

SCRIPT: Sequence[tuple[float, bytes]] = (
    (0.0, screen("hello", "> ").encode()),
    (2.0, "\x1b]0;w ⠋ working\x07".encode() + screen("answer", "✳ é 日本", "Working 1s", "> ").encode()),
    (3.0, screen("answer", "Working 2s", "> ").encode() + b"\x1b]9;4;1;40\x1b\\"),
    (4.0, screen("Allow?", "1. Yes").encode() + b"\x07\x1b]777;notify;a;b\x07"),
    (6.0, b"\x1b[?2026h" + screen("answer", "> ").encode() + b"\x1b]9;4;0;0\x1b\\\x1b]0;i rest\x07\x1b[?2026l"),
    (7.0, b"\x1b]7501;state=blocked:kind=auth:app=x\x1b\\"),
    (9.0, b"\x1b]7501;state=done:app=x\x1b\\\x1b]7;file://h/tmp\x07"),
)


def events_of(pieces: Iterable[tuple[float, Sequence[bytes]]]) -> list[SessionEvent]:
    run = Run()
    for at, chunks in pieces:
        run.wait(at - run.now)
        for chunk in chunks:
            run.output(chunk)
    run.wait(20.0)
    return run.events


def test_any_chunking_gives_the_same_events() -> None:
    whole = events_of([(at, [data]) for at, data in SCRIPT])
    assert [event.state for event in whole if isinstance(event, StateChanged)] == [
        State.IDLE, State.WORKING, State.BLOCKED, State.IDLE, State.BLOCKED, State.IDLE,
    ]  # fmt: skip
    assert events_of([(at, [data[i : i + 1] for i in range(len(data))]) for at, data in SCRIPT]) == whole
    source = random.Random(5)
    for _ in range(20):
        assert events_of([(at, random_cuts(data, source)) for at, data in SCRIPT]) == whole


@pytest.mark.parametrize("step", range(len(SCRIPT)))
def test_any_cut_of_one_output_gives_the_same_events(step: int) -> None:
    whole = events_of([(at, [data]) for at, data in SCRIPT])
    for pieces in list(every_cut(SCRIPT[step][1]))[::7]:
        assert events_of([(at, pieces if n == step else [data]) for n, (at, data) in enumerate(SCRIPT)]) == whole


def test_a_late_tick_tells_when_it_was_due() -> None:
    punctual, late = Run(), Run()
    for run in (punctual, late):
        run.output(screen("> "))
    punctual.wait(5.0)
    late.now = 5.0
    late.events += late.session.tick(5.0)
    assert punctual.changes == late.changes == [(TOLD, State.IDLE, "test/rest")]


def test_a_tick_with_nothing_due_or_twice_does_no_harm() -> None:
    run = Run()
    assert run.session.tick(1.0) == []
    run.now = 1.0
    run.output(screen("> "))
    run.wait(2.0)
    assert run.session.tick(3.0) == run.session.tick(3.0) == []


def test_at_rest_there_is_no_wake_up() -> None:
    run = Run()
    assert run.session.next_deadline is None
    run.output(screen("Allow?"))
    assert run.session.next_deadline == JUDGE_AFTER
    run.wait(3600.0)
    assert run.session.state is State.BLOCKED
    assert run.session.next_deadline is None


# --- what is told


def test_turns_and_approvals() -> None:
    run = Run()
    for rows in (["> "], ["Working", "> "], ["Allow?"], ["Working", "> "], ["> "]):
        run.output(screen(*rows))
        run.wait(2.0)
    kinds = [type(event) for event in run.events]
    assert kinds == [
        StateChanged, TurnStarted, StateChanged, StateChanged, ApprovalRequested, ApprovalResolved, StateChanged,
        StateChanged, TurnCompleted,
    ]  # fmt: skip
    assert {event.turn for event in run.told(TurnStarted, ApprovalRequested, TurnCompleted)} == {1}  # type: ignore[union-attr]


def test_every_change_names_its_rule_and_source() -> None:
    run = Run()
    run.output("\x1b]0;w\x07")
    run.wait(1.0)
    [change] = run.told(StateChanged)
    assert isinstance(change, StateChanged)
    assert (change.rule, change.source, change.previous) == ("test/title", Source.TITLE, State.UNKNOWN)


def test_titles_progress_bells_and_directories_are_told() -> None:
    run = Run()
    run.output(
        "\x1b]0;⠋ work\x07\x1b]0;⠙ work\x07\x1b]9;4;1;40\x07\x1b]9;4;1;50\x07\x07\x1b]9;hi\x07\x1b]7;file://h/tmp\x07"
    )
    assert [event.title for event in run.told(TitleChanged)] == ["work"]  # type: ignore[union-attr]
    assert [event.percent for event in run.told(ProgressChanged)] == [40, 50]  # type: ignore[union-attr]
    assert [event.source for event in run.told(Attention)] == [Source.BELL, Source.NOTIFICATION]  # type: ignore[union-attr]
    assert [event.path for event in run.told(WorkingDirectoryChanged)] == ["/tmp"]  # type: ignore[union-attr]


def test_without_signals_only_the_screen_counts() -> None:
    run = Run(signals=False)
    run.output("\x1b]0;w\x07\x07\x1b]9;4;1;40\x07\x1b]7501;state=working:app=x\x07")
    run.wait(2.0)
    assert run.events == []
    run.output(screen("> "))
    run.wait(2.0)
    assert run.changes == [(2.0 + TOLD, State.IDLE, "test/rest")]


def test_without_a_screen_only_signals_count() -> None:
    run = Run(screen=False)
    run.output(screen("Allow?") + "\x1b]0;w\x07")
    run.wait(1.0)
    assert [state for _, state, _ in run.changes] == [State.WORKING]


def test_before_anything_matches_nothing_is_told() -> None:
    run = Run()
    run.output("some text\r\n")
    run.wait(10.0)
    assert run.session.state is State.UNKNOWN
    assert run.events == []


def test_a_flash_is_not_told() -> None:
    run = Run()
    run.output(screen("> "))
    run.wait(2.0)
    run.output(screen("Allow?"))
    run.wait(0.1)
    run.output(screen("> "))
    run.wait(5.0)
    assert [state for _, state, _ in run.changes] == [State.IDLE]


def test_a_short_gap_in_a_turn_is_no_idle() -> None:
    run = Run()
    run.output(screen("Working", "> "))
    run.wait(2.0)
    run.output(screen("> "))
    run.wait(0.8)
    run.output(screen("Working", "> "))
    run.wait(5.0)
    assert [state for _, state, _ in run.changes] == [State.WORKING]


def test_a_stale_title_leaves_the_word_to_the_screen() -> None:
    run = Run()
    run.output("\x1b]0;w\x07" + screen("> "))
    run.wait(10.0)
    assert [(state, rule) for _, state, rule in run.changes] == [
        (State.WORKING, "test/title"),
        (State.IDLE, "test/rest"),
    ]


# --- leases and rests


def test_progress_is_believed_for_five_minutes() -> None:
    run = Run()
    run.output("\x1b]9;4;1;40\x07" + screen("> "))
    run.wait(PROGRESS_LEASE - 1.0)
    assert run.session.state is State.WORKING
    run.wait(5.0)
    assert run.session.state is State.IDLE
    assert run.session.next_deadline is None


def test_progress_that_is_renewed_is_believed_on() -> None:
    run = Run()
    for _ in range(4):
        run.output("\x1b]9;4;1;40\x07" + screen("> "))
        run.wait(PROGRESS_LEASE - 10.0)
    assert [state for _, state, _ in run.changes] == [State.WORKING]


def test_a_resize_rests_all_judging() -> None:
    run = Run()
    run.output(screen("Allow?"))
    run.wait(2.0)
    run.events += run.session.resize(Size(10, 30), run.now)
    run.output(screen("half of the"))
    run.wait(RESIZE_REST - 0.1)
    run.output(screen("Allow?"))
    run.wait(5.0)
    assert [state for _, state, _ in run.changes] == [State.BLOCKED]
    assert run.session.next_deadline is None


def test_a_storm_of_resizes_changes_nothing_and_ends() -> None:
    run = Run()
    run.output(screen("> "))
    run.wait(2.0)
    for width in range(30, 90):
        run.events += run.session.resize(Size(10, width), run.now)
        run.wait(0.02)
    run.output(screen("> "))
    run.wait(5.0)
    assert [state for _, state, _ in run.changes] == [State.IDLE]
    assert run.session.next_deadline is None


def test_half_a_synchronized_update_is_not_looked_at() -> None:
    run = Run()
    run.output(screen("Working", "> "))
    run.wait(2.0)
    run.output("\x1b[?2026h" + screen("Allow?"))
    run.wait(0.4)
    run.output(screen("Working", "> ") + "\x1b[?2026l")
    run.wait(3.0)
    assert [state for _, state, _ in run.changes] == [State.WORKING]


def test_a_synchronized_update_that_never_ends_is_looked_at_all_the_same() -> None:
    run = Run()
    run.output("\x1b[?2026h" + screen("Allow?"))
    run.wait(UPDATE_LIMIT + TOLD + 0.1)
    assert run.session.state is State.BLOCKED
    assert run.session.next_deadline is None


def test_a_viewer_holds_the_state() -> None:
    run = Run()
    run.output(screen("Working", "> "))
    run.wait(2.0)
    run.output(screen("transcript", "Allow?", "> "))
    run.wait(60.0)
    assert run.session.state is State.WORKING
    run.output("\x1b]0;i\x07")
    run.wait(5.0)
    assert run.session.state is State.IDLE, "a signal passes"


# --- other programs, the end


def test_another_program_in_the_foreground_brings_its_profile() -> None:
    run = Run(Catalog().get("shell"))
    run.output("$ ")
    run.wait(2.0)
    assert run.session.state is State.IDLE
    run.events += run.session.process_changed(ForegroundProcess(("claude",), False), run.now)
    assert run.session.profile.name == "claude"
    run.events += run.session.process_changed(ForegroundProcess(("claude",), False), run.now)
    run.output("\x1b]0;⠂ work\x07")
    run.wait(1.0)
    assert run.changes[-1][1:] == (State.WORKING, "claude/title-spinner")
    run.output("\r\n$ ")
    run.events += run.session.process_changed(ForegroundProcess(("bash",), True), run.now)
    run.wait(3.0)
    assert run.session.state is State.IDLE
    assert [event.profile for event in run.told(ProfileChanged)] == ["claude", "shell"]  # type: ignore[union-attr]


def test_the_last_programs_title_does_not_speak_for_the_next() -> None:
    run = Run(Catalog().get("shell"))
    run.output("\x1b]0;⠂ old\x07")
    run.events += run.session.process_changed(ForegroundProcess(("claude",), False), run.now)
    run.wait(5.0)
    assert run.session.state is State.UNKNOWN


def test_after_the_end_nothing_is_told() -> None:
    run = Run()
    run.output(screen("Allow?"))
    run.wait(2.0)
    run.output(screen("> "))
    run.events += run.session.child_exited(ExitStatus(0, None), run.now)
    assert run.events[-1] == SessionEnded(2.0, ExitStatus(0, None))
    before = list(run.events)
    run.output(screen("Working") + "\x07\x1b]0;x\x07")
    run.type(b"x\r")
    run.events += run.session.resize(Size(5, 20), run.now)
    run.events += run.session.process_changed(ForegroundProcess(("codex",), False), run.now)
    run.events += run.session.child_exited(ExitStatus(None, 9), run.now)
    run.wait(10.0)
    assert run.events == before
    assert run.session.next_deadline is None


# --- the user


def test_keys_alone_tell_nothing() -> None:
    run = Run()
    run.output(screen("> "))
    run.wait(2.0)
    for keys in (b"hello", b"\r", b"\x03", b"\x1b", b"\x1b[A", b"\x1b[200~paste\x1b[201~", b"\x1b[I", b"\x1b[<0;1;1M"):
        run.type(keys)
        run.wait(2.0)
    assert [state for _, state, _ in run.changes] == [State.IDLE]


SHELL = """
schema = 1
name = "line"
[[rule]]
id = "entered"
state = "working"
priority = 400
all = [{ entered = ["prompt"], fresh = 0.35 }]
[[rule]]
id = "prompt"
state = "idle"
settle = 0.3
all = [{ region = "asked", line = '^demo\\$$' }]
"""


def line_run() -> Run:
    run = Run(parse_profile(SHELL, "line.toml", load_builtin))
    run.output("demo$ ")
    run.wait(1.0)
    assert run.session.state is State.IDLE
    return run


def echo(run: Run, keys: str) -> None:
    for key in keys:
        run.type(key.encode())
        run.output(key)
        run.wait(0.05)


def test_a_draft_does_not_hide_the_prompt() -> None:
    run = line_run()
    echo(run, "echo a draft that is long")
    run.wait(5.0)
    assert run.session.explain(run.now).rule is not None
    assert [state for _, state, _ in run.changes] == [State.IDLE]


def test_a_line_that_is_entered_begins_a_turn() -> None:
    run = line_run()
    echo(run, "ls")
    run.type(b"\r")
    run.output("\r\nhello.py\r\ndemo$ ")
    run.wait(5.0)
    assert [rule for _, _, rule in run.changes] == ["line/prompt", "line/entered", "line/prompt"]


@pytest.mark.parametrize("keys", [b"", b"abc\x7f\x7f\x7f"])
def test_an_enter_with_nothing_typed_begins_none(keys: bytes) -> None:
    run = line_run()
    for key in keys:
        run.type(bytes([key]))
        run.output(b"\b \b" if key == 0x7F else bytes([key]))
        run.wait(0.1)
    run.type(b"\r")
    run.output("\r\ndemo$ ")
    run.wait(5.0)
    assert len(run.changes) == 1


def test_type_ahead_begins_none() -> None:
    run = line_run()
    echo(run, "sleep 9")
    run.type(b"\r")
    run.output("\r\n")
    run.wait(2.0)
    echo(run, "ls")
    run.output("\r\ndemo$ ls")
    run.wait(3.0)
    assert [rule for _, _, rule in run.changes] == ["line/prompt", "line/entered"]


# --- anything


@pytest.mark.parametrize("name", ["generic", "claude", "codex", "vibe"])
def test_no_output_or_input_raises(name: str) -> None:
    source = random.Random(11)
    for seed in range(6):
        run = Run(Catalog().get(name))
        for piece in random_cuts(random_stream(random.Random(seed)), source):
            run.output(piece)
            run.type(piece[::-1])
            if source.random() < 0.1:
                size = Size(source.randint(1, 40), source.randint(1, 120))
                run.events += run.session.resize(size, run.now)
            run.wait(source.choice((0.0, 0.01, 0.3, 2.0)))
        run.session.explain(run.now)
        run.wait(1000.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("oikr"), st.binary(max_size=60), st.floats(0, 3)), max_size=20))
def test_no_order_of_calls_raises(calls: list[tuple[str, bytes, float]]) -> None:
    run = Run(Catalog().get("generic"))
    for kind, data, seconds in calls:
        if kind == "o":
            run.output(data)
        elif kind == "i":
            run.type(data)
        elif kind == "r":
            size = Size(1 + len(data) % 30, 1 + sum(data) % 200)
            run.events += run.session.resize(size, run.now)
        else:
            process = ForegroundProcess((data.decode("latin-1"),), bool(len(data) % 2))
            run.events += run.session.process_changed(process, run.now)
        run.wait(seconds)
    run.wait(1000.0)
    assert run.session.next_deadline is None or run.session.next_deadline > run.now


def test_memory_is_bounded() -> None:
    run = Run(Catalog().get("generic"))
    flood = b"x" * 4000 + b"\r\n" + b"\x1b]0;" + b"t" * 4000 + b"\x07" + b"\x1b]7501;state=working:id=a" + b"\x07"
    reports = [f"\x1b]7501;state=working:id={n}:app=x\x07".encode() for n in range(2000)]

    def feed(times: int) -> None:
        for n in range(times):
            run.output(flood + reports[n % len(reports)])
            run.type(b"\x1b]" + b"y" * 4000)
            run.wait(0.1)
            run.events.clear()

    feed(300)
    tracemalloc.start()
    feed(100)
    before = tracemalloc.get_traced_memory()[0]
    feed(300)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 1 << 20
