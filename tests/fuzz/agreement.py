"""Where the two models may disagree: one table, and the narrow test of whether an entry explains a disagreement.

An entry explains one if the sequences it names are in the input, and the models agree on the input without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lifecycle_detectors.events import Size

from .operations import Operations


class Known(NamedTuple):
    """One thing on which the models differ.

    Attributes:
        why: what it is, and why ours stays as it is.
        written: the sequences that it needs.
    """

    why: str
    written: re.Pattern[bytes]


KNOWN: tuple[Known, ...] = (
    Known(
        "a byte from 80 to 9F in a sequence but OSC: libghostty-vt executes it as C1, to tmux and us it is no control",
        re.compile(
            rb"\x1b[\x00-\x17\x19\x1c-\x1f\xa0-\xff]*"
            rb"(?:[PX^_][^\x18\x1a\x1b]*|\[?[\x00-\x17\x19\x1c-?\xa0-\xff]*)[\x80-\x9f]+"
        ),
    ),
    Known(
        "left and right margins (DECLRMM, DECSLRM): the pyte model does not know them; no agent sets them",
        re.compile(rb"\x1b\[\?[0-9;]*69[0-9;]*h"),
    ),
    Known(
        "protected cells (SPA, DECSCA): the pyte model does not know them; no agent sets them",
        re.compile(rb"\x1b[VW]|\x1b\[[0-9;]*\"q"),
    ),
    Known(
        "prompt marks (OSC 133) with a resize or ED 2: libghostty-vt rewrites the prompt's rows, as no other terminal",
        re.compile(rb"\x1b\]133;[^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\\\)?"),
    ),
    Known(
        "CBT with a wrap pending: libghostty-vt alone keeps the wrap pending, in the middle of the row",
        re.compile(rb"\x1b\[[0-9;]*Z"),
    ),
)


def reason(size: Size, operations: Operations, difference: Callable[[Size, Operations], str]) -> str:
    """Return why they disagree, or nothing where no entry, and not all of them together, explain it."""
    whole = _joined(operations)
    needed = [known for known in KNOWN if _without(whole, known) != whole]
    for known in needed:
        if not difference(size, _without(whole, known)):
            return known.why
    without = whole
    for known in needed:
        without = _without(without, known)
    return "several of these" if len(needed) > 1 and not difference(size, without) else ""


def _without(operations: Operations, known: Known) -> Operations:
    """Leave an entry's sequences out, those too that come about by that."""
    while True:
        without: Operations = [one if isinstance(one, Size) else known.written.sub(b"", one) for one in operations]
        if without == operations:
            return without
        operations = without


def _joined(operations: Operations) -> Operations:
    """The same with neighbouring output made one, so that no sequence is cut."""
    joined: Operations = []
    for one in operations:
        if joined and isinstance(one, bytes) and isinstance(joined[-1], bytes):
            one = joined.pop() + one  # type: ignore[operator]
        joined.append(one)
    return joined
