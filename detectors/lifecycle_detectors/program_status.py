r"""OSC 7501, the Program Status Protocol: one report taken apart, and the records that reports leave.

Owns the protocol's grammar, its limits and the lifetime of its records (Mitchell Hashimoto's specification, revision
0.4, superlogical.com/rex/docs/build/program-status; where it leaves freedom, DESIGN.md decides). Not: finding the
sequence in the stream (parser.py), answering the query (answer.py), what a record means for the agent (rules.py).

    ESC ] 7501 ; key=value : key=value ... (BEL | ESC \)
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

MAX_SEQUENCE = 4096
"""Bytes of a whole sequence, from its ESC to the end of its terminator."""
MAX_RECORDS = 256
"""Records kept; the least recently updated leaves first."""
MAX_TITLE = 192
MAX_MESSAGE = 2048
"""Bytes of the decoded texts; the encoded ones may have the base64 length of that."""
_MAX_KEY = 16
_MAX_APP = 32
_MAX_ID = 128
_MAX_ID_LEVELS = 8

_PAIR = re.compile(rb"([a-z]+)=([A-Za-z0-9_.,+/=-]*)")
_SEGMENT = re.compile(r"[A-Za-z0-9_.+-]{1,32}")
_APP = re.compile(r"[A-Za-z0-9_.+-]+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")


class ProgramState(StrEnum):
    """What a program says of itself."""

    IDLE = "idle"
    WORKING = "working"
    DONE = "done"
    BLOCKED = "blocked"
    ERROR = "error"
    CLEAR = "clear"
    """Says nothing of the program: it takes records away, and is never a record's."""


class BlockedKind(StrEnum):
    """What a blocked program waits for."""

    PERMISSION = "permission"
    QUESTION = "question"
    AUTH = "auth"


@dataclass(frozen=True, slots=True)
class StatusQuery:
    """`7501;?`: the program asks whether the terminal knows the protocol."""


@dataclass(frozen=True, slots=True)
class StatusReport:
    """One accepted report.

    Attributes:
        id: path of the record, `""` for the root.
        state: what the program does; of a report, `clear` too.
        kind: only with blocked; `""` where absent or unknown.
        progress: 0 to 100, only with working and blocked.
        app: the program's name, or `""`.
        title: decoded; content of the user, not to leave this machine unasked.
        message: as title.
    """

    id: str
    state: ProgramState
    kind: BlockedKind | Literal[""] = ""
    progress: int | None = None
    app: str = ""
    title: str = ""
    message: str = ""


class _RejectedError(Exception):
    """The report breaks a rule that costs it whole."""


def parse_program_status(body: bytes, *, sequence_length: int) -> StatusReport | StatusQuery | None:
    """Take a report apart.

    Args:
        body: what follows `7501;`, without the terminator.
        sequence_length: bytes of the whole sequence, introducer and terminator included.

    Returns:
        None for a report that is to be ignored: over a limit, without a known state, with a bad id or an undecodable
        text. A malformed pair is skipped, an unknown key ignored, and of a repeated key the last one counts, though the
        limits bind each.
    """
    if body == b"?":
        return StatusQuery()
    if sequence_length > MAX_SEQUENCE:
        return None
    values: dict[str, str] = {}
    try:
        for pair in body.split(b":"):
            _read_pair(pair, values)
    except _RejectedError:
        return None
    return _report(values)


def _read_pair(pair: bytes, values: dict[str, str]) -> None:
    written = _PAIR.fullmatch(pair)
    if not written:
        return
    key = written[1].decode("ascii")
    if len(key) > _MAX_KEY:
        raise _RejectedError
    if key == "title":
        values[key] = _text(written[2], MAX_TITLE)
    elif key == "msg":
        values[key] = _text(written[2], MAX_MESSAGE)
    else:
        values[key] = written[2].decode("ascii")
    if key == "id" and not _is_id(values[key]):
        raise _RejectedError
    if key == "app" and len(values[key]) > _MAX_APP:
        raise _RejectedError


def _report(values: Mapping[str, str]) -> StatusReport | None:
    if values.get("state") not in list(ProgramState):
        return None
    state, app = ProgramState(values["state"]), values.get("app", "")
    return StatusReport(
        values.get("id", ""),
        state,
        kind=_kind(values.get("kind", "")) if state is ProgramState.BLOCKED else "",
        progress=_percent(values.get("progress", ""))
        if state in (ProgramState.WORKING, ProgramState.BLOCKED)
        else None,
        app=app if _APP.fullmatch(app) else "",
        title=values.get("title", ""),
        message=values.get("msg", ""),
    )


def _is_id(path: str) -> bool:
    segments = path.split("/")
    return (
        len(path) <= _MAX_ID
        and len(segments) <= _MAX_ID_LEVELS
        and all(_SEGMENT.fullmatch(segment) for segment in segments)
    )


def _kind(written: str) -> BlockedKind | Literal[""]:
    return BlockedKind(written) if written in list(BlockedKind) else ""


def _percent(written: str) -> int | None:
    return int(written) if re.fullmatch(r"[0-9]{1,3}", written) and int(written) <= 100 else None


def _text(encoded: bytes, limit: int) -> str:
    """Decode one line of text; the padding may be missing."""
    if not _BASE64.fullmatch(encoded) or len(encoded) > -(-limit // 3) * 4:
        raise _RejectedError
    try:
        decoded = binascii.a2b_base64(encoded.rstrip(b"=") + b"=" * (-len(encoded.rstrip(b"=")) % 4), strict_mode=True)
        text = decoded.decode("utf-8")
    except ValueError:
        raise _RejectedError from None
    if len(decoded) > limit or any(unicodedata.category(character) == "Cc" for character in text):
        raise _RejectedError
    return text


class StatusRecords:
    """What a terminal keeps of the reports: one record per id, at most `MAX_RECORDS`."""

    def __init__(self) -> None:
        self._records: dict[str, StatusReport] = {}  # the least recently updated first

    @property
    def records(self) -> Mapping[str, StatusReport]:
        """The last report of each id, least recently updated first; the root's id is `""`."""
        return MappingProxyType(self._records)

    @property
    def root(self) -> StatusReport | None:
        """The record of the program as a whole."""
        return self._records.get("")

    def apply(self, report: StatusReport) -> None:
        """Put the report in the place of its id's record; `clear` takes the record and all below it, without id all."""
        if report.state is ProgramState.CLEAR:
            self._keep(lambda path, _: not _is_within(path, report.id))
            return
        self._records.pop(report.id, None)
        if len(self._records) >= MAX_RECORDS:
            del self._records[next(iter(self._records))]
        self._records[report.id] = report

    def clear_on_prompt(self) -> None:
        """A shell's prompt (OSC 133 A) shows that the programs before it are over."""
        self.end_process()

    def end_process(self) -> None:
        """The program is gone: what it was doing is no longer so, how it ended is."""
        self._keep(lambda _, record: record.state not in (ProgramState.WORKING, ProgramState.BLOCKED))

    def reset(self) -> None:
        """RIS: forget all."""
        self._records.clear()

    def app(self, path: str) -> str:
        """The program's name in the record, else in the nearest one above it, else `""`."""
        while path:
            record = self._records.get(path)
            if record and record.app:
                return record.app
            path = path.rpartition("/")[0]
        return self.root.app if self.root else ""

    def deciding(self) -> StatusReport | None:
        """The record that says how the whole stands.

        A blocked record decides wherever it is, the root first; else the root does; without a root a working child,
        else the child that spoke last. Of several equal children the one that spoke last.
        """
        root = self.root
        if root and root.state is ProgramState.BLOCKED:
            return root
        latest_first = list(reversed(self._records.values()))
        blocked = next((record for record in latest_first if record.state is ProgramState.BLOCKED), None)
        working = next((record for record in latest_first if record.state is ProgramState.WORKING), None)
        return blocked or root or working or next(iter(latest_first), None)

    def _keep(self, wanted: Callable[[str, StatusReport], bool]) -> None:
        self._records = {path: record for path, record in self._records.items() if wanted(path, record)}


def _is_within(path: str, above: str) -> bool:
    return not above or path == above or path.startswith(f"{above}/")
