"""The real program with a scripted agent: what a sink is told, and who answers OSC 7501."""

from __future__ import annotations

import json
import os
import pty
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.terminal import WRAPPER, isolated_environment, read_to_the_end
from tests.support.waiting import DEADLINE, wait_until

AGENT = [sys.executable, str(Path(__file__).parents[1] / "support" / "scripted_agent.py")]
QUERY = r"\x1b]7501;?\x07"
DA1 = r"\x1b[c"
ANSWER = b"\x1b]7501;?\x1b\\"
DA1_REPLY = b"\x1b[?62;22c"
PROMPT = rb"[$#] "


def report(state: str) -> str:
    return rf"say:\x1b]7501;state={state}:app=demo\x1b\\"


class Run:
    """One wrapped run: the outer terminal is pexpect's, events go to a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sink = folder / "events.jsonl"
        script = folder / "sink.py"
        script.write_text(f"import sys\nopen({str(self.sink)!r}, 'ab').write(sys.stdin.buffer.read())\n")
        self.config = folder / "config.toml"
        self.config.write_text(
            '[lifecycle]\nadapters = []\n[[lifecycle.commands]]\nname = "file"\n'
            f"command = {json.dumps([sys.executable, str(script)])}\n"
        )
        self.terminal: pexpect.spawn[bytes]

    def start(self, *steps: str, options: tuple[str, ...] = (), agent: list[str] | None = None) -> None:
        argv = [*WRAPPER, "--config", str(self.config), *options, "--", *(agent or AGENT), *steps]
        self.terminal = pexpect.spawn(
            argv[0], argv[1:], env=isolated_environment(self.folder), dimensions=(30, 100), timeout=DEADLINE
        )
        self.terminal.setecho(False)

    def events(self) -> list[dict[str, object]]:
        text = self.sink.read_text() if self.sink.exists() else ""
        return [json.loads(line) for line in text.splitlines() if text.endswith("\n")]

    def states(self) -> list[object]:
        return [event["state"] or event["kind"] for event in self.events()]

    def await_state(self, state: str) -> None:
        wait_until(lambda: self.states()[-1:] == [state], f"the sink is told {state}")

    def end(self) -> tuple[bytes, int | None]:
        self.terminal.expect(pexpect.EOF)
        output = self.terminal.before or b""
        self.terminal.close()
        return output, self.terminal.exitstatus


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run(tmp_path)
    yield made
    if hasattr(made, "terminal"):
        made.terminal.close(force=True)


def test_a_sink_is_told_each_state_in_order_and_the_release_last_and_once(run: Run) -> None:
    run.start(
        *(report("idle"), "for:1", report("working"), "for:2", report("blocked:kind=permission"), "for:3"),
        *(report("working"), "for:4", report("done"), "for:5", "exit:7"),
    )
    for key, state in enumerate(["idle", "working", "blocked", "working", "idle"], start=1):
        run.await_state(state)
        run.terminal.send(str(key))
    output, status = run.end()
    assert status == 7
    assert run.states() == ["idle", "working", "blocked", "working", "idle", "release"]
    assert [event["message"] for event in run.events()][2] == "Waiting for approval"
    sequences = [event["sequence"] for event in run.events()]
    assert sequences == sorted(set(map(int, map(str, sequences))))
    assert b"7501;state" not in output  # the outer terminal never asked for reports


def test_our_answer_comes_right_before_the_device_attributes_of_a_terminal_that_does_not_answer(run: Run) -> None:
    run.start(f"say:{QUERY}{DA1}", "for:c", "echo", report("idle"), "for:end")
    run.terminal.expect_exact(b"\x1b]7501;?\x07\x1b[c")
    run.terminal.send(DA1_REPLY)
    run.terminal.expect_exact((ANSWER + DA1_REPLY).hex().encode())
    run.await_state("idle")
    run.terminal.send("end")
    output, _ = run.end()
    assert b"7501;state" not in output


def test_a_terminal_that_answers_is_the_only_one_to_answer_and_gets_the_reports(run: Run) -> None:
    run.start(f"say:{QUERY}{DA1}", "for:c", "echo", report("idle"), "for:end")
    run.terminal.expect_exact(b"\x1b]7501;?\x07\x1b[c")
    run.terminal.send(ANSWER + DA1_REPLY)
    run.terminal.expect_exact((ANSWER + DA1_REPLY).hex().encode())
    run.terminal.expect_exact(b"\x1b]7501;state=idle:app=demo\x1b\\")
    run.await_state("idle")
    run.terminal.send("end")
    run.end()


def test_with_pass_nothing_is_answered_and_nothing_taken_out(run: Run) -> None:
    run.config.write_text('program_status = "pass"\n' + run.config.read_text())
    run.start(f"say:{QUERY}{DA1}", "for:c", "echo", report("idle"), "for:end")
    run.terminal.expect_exact(b"\x1b]7501;?\x07\x1b[c")
    run.terminal.send(DA1_REPLY)
    run.terminal.expect_exact(DA1_REPLY.hex().encode())
    run.terminal.expect_exact(b"\x1b]7501;state=idle:app=demo\x1b\\")
    run.terminal.send("end")
    run.end()


def test_a_broken_configuration_is_told_after_the_end_and_costs_nothing(run: Run) -> None:
    run.config.write_text("[lifecycle]\nadaptors = []\n")
    run.start("say:hello", "exit:3")
    output, status = run.end()
    assert status == 3
    assert output.startswith(b"hello")
    line = output.removeprefix(b"hello").decode().strip()
    assert line.startswith(f"lifecycle-wrap: {run.config}: lifecycle.adaptors:")
    assert '"adapters"' in line


def test_strict_refuses_a_broken_configuration_before_the_agent_starts(run: Run) -> None:
    run.config.write_text("[lifecycle]\nadaptors = []\n")
    run.start("say:hello", options=("--strict",))
    output, status = run.end()
    assert status == 2
    assert b"hello" not in output
    assert b"lifecycle.adaptors" in output


def test_an_unknown_profile_is_told_with_the_known_ones_and_the_agent_runs(run: Run) -> None:
    run.start("say:hello", options=("--profile", "clod"))
    output, status = run.end()
    assert status == 0
    assert b"hello" in output
    assert b"no profile 'clod'" in output
    assert b"claude" in output


def test_a_profile_of_the_user_names_the_session_and_how_to_resume_it(run: Run) -> None:
    folder = run.folder / ".config" / "lifecycle-wrap" / "profiles"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(
        'schema = 1\nname = "mine"\n[match]\ncommands = ["mine"]\n[session]\noptions = ["--resume"]\n'
        'resume = ["mine", "--resume", "{session_id}"]\n'
    )
    (run.folder / "mine").symlink_to(sys.executable)
    run.start(report("idle"), "for:end", "--resume", "s-1", agent=[str(run.folder / "mine"), AGENT[1]])
    run.await_state("idle")
    run.terminal.send("end")
    run.end()
    told = run.events()[0]
    assert told["session_id"] == "s-1"
    assert told["resume_argv"] == [*WRAPPER, "--", "mine", "--resume", "s-1"]


def test_the_profile_follows_the_program_that_a_shell_brings_to_the_foreground(run: Run) -> None:
    """`gptme` is told by its titles, which mean nothing to the shell around it."""
    program = run.folder / "gptme"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[1:] = {['say:READY', 'for:1', 'say:x', 'for:2']!r}\n"
        f"import runpy\nsys.stdout.write('\\x1b]0;gptme - \\U0001f914 generating - t\\x07')\nsys.stdout.flush()\n"
        f"runpy.run_path({AGENT[1]!r}, run_name='__main__')\n"
    )
    program.chmod(0o755)
    run.start(agent=["bash", "--norc", "--noprofile", "-i"])
    run.terminal.expect(PROMPT)
    run.terminal.send(f"{program}\r")
    run.terminal.expect_exact(b"READY")
    run.await_state("working")
    run.terminal.send("12")
    run.terminal.expect(PROMPT)
    run.terminal.send("exit\r")
    run.end()
    assert run.states()[-1] == "release"


@pytest.mark.parametrize(
    "start",
    [
        "#!/bin/sh\nexec {claude} --resume an-id\n",
        "#!/bin/sh\n{claude} --resume an-id\n",
        "#!/bin/sh\ncd /\nsh -c 'sleep 0; {claude} --resume an-id; true'; true\n",
        "#!{python}\nimport os\nos.execv({claude!r}, ['claude', '--resume', 'an-id'])\n",
    ],
    ids=["exec", "child", "grandchild", "program"],
)
def test_an_agent_that_a_script_starts_is_known(run: Run, start: str) -> None:
    claude, script = run.folder / "claude", run.folder / "start.sh"
    claude.write_text(f"#!{sys.executable}\nprint('\x1b]7501;state=working\x1b\\\\', flush=True)\ninput()\n")
    script.write_text(start.format(claude=str(claude), python=sys.executable))
    for file in (claude, script):
        file.chmod(0o755)
    run.start(agent=[str(script)])
    run.await_state("working")
    wait_until(lambda: run.events()[-1]["session_id"] == "an-id", lambda: str(run.events()))
    run.terminal.send("\r")
    run.end()
    assert run.states()[-1] == "release"


def test_what_else_a_script_starts_does_not_take_its_place(run: Run) -> None:
    """Another profile would forget the progress that the script has told."""
    script = run.folder / "build.sh"
    script.write_text("printf '\\033]9;4;3\\033\\\\'\ncat\nprintf '\\033]9;4;0\\033\\\\'\nread line\n")
    log = run.folder / "why.txt"
    run.start(agent=["bash", str(script)], options=("--explain", str(log)))
    run.await_state("working")
    run.terminal.send("printed by cat\r")
    run.terminal.expect_exact(b"printed by cat\r\n")
    run.terminal.send("\x04")
    run.await_state("idle")
    run.terminal.send("\r")
    run.end()
    assert "generic/" not in log.read_text()
    assert [state for state in run.states() if state] == ["working", "idle", "release"]


def test_an_agent_in_a_shell_is_told_with_its_session(run: Run) -> None:
    program = run.folder / "claude"
    program.write_text(f"#!{sys.executable}\nprint('\x1b]7501;state=working\x1b\\\\', flush=True)\ninput()\n")
    program.chmod(0o755)
    run.start(agent=["bash", "--norc", "--noprofile", "-i"])
    run.terminal.expect(PROMPT)
    run.terminal.send(f"{program} --resume an-id\r")
    run.await_state("working")
    wait_until(lambda: run.events()[-1]["session_id"] == "an-id", lambda: str(run.events()))
    assert run.events()[-1]["resume_argv"][-3:] == ["claude", "--resume", "an-id"]
    run.terminal.send("\r")
    run.terminal.expect(PROMPT)
    run.await_state("idle")
    assert run.events()[-1]["session_id"] == ""
    run.terminal.send("exit\r")
    run.end()


def test_explain_writes_the_reason_of_each_state(run: Run) -> None:
    log = run.folder / "why.txt"
    run.start(report("idle"), "for:1", report("blocked:kind=permission"), "for:2", options=("--explain", str(log)))
    for key, state in (("1", "idle"), ("2", "blocked")):
        run.await_state(state)
        run.terminal.send(key)
    run.end()
    text = log.read_text()
    assert text.index("generic/status-idle") < text.index("generic/status-permission")


def test_an_explain_file_that_cannot_be_written_is_told_after_the_end(run: Run) -> None:
    run.start("say:hello", "exit:3", options=("--explain", str(run.folder / "no" / "why.txt")))
    output, status = run.end()
    assert status == 3
    assert b"cannot be written" in output


def test_an_agent_that_ends_before_the_terminal_has_taken_its_output(tmp_path: Path) -> None:
    """The question at the start is open then, and output waits: both have to come to an end.

    All that is written has to fit into our queue and the kernel's buffers, and not into the latter alone.
    """
    ended = tmp_path / "ended"
    agent = f"import pathlib; input(); print('x' * 30_000, flush=True); pathlib.Path({str(ended)!r}).touch()"
    pid, master = pty.fork()
    if pid == 0:
        argv = [*WRAPPER, "--", sys.executable, "-c", agent]
        os.execvpe(argv[0], argv, isolated_environment(tmp_path))
    asked = b""
    while b"\x1b[c" not in asked:  # from here on nothing is read until the agent is gone
        asked += os.read(master, 4096)
    os.write(master, b"\r")
    wait_until(ended.exists, "the agent has written all")
    output = read_to_the_end(master, time.monotonic() + DEADLINE)
    os.close(master)
    assert output.count(b"x") == 30_000
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
