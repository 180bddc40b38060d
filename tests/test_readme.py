"""What the README says is true: its blocks parse, its commands and files exist. `.ci/run` runs its `sh` blocks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lifecycle_detectors.profiles import load_builtin, parse_profile
from lifecycle_wrap.arguments import COMMANDS
from lifecycle_wrap.config import parse_config

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    found = [body for name, body in BLOCKS if name == language]
    assert found, f"the README has no {language} block"
    return found


@pytest.mark.parametrize("text", blocks("toml"), ids=lambda text: text.split()[0])
def test_each_toml_block_is_a_configuration_or_a_profile(text: str) -> None:
    if text.startswith("schema"):
        assert parse_profile(text, "README.md", load_builtin).rules
    else:
        assert parse_config(text, "README.md")[1] == ()


@pytest.mark.parametrize("text", blocks("json"))
def test_each_event_is_one_of_ours(text: str) -> None:
    schema = json.loads(resources.files("lifecycle_wrap").joinpath("event.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT))))
def test_each_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"[`\n(\"] *lifecycle-wrap ([a-z][a-z-]+)\b", TEXT))))
def test_each_command_exists(command: str) -> None:
    assert command in COMMANDS


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m ((?:tests|lifecycle)[\w.]*)", TEXT))))
def test_each_module_can_be_run(module: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", f"import importlib.util as u; print(u.find_spec({module!r}) is not None)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert found.stdout.strip() == "True"


def test_the_table_of_agents_names_every_profile_with_recordings() -> None:
    table = TEXT.partition("<!-- agents:")[2].partition("<!-- /agents -->")[0]
    for name in ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi", "cline", "aider", "vibe", "kimi"):
        assert f"| {load_builtin(name).title} |" in table
