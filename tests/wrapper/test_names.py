"""Host knowledge lives in its adapter: outside of `hosts/` no code names a multiplexer; comments and docstrings may."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = re.compile(r"herdr|cmux|zellij|tmux|orca|\b9999\b", re.IGNORECASE)

# These read what agents print: one multiplexer's passthrough, `ESC P tmux;`, is a form of the sequences they look for.
READERS_OF_PASSTHROUGH = {"parser.py", "osc_filter.py"}

# What the user reads: help texts and the manual.
TEXTS = {"command_line.py", "man.py"}


def docstring_lines(source: str) -> set[int]:
    """Return the lines of all strings that stand as statements of their own."""
    statements = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    strings = (one for one in statements if isinstance(one.value, ast.Constant) and isinstance(one.value.value, str))
    return {line for one in strings for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}


def named_in_code(source: str) -> list[str]:
    documentation = docstring_lines(source)
    return [
        f"{token.start[0]}: {token.string}"
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type != tokenize.COMMENT and token.start[0] not in documentation and NAMES.search(token.string)
    ]


def test_no_multiplexer_outside_of_its_adapter() -> None:
    sources = [path for half in ("wrapper", "detectors") for path in sorted((ROOT / half).rglob("*.py"))]
    exempt = READERS_OF_PASSTHROUGH | TEXTS
    looked_at = [path for path in sources if "hosts" not in path.parts and path.name not in exempt]
    assert len(looked_at) > 20
    named = {str(path.relative_to(ROOT)): found for path in looked_at if (found := named_in_code(path.read_text()))}
    assert named == {}


def test_the_search_finds_names() -> None:
    assert named_in_code('"""tmux"""\n# tmux\nx = "TMUX_PANE"\nzellij = 1\n') == ['3: "TMUX_PANE"', "4: zellij"]
