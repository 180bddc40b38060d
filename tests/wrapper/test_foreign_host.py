"""A host of another package: installed by pip as by a user, seen by `status`, told by a run; versions that differ."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from lifecycle_wrap.hosts.base import INTERFACE
from tests.support.registered import run
from tests.support.terminal import WRAPPER, isolated_environment, run_to_the_end
from tests.support.waiting import DEADLINE, wait_until

PACKAGE = Path(__file__).parents[1] / "support" / "example_host"
ADAPTER = "lifecycle_wrap_example.py"
AGENT = r"""
printf '\033]7501;state=working\033\\'; read -r line
printf '\033]7501;state=blocked:kind=permission\033\\'; read -r line
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed example package; pip needs no network for it."""
    folder = tmp_path_factory.mktemp("example")
    source = shutil.copytree(PACKAGE, folder / "source")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, timeout=120)
    return folder / "site"


@pytest.fixture
def environ(tmp_path: Path, site: Path) -> dict[str, str]:
    path = f"{site}:{os.getcwd()}"
    return isolated_environment(tmp_path, PYTHONPATH=path, EXAMPLE_PANE=str(tmp_path / "pane"))


def row(environ: dict[str, str]) -> str:
    """Return what `status` says of the host."""
    return next(line for line in run(environ, "status").stdout.splitlines() if "example" in line)


def test_status_shows_it(environ: dict[str, str]) -> None:
    assert f"the pane is {environ['EXAMPLE_PANE']}" in row(environ)
    assert "EXAMPLE_PANE not set" in row({**environ, "EXAMPLE_PANE": ""})
    assert "disabled by LIFECYCLE_WRAP_EXAMPLE=0" in row({**environ, "LIFECYCLE_WRAP_EXAMPLE": "0"})


def test_a_run_tells_it(environ: dict[str, str]) -> None:
    pane = Path(environ["EXAMPLE_PANE"])
    terminal = pexpect.spawn(WRAPPER[0], [*WRAPPER[1:], "--", "sh", "-c", AGENT], env=environ, timeout=DEADLINE)
    for state in ("working Working", "blocked Waiting for approval"):
        wait_until(lambda wanted=state: pane.exists() and pane.read_text().endswith(f"{wanted}\n"), f"it to be {state}")  # type: ignore[misc]
        terminal.sendline()
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert pane.read_text() == "working Working\nblocked Waiting for approval\nreleased\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            f"interface = {INTERFACE + 1}",
            f"is made for version {INTERFACE + 1} of the host interface, ours is {INTERFACE}",
        ),
        ("", f"names no version of the host interface, ours is {INTERFACE}"),
        ("raise RuntimeError", "its adapter is broken"),
    ],
)
def test_one_that_does_not_fit_is_left_out_and_the_agent_runs(
    environ: dict[str, str], tmp_path: Path, site: Path, line: str, said: str
) -> None:
    other = shutil.copytree(site, tmp_path / "site")
    adapter = other / ADAPTER
    text = adapter.read_text()
    assert "    interface = 1\n" in text
    adapter.write_text(text.replace("    interface = 1\n", f"    {line}\n"))
    environ["PYTHONPATH"] = environ["PYTHONPATH"].replace(str(site), str(other))
    assert said in row(environ)
    shown, status = run_to_the_end([*WRAPPER, "--", "echo", "agent ran"], environ)
    assert (b"agent ran" in shown, status) == (True, 0)
    assert not Path(environ["EXAMPLE_PANE"]).exists()
