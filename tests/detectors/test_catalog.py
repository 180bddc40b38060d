"""Which profile a command line gets: through launchers, package runners, interpreters, wrappers; the user's own."""

from __future__ import annotations

import shlex

import pytest

from lifecycle_detectors import Catalog
from lifecycle_detectors.profiles import GENERIC, basename, builtin_names, load_builtin, program_name
from lifecycle_detectors.profiles.catalog import builtin_text

CATALOG = Catalog()

COMMANDS = {
    "claude": "claude",
    "claude --resume abc": "claude",
    "/usr/local/bin/claude": "claude",
    "/home/me/.npm-global/bin/codex exec": "codex",
    "./node_modules/.bin/gemini": "gemini",
    "claude.exe": "claude",
    "C:\\Users\\me\\AppData\\claude.cmd": "claude",
    "env claude": "claude",
    "env -u FOO BAR=1 claude": "claude",
    "sudo -u me codex": "codex",
    "nice -n 5 aider": "aider",
    "timeout 60 llm chat": "llm",
    "timeout 1.5h codex": "codex",
    "time claude": "claude",
    "nohup env A=b qwen": "qwen",
    "caffeinate -i claude": "claude",
    "npx @anthropic-ai/claude-code": "claude",
    "npx -y @anthropic-ai/claude-code@latest --resume": "claude",
    "npx --yes @openai/codex@0.171.0": "codex",
    "npx -p @google/gemini-cli gemini": "gemini",
    "npx --package @google/gemini-cli gemini": "gemini",
    "npx codex": "codex",
    "npm exec -- @openai/codex": "codex",
    "npm exec @openai/codex -- --full-auto": "codex",
    "pnpm dlx @anthropic-ai/claude-code": "claude",
    "yarn dlx @openai/codex": "codex",
    "bunx @anthropic-ai/claude-code": "claude",
    "bunx --bun @openai/codex": "codex",
    "bun x @openai/codex": "codex",
    "uvx aider-chat": "aider",
    "uvx aider": "aider",
    "uvx --from aider-chat aider": "aider",
    "uvx --python 3.12 --from mistral-vibe vibe": "vibe",
    "uv tool run kimi-cli": "kimi",
    "uv run aider": "aider",
    "pipx run aider-chat": "aider",
    "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js": "claude",
    "node --max-old-space-size=8192 /opt/x/node_modules/@openai/codex/bin/codex.js": "codex",
    "bun /home/me/.bun/install/global/node_modules/@google/gemini-cli/dist/index.js": "gemini",
    "node /opt/tools/codex.js": "codex",
    "python -m aider": "aider",
    "python3.12 -X dev -m kimi_cli": "kimi",
    "python -m gptme.cli": "gptme",
    "/usr/bin/python3 /home/me/.local/bin/aider --model x": "aider",
    "pypy3 -m interpreter": "interpreter",
    "/nix/store/abc-claude-code-2.1/bin/.claude-wrapped": "claude",
    "/nix/store/abc-claude-code-2.1/bin/.claude-unwrapped": "claude",
    "mise exec -- claude": "claude",
    "mise x node@22 -- codex": "codex",
    "op run --env-file=.env -- claude": "claude",
    "poetry run aider": "aider",
    "doppler run -- env X=1 codex": "codex",
    "nix run nixpkgs#something": GENERIC,
    "bash": "shell",
    "-zsh": "shell",
    "/usr/bin/fish -l": "shell",
    "bash script.sh": "shell",
    "bash script.sh -c claude": "shell",
    "sh -c": "shell",
    "sh -c claude": "claude",
    "/bin/bash -lc 'claude --resume x'": "claude",
    "zsh -i -c claude": "claude",
    "bash -o pipefail -c 'codex exec'": "codex",
    "fish -c claude": "claude",
    "sh -c 'cd /work && X=1 exec claude'": "claude",
    "sh -c 'if true; then codex; fi'": "codex",
    "sh -c 'git pull\nnpx @openai/codex'": "codex",
    "sh -c 'exec \"$@\"' sh claude --resume x": "claude",
    'sh -c \'"$0" "$@"\' aider --model x': "aider",
    "env X=1 bash -c \"bash -c 'claude'\"": "claude",
    "timeout 60 sh -c 'claude -p hi | tee log'": "claude",
    "sh -c 'echo claude'": "shell",
    "sh -c 'cat aider.py; echo \"codex'": "shell",
    "bash -c 'vim; zsh'": "shell",
    "/usr/bin/env node /opt/lib/node_modules/@anthropic-ai/claude-code/cli.js": "claude",
    "/usr/bin/env -u X node /opt/bin/claude": "claude",
    "env X=1 claude": "claude",
    "uv run python -m aider": "aider",
    "uv run -- python /x/bin/aider": "aider",
    "pipx run env X=1 aider": "aider",
    "uv run --with aider-chat aider": "aider",
    "python -c 'import aider'": GENERIC,
    "vim claude": GENERIC,
    "git commit -m codex": GENERIC,
    "cat aider.py": GENERIC,
    "./my-agent": GENERIC,
    "npx": GENERIC,
    "npx cowsay claude": GENERIC,
    "python": GENERIC,
    "python script.py -m aider": GENERIC,
    "node": GENERIC,
    "env": GENERIC,
    "": GENERIC,
}


@pytest.mark.parametrize("line", COMMANDS)
def test_command_lines(line: str) -> None:
    assert CATALOG.for_command(shlex.split(line.replace("\\", "\\\\"))).name == COMMANDS[line]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("my-agent --fast", "my-agent"),
        ("/opt/bin/my-agent.js", "my-agent"),
        ("env X=1 my-agent", "my-agent"),
        ("nice -n 5 timeout 60 my-agent", "my-agent"),
        ("npx -y @scope/my-agent@1.2", "my-agent"),
        ("npx my-agent", "my-agent"),
        ("node /x/node_modules/@scope/my-agent/dist/index.js", "my-agent"),
        ("node /x/node_modules/.bin/my-agent", "my-agent"),
        ("node my-agent.mjs", "my-agent"),
        ("uv run my-agent", "my-agent"),
        ("uvx my-agent", "my-agent"),
        ("python -m my_agent.cli", "my_agent"),
        ("python3 /x/my-agent.py", "my-agent"),
        ("python -c 'import agent; agent.run()'", "python"),
        ("python", "python"),
        ("node -e 'run(1)'", "node"),
        ("bash -c my-agent", "bash"),
        ("-zsh", "zsh"),
        ("npx", "npx"),
    ],
)
def test_a_program_is_named_through_its_launchers(line: str, name: str) -> None:
    assert program_name(shlex.split(line)) == name


def test_words_with_blanks_and_odd_names_do_no_harm() -> None:
    for argv in (
        [""],
        ["/"],
        ["--"],
        ["npx", ""],
        ["env", ""],
        ["python", "-m"],
        ["npx", "@"],
        ["node", "/"],
        ["sudo"],
    ):
        assert CATALOG.for_command(argv).name == GENERIC


@pytest.mark.parametrize("name", builtin_names())
def test_each_profile_is_found_by_all_that_it_names(name: str) -> None:
    profile = load_builtin(name)
    for command in profile.commands:
        assert CATALOG.for_command([command]).name == name
        assert CATALOG.for_command([f"/opt/bin/{command}", "--help"]).name == name
    for package in profile.packages:
        assert CATALOG.for_command(["npx", "-y", f"{package}@1.2.3"]).name == name
        assert CATALOG.for_command(["uvx", package]).name == name
    for module in profile.modules:
        assert CATALOG.for_command(["python3", "-m", module]).name == name


def test_no_two_profiles_are_for_the_same_command() -> None:
    for kind in ("commands", "packages", "modules"):
        seen: dict[str, str] = {}
        for name in builtin_names():
            for known in getattr(load_builtin(name), kind):
                assert seen.setdefault(known, name) == name


MINE = 'schema = 1\nname = "claude"\ntitle = "Mine"\n[match]\ncommands = ["claude", "my-claude"]\n'


def test_the_users_profile_comes_first() -> None:
    catalog = Catalog({"/p/claude.toml": MINE})
    assert catalog.for_command(["my-claude"]).title == "Mine"
    assert catalog.for_command(["claude"]).title == "Mine"
    assert catalog.get("claude").title == "Mine"
    assert catalog.file("claude") == "/p/claude.toml"
    assert catalog.text("claude") == MINE
    assert catalog.file("codex") == ""
    assert catalog.text("codex") == builtin_text("codex")
    assert catalog.names() == builtin_names()


def test_a_users_profile_may_extend_a_built_in_one() -> None:
    text = 'schema = 1\nname = "mine"\nextends = "claude"\n[match]\ncommands = ["mine"]\n'
    profile = Catalog({"mine.toml": text}).for_command(["mine"])
    assert {rule.id for rule in profile.rules} == {rule.id for rule in load_builtin("claude").rules}


def test_a_profile_that_cannot_be_read_is_told_and_ours_serves() -> None:
    catalog = Catalog({"/p/claude.toml": MINE.replace("title", "titel"), "/p/ok.toml": MINE.replace("claude", "ok")})
    [problem] = catalog.problems
    assert "/p/claude.toml" in str(problem)
    assert catalog.get("claude").title == "Claude Code"
    assert "ok" in catalog.names()


def test_an_unknown_name_is_a_key_error() -> None:
    for call in (CATALOG.get, CATALOG.text, load_builtin):
        with pytest.raises(KeyError):
            call("nothing")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("claude", "claude"),
        ("/a/b/claude.js", "claude"),
        ("a\\b\\codex.exe", "codex"),
        ("/a/b/", "b"),
        ("-bash", "bash"),
    ],
)
def test_basename(path: str, name: str) -> None:
    assert basename(path) == name
