"""Whether bytes came through whole: what went in is what came out, but for what we put between at a stop.

Where the agent is stopped, the terminal is left and taken again: sequences of ours stand there between its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

OURS = re.compile(rb"\x1b\](?:9;4;|7501;)[^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\)|\x1b\[>q\x1b\]7501;\?\x1b\\\x1b\[c|\x18")
"""What we may write to the terminal or take from the agent while it runs: progress, program status, our questions; and
the CAN that stands for a sequence taken out which has cut another one."""
ANSWERS = re.compile(rb"\x1bP>\|[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\]7501;\?(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c")
"""What a terminal answers to our questions."""

ECHOED = re.compile(rb"\^\[P>\|[^\x1b]*?\^\[\\(?:\^\[\[\?[0-9;]*c)?|\^\[\[\?[0-9;]*c")
"""The same as a shell's terminal echoes it."""

_NOTICE = re.compile(rb"(?:lifecycle-wrap: [^\r\n]*\r\n)*")
_SEQUENCE = re.compile(
    rb"\x1b[\]P_X^][^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\|[\x18\x1a])?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
    rb"|[\x0e\x0f\x18\r\n]"
    # An answer to a question of the agent's that comes while it is stopped: a shell's terminal echoes it.
    rb"|\^\[(?:\[[0-?]*[ -/]*[@-~]|[\]P][^\^]*\^\[\\)"
)
_GAP_LIMIT = 8192
_ANCHORS = (48, 16, 6)
"""So many bytes of the agent's tell where it goes on; fewer where it was stopped again soon."""
_OVERLAP = 256
"""So many of ours at a gap's beginning may look like the agent's next ones."""


def came_through(sent: bytes, came: bytes, *, stops: int = 0) -> tuple[int, str]:
    """Compare.

    Args:
        sent: what the agent printed, or may have.
        came: what came out, from its first byte on; after it may stand what leaves the terminal.
        stops: how often the agent was stopped in between.

    Returns:
        How many of the bytes sent came out, in order and whole; and what is wrong with what stands between, or nothing.
    """
    came = came[_NOTICE.match(came).end() :]  # type: ignore[union-attr]
    position = at = 0
    for stops_left in range(stops, -1, -1):
        length = _common(sent, position, came, at)
        position, at = position + length, at + length
        if position == len(sent) or not stops_left:
            break
        gaps = list(_gaps(sent, position, came, at))
        if not gaps:
            break
        back, end = next((gap for gap in gaps if _is_ours(came[at - gap[0] : gap[1]])), gaps[0])
        if not _is_ours(between := came[at - back : end]):
            return position, f"between the agent's bytes stands {between[:200]!r}"
        position, at = position - back, end
    return position, ""


def _common(sent: bytes, position: int, came: bytes, at: int) -> int:
    """Return the length of what both have from there on."""
    low, high = 0, min(len(sent) - position, len(came) - at)
    while low < high:
        middle = (low + high + 1) // 2
        if sent[position + low : position + middle] == came[at + low : at + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _gaps(sent: bytes, position: int, came: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield how far to go back, and where in `came` the agent's bytes go on from there: further than before."""
    for size in _ANCHORS:
        for back in range(min(_OVERLAP, position, at) + 1):
            anchor = sent[position - back : position - back + size]
            found = came.find(anchor, at - back + 1, at + _GAP_LIMIT) if anchor else -1
            if found >= 0 and _common(sent, position - back, came, found) > back:
                yield back, found


def _is_ours(between: bytes) -> bool:
    """Tell whether there is nothing but sequences."""
    return not _SEQUENCE.sub(b"", between)
