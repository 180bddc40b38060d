"""Commands of the typer app, run in this process: a tenth of the time of a new one, for tests that run many."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from lifecycle_wrap.commands.cli import app
from lifecycle_wrap.commands.command_line import NAME, run


class Finished(NamedTuple):
    """What a command left: its status and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class Commands:
    """Runs commands as if in a new process with this environment.

    Args:
        environ: the whole environment.
    """

    def __init__(
        self, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._environ = environ
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Finished:
        with self._monkeypatch.context() as patch:
            for name in list(os.environ):
                patch.delenv(name)
            for name, value in self._environ.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", [NAME, *arguments])
            self._capsys.readouterr()
            status = run(app)
            printed = self._capsys.readouterr()
        return Finished(status, printed.out, printed.err)
