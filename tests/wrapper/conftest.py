"""What tests of the running program share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place to run in; nothing that was started there outlives the test."""
    place = Place(tmp_path)
    yield place
    place.kill_all()
