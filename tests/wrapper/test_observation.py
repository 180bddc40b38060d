"""The watch between the pump and an observer: what it shows, when, and what it does about faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle_wrap.log import Log
from lifecycle_wrap.observation import KEPT_LIMIT, LOADING_PATIENCE, LOOK_LIMIT, LOOK_SLICE, Observer, Watch
from tests.detectors.chunking import every_cut


class Recorder(Observer):
    """Remembers what it is shown, and with which time."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str, bytes, float]] = []

    def output(self, data: bytes, now: float) -> bytes:
        self.shown.append(("output", data, now))
        return data.upper()

    def input(self, data: bytes, now: float) -> bytes:
        self.shown.append(("input", data, now))
        return data.upper()

    def look(self, data: bytes, now: float) -> None:
        self.shown.append(("look", data, now))

    def look_input(self, data: bytes, now: float) -> None:
        self.shown.append(("look_input", data, now))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log({"XDG_STATE_HOME": str(tmp_path)})


def make_watch(log: Log, observer: Observer | None = None) -> Watch:
    times = iter(range(1000000))
    watch = Watch(log, clock=lambda: float(next(times)))
    if observer is not None:
        watch.adopt(observer)
    return watch


def look_at_all(watch: Watch) -> None:
    while watch.due:
        watch.look()


def test_bytes_pass_the_observer_first_and_are_looked_at_later(log: Log) -> None:
    recorder = Recorder()
    watch = make_watch(log, recorder)
    recorder.shown.clear()
    assert watch.output(b"agent") == b"AGENT"
    assert watch.input(b"user") == b"USER"
    assert watch.unlooked == len(b"agentuser")
    look_at_all(watch)
    assert [(what, data) for what, data, _ in recorder.shown] == [
        ("output", b"agent"),
        ("input", b"user"),
        ("look", b"agent"),
        ("look_input", b"user"),
    ]
    times = [now for _, _, now in recorder.shown]
    assert times == sorted(times)
    assert watch.unlooked == 0


def test_a_look_is_one_slice_of_one_direction(log: Log) -> None:
    recorder = Recorder()
    watch = make_watch(log, recorder)
    for _ in range(5):
        watch.output(b"x" * (LOOK_SLICE // 2))
    watch.input(b"key")
    watch.output(b"y")
    recorder.shown.clear()
    look_at_all(watch)
    assert [(what, len(data)) for what, data, _ in recorder.shown] == [
        ("look", LOOK_SLICE),
        ("look", LOOK_SLICE),
        ("look", LOOK_SLICE // 2),
        ("look_input", 3),
        ("look", 1),
    ]


def test_a_backlog_is_told(log: Log) -> None:
    watch = make_watch(log, Recorder())
    while watch.unlooked < LOOK_LIMIT:
        assert not watch.full
        watch.output(b"x" * 10000)
    assert watch.full
    watch.look()
    watch.look()
    assert not watch.full


def test_until_the_observer_is_there_bytes_pass_as_they_are_and_are_kept(log: Log) -> None:
    watch = make_watch(log)
    assert (watch.output(b"early"), watch.input(b"keys"), watch.due) == (b"early", b"keys", False)
    recorder = Recorder()
    watch.adopt(recorder)
    assert (watch.to_outer, watch.to_agent) == (b"", b"")
    look_at_all(watch)
    assert [(what, data) for what, data, _ in recorder.shown if what.startswith("look")] == [
        ("look", b"early"),
        ("look_input", b"keys"),
    ]


def test_a_flood_waits_for_the_observer_but_not_for_ever(log: Log) -> None:
    now = [0.0]
    watch = Watch(log, lambda: now[0])
    while watch.unlooked < LOOK_LIMIT:
        assert not watch.full
        watch.output(b"x" * 10000)
    assert watch.full
    assert watch.deadline == LOADING_PATIENCE
    now[0] = LOADING_PATIENCE
    assert not watch.full
    assert watch.deadline is None


def test_what_is_kept_is_bounded_and_the_oldest_goes(log: Log) -> None:
    watch = make_watch(log)
    for number in range(KEPT_LIMIT // 1000 * 3):
        watch.output(b"%03d" % (number % 1000) + b"x" * 997)
        assert watch.unlooked <= KEPT_LIMIT
    watch.output(b"last")
    recorder = Recorder()
    watch.adopt(recorder)
    look_at_all(watch)
    seen = b"".join(data for what, data, _ in recorder.shown if what == "look")
    assert seen.endswith(b"last")
    assert len(seen) > KEPT_LIMIT - 1000


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_program_status_sequence_waits_for_the_observer(log: Log, cut: int) -> None:
    data = b"before\x1b]7501;state=idle\x1b\\after"
    watch = make_watch(log)
    gone = watch.output(data[:cut]) + watch.output(data[cut:])
    assert gone == b"before"
    watch.adopt(Observer())
    assert gone + watch.to_outer == data


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
@pytest.mark.parametrize("waits", [b"\x1b[c", b"\x1b[0c", b"\x1b]7501;state=idle\x07", b"\x1b]7501;?\x18"])
def test_the_question_for_program_status_passes_and_what_depends_on_its_answer_waits(
    log: Log, end: bytes, waits: bytes
) -> None:
    passes = b"\x1b[c\x1b]7501;?" + end + b"drawn\x1b[1c\x1b[31m\x1b]7501;?" + end + b"more"
    data = passes + waits + b"after"
    for pieces in every_cut(data):
        watch = make_watch(log)
        gone = b"".join(watch.output(piece) for piece in pieces)
        assert gone == passes, pieces
        watch.adopt(Observer())
        assert gone + watch.to_outer == data


def test_an_observer_is_told_which_input_the_agent_has_got_already(log: Log) -> None:
    class Late(Recorder):
        def input_gone(self, data: bytes, now: float) -> None:
            self.shown.append(("input_gone", data, now))

    watch = make_watch(log)
    watch.output(b"\x1b]7501;?\x07\x1b[c")
    watch.input(b"answer")
    late = Late()
    watch.adopt(late)
    watch.input(b"key")
    assert [(what, data) for what, data, _ in late.shown] == [
        ("output", b"\x1b]7501;?\x07"),
        ("input_gone", b"answer"),
        ("output", b"\x1b[c"),
        ("input", b"key"),
    ]


@pytest.mark.parametrize(
    "data", [b"text\x1b", b"text\x1b]", b"text\x1b]7", b"\x1b]750", b"\x1b]7502;x\x1b\\", b"\x1b\x1b]75"]
)
def test_what_only_begins_like_one_is_not_lost(log: Log, data: bytes) -> None:
    watch = make_watch(log)
    gone = b"".join(watch.output(data[i : i + 1]) for i in range(len(data)))
    watch.adopt(Observer())
    assert gone + watch.to_outer == data


class Failing(Recorder):
    """Fails in one method, and holds back what `output` and `input` got."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self.held_output = self.held_input = b""
        self._method = method

    def fail(self) -> None:
        """Fail from now on."""
        setattr(self, self._method, self._fail)

    def _fail(self, *_: object) -> bytes:
        raise RuntimeError("on purpose")

    def output(self, data: bytes, now: float) -> bytes:
        self.held_output += data
        return b""

    def input(self, data: bytes, now: float) -> bytes:
        self.held_input += data
        return b""

    def flush_output(self) -> bytes:
        held, self.held_output = self.held_output, b""
        return held

    def flush_input(self) -> bytes:
        held, self.held_input = self.held_input, b""
        return held


@pytest.mark.parametrize("method", ["look", "look_input"])
def test_a_fault_switches_off_and_gives_up_what_was_held(log: Log, method: str) -> None:
    observer = Failing(method)
    watch = make_watch(log, observer)
    observer.fail()
    assert watch.output(b"agent") == b""
    assert watch.input(b"user") == b""
    look_at_all(watch)
    assert (watch.to_outer, watch.to_agent) == (b"agent", b"user")
    assert (watch.output(b"on"), watch.input(b"on"), watch.due, watch.deadline) == (b"on", b"on", False, None)
    told = Path(log.path).read_text()
    assert "RuntimeError" in told
    assert "on purpose" not in told


@pytest.mark.parametrize("method", ["output", "input"])
def test_a_fault_on_the_way_loses_no_byte(log: Log, method: str) -> None:
    observer = Failing(method)
    watch = make_watch(log, observer)
    observer.held_output, observer.held_input = b"held", b"held"
    observer.fail()
    if method == "output":
        assert watch.output(b"agent") == b"heldagent"
        assert watch.to_agent == b"held"
    else:
        assert watch.input(b"user") == b"helduser"
        assert watch.to_outer == b"held"


def test_the_observers_bytes_are_taken_once(log: Log) -> None:
    observer = Observer()
    watch = make_watch(log, observer)
    observer.to_agent += b"answer"
    observer.to_outer += b"progress"
    watch.tell(lambda observer, now: None)
    watch.tell(lambda observer, now: None)
    assert (watch.to_agent, watch.to_outer) == (b"answer", b"progress")
