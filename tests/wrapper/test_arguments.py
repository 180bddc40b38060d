"""Where our options end and the agent's command line begins."""

from __future__ import annotations

import pytest

from lifecycle_wrap.arguments import COMMANDS, UsageError, parse


@pytest.mark.parametrize(
    ("line", "agent"),
    [
        ("-- claude", ["claude"]),
        ("claude", ["claude"]),
        ("claude --help", ["claude", "--help"]),
        ("claude --config x --strict", ["claude", "--config", "x", "--strict"]),
        ("claude -- -p", ["claude", "--", "-p"]),
        ("-- status", ["status"]),
        ("-- --version", ["--version"]),
        ("-- -- x", ["--", "x"]),
        ("./claude", ["./claude"]),
        ("--strict -- replay x", ["replay", "x"]),
        ("- x", ["-", "x"]),
    ],
)
def test_the_agent_is_the_first_word_that_is_not_ours(line: str, agent: list[str]) -> None:
    parsed = parse(line.split())
    assert parsed is not None
    assert parsed[1] == agent


def test_options_come_before_the_agent() -> None:
    line = "--config a.toml --profile=codex --strict --debug --explain out -- codex --profile x"
    parsed = parse(line.split())
    assert parsed is not None
    options, agent = parsed
    assert (options.config, options.profile, options.strict, options.debug, options.explain) == (
        "a.toml",
        "codex",
        True,
        True,
        "out",
    )
    assert agent == ["codex", "--profile", "x"]


def test_without_options_nothing_is_set() -> None:
    parsed = parse(["claude"])
    assert parsed is not None
    options = parsed[0]
    assert (options.config, options.profile, options.strict, options.debug, options.explain) == (
        None,
        None,
        False,
        False,
        None,
    )


def test_an_option_may_have_an_empty_value_or_one_with_equals() -> None:
    parsed = parse(["--config=", "--explain=a=b", "x"])
    assert parsed is not None
    assert (parsed[0].config, parsed[0].explain) == ("", "a=b")


@pytest.mark.parametrize("line", ["", "--help", "-h", "--version", "--strict --help", *sorted(COMMANDS)])
def test_commands_and_help_are_for_the_app(line: str) -> None:
    assert parse(line.split()) is None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("--bogus claude", "--bogus"),
        ("-x claude", "-x"),
        ("--strict=1 claude", "--strict=1"),
        ("--config", "--config"),
        ("--", "--"),
        ("--strict", "no agent"),
        ("--config x --", "--"),
    ],
)
def test_a_line_that_cannot_be_understood_is_named(line: str, names: str) -> None:
    with pytest.raises(UsageError, match=names) as error:
        parse(line.split())
    assert "\n" not in str(error.value)
    assert "usage:" in str(error.value) or "--help" in str(error.value)
