"""`config init` and `config show`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lifecycle_wrap import hosts
from lifecycle_wrap.broker_config import BROKER_KEYS, Broker, parse_url
from lifecycle_wrap.commands.config_command import FileExistsProblem, init, show, template
from lifecycle_wrap.config import LIFECYCLE_KEYS, TOP_KEYS, Config, load_config, parse_config
from lifecycle_wrap.environment import SWITCH
from tests.support.registered import run
from tests.support.terminal import isolated_environment


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(tmp_path)


def shown(file: Path, environ: dict[str, str]) -> dict[str, tuple[object, str]]:
    """Return what `show` says of each key before the tables of commands: value and origin."""
    text = show(file, environ).text.split("[[")[0]
    lines = [re.fullmatch(r"(\w+) = (.*?) +# (.*)", line) for line in text.splitlines()]
    return {line[1]: (tomllib.loads(f"x = {line[2]}")["x"], line[3]) for line in lines if line}


def test_the_first_file_changes_nothing() -> None:
    assert parse_config(template(), "t") == (Config(), ())


def test_each_key_of_the_first_file_shows_its_default() -> None:
    text = re.sub(r"^#(\w+ = |\[)", r"\1", template(), flags=re.MULTILINE)
    config, problems = parse_config(text, "t")
    assert problems == ()
    (command,) = config.commands
    assert command.timeout == type(command)("", ()).timeout
    assert command.events == type(command)("", ()).events
    document = tomllib.loads(text)
    options = [option for _, option, _ in hosts.options()]
    assert set(document) == {*TOP_KEYS, "lifecycle"}, "a key is missing in config_template.toml"
    assert set(document["lifecycle"]) == {*LIFECYCLE_KEYS, *options, "broker", "commands"}
    assert set(document["lifecycle"]["broker"]) == set(BROKER_KEYS)
    assert config.broker == Broker(parse_url("mqtts://broker.example"))
    head, _, _ = text.partition("[lifecycle.broker]")
    assert parse_config(head, "t") == (Config(), ())


def test_init_writes_once_and_again_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config.toml"
    init(file, force=False)
    assert file.read_text() == template()
    file.write_text("mine")
    with pytest.raises(FileExistsProblem, match="--force"):
        init(file, force=False)
    assert file.read_text() == "mine"
    init(file, force=True)
    assert file.read_text() == template()


def test_init_as_a_command(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / ".config" / "lifecycle-wrap" / "config.toml"
    done = run(environ, "config", "init")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}\n", "")
    assert load_config(None, environ) == (Config(), ())
    again = run(environ, "config", "init")
    assert (again.returncode, again.stdout, again.stderr.count("\n")) == (1, "", 1)
    assert str(file) in again.stderr
    nowhere = run(environ, "config", "init", "--config", "/proc/nowhere/config.toml")
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (1, 1)
    assert "--config" in nowhere.stderr


def test_without_a_file_all_is_default(environ: dict[str, str], tmp_path: Path) -> None:
    values = shown(tmp_path / "none.toml", environ)
    assert set(values) == {*TOP_KEYS, *LIFECYCLE_KEYS, *(option for _, option, _ in hosts.options())}
    assert {origin for _, origin in values.values()} == {"default"}
    assert values["osc"][0] == "auto"


def test_each_value_tells_where_it_is_from(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        'background_shell = "working"\n\n[lifecycle]\nosc = "onn"  # wrong\nherdr_hooks = "keep"\n'
        'adapters = [\n  "tmux",\n]\n'
    )
    values = shown(file, environ)
    assert values["background_shell"] == ("working", "line 1")
    assert values["osc"] == ("auto", "default, for line 4 is wrong")
    assert values["herdr_hooks"] == ("keep", "line 5")
    assert values["adapters"] == (["tmux"], "line 6")
    assert values["nesting"] == ("innermost", "default")


def test_the_environment_has_the_last_word(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[lifecycle]\nenabled = true\n")
    switched = environ | {SWITCH: "0", "LIFECYCLE_WRAP_TMUX": "0", "LIFECYCLE_WRAP_DEBUG": "1"}
    assert shown(file, switched)["enabled"] == (False, "LIFECYCLE_WRAP=0 in the environment")
    text = show(file, switched).text
    assert "# LIFECYCLE_WRAP_TMUX=0 in the environment: tmux is not told" in text
    assert "# LIFECYCLE_WRAP_DEBUG=1 in the environment" in text


def test_what_is_shown_can_be_written_as_a_file(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        'strict = true\n[lifecycle]\nadapters = []\n[[lifecycle.commands]]\nname = "bad"\n[[lifecycle.commands]]\n'
        'name = "lög"\ncommand = ["/bin/x", "a\\"b"]\ntimeout = "750ms"\nevents = ["attention"]\n'
        '[lifecycle.broker]\nurl = "mqtt://[::1]"\nfields = []\n[lifecycle.hosts."my host"]\nkey = "value"\n'
    )
    answer = show(file, environ)
    assert 'name = "lög"' in answer.text
    assert re.search(r"timeout = 0.75 +# line 9\n", answer.text)
    assert re.search(r'url = "mqtt://\[::1\]:1883" +# line 12\n', answer.text)
    copy = tmp_path / "copy.toml"
    copy.write_text(answer.text)
    assert load_config(copy, environ) == (load_config(file, environ)[0], ())


def test_show_as_a_command_tells_what_is_wrong(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[lifecycle]\nadaptors = []\n")
    done = run(environ, "config", "show", "--config", str(file))
    assert done.returncode == 1
    assert done.stdout.startswith(f"# {file}\nprogram_status = ")
    assert done.stderr.startswith(f"lifecycle-wrap: {file}: lifecycle.adaptors: ")
    assert '"adapters"' in done.stderr
    file.write_text("[lifecycle")
    broken = run(environ, "config", "show", "--config", str(file))
    assert (broken.returncode, broken.stderr.count("\n")) == (1, 1)
    assert "not valid TOML" in broken.stderr
