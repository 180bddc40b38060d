"""Which hosts would be told, and why: the policy and its switches, without any side effect."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest

from lifecycle_wrap import hosts
from lifecycle_wrap.commands.status import HostState, host_status
from lifecycle_wrap.config import Command, Config, load_config, parse_config
from lifecycle_wrap.hosts import ancestry, cmux, selection
from lifecycle_wrap.hosts.base import INTERFACE, Call, Detection, Host, HostError, HostGone, Setup
from lifecycle_wrap.manager import Lookup, Manager
from lifecycle_wrap.projection import LifecycleEvent
from tests.support.events import MemoryHost
from tests.support.terminal import WRAPPER

OLD_SURFACE = {"CMUX_SURFACE_ID": "S", "CMUX_WORKSPACE_ID": "W"}


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Everything at once: every host's marks, with commands that would leave a trace if they were started."""
    monkeypatch.setattr(cmux, "ON_MACOS", True)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in ("tmux", "zellij", "cmux", "herdr"):
        script = binaries / name
        script.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/started\n")
        script.chmod(0o755)
    folder = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder))
        listener.listen()
        listener.settimeout(0)
        yield {
            "PATH": str(binaries),
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": str(tmp_path),
            "TERM": "xterm-256color",
            "HERDR_ENV": "1",
            "HERDR_SOCKET_PATH": str(folder),
            "HERDR_PANE_ID": "w1:p1",
            "CMUX_TUI_SOCKET": str(folder),
            "CMUX_TUI_TERMINAL_ID": "term_" + "0" * 32,
            "ZELLIJ": "0",
            "ZELLIJ_PANE_ID": "3",
            "TMUX": "/tmp/x,1,0",
            "TMUX_PANE": "%1",
            **OLD_SURFACE,
        }
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not (tmp_path / "started").exists()
    assert not (tmp_path / "lifecycle-wrap").exists()


def states(config: Config, environ: Mapping[str, str]) -> dict[str, HostState]:
    return {state.name: state for state in host_status(config, environ).adapters}


def told(config: Config, environ: Mapping[str, str]) -> set[str]:
    return {name for name, state in states(config, environ).items() if state.enabled}


PANES = {"herdr", "cmux-tui", "zellij", "tmux", "cmux"}


def test_all_nested_hosts_are_told_where_that_is_wanted(environ: dict[str, str]) -> None:
    assert told(Config(nesting="all"), environ) == PANES | {"register"}


@pytest.mark.parametrize(
    ("missing", "term", "innermost"),
    [
        ((), "xterm-256color", "herdr"),
        ((), "tmux-256color", "zellij"),
        (("ZELLIJ",), "tmux-256color", "tmux"),
        (("ZELLIJ",), "screen-256color", "tmux"),
        (("HERDR_ENV",), "xterm-256color", "cmux-tui"),
        (("HERDR_ENV", "CMUX_TUI_TERMINAL_ID", "ZELLIJ"), "xterm-ghostty", "cmux"),
        (("HERDR_ENV", "CMUX_TUI_TERMINAL_ID", "ZELLIJ", "CMUX_SURFACE_ID"), "xterm-ghostty", "tmux"),
        (("HERDR_ENV", "CMUX_TUI_TERMINAL_ID", "ZELLIJ", "TMUX"), "xterm-ghostty", "cmux"),
    ],
)
def test_by_default_only_the_innermost(
    environ: dict[str, str], missing: tuple[str, ...], term: str, innermost: str
) -> None:
    left = {name: value for name, value in environ.items() if name not in missing} | {"TERM": term}
    assert told(Config(), left) == {innermost, "register"}
    others = [state for name, state in states(Config(), left).items() if state.detected and name in PANES - {innermost}]
    assert {state.reason for state in others} <= {f'seems to be outside of {innermost} (nesting = "innermost")'}


def test_the_order_is_stable_by_type_and_name(environ: dict[str, str]) -> None:
    config = Config(commands=(Command("b", ("x",)), Command("a", ("x",))))
    names = [(state.type, state.name) for state in host_status(config, environ).adapters]
    assert names == [
        ("broker", "mqtt"),
        ("command", "a"),
        ("command", "b"),
        ("multiplexer", "tmux"),
        ("multiplexer", "zellij"),
        ("native", "cmux-tui"),
        ("native", "herdr"),
        ("register", "register"),
        ("sidebar", "cmux"),
        ("terminal", "orca"),
    ]


def test_the_json_form(environ: dict[str, str]) -> None:
    text = host_status(parse_config("lifecycle.adapters = ['tmux']", "f")[0], environ).to_json()
    answer = json.loads(text)
    assert list(answer) == ["enabled", "reason", "adapters", "osc", "terminal", "notices"]
    assert next(one for one in answer["adapters"] if one["name"] == "tmux") == {
        "name": "tmux",
        "type": "multiplexer",
        "detected": True,
        "enabled": True,
        "reason": "tmux pane and CLI detected",
    }
    assert text.startswith('{\n  "enabled": true')


def test_the_text_form(environ: dict[str, str]) -> None:
    lines = host_status(Config(adapters=("tmux",)), environ).to_text().splitlines()
    assert lines[0] == "Lifecycle: true (enabled)"
    assert lines[2] == "tmux [multiplexer]     detected=true  enabled=true  tmux pane and CLI detected"
    assert lines[1].endswith("detected=false enabled=false not selected by lifecycle.adapters; detection skipped")


class Untouchable(dict[str, str]):
    """An environment in which no host may look for anything."""

    def __contains__(self, key: object) -> bool:
        raise AssertionError(f"looked for {key}")

    def __getitem__(self, key: str) -> str:
        raise AssertionError(f"looked for {key}")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (Config(off_reason="disabled by lifecycle.enabled"), "disabled by lifecycle.enabled; detection skipped"),
        (Config(off_reason="disabled by LIFECYCLE_WRAP=0"), "disabled by LIFECYCLE_WRAP=0; detection skipped"),
        (Config(adapters=()), "not selected by lifecycle.adapters; detection skipped"),
        (
            Config(hosts_off=frozenset(hosts.BUILT_IN)),
            "disabled by LIFECYCLE_WRAP_TMUX=0; detection skipped",
        ),
    ],
)
def test_what_is_off_is_not_looked_for(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, config: Config, reason: str
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a look-up")

    monkeypatch.setattr(shutil, "which", forbidden)
    monkeypatch.setattr(selection, "import_module", forbidden)
    state = states(config, environ)["tmux"]
    assert (state.detected, state.enabled, state.reason) == (False, False, reason)
    assert hosts.visible(config, environ) == []


def test_nothing_to_tell_needs_no_manager(environ: dict[str, str]) -> None:
    assert hosts.wanted(Config(), environ)
    assert hosts.wanted(Config(adapters=(), commands=(Command("a", ("x",)),)), {})
    assert hosts.wanted(Config(adapters=("register",)), {})
    assert not hosts.wanted(Config(adapters=("tmux",)), {})
    assert not hosts.wanted(Config(adapters=()), environ)
    assert not hosts.wanted(Config(off_reason="x", commands=(Command("a", ("x",)),)), environ)


@pytest.mark.parametrize("name", sorted(hosts.BUILT_IN))
def test_each_host_has_its_switch(environ: dict[str, str], tmp_path: Path, name: str) -> None:
    variable = "LIFECYCLE_WRAP_" + name.upper().replace("-", "_")
    config, problems = load_config(None, environ | {variable: "0"})
    assert not problems
    assert states(config, environ)[name].reason == f"disabled by {variable}=0; detection skipped"
    assert name not in told(config, environ)
    file = tmp_path / "broker.toml"
    file.write_text('[lifecycle.broker]\nurl = "mqtt://localhost"\n' if name == "mqtt" else "")
    assert states(load_config(file, environ | {variable: "1"})[0], environ)[name].detected


def test_what_is_missing_is_named() -> None:
    state = states(Config(), {})
    assert state["tmux"].reason == "TMUX not set"
    assert state["herdr"].reason == "HERDR_ENV not set"
    assert state["register"].enabled


def test_commands_run_whatever_the_adapters_are_but_not_when_all_is_off() -> None:
    commands = (Command("a", ("x",)),)
    assert states(Config(adapters=(), commands=commands), {})["a"].reason == "explicitly configured"
    off = states(Config(off_reason="disabled by LIFECYCLE_WRAP=0", commands=commands), {})["a"]
    assert (off.enabled, off.reason) == (False, "disabled by LIFECYCLE_WRAP=0; not started")


def test_status_starts_nothing(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fixture holds that no command ran, nobody connected and no file came to be; this also counts."""
    before = sorted(path.name for path in tmp_path.iterdir())
    threads = threading.active_count()

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a process")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    for nesting in ("innermost", "all"):
        host_status(Config(nesting=nesting), environ)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert threading.active_count() == threads


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_whole_command_starts_reaches_and_writes_nothing(
    environ: dict[str, str], tmp_path: Path, form: list[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [*WRAPPER, "status", *form], env=environ, cwd=Path.cwd(), capture_output=True, text=True, check=True, timeout=60
    )
    assert "herdr pane and socket detected" in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


# What a pane itself says outranks the order of the table.


class Outer(MemoryHost):
    answer: ClassVar[bool | Exception | None] = None

    def __init__(self, setup: Setup) -> None:
        super().__init__(type(self).__name__)

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        return Detection(True, "there")

    def owns_pane(self, call: Call) -> bool | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def choose(
    monkeypatch: pytest.MonkeyPatch,
    *answers: bool | Exception | None,
    nesting: str = "innermost",
    environ: Mapping[str, str] = {},
) -> list[str]:
    classes = [type(f"Host{number}", (Outer,), {"answer": answer}) for number, answer in enumerate(answers)]
    found = [selection.Choice(one.__name__, "t", True, True, "r", one) for one in classes]
    monkeypatch.setattr(selection, "_detect", lambda config, environ: found)
    log: list[str] = []
    made = selection.discover(Config(nesting=nesting), environ, Lookup(Manager(log.append)))
    return [host.name for host in made] + log


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ((None,), ["Host0"]),
        ((False,), []),
        ((True, None), ["Host0"]),
        ((None, True), ["Host1"]),
        ((False, None, None), ["Host1"]),
        ((HostError(), False), ["Host0"]),
        ((HostGone(), None), ["Host1"]),
        ((False, False), []),
    ],
)
def test_the_pane_itself_decides(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[bool | Exception | None, ...], chosen: list[str]
) -> None:
    assert choose(monkeypatch, *answers) == chosen


def test_all_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, False, ZeroDivisionError(), nesting="all") == ["Host0", "Host1"]


@pytest.mark.parametrize("nesting", ["innermost", "all"])
def test_what_an_agent_has_started_tells_only_a_pane_that_is_surely_its_own(
    monkeypatch: pytest.MonkeyPatch, nesting: str
) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        elsewhere = {"LIFECYCLE_WRAP_SESSION": f"{other.pid}:1"}
        assert choose(monkeypatch, None, None, nesting=nesting, environ=elsewhere)
        other.kill()
    over = {"LIFECYCLE_WRAP_SESSION": f"{other.pid}:1"}
    assert choose(monkeypatch, None, None, nesting=nesting, environ=over)
    monkeypatch.setattr(ancestry, "living_session", lambda environ: os.getppid())
    assert choose(monkeypatch, None, False, HostError(), nesting=nesting) == []
    assert choose(monkeypatch, None, True, nesting=nesting) == ["Host1"]


def test_an_adapter_that_breaks_while_it_is_asked_is_alone_in_that(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, ZeroDivisionError(), None) == [
        "Host1",
        'lifecycle-wrap: host "Host0" adapter crashed; it gets nothing more in this session',
    ]


# Adapters of other packages.


class Elsewhere(Host):
    name: ClassVar[str] = "elsewhere"
    interface: ClassVar[int] = INTERFACE
    is_pane: ClassVar[bool] = False

    @classmethod
    def detect(cls, environ: Mapping[str, str]) -> Detection:
        return Detection("ELSEWHERE" in environ, "asked")

    def publish(self, event: LifecycleEvent, call: Call) -> None:
        """Nothing."""

    def release(self, event: LifecycleEvent, call: Call) -> None:
        """Nothing."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with two adapters, one of them broken."""
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        f"[{hosts.ENTRY_POINTS}]\nelsewhere = other_adapter:Elsewhere\nbroken = no_such_module:Nothing\n"
    )
    (tmp_path / "other_adapter.py").write_text(f"from {__name__} import Elsewhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = type(sys)("other_adapter")
    module.Elsewhere = Elsewhere  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "other_adapter", module)


@pytest.mark.usefixtures("package")
def test_an_adapter_of_another_package_is_found_told_and_configured() -> None:
    config, problems = parse_config(
        "[lifecycle]\nadapters = ['elsewhere']\n[lifecycle.hosts.elsewhere]\nurl = 'x'", "f"
    )
    assert not problems
    (host,) = selection.discover(config, {"ELSEWHERE": "1"}, Lookup(Manager(print)))
    assert isinstance(host, Elsewhere)
    assert host.setup.options == {"url": "x"}
    state = states(Config(), {"ELSEWHERE": "1"})
    assert state["elsewhere"] == HostState("elsewhere", "adapter", True, True, "asked")
    assert state["broken"].reason == "its adapter is broken"
    off = states(Config(), {"ELSEWHERE": "1", "LIFECYCLE_WRAP_ELSEWHERE": "0"})["elsewhere"]
    assert off.reason == "disabled by LIFECYCLE_WRAP_ELSEWHERE=0; detection skipped"
    assert states(Config(adapters=("broken",)), {})["elsewhere"].reason.startswith("not selected")


def test_without_other_packages_the_metadata_of_all_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(**_: object) -> list[EntryPoint]:
        raise AssertionError("importlib.metadata was asked")

    monkeypatch.setattr("importlib.metadata.entry_points", forbidden)
    assert hosts.installed() == {}


# What the agent must not inherit.

HERDR = {"HERDR_ENV": "1", "TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("config", "environ", "hidden"),
    [
        ("", HERDR, True),
        ("", {}, False),
        ("lifecycle.herdr_hooks = 'keep'", HERDR, False),
        ("lifecycle.enabled = false", HERDR, False),
        ("lifecycle.adapters = ['tmux']", HERDR, False),
        ("lifecycle.adapters = ['herdr']", HERDR, True),
        ("", HERDR | {"TMUX": "x", "TERM": "tmux-256color"}, False),
        ("lifecycle.nesting = 'all'", HERDR | {"TMUX": "x", "TERM": "tmux-256color"}, True),
        ("", HERDR | OLD_SURFACE, True),
    ],
)
def test_marks_are_hidden_only_where_the_host_is_told(config: str, environ: dict[str, str], hidden: bool) -> None:
    names = hosts.hidden_variables(environ, lambda: parse_config(config, "f")[0])
    assert names == (("HERDR_ENV", "HERDR_AGENT") if hidden else ())


def test_no_configuration_is_read_where_nothing_could_be_hidden() -> None:
    def forbidden() -> Config:
        raise AssertionError("the configuration was read")

    assert hosts.hidden_variables({"TMUX": "x", **OLD_SURFACE}, forbidden) == ()


@pytest.mark.parametrize(
    ("version", "osc", "told"), [("1.2.0", "auto", True), ("1.1.3", "auto", False), ("1.2.0", "off", False)]
)
def test_the_terminal_is_told_progress_where_its_version_draws_it(version: str, osc: str, told: bool) -> None:
    environ = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": version}
    found = host_status(Config(osc=osc), environ).osc
    assert (found.name, found.type, found.detected, found.enabled) == (f"Ghostty {version}", "terminal", True, told)
