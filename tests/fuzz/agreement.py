"""Where the two models may disagree: one table, and the narrow test of whether an entry explains a disagreement.

An entry explains one if what it names is in the input, and the models agree on the input without that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lifecycle_detectors.events import Size
from lifecycle_detectors.screen import HISTORY_ROWS

from .operations import Operations

Difference = Callable[[Size, Operations], str]


class Known(NamedTuple):
    """One thing on which the models differ.

    Attributes:
        why: what it is, and why ours stays as it is.
        leave_out: gives the operations without what it needs.
    """

    why: str
    leave_out: Callable[[Operations], Operations]


def _sequences(written: bytes) -> Callable[[Operations], Operations]:
    """Leave the sequences out that a pattern describes, those too that come about by that."""
    pattern = re.compile(written)

    def leave_out(operations: Operations) -> Operations:
        while True:
            without: Operations = [one if isinstance(one, Size) else pattern.sub(b"", one) for one in operations]
            if without == operations:
                return without
            operations = without

    return leave_out


def _overflowing_resizes(operations: Operations) -> Operations:
    """Leave resizes out where there is more text than the history holds in the narrowest size."""
    columns = min((one.columns for one in operations if isinstance(one, Size)), default=0)
    length = sum(len(one) for one in operations if isinstance(one, bytes))
    if not columns or length < HISTORY_ROWS * columns:
        return operations
    return [one for one in operations if not isinstance(one, Size)]


KNOWN: tuple[Known, ...] = (
    Known(
        "a byte from 80 to 9F in a sequence but OSC: libghostty-vt executes it as C1, to tmux and us it is no control",
        _sequences(
            rb"\x1b[\x00-\x17\x19\x1c-\x1f\x7f\xa0-\xff]*"
            rb"(?:[PX^_][^\x18\x1a\x1b]*|\[?[\x00-\x17\x19\x1c-?\x7f\xa0-\xff]*)[\x80-\x9f]+"
        ),
    ),
    Known(
        "left and right margins (DECLRMM, DECSLRM): the pyte model does not know them; no agent sets them",
        _sequences(rb"\x1b\[\?[0-9;]*69[0-9;]*h"),
    ),
    Known(
        "protected cells (SPA, DECSCA): the pyte model does not know them; no agent sets them",
        _sequences(rb"\x1b[VW]|\x1b\[[0-9;]*\"q"),
    ),
    Known(
        "prompt marks (OSC 133) with a resize or ED 2: libghostty-vt rewrites the prompt's rows, as no other terminal",
        _sequences(rb"\x1b\]133;[^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)?"),
    ),
    Known(
        "tmux's passthrough: a doubled ESC in it is payload to us, as to tmux; to libghostty-vt it ends the string",
        _sequences(rb"\x1bPtmux;"),
    ),
    Known(
        "CBT with a wrap pending: libghostty-vt alone keeps the wrap pending, in the middle of the row",
        _sequences(rb"\x1b\[[0-9;]*Z"),
    ),
    Known(
        "a resize of more text than the history holds: libghostty-vt drops its oldest rows by the page, not by the row",
        _overflowing_resizes,
    ),
)


def reason(size: Size, operations: Operations, difference: Difference) -> str:
    """Return why they disagree, or nothing where no entry, and not all of them together, explain it."""
    whole = _joined([size, *operations])  # the size that it is made in counts as a resize
    needed = [known for known in KNOWN if known.leave_out(whole) != whole]
    for known in needed:
        if not difference(size, known.leave_out(whole)):
            return known.why
    without = whole
    for known in needed:
        without = known.leave_out(without)
    return "several of these" if len(needed) > 1 and not difference(size, without) else ""


def _joined(operations: Operations) -> Operations:
    """The same with neighbouring output made one, so that no sequence is cut."""
    joined: Operations = []
    for one in operations:
        if joined and isinstance(one, bytes) and isinstance(joined[-1], bytes):
            one = joined.pop() + one  # type: ignore[operator]
        joined.append(one)
    return joined
