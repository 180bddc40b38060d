"""Recording a session: the file that asciinema plays, its limit, marks, annotations and scrubbing."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle_wrap.recordings.recorder import Recorder, RecorderOptions, Scrubber
from lifecycle_wrap.recordings.recording import open_recording
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end
from tests.support.waiting import DEADLINE

AGENT = [sys.executable, str(Path(__file__).parents[1] / "support" / "scripted_agent.py")]
IDLE, WORKING = (rf"say:\x1b]7501;state={state}:app=demo\x1b\\" for state in ("idle", "working"))


def record(folder: Path, options: list[str], steps: list[str], keys: list[tuple[bytes, bytes]]) -> tuple[Path, bytes]:
    """Record a scripted agent; `keys` are (wait for, then type). Returns the file and what the terminal showed."""
    cast = folder / "out.cast"
    argv = [*WRAPPER, "record", *options, str(cast), "--", *AGENT, *steps]
    terminal = pexpect.spawn(argv[0], argv[1:], env=isolated_environment(folder, USER="alice"), timeout=DEADLINE)
    for awaited, typed in keys:
        terminal.expect_exact(awaited)
        terminal.send(typed)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0, terminal.before
    return cast, terminal.before or b""


def texts(cast: Path, kind: str) -> str:
    return "".join(event.text for event in open_recording(cast) if event.kind == kind)


def test_a_recording_holds_what_the_agent_printed_and_not_what_was_typed(tmp_path: Path) -> None:
    cast, _ = record(tmp_path, [], ["say:one", "for:x", "say:two", "for:y"], [(b"one", b"x"), (b"two", b"y")])
    assert texts(cast, "o") == "onetwo"
    assert texts(cast, "i") == ""
    assert open_recording(cast).version == 2


@pytest.mark.parametrize(("options", "said"), [([], b"that the agent prints, "), (["--input"], b"all that you type, ")])
def test_it_warns_of_secrets(tmp_path: Path, options: list[str], said: bytes) -> None:
    record(tmp_path, options, ["say:one", "for:x"], [(said + b"secrets too", b""), (b"one", b"x")])


def test_input_is_recorded_when_asked_for(tmp_path: Path) -> None:
    cast, _ = record(tmp_path, ["--input"], ["say:one", "for:x"], [(b"one", b"x")])
    assert texts(cast, "i") == "x"


def annotated(folder: Path) -> Path:
    """Record an agent that idles, then works, each until the state is in the file."""
    steps = [IDLE, "say:one", "for:x", WORKING, "say:two", "for:y"]
    cast = folder / "out.cast"
    argv = [*WRAPPER, "record", "--annotate", str(cast), "--", *AGENT, *steps]
    terminal = pexpect.spawn(argv[0], argv[1:], env=isolated_environment(folder), timeout=DEADLINE)
    for awaited, typed, mark in ((b"one", b"x", "state:idle"), (b"two", b"y", "state:working")):
        terminal.expect_exact(awaited)
        while mark not in cast.read_text():
            assert terminal.isalive()
        terminal.send(typed)
    terminal.expect(pexpect.EOF)
    return cast


def test_annotate_marks_the_derived_states_and_a_replay_finds_them_again(tmp_path: Path) -> None:
    cast = annotated(tmp_path)
    assert [event.text for event in open_recording(cast) if event.kind == "m"] == ["state:idle", "state:working"]
    argv = [*WRAPPER, "replay", "--json", str(cast)]
    environ = isolated_environment(tmp_path)
    replayed = subprocess.run(argv, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout
    states = [json.loads(line)["state"] for line in replayed.splitlines()]
    assert [state for state, _ in groupby(states)][-2:] == ["idle", "working"]


def test_the_marker_key_marks_and_does_not_reach_the_agent(tmp_path: Path) -> None:
    keys = [(b"one", b"\x1b[19~x")]
    cast, shown = record(tmp_path, ["--marker-key", "F8"], ["say:one", "for:x", "echo"], keys)
    assert texts(cast, "m") == "note:marked"
    assert shown.endswith(b"x".hex().encode())


def test_a_file_that_is_there_is_not_replaced_unless_told(tmp_path: Path) -> None:
    cast = tmp_path / "out.cast"
    cast.write_text("precious")
    argv = [*WRAPPER, "record", str(cast), "--", *AGENT]
    output, status = pexpect.run(
        " ".join(argv), env=isolated_environment(tmp_path), withexitstatus=True, timeout=DEADLINE
    )
    assert status == 2
    assert b"--overwrite" in output
    assert cast.read_text() == "precious"


def test_a_recording_ends_at_its_limit_and_says_so(tmp_path: Path) -> None:
    recorder = Recorder(RecorderOptions(tmp_path / "x.cast", limit=300), 24, 80, ["claude"], {}, 0.0)
    for second in range(50):
        recorder.output(b"0123456789", float(second))
    recorder.close()
    assert (tmp_path / "x.cast").stat().st_size <= 300
    assert "limit of 300 bytes" in recorder.problem
    assert list(open_recording(tmp_path / "x.cast"))


@given(
    st.lists(st.sampled_from(["alice", " ", "x", "/home/alice", "bob", "\n", " me@example.org ", "é"]), max_size=30),
    st.data(),
)
def test_however_the_text_is_cut_no_secret_stays_and_the_layout_does(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    scrubber = Scrubber(["/home/alice", "alice"])
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    scrubbed = "".join(scrubber.feed(piece) for piece in pieces) + scrubber.flush()
    assert "alice" not in scrubbed
    assert "example" not in scrubbed
    assert len(scrubbed) == len(text)
    assert scrubbed.count("\n") == text.count("\n")


def test_scrub_replaces_user_and_home(tmp_path: Path) -> None:
    cast, shown = record(tmp_path, ["--scrub"], [f"say:alice in {tmp_path} \n", "for:x"], [(b"alice", b"x")])
    assert "alice" not in cast.read_text()
    assert str(tmp_path) not in texts(cast, "o")
    assert str(tmp_path).encode() in shown


@pytest.mark.parametrize("option", ["F13", "Enter"])
def test_an_unknown_marker_key_is_refused(tmp_path: Path, option: str) -> None:
    command = " ".join([*WRAPPER, "record", "--marker-key", option, str(tmp_path / "x.cast"), "--", "true"])
    output, status = pexpect.run(command, env=isolated_environment(tmp_path), withexitstatus=True, timeout=DEADLINE)
    assert status == 2
    assert b"F1 to F12" in output


def test_each_line_of_a_recording_is_json(tmp_path: Path) -> None:
    cast, _ = record(tmp_path, [], [r"say:\u2028\x1b[31mred", "for:x"], [(b"red", b"x")])
    header, *events = cast.read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(header)["width"] == 80
    assert [json.loads(line)[1] for line in events] == ["o"] * len(events)


def test_asciinema_plays_the_same_output(tmp_path: Path) -> None:
    """An independent player of the format, in a terminal."""
    cast, shown = record(tmp_path, [], [r"say:one \u2713\r\n", "for:x", "say:two"], [(b"one", b"x")])
    environ = isolated_environment(tmp_path, ASCIINEMA_CONFIG_HOME=str(tmp_path))
    argv = [sys.executable, "-m", "asciinema", "play", "-i", "0.1", str(cast)]
    played, status = run_to_the_end(argv, environ)
    assert (played.decode(), status) == (texts(cast, "o"), 0)
    assert shown.endswith(b"two")


def test_asciinema_reads_the_same_output(tmp_path: Path) -> None:
    """An independent reader of the format."""
    cast, _ = record(tmp_path, [], [r"say:one \u2713\r\n", "for:x", "say:two"], [(b"one", b"x")])
    argv = [sys.executable, "-m", "asciinema", "cat", str(cast)]
    environ = isolated_environment(tmp_path, ASCIINEMA_CONFIG_HOME=str(tmp_path))
    printed = subprocess.run(argv, env=environ, capture_output=True, check=True, timeout=60).stdout
    assert printed.decode() == texts(cast, "o")
