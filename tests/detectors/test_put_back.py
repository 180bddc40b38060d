from __future__ import annotations

import base64
from pathlib import Path

import pytest

from lifecycle_detectors.controls import BEL
from lifecycle_detectors.osc_filter import OscFilter
from lifecycle_detectors.parser import Control, Osc, Parser
from lifecycle_detectors.profiles import Catalog, ProfileError
from lifecycle_detectors.profiles.format import parse_profile
from lifecycle_detectors.put_back import Answered, PutBack
from lifecycle_wrap.recordings.recording import OUTPUT, open_recording
from tests.detectors.chunking import every_cut

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"

WORKING, BLOCKED, IDLE, DONE = (
    f"\x1b]7501;state={state}:app=x\x07" for state in ("working", "blocked", "idle", "done")
)


def put_back(name: str, *, between: bool = False) -> PutBack:
    return PutBack(Catalog().get(name).answered or Answered(), between)


def through(putting: PutBack, pieces: list[bytes], now: float = 0.0) -> str:
    def decide(osc: Osc) -> bytes | None:
        return putting.report(osc, now) if osc.data.startswith(b"7501") else putting.title(osc, now)

    chosen = OscFilter({0, 2, 7501}, decide)
    return (b"".join(chosen.filter(piece) for piece in pieces) + chosen.flush()).decode()


def answered(name: str, before: str, *, between: bool = False) -> PutBack:
    """Return one that has seen the agent's start, and then its query answered."""
    putting = put_back(name, between=between)
    assert through(putting, [before.encode()]) == before
    putting.active = True
    return putting


def title(text: str) -> str:
    return f"\x1b]0;{text}\x07"


def test_claude_looks_as_if_it_had_not_been_answered() -> None:
    start, turn = title("✳ Claude Code"), [IDLE, title("Claude Code"), WORKING, "text", BLOCKED, WORKING, DONE]
    expected = (
        title("◐ Claude Code") + "text" + title("✳ Claude Code") + title("◐ Claude Code") + title("✳ Claude Code")
    )
    for pieces in every_cut("".join(turn).encode()):
        assert through(answered("claude", start), pieces) == expected, pieces


def test_claudes_half_circles_turn_while_it_works_and_only_then() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    through(putting, [title("Claude Code").encode()])
    assert putting.deadline is None
    through(putting, [WORKING.encode()], now=10.0)
    frames = []
    for _ in range(3):
        assert putting.deadline is not None
        assert putting.next_frame(putting.deadline - 0.01) == b""
        frames.append(putting.next_frame(putting.deadline).decode())
    assert frames == [title("◑ Claude Code"), title("◐ Claude Code"), title("◑ Claude Code")]
    assert putting.deadline == pytest.approx(10.0 + 4 * 0.96)
    assert through(putting, [DONE.encode()], now=13.0) == title("✳ Claude Code")
    assert putting.deadline is None


def test_a_background_shell_of_claude_is_no_work() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    through(putting, [title("Claude Code").encode()])
    shell = base64.b64encode(b"1 shell still running").decode()
    assert through(putting, [WORKING.encode()]) == title("◐ Claude Code")
    assert through(putting, [f"\x1b]7501;state=working:msg={shell}\x07".encode()]) == title("✳ Claude Code")


def test_inside_a_multiplexer_claudes_title_stands_still() -> None:
    putting = answered("claude", title("✳ Claude Code"), between=True)
    turn = [IDLE, title("Claude Code"), WORKING, BLOCKED, WORKING, DONE]
    assert through(putting, ["".join(turn).encode()]) == ""
    assert putting.deadline is None


def test_vibe_marks_its_title_as_the_focus_wants_it() -> None:
    putting = answered("vibe", title("Vibe"))
    assert through(putting, [(IDLE + WORKING + title("Vibe") + BLOCKED).encode()]) == title(">> Vibe") + title("? Vibe")
    assert through(putting, [(WORKING + title("Vibe") + DONE).encode()]) == title(">> Vibe") + title("Vibe")
    assert through(putting, [(title("session") + DONE).encode()]) == title("session"), "the same end is told once"
    putting.has_focus = False
    assert through(putting, [(WORKING + BLOCKED).encode()]) == title(">> session") + "\x07" + title(
        "session - Action Required"
    )
    assert through(putting, [(WORKING + DONE + DONE).encode()]) == title(">> session") + "\x07" + title(
        "session - Task Complete"
    )


def test_nothing_is_put_back_where_nothing_was_taken_away() -> None:
    putting = put_back("claude")
    stream = title("✳ Claude Code") + title("◐ Claude Code")
    assert through(putting, [(stream + WORKING).encode()]) == stream, "only the report is kept back"


def test_an_agent_that_marks_its_titles_itself_is_left_alone() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    marked = title("◐ Claude Code") + title("✳ Claude Code")
    assert through(putting, [(WORKING + marked + BLOCKED + DONE).encode()]) == marked
    putting = answered("vibe", title("Vibe"))
    putting.has_focus = False
    itself = title(">> Vibe") + "\x07" + title("Vibe - Action Required")
    assert through(putting, [(itself + BLOCKED).encode()]) == itself


@pytest.mark.parametrize("agent", ["pi", "vibe"])
def test_a_title_that_needs_no_mark_passes_as_often_as_it_comes(agent: str) -> None:
    putting = answered(agent, title("one"))
    assert through(putting, [(title("one") + title("two") + title("two")).encode()]) == (
        title("one") + title("two") + title("two")
    )


def test_a_cleared_title_stays_cleared() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    through(putting, [title("Claude Code").encode()])
    end = "\x1b]7501;state=clear\x07" + title("")
    assert through(putting, [(WORKING + end).encode()]) == title("◐ Claude Code") + title("")
    assert putting.deadline is None
    assert putting.leave() == b""


def test_a_spinner_of_ours_does_not_outlive_the_agent() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    through(putting, [(title("Claude Code") + WORKING).encode()])
    assert putting.leave().decode() == title("✳ Claude Code")
    assert putting.leave() == b""


def test_where_the_terminal_shows_reports_after_all_the_agents_own_title_is_given() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    through(putting, [(title("Claude Code") + WORKING).encode()])
    assert putting.give_up().decode() == title("Claude Code")
    assert putting.give_up() == b""
    assert putting.deadline is None
    assert through(putting, [title("other").encode()]) == title("other")
    assert put_back("claude").give_up() == b""


def test_records_of_children_change_nothing() -> None:
    putting = answered("claude", title("✳ Claude Code"))
    assert through(putting, [b"\x1b]7501;state=working:id=a1\x07\x1b]7501;state=clear:id=a1\x07"]) == ""


def test_a_title_with_its_own_terminator_keeps_it() -> None:
    putting = answered("vibe", "\x1b]2;Vibe\x1b\\")
    through(putting, [b"\x1b]2;Vibe\x1b\\"])
    assert through(putting, [WORKING.encode()]) == "\x1b]2;>> Vibe\x1b\\"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("[answered]\nbell = ['clear']", "answered.bell"),
        ("[answered]\nsparkle = 1", "answered.sparkle"),
        ("[answered]\nframe_seconds = 0", "answered.frame_seconds"),
        ("[answered.titles]\nworking = ['no place']", "working"),
        ("[answered.titles]\nwaiting = ['{title}']", "waiting"),
        ("[answered]\nresting = '('", "answered.resting"),
    ],
)
def test_a_wrong_table_is_told_with_its_place(table: str, problem: str) -> None:
    with pytest.raises(ProfileError) as told:
        parse_profile(f'schema = 1\nname = "x"\n{table}\n', "x.toml", Catalog().get)
    assert problem in str(told.value)
    assert "\n" not in str(told.value)


# --- recordings of the same scenario, answered and not


def recorded_marks(case: str, putting: PutBack | None) -> list[str]:
    """Return the titles and bells of a recording, in order: as they were, or with what was taken away put back."""
    marks: list[str] = []
    parser = Parser(text=False)
    for event in open_recording(next(RECORDINGS.glob(f"{case}.cast*"))):
        data = event.text.encode("utf-8", "replace") if event.kind == OUTPUT else b""
        if putting is not None:
            putting.active = putting.active or b"\x1b]7501;?" in data
            data = through_filter(putting, data, event.at)
        for token in parser.feed(data):
            if isinstance(token, Osc) and token.data.startswith((b"0;", b"2;")):
                marks.append(token.data[2:].decode())
            elif token == Control(BEL):
                marks.append("bell")
    shapes = [mark.replace("◑", "◐") for mark in marks]
    return [mark for before, mark in zip([None, *shapes], shapes, strict=False) if mark != before]


def through_filter(putting: PutBack, data: bytes, now: float) -> bytes:
    return through(putting, [data], now).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("profile", "answered_case", "unanswered_case", "count"),
    [
        ("claude", "claude/approve-bash.ghostty14", "claude/approve-bash.wezterm", 100),
        ("claude", "claude/background.ghostty14", "claude/background", 100),
        ("vibe", "vibe/approve-bash.ghostty14", "vibe/approve-bash", 5),  # then the model makes up a title
    ],
)
def test_a_recording_that_was_answered_looks_like_one_that_was_not(
    profile: str, answered_case: str, unanswered_case: str, count: int
) -> None:
    unanswered = recorded_marks(unanswered_case, None)
    assert len(unanswered) > 4
    assert recorded_marks(answered_case, put_back(profile))[:count] == unanswered[:count]
