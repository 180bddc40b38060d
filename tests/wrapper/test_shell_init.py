"""`shell-init` and `completion` in the real shells, as a new user meets them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from lifecycle_wrap.agents import installed, known
from lifecycle_wrap.commands.shell_init import UnfitNameError, script
from tests.support.registered import run
from tests.support.terminal import isolated_environment, run_to_the_end
from tests.support.waiting import DEADLINE, wait_until

SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell} here"))
    for shell in ("bash", "zsh", "fish")
]
START_UP = {
    "bash": ("~/.bashrc", "PS1='<ready> '\n"),
    "zsh": ("~/.zshrc", "PROMPT='<ready> '\nautoload -Uz compinit && compinit -u\n"),
    "fish": ("~/.config/fish/config.fish", "set -g fish_greeting\nfunction fish_prompt; echo -n '<ready> '; end\n"),
}
AGENT = f"""#!{sys.executable}
import os, sys
print("WRAPPED" if os.environ.get("LIFECYCLE_WRAP_SESSION") else "DIRECT", *sys.argv[1:], flush=True)
if "work" in sys.argv:
    print("\\x1b]7501;state=blocked:kind=permission\\x1b\\\\", end="", flush=True)
    input("allow? ")
"""


def line_for(command: str, file: str) -> str:
    """Return the line that the help of a command tells to add to a start-up file."""
    done = subprocess.run(
        [sys.executable, "-m", "lifecycle_wrap", command, "--help"], capture_output=True, text=True, check=True
    )
    return next(line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if line.strip().startswith(file))


class Home:
    """A new user's home directory, with the program and one agent on PATH."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        bin = folder / "bin"
        bin.mkdir()
        (bin / "lifecycle-wrap").symlink_to(program)
        (bin / "claude").write_text(AGENT)
        (bin / "claude").chmod(0o755)
        self.environ = isolated_environment(folder, PATH=f"{bin}:/usr/local/bin:/usr/bin:/bin")

    def write(self, file: str, text: str) -> None:
        path = self.folder / file.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def shell(self, shell: str) -> pexpect.spawn[bytes]:
        terminal = pexpect.spawn(shell, ["-i"], env=self.environ, dimensions=(30, 100), timeout=DEADLINE)
        terminal.expect_exact(b"<ready> ")
        return terminal


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, Path(sys.executable).with_name("lifecycle-wrap"))


@pytest.fixture(scope="module")
def installed_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as pip installs it from a copy of this repository into a new environment."""
    folder = tmp_path_factory.mktemp("installed")
    root = Path(__file__).parents[2]
    for part in ("wrapper", "detectors"):
        shutil.copytree(root / part, folder / "source" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / part, folder / "source")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([folder / "venv" / "bin" / "pip", "install", "--quiet", folder / "source"], check=True)
    return folder / "venv" / "bin" / "lifecycle-wrap"


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_new_user_installs_it_and_adds_one_line(installed_program: Path, tmp_path: Path, shell: str) -> None:
    home = Home(tmp_path, installed_program)
    del home.environ["PYTHONPATH"]
    adopt(home, shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_new_user_adds_one_line(home: Home, shell: str) -> None:
    adopt(home, shell)


def adopt(home: Home, shell: str) -> None:
    """Be a user who adds the line, starts a new shell, runs an agent and looks at it from elsewhere."""
    file, prompt = START_UP[shell]
    home.write(file, f"{prompt}{line_for('shell-init', file)}\n{line_for('completion', file)}\n")
    home.write("~/script", f"#!/usr/bin/env {shell}\nclaude from script\n")
    terminal = home.shell(shell)

    terminal.sendline(b"claude work")
    terminal.expect_exact(b"WRAPPED work")
    wait_until(lambda: "claude" in run(home.environ, "ps").stdout, "the session in ps")
    waited = run(home.environ, "wait", "claude", "--until", "blocked", "--timeout", "20s")
    assert (waited.returncode, waited.stderr) == (0, "")
    assert f"claude@{Path.cwd().name} blocked" in waited.stdout
    listed = run(home.environ, "ps", "--format", "{agent} {state} {about}").stdout
    assert listed == "claude blocked Waiting for approval\n"
    terminal.sendline(b"yes")
    terminal.expect_exact(b"<ready> ")
    assert run(home.environ, "ps").stdout == ""

    for line, said in (
        (b"claude into pipe | cat", b"DIRECT into pipe"),
        (b"echo x | claude out of pipe", b"DIRECT out of pipe"),
        (b"command claude itself", b"DIRECT itself"),
        (f"{shell} ~/script".encode(), b"DIRECT from script"),
        (b"claude again", b"WRAPPED again"),
    ):
        terminal.sendline(line)
        terminal.expect_exact(said)
        terminal.expect_exact(b"<ready> ")

    terminal.send(b"lifecycle-wrap doct\t")
    terminal.expect_exact(b"doctor")
    terminal.sendline(b" --help")
    terminal.expect_exact(b"Usage: lifecycle-wrap doctor")
    terminal.close(force=True)


def evaluated(shell: str, text: str, line: str, environ: dict[str, str]) -> str:
    """Return what an interactive shell on a terminal shows that has evaluated `text` and runs a line."""
    evaluate = "echo $TEXT | string collect | source" if shell == "fish" else 'eval "$TEXT"'
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    argv = [shell, *options, "-i", "-c", f"{evaluate}\n{line}"]
    shown, _ = run_to_the_end(argv, environ | {"TEXT": text})
    return shown.decode()


@pytest.mark.parametrize("shell", SHELLS)
def test_any_path_of_the_program_is_quoted(home: Home, shell: str) -> None:
    odd = home.folder / 'o\'d \\d $(touch gone) `x` "q"'
    odd.mkdir()
    program = odd / "lifecycle-wrap"
    program.write_text('#!/bin/sh\necho STUB "$@"\n')
    program.chmod(0o755)
    text = script(shell, ["claude"], home.environ, [str(program)])
    assert "STUB -- claude it's $x" in evaluated(shell, text, "claude \"it's\" '$x'", home.environ)
    program.unlink()
    assert "DIRECT it's" in evaluated(shell, text, 'claude "it\'s"', home.environ)
    assert not Path("gone").exists()


@pytest.mark.parametrize("shell", SHELLS[:2])
def test_an_alias_of_the_same_name_goes_through_the_wrapper(home: Home, shell: str) -> None:
    program = home.folder / "stub"
    program.write_text('#!/bin/sh\necho STUB "$@"\n')
    program.chmod(0o755)
    text = "alias claude='claude --mine'\n" + script(shell, ["claude"], home.environ, [str(program)])
    home.write("~/rc", text)
    terminal = pexpect.spawn(shell, ["--norc" if shell == "bash" else "-f", "-i"], env=home.environ, timeout=DEADLINE)
    terminal.sendline(f". {home.folder}/rc; PS1='<ready> '".encode())
    terminal.sendline(b"claude x")
    terminal.expect_exact(b"STUB -- claude --mine x")
    terminal.close(force=True)


def test_the_agents_are_those_of_the_profiles_that_are_installed(home: Home) -> None:
    assert list(installed(home.environ)) == ["claude"]
    assert {"claude", "codex", "gemini"} <= set(known(home.environ))
    assert not {"bash", "sh", "zsh"} & set(known(home.environ))
    profile = 'schema = 1\nname = "mine"\n[match]\ncommands = ["my-agent", "not; a name", 3]\n[[rule]]\nnot even toml'
    home.write("~/.config/lifecycle-wrap/profiles/mine.toml", profile)
    home.write("~/.config/lifecycle-wrap/profiles/broken.toml", "[match\n")
    home.write("~/bin/my-agent", "#!/bin/sh\n")
    os.chmod(home.folder / "bin" / "my-agent", 0o755)
    assert list(installed(home.environ)) == ["claude", "my-agent"]
    shown = run(home.environ, "shell-init", "bash").stdout
    assert "function claude " in shown
    assert "function my-agent " in shown
    assert "codex" not in shown


def test_the_list_can_be_given(home: Home) -> None:
    shown = run(home.environ, "shell-init", "zsh", "codex", "aider").stdout
    assert "function codex " in shown
    assert "function aider " in shown
    assert "claude" not in shown


@pytest.mark.parametrize("name", ["a b", "../x", "x;y", "", "-x", "$(x)", "lifecycle-wrap", "é"])
def test_what_cannot_be_a_function_is_refused(home: Home, name: str) -> None:
    with pytest.raises(UnfitNameError):
        script("bash", [name], home.environ, ["lifecycle-wrap"])


def test_wrong_arguments_are_told(home: Home) -> None:
    for arguments, said in (
        (["tcsh"], "'bash', 'zsh', 'fish'"),
        ([], "Missing argument"),
        (["bash", "--", "a b"], "such as claude"),
    ):
        done = run(home.environ, "shell-init", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr


def test_a_new_shell_does_not_wait_for_the_core_or_for_typer(home: Home) -> None:
    program = (
        "import sys; from lifecycle_wrap.__main__ import main; sys.argv[1:] = ['shell-init', 'bash']\n"
        "main(); print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=home.environ, capture_output=True, text=True, check=True)
    assert "function claude " in done.stdout
    assert not {"lifecycle_detectors", "typer", "dataclasses", "subprocess"} & set(done.stdout.splitlines()[-1].split())
