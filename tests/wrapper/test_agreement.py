"""All outputs are projections of one event: a timeline is told to every host, and what they got is compared."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle_detectors.events import ExitStatus, Message, SessionEnded, Source, StateChanged
from lifecycle_detectors.parser import Osc, Parser
from lifecycle_detectors.states import State
from lifecycle_wrap.hosts import default_options
from lifecycle_wrap.hosts.tmux import OPTIONS
from lifecycle_wrap.projection import Identity, Kind, LifecycleEvent, Projector
from tests.support.captured import Hosts, all_hosts
from tests.support.outward_session import knowing

T = TypeVar("T")

LABELS = {"working": "Working", "blocked": "Needs input", "idle": "Idle"}

STATES = st.tuples(
    st.sampled_from([State.IDLE, State.WORKING, State.BLOCKED]),
    st.sampled_from(list(Message)),
    st.sampled_from(["", "permission", "question", "auth"]),
)


def events(timeline: list[tuple[State, Message, str]]) -> list[LifecycleEvent]:
    clock = iter(range(1_700_000_000_000_000_000, 1_800_000_000_000_000_000, 7))
    projector = Projector(Identity("claude", 4242, "/work", "run", session_id="s"), lambda: next(clock))
    told = [projector.started()]
    for state, message, kind in timeline:
        told += projector.project([StateChanged(0, state, State.UNKNOWN, "r", Source.TITLE, message, kind)])
    return told + projector.project([SessionEnded(0, ExitStatus(0, None))])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STATES, min_size=1, max_size=8))
def test_every_host_gets_the_same_states_and_numbers(
    tmp_path_factory: pytest.TempPathFactory, timeline: list[tuple[State, Message, str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch, all_hosts(patch, tmp_path_factory.mktemp("r")) as hosts:
        told = events(timeline)
        for event in told:
            hosts.tell(event)
        compare(hosts, told)


def compare(hosts: Hosts, told: list[LifecycleEvent]) -> None:
    states = [event for event in told if event.kind is Kind.STATE]
    release = told[-1]
    lines = [event.to_json() for event in told]
    assert [stdin for _, stdin in hosts.sent["sink"].commands] == lines
    pairs = [(event.state, event.sequence) for event in states]

    reports = [one["params"] for one in hosts.sent["herdr"].lines if one["method"] == "pane.report_agent"]
    leaving = reports[len(states) :]
    assert [(report["state"], report["seq"]) for report in reports[: len(states)]] == pairs
    assert [report["state"] for report in leaving] == ([] if states[-1].state == "idle" else ["idle"])
    assert [report.get("message", "") for report in reports[: len(states)]] == [event.message for event in states]
    (released,) = (one for one in hosts.sent["herdr"].lines if one["method"] == "pane.release_agent")
    assert released["params"]["seq"] >= release.sequence

    reported = [one["params"]["state"] for one in hosts.sent["cmux-tui"].lines]
    assert reported == ["unknown", *(event.state for event in states), "unknown"]

    piped = [json.loads(argv[-1]) for argv, _ in hosts.sent["zellij"].commands if argv[1] == "pipe"]
    assert piped == [{"pane": 3, "agent": "claude", **json.loads(event.to_json())} for event in (*states, release)]
    names = [
        argv[-1] for argv, _ in hosts.sent["zellij"].commands if argv[2] == "rename-pane" and argv[3] == "--pane-id"
    ]
    assert names == [f"claude: {event.message or event.state}" for event in states]

    options = [argv for argv, _ in hosts.sent["tmux"].commands if "-pqu" not in argv]
    values = [tuple(argv[argv.index(option) + 1] for option in OPTIONS) for argv in options]
    assert values == [(event.state, event.message, "claude") for event in states]

    pills = [argv[3] for argv, _ in hosts.sent["cmux"].commands if argv[1] == "set-status"]
    assert pills == [LABELS[event.state] for event in states]

    written = [json.loads(text) for text in hosts.sent["register"].files if text.startswith('{"version"')]
    assert [record["event"] for record in written] == [json.loads(line) for line in lines[:-1]]
    assert hosts.sent["register"].files[-1] == ""

    published = [json.loads(text) for text in hosts.sent["mqtt"].files[1:]]
    assert [(one["state"], one["sequence"]) for one in published if one["kind"] == "state"] == pairs
    assert published[-1]["sequence"] == release.sequence


PROGRESS = {"working": b"9;4;3;0", "blocked": b"9;4;4;100", "idle": b"9;4;0;0"}
IN_ORCA = {"working": "working", "permission": "blocked", "question": "waiting", "auth": "waiting", "idle": "done"}


@settings(max_examples=50, deadline=None)
@given(st.lists(STATES, min_size=1, max_size=8))
def test_the_terminal_is_told_the_same(timeline: list[tuple[State, Message, str]]) -> None:
    """Progress, program status and Orca's sequence are told once for each change of what they show."""
    timeline = [
        (state, message, (kind or "question") if state is State.BLOCKED else "") for state, message, kind in timeline
    ]
    orca_too = default_options() | {"orca": {"orca": "on"}}
    run = knowing(osc="on", host_options=orca_too)
    written = b"".join(run.enter(state, kind=kind) for state, _, kind in timeline)
    payloads = [token.data for token in Parser(text=False).feed(written) if isinstance(token, Osc)]
    told = [(event.state, event.blocked_on) for event in events(timeline) if event.kind is Kind.STATE]

    progress = [payload for payload in payloads if payload.startswith(b"9;4;")]
    assert progress == once([b"9;4;0;0", *(PROGRESS[state] for state, _ in told)])[1:]
    status = [payload.decode() for payload in payloads if payload.startswith(b"7501;")]
    assert status == once(
        [f"7501;state={state}" + (f":kind={kind}" if kind else "") + ":app=generic" for state, kind in told]
    )
    words = once(["done", *(IN_ORCA[kind or state] for state, kind in told)])[1:]
    assert [json.loads(payload[5:])["state"] for payload in payloads if payload.startswith(b"9999;")] == words


def once(values: list[T]) -> list[T]:
    return [value for value, _ in groupby(values)]


def test_the_comparison_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = events([(State.WORKING, Message.WORKING, ""), (State.IDLE, Message.NONE, "")])
    with all_hosts(monkeypatch, tmp_path) as hosts:
        for event in (told[0], told[2], told[3]):
            hosts.tell(event)
        with pytest.raises(AssertionError):
            compare(hosts, told)
