"""The configuration: defaults, every key, every error in one line with its remedy, and the environment's switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle_wrap import hosts
from lifecycle_wrap.config import Command, Config, default_path, load_config, parse_config


def problems(text: str, *, strict: bool = False) -> list[str]:
    return [str(problem) for problem in parse_config(text, "c.toml", strict=strict)[1]]


def test_defaults() -> None:
    config, found = parse_config("", "c.toml")
    assert found == ()
    assert config == Config()
    assert config.enabled
    assert (config.adapters, config.nesting, config.osc, config.titles) == (("auto",), "innermost", "auto", False)
    assert (config.program_status, config.background_shell, config.strict) == ("answer", "idle", False)
    assert config.host_options["herdr"] == {"herdr_hooks": "remove"}


def test_every_key() -> None:
    config, found = parse_config(
        """
        program_status = "pass"
        background_shell = "working"
        title = "state"
        notify = "always"
        notify_blocked_after = 1.5
        notify_turn_after = 60
        strict = true

        [lifecycle]
        enabled = false
        adapters = [" TMUX ", "herdr"]
        nesting = "all"
        osc = "on"
        titles = true
        herdr_hooks = "keep"

        [[lifecycle.commands]]
        name = "log"
        command = ["/bin/logger", "-t", "x"]
        timeout = "750ms"
        events = ["state", "session_ended", "attention"]

        [[lifecycle.commands]]
        name = "other"
        command = ["/bin/true"]

        [lifecycle.hosts.elsewhere]
        url = "x"
        """,
        "c.toml",
    )
    assert found == ()
    assert (config.program_status, config.background_shell, config.strict) == ("pass", "working", True)
    assert (config.title, config.notify) == ("state", "always")
    assert (config.notify_blocked_after, config.notify_turn_after) == (1.5, 60.0)
    assert (config.enabled, config.off_reason) == (False, "disabled by lifecycle.enabled")
    assert (config.adapters, config.nesting, config.osc, config.titles) == (("tmux", "herdr"), "all", "on", True)
    assert config.host_options["herdr"] == {"herdr_hooks": "keep"}
    assert config.host_options["elsewhere"] == {"url": "x"}
    assert config.commands == (
        Command("log", ("/bin/logger", "-t", "x"), 0.75, frozenset({"state", "release", "attention"})),
        Command("other", ("/bin/true",), 2.0, frozenset({"state", "release"})),
    )


def test_an_empty_list_of_adapters_stays_empty() -> None:
    assert parse_config("lifecycle.adapters = []", "c.toml")[0].adapters == ()


def sink(extra: str = "", *, name: str = '"a"', command: str = '["/bin/true"]') -> str:
    return f"[[lifecycle.commands]]\nname = {name}\ncommand = {command}\n{extra}\n"


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("lifecycle.adapters = ['']", "lifecycle.adapters", "empty; leave it out"),
        ("lifecycle.adapters = ['tmx']", "lifecycle.adapters", 'did you mean "tmux"?'),
        ("lifecycle.adapters = ['quux']", "lifecycle.adapters", 'expected "auto", "herdr"'),
        ("lifecycle.adapters = ['tmux', 'TMUX']", "lifecycle.adapters", "listed twice; list it once"),
        ("lifecycle.adapters = ['auto', 'tmux']", "lifecycle.adapters", '"auto" cannot be combined'),
        ("lifecycle.adapters = 'auto'", "lifecycle.adapters", 'expected a list of names, such as ["auto"]'),
        ("lifecycle.osc = 'maybe'", "lifecycle.osc", 'expected "off", "auto" or "on"'),
        ("lifecycle.osc = true", "lifecycle.osc", 'expected "off", "auto" or "on"'),
        ("lifecycle.enabled = 1", "lifecycle.enabled", "expected true or false"),
        ("lifecycle.nesting = 'inner'", "lifecycle.nesting", 'did you mean "innermost"?'),
        ("lifecycle.herdr_hooks = 'kept'", "lifecycle.herdr_hooks", 'did you mean "keep"?'),
        ("lifecycle.hosts = 3", "lifecycle.hosts", "expected a table per host"),
        ("lifecycle.hosts.tmux.x = 3", "lifecycle.hosts.tmux", "stand in [lifecycle] itself"),
        ("lifecycle = 3", "lifecycle", "expected a table"),
        ("lifecycle.enable = true", "lifecycle.enable", 'no such key; did you mean "enabled"?'),
        ("xyzzy = 1", "xyzzy", "no such key; known are program_status"),
        ("program_status = 'answers'", "program_status", 'did you mean "answer"?'),
        ("title = true", "title", 'expected "off", "state" or "text"'),
        ("notify = 'focused'", "notify", 'did you mean "unfocused"?'),
        ("notify_turn_after = -1", "notify_turn_after", "expected seconds from 0 to 86400"),
        ("notify_blocked_after = true", "notify_blocked_after", "expected seconds"),
        ("strict = 'yes'", "strict", "expected true or false"),
        ("lifecycle.commands = {}", "lifecycle.commands", "one table [[lifecycle.commands]] for each"),
        ("lifecycle.commands = [3]", "lifecycle.commands[0]", "expected a table [[lifecycle.commands]]"),
        (sink(name='""'), "lifecycle.commands[0].name", "expected a name that is not empty"),
        (sink(name="7"), "lifecycle.commands[0].name", "expected a name that is not empty"),
        (sink(name=f'"{"é" * 33}"'), "lifecycle.commands[0].name", "longer than 64 bytes"),
        (sink(name='"a\\u001bb"'), "lifecycle.commands[0].name", "cannot be printed"),
        (sink(name='"Herdr"'), "lifecycle.commands[0].name", "reserved; choose another"),
        (sink(name='"OSC"'), "lifecycle.commands[0].name", "reserved; choose another"),
        (sink() + sink(name='"A"'), "lifecycle.commands[1].name", "names two commands"),
        (sink(command='[" "]'), "lifecycle.commands[0].command", "executable is empty"),
        (sink(command="[]"), "lifecycle.commands[0].command", "expected a list of strings"),
        (sink(command='"/bin/true"'), "lifecycle.commands[0].command", "expected a list of strings"),
        (sink(command='["/bin/true", 3]'), "lifecycle.commands[0].command", "expected a list of strings"),
        (sink(command=str(["x"] * 65)), "lifecycle.commands[0].command", "at most 64 entries"),
        (sink(command='["x", "a\\u0000b"]'), "lifecycle.commands[0].command", "NUL"),
        (sink(command=str(["x", "é" * 2049])), "lifecycle.commands[0].command", "longer than 4096 bytes"),
        (sink("timeout = 0"), "lifecycle.commands[0].timeout", "above 0 and at most 30"),
        (sink("timeout = 30.1"), "lifecycle.commands[0].timeout", "above 0 and at most 30"),
        (sink("timeout = true"), "lifecycle.commands[0].timeout", "above 0 and at most 30"),
        (sink("timeout = nan"), "lifecycle.commands[0].timeout", "above 0 and at most 30"),
        (sink("timeout = 'soon'"), "lifecycle.commands[0].timeout", 'such as 2, "2s" or "750ms"'),
        (sink("events = ['stat']"), "lifecycle.commands[0].events", 'did you mean "state"?'),
        (sink("events = [[]]"), "lifecycle.commands[0].events", "unknown kind"),
        (sink("events = []"), "lifecycle.commands[0].events", "expected a list of kinds"),
        (sink("comand = 1"), "lifecycle.commands[0].comand", 'did you mean "command"?'),
        ("[[lifecycle.commands]]\nname = 'a'", "lifecycle.commands[0].command", "it is missing"),
        ("[[lifecycle.commands]]\ncommand = ['a']", "lifecycle.commands[0].name", "it is missing"),
    ],
)
def test_an_error_names_file_key_and_remedy_in_one_line(text: str, place: str, remedy: str) -> None:
    (line,) = problems(text)
    assert line.startswith(f"lifecycle-wrap: c.toml: {place}: ")
    assert remedy in line
    assert "\n" not in line


def test_text_that_is_no_toml_tells_the_line() -> None:
    (line,) = problems("a = 1\nb = ]")
    assert line.startswith("lifecycle-wrap: c.toml: it is not valid TOML (")
    assert "line 2" in line


@pytest.mark.parametrize(
    ("value", "seconds"), [("30", 30.0), ("0.5", 0.5), ("'2s'", 2.0), ("'1500ms'", 1.5), ("'3'", 3.0)]
)
def test_durations(value: str, seconds: float) -> None:
    config, found = parse_config(sink(f"timeout = {value}"), "c.toml")
    assert found == ()
    assert config.commands[0].timeout == seconds


def test_a_relative_executable_is_a_problem_only_under_strict() -> None:
    text = sink(command='["logger"]')
    assert problems(text) == []
    for found in (problems(text, strict=True), problems("strict = true\n" + text)):
        assert len(found) == 1
        assert "write the full path" in found[0]
    assert problems(sink(), strict=True) == []


def test_what_is_right_counts_beside_what_is_wrong() -> None:
    config, found = parse_config(
        "program_status = 'pass'\nlifecycle.osc = 3\nlifecycle.titles = true\n" + sink("timeout = 99"), "c.toml"
    )
    assert len(found) == 2
    assert (config.program_status, config.osc, config.titles, config.commands) == ("pass", "auto", True, ())


def test_problems_keep_the_order_of_the_file() -> None:
    places = [problem.key for problem in parse_config("b = 1\na = 1\nlifecycle.z = 1\n" + sink("t = 1"), "f")[1]]
    assert places == ["b", "a", "lifecycle.z", "lifecycle.commands[0].t"]


def test_the_default_path() -> None:
    assert default_path({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/lifecycle-wrap/config.toml")
    assert default_path({"XDG_CONFIG_HOME": "rel", "HOME": "/h"}) == Path("/h/.config/lifecycle-wrap/config.toml")
    assert default_path({"HOME": "/h"}) == Path("/h/.config/lifecycle-wrap/config.toml")


def test_loading(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert load_config(None, environ) == (Config(), ())
    file = tmp_path / "lifecycle-wrap" / "config.toml"
    file.parent.mkdir()
    file.write_text("program_status = 'pass'")
    assert load_config(None, environ)[0].program_status == "pass"
    other = tmp_path / "other.toml"
    other.write_text("lifecycle.titles = true")
    assert load_config(other, environ)[0].titles


def test_a_file_that_cannot_be_read_costs_nothing_but_a_line(tmp_path: Path) -> None:
    absent, binary = tmp_path / "absent.toml", tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    for path, text in (
        (absent, "there is no such file"),
        (binary, "it is not UTF-8 text"),
        (tmp_path, "it cannot be read (Is a directory)"),
    ):
        config, (problem,) = load_config(path, {})
        assert config == Config()
        assert str(problem).startswith(f"lifecycle-wrap: {path}: ")
        assert text in str(problem)


def test_switches_of_the_environment(tmp_path: Path) -> None:
    base = {"XDG_CONFIG_HOME": str(tmp_path)}
    for value, enabled in (("0", False), ("1", True), ("", True), ("false", True), (" 0", True)):
        assert load_config(None, base | {"LIFECYCLE_WRAP": value})[0].enabled is enabled
    config = load_config(None, base | {"LIFECYCLE_WRAP_TMUX": "0", "LIFECYCLE_WRAP_CMUX_TUI": "0"})[0]
    assert config.hosts_off == {"tmux", "cmux-tui"}
    for value, debug in (("1", True), (" 1 ", True), ("0", False), ("true", False)):
        assert load_config(None, base | {"LIFECYCLE_WRAP_DEBUG": value})[0].debug is debug


def test_the_environment_outranks_the_file() -> None:
    config, _ = load_config(None, {"LIFECYCLE_WRAP": "0", "HOME": "/nowhere"})
    assert config.off_reason == "disabled by LIFECYCLE_WRAP=0"


def test_the_packaged_entry_points_are_the_table_of_built_in_hosts() -> None:
    from importlib.metadata import entry_points

    registered = {point.name: point.value for point in entry_points(group=hosts.ENTRY_POINTS)}
    assert {name: host.adapter for name, host in hosts.BUILT_IN.items()} == registered
