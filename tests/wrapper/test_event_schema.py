"""The JSON Schema that comes with us describes the events that we write."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lifecycle_detectors import Message
from lifecycle_wrap.projection import Kind
from tests.support.events import event, release

GOLDEN = sorted((Path(__file__).parents[2] / "fixtures" / "events").glob("*.json"))


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    text = resources.files("lifecycle_wrap").joinpath("event.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    Draft202012Validator.check_schema(loaded)
    return loaded


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_the_golden_events_are_valid(golden: Path, schema: dict[str, Any]) -> None:
    Draft202012Validator(schema).validate(json.loads(golden.read_bytes()))


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("state", ["idle", "working", "blocked"])
def test_what_we_write_is_valid(kind: Kind, state: str, schema: dict[str, Any]) -> None:
    made = release() if kind is Kind.RELEASE else event(state, kind=kind)
    Draft202012Validator(schema).validate(json.loads(made.to_json()))


def test_the_vocabulary_is_the_core_s(schema: dict[str, Any]) -> None:
    assert set(schema["properties"]["message"]["enum"]) == set(Message)
    assert set(schema["properties"]["kind"]["enum"]) == set(Kind)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "done"},
        {"message": "rm -rf /"},
        {"sequence": 0},
        {"title": "x"},
        {"turn_id": "x"},
        {"timestamp": "now"},
    ],
)
def test_what_we_never_write_is_not_valid(change: dict[str, Any], schema: dict[str, Any]) -> None:
    fields = json.loads(event("working").to_json()) | change
    assert not Draft202012Validator(schema).is_valid(fields)
