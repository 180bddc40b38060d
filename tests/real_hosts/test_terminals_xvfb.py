"""Terminals with a window, on a display without one: kitty runs the real program, VTE reads what it wrote.

Debian: xvfb, kitty, gir1.2-vte-2.91, python3-gi.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.display import display
from tests.support.orders import Orders
from tests.support.real_terminal import RealTerminal
from tests.support.terminal import WRAPPER, isolated_environment
from tests.support.waiting import wait_until

VTE_READER = Path(__file__).parents[1] / "support" / "vte_reader.py"
SYSTEM_PYTHON = "/usr/bin/python3"
BUSY = 60.0
"""Seconds for what kitty does: it draws by software here, and each look at it starts another kitty."""

needs_display = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no Xvfb here")


def _has_vte() -> bool:
    code = "import gi; gi.require_version('Vte', '2.91')"
    done = (
        subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, check=False)
        if os.path.exists(SYSTEM_PYTHON)
        else None
    )
    return done is not None and done.returncode == 0


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with Orders(tmp_path) as given:
        yield given


UNNAMED = "kitty"
"""The title of a window that no program has named; for a moment at the start it may be another."""


class Kitty:
    """A kitty window on a display that runs one command."""

    def __init__(self, folder: Path, argv: list[str], shown_on: str) -> None:
        self._socket = f"unix:{folder}/kitty"
        self._environ = isolated_environment(folder, LIBGL_ALWAYS_SOFTWARE="1", DISPLAY=shown_on)
        options = ("allow_remote_control=yes", "initial_window_width=100c", "initial_window_height=30c")
        command = ["kitty", "--config", "NONE", "--listen-on", self._socket]
        for option in (*options, "remember_window_size=no", "update_check_interval=0"):
            command += ["-o", option]
        self._process = subprocess.Popen(
            [*command, "--hold", *argv],
            env=self._environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def title(self) -> str:
        """Return the window's title; empty while there is no window."""
        answer = self._remote("ls")
        return str(json.loads(answer)[0]["tabs"][0]["windows"][0]["title"]) if answer else ""

    def text(self) -> str:
        """Return what it shows."""
        return self._remote("get-text")

    def __enter__(self) -> Kitty:
        wait_until(self.title, "a window of kitty's", BUSY)
        return self

    def __exit__(self, *error: object) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(20)

    def _remote(self, *arguments: str) -> str:
        command = ["kitty", "@", "--to", self._socket, *arguments]
        return subprocess.run(command, env=self._environ, capture_output=True, text=True, check=False).stdout


@needs_display
@pytest.mark.skipif(shutil.which("kitty") is None, reason="there is no kitty here")
def test_kitty_shows_the_title_and_gets_it_back(tmp_path: Path, orders: Orders) -> None:
    config = tmp_path / "config.toml"
    config.write_text('title = "state"\n[lifecycle]\nadapters = []\n')
    argv = [*WRAPPER, "--config", str(config), "--", *orders.argv]
    with display() as shown_on, Kitty(tmp_path, argv, shown_on) as kitty:
        wait_until(lambda: "ready" in kitty.text(), kitty.text, BUSY)
        wait_until(lambda: kitty.title() == UNNAMED, kitty.title, BUSY)
        orders.give("state working")
        wait_until(lambda: kitty.title() == "● told_agent", kitty.title, BUSY)
        orders.give("title ◐ fix the bug")
        orders.give("state blocked:kind=permission")
        wait_until(lambda: kitty.title() == "▲ fix the bug", kitty.title, BUSY)
        orders.give("text end")
        orders.give("exit 0")
        wait_until(lambda: kitty.title() == UNNAMED, kitty.title, BUSY)
        assert kitty.text().split("\n")[:2] == ["ready", "end"]


@needs_display
@pytest.mark.skipif(shutil.which("kitty") is None, reason="there is no kitty here")
def test_kitty_is_known_by_its_answer(tmp_path: Path) -> None:
    with display() as shown_on, Kitty(tmp_path, [*WRAPPER, "status"], shown_on) as kitty:
        wait_until(lambda: "Terminal: kitty 0." in kitty.text(), kitty.text, BUSY)
        assert "(by its answer)" in kitty.text()
        assert "notifies by: OSC 99" in kitty.text()


def read_by_vte(data: bytes) -> dict[str, Any]:
    command = [SYSTEM_PYTHON, str(VTE_READER), "30", "100"]
    with display() as shown_on:
        environ = {**os.environ, "DISPLAY": shown_on, "GDK_BACKEND": "x11"}
        done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=BUSY, env=environ)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@needs_display
@pytest.mark.skipif(not _has_vte(), reason="there is no VTE for Python here")
@pytest.mark.parametrize("version", [pytest.param("7006", marks=pytest.mark.slow), "8000"])
def test_vte_shows_the_agents_screen_and_gets_its_title_back(tmp_path: Path, orders: Orders, version: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text('title = "state"\nnotify = "off"\n[lifecycle]\nadapters = []\n')
    argv = [*WRAPPER, "--config", str(config), "--", *orders.argv]
    environ = isolated_environment(tmp_path, VTE_VERSION=version)
    with RealTerminal(argv, environ, version=f"VTE({version})") as terminal:
        orders.give("state working")
        terminal.wait_for("● told_agent")
        orders.give("title one")
        orders.give("text a line ✳ of it")
        terminal.wait_for("● one")
        orders.give("exit 0")
        terminal.wait()
        came = bytes(terminal.output)
    assert (b"\x1b]9;4;3;0\x1b\\" in came) == (version == "8000"), "drawn since 0.80"
    before = b"\x1b]2;the shell's\x1b\\"
    ours = read_by_vte(before + came)
    assert ours["screen"] == read_by_vte("ready\r\na line ✳ of it\r\n".encode())["screen"]
    assert ours["title"] == "the shell's"
    assert read_by_vte(before + came[: came.index(b"\x1b[23;0t")])["title"] == "● one"
