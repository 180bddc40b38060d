"""Memory that ends at one place after another: MemoryError before an instruction of ours that needs some."""

from __future__ import annotations

import dis
import sys
from collections.abc import Collection
from functools import cache
from types import CodeType, FrameType
from typing import Any

NEEDS_MEMORY = ("CALL", "BINARY_", "BUILD_", "LIST_", "FORMAT_", "MAKE_")
"""How instructions begin that may allocate."""
COUNTED = ("flush", "+=")
"""How much of a queue is written, the one sum that is made after a fact; two small numbers always find a place."""


class NoMemory:
    """A context in which the memory ends once.

    Args:
        files: ends of the names of the source files whose instructions count.
        after: so many instructions that need memory still get it.

    Attributes:
        came: the memory has ended.
    """

    def __init__(self, files: Collection[str], after: int) -> None:
        self.came = False
        self._files = tuple(files)
        self._left = after
        self._before: Any = None

    def __enter__(self) -> NoMemory:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.endswith(self._files) or self.came:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode" and frame.f_lasti in _places(frame.f_code):
            self._left -= 1
            if self._left < 0:
                self.came = True
                raise MemoryError
        return self._trace


@cache
def _places(code: CodeType) -> frozenset[int]:
    return frozenset(
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith(NEEDS_MEMORY) and (code.co_name, instruction.argrepr) != COUNTED
    )
