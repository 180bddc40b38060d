"""Orca, which reads the session's own bytes: whole bytes out, none where nobody asked for them, no content in any."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from lifecycle_detectors.events import TitleChanged
from lifecycle_detectors.parser import Osc, Parser
from lifecycle_detectors.states import State
from lifecycle_wrap.commands.status import HostState, host_status
from lifecycle_wrap.config import Config, load_config, parse_config
from lifecycle_wrap.hosts import default_options
from lifecycle_wrap.hosts.orca import REPEAT_SECONDS
from tests.support.orders import Orders
from tests.support.outward_session import ATTRIBUTES, OutwardSession, version_answer
from tests.support.terminal import isolated_environment
from tests.support.waiting import wait_until
from tests.support.wrapped_agent import Wrapped

AGENT = "told_agent"
PANE = {"ORCA_PANE_KEY": "tab-1:leaf-1"}


def told(state: str, agent: str = "claude") -> bytes:
    return b'\x1b]9999;{"state":"%s","agentType":"%s"}\x1b\\' % (state.encode(), agent.encode())


def options(choice: str) -> dict[str, dict[str, object]]:
    return default_options() | {"orca": {"orca": choice}}


def session(choice: str = "on", environ: dict[str, str] | None = None, **rest: object) -> OutwardSession:
    rest = {"notify": "off", "osc": "off", "host_options": options(choice)} | rest
    return OutwardSession(environ or {}, ATTRIBUTES, **rest)


def test_each_state_is_told_in_its_words_and_once() -> None:
    run = session()
    assert run.enter(State.WORKING) == told("working")
    assert run.enter(State.WORKING) == b""
    assert run.enter(State.BLOCKED, kind="permission") == told("blocked")
    assert run.enter(State.BLOCKED, kind="question") == told("waiting")
    assert run.enter(State.BLOCKED, kind="auth") == b"", "the same word"
    assert run.enter(State.IDLE) == told("done")
    assert run.end() == b""


def test_an_agent_that_has_just_started_has_not_finished() -> None:
    run = session()
    assert run.enter(State.IDLE) == b""
    assert run.end() == b""


@pytest.mark.parametrize("state", [State.WORKING, State.BLOCKED])
def test_the_end_ends_what_stands(state: State) -> None:
    run = session()
    run.enter(state)
    assert run.end(None, signal.SIGKILL).endswith(told("done"))


def test_a_stop_ends_it_and_the_return_tells_it_again() -> None:
    run = session()
    run.enter(State.WORKING)
    assert run.outward.leave(None) == told("done")
    assert run.enter(State.BLOCKED) == b""
    assert run.outward.come_back(run.now) == told("blocked")


def test_a_failure_of_ours_takes_it_back() -> None:
    run = session()
    run.enter(State.WORKING)
    assert run.outward.withdraw() == told("done")


def test_it_is_repeated_before_it_counts_as_stale_and_a_rest_wakes_nobody() -> None:
    run = session()
    run.enter(State.WORKING)
    assert run.outward.deadline == run.now + REPEAT_SECONDS
    assert run.after(REPEAT_SECONDS) == told("working")
    assert run.after(1) == b""
    run.enter(State.IDLE)
    assert run.outward.deadline is None


@pytest.mark.parametrize(("begun", "rest"), [(b"\x1b]0;ti", b"tle\x07"), (b"\xe2\x9c", b"\xb3"), (b"\x1b[3", b"1m")])
def test_it_waits_for_the_end_of_what_the_agent_has_begun(begun: bytes, rest: bytes) -> None:
    run = session()
    passed = run.agent(begun)
    assert run.enter(State.WORKING) == b""
    assert passed + run.agent(rest) == begun + rest + told("working")


@pytest.mark.parametrize(
    ("choice", "environ", "on"),
    [
        ("off", PANE, False),
        ("auto", {}, False),
        ("auto", PANE, True),
        ("on", {}, True),
    ],
)
def test_who_is_told(choice: str, environ: dict[str, str], on: bool) -> None:
    assert session(choice, environ).enter(State.WORKING) == (told("working") if on else b"")


@pytest.mark.parametrize("choice", ["auto", "on"])
def test_a_multiplexer_that_would_swallow_it_is_not_sent_it(choice: str) -> None:
    environ = PANE | {"TMUX": "/tmp/x,1,0", "TERM": "tmux-256color"}
    answers = version_answer("tmux 3.3a") + ATTRIBUTES
    run = OutwardSession(environ, answers, notify="off", osc="off", host_options=options(choice))
    assert run.enter(State.WORKING) == b""
    assert run.end() == b""


def test_by_default_and_where_all_is_off_it_is_not_told() -> None:
    assert OutwardSession(PANE, ATTRIBUTES, notify="off", osc="off").enter(State.WORKING) == b""
    assert session(environ=PANE, off_reason="x").enter(State.WORKING) == b""
    assert session(environ=PANE, hosts_off=frozenset({"orca"})).enter(State.WORKING) == b""


@pytest.mark.parametrize("titles", [False, True])
def test_nothing_of_the_agents_content_is_in_it(titles: bool) -> None:
    run = session(titles=titles)
    run.agent(b"\x1b]0;secret\x07 secret \x1b]7501;state=working:msg=c2VjcmV0\x1b\\")
    run.outward.take([TitleChanged(run.now, "secret")])
    assert run.enter(State.BLOCKED, kind="permission") == told("blocked")


def test_an_agents_own_reports_pass() -> None:
    run = session()
    run.enter(State.WORKING)
    own = b'\x1b]9999;{"state":"blocked","agentType":"x","prompt":"p"}\x07'
    assert run.agent(own) == own


def test_a_name_can_end_no_sequence() -> None:
    run = OutwardSession({}, ATTRIBUTES, profile="claude", notify="off", osc="off", host_options=options("on"))
    run.outward._in_band[0]._agent = 'a"\x1b\\\x07ä'
    written = run.enter(State.WORKING)
    assert [token for token in Parser(text=False).feed(written) if not isinstance(token, Osc)] == []
    assert written.isascii()


def state(config: Config, environ: dict[str, str]) -> HostState:
    return next(one for one in host_status(config, environ).adapters if one.name == "orca")


def test_status_and_configuration_name_it() -> None:
    config, problems = parse_config('lifecycle.orca = "auto"', "f")
    assert not problems
    assert config.host_options["orca"] == {"orca": "auto"}
    assert state(Config(), PANE) == HostState("orca", "terminal", True, False, 'lifecycle.orca is "off"')
    assert state(config, {}).reason == "ORCA_PANE_KEY not set"
    assert state(config, PANE).enabled
    switched = load_config(None, {"LIFECYCLE_WRAP_ORCA": "0", "HOME": "/nowhere"})[0]
    assert state(switched, PANE).reason == "disabled by LIFECYCLE_WRAP_ORCA=0"
    assert [str(one) for one in parse_config('lifecycle.orca = "atuo"', "f")[1]] == [
        'lifecycle-wrap: f: lifecycle.orca: expected "off", "auto" or "on"; did you mean "auto"?'
    ]


def test_the_whole_program(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[lifecycle]\norca = "auto"\n')
    environ = isolated_environment(tmp_path, **PANE)
    with Orders(tmp_path) as orders:
        with Wrapped(orders.argv, environ, ["--config", str(config)]) as wrapped:
            for order, word in (("working", "working"), ("blocked:kind=permission", "blocked"), ("idle", "done")):
                orders.give(f"state {order}")
                wait_until(
                    lambda word=word: told(word, AGENT) in wrapped.output, lambda: bytes(wrapped.output).decode()
                )
            orders.give("state working")
            wait_until(lambda: wrapped.output.count(told("working", AGENT)) == 2, "work again")
            orders.give(f"signal {signal.SIGKILL:d}")
            assert wrapped.wait() == 128 + signal.SIGKILL
        assert wrapped.output.count(told("done", AGENT)) == 2
