"""What an agent's OSC sequences say: title, progress, notification, prompt mark, working directory, program status.

Owns the payload grammars (xterm ctlseqs for 0, 2 and 7; ConEmu for 9;n; Treeport's rules for which 9;4 frames count;
iTerm2 for 9; kitty's desktop-notifications for 99; urxvt for 777; FinalTerm for 133) and the state that kitty's chunks
need. What a signal means for the agent's state is for rules.py.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from .controls import OscNumber, ProgressState
from .parser import Osc
from .program_status import StatusQuery, StatusReport, parse_program_status

MAX_TITLE = 256
"""Code points of a title, as in Treeport."""
MAX_BODY = 1024
"""Code points of a notification's body; terminals show less."""
MAX_PATH = 4096
"""Code points of a working directory: Linux' PATH_MAX."""
MAX_OPEN_NOTIFICATIONS = 16
"""Kitty notifications whose last chunk is still out; the oldest leaves first. Agents have one at a time."""
MAX_NOTIFICATION_BYTES = 4096
"""Bytes kept of each text of an open kitty notification: room for `MAX_BODY` code points."""

_MEMO_BYTES = 128
_MEMO_ENTRIES = 512
"""Which sequences are remembered with what they say, and how many: the same few come at every frame."""
_KITTY_NOTIFICATION = b"%d;" % OscNumber.KITTY_NOTIFICATION


class Title(NamedTuple):
    """OSC 0 or 2: trimmed, without control and format characters, at most `MAX_TITLE` long; empty when cleared."""

    text: str


class Progress(NamedTuple):
    """OSC 9;4. `percent` is 0 to 100, None where none was given."""

    state: ProgressState
    percent: int | None


class Notification(NamedTuple):
    """OSC 9 with a text, 99 or 777: sanitised as a title is; one of the two may be empty."""

    title: str
    body: str


class PromptMark(NamedTuple):
    """OSC 133. `kind` is A (prompt), B (command line), C (output) or D (end); `exit_code` is D's, where given."""

    kind: str
    exit_code: int | None


class WorkingDirectory(NamedTuple):
    """OSC 7 or 9;9. `path` is absolute; `host` is empty where none was given."""

    host: str
    path: str


Signal = Title | Progress | Notification | PromptMark | WorkingDirectory | StatusReport | StatusQuery

_CONEMU_COMMAND = re.compile(rb"(?:[1-9]|1[0-2])(?:;|\Z)")
_PROGRESS = re.compile(rb"4;(?:0(?:;.*)?|([1-4])(?:;([0-9]{0,3})(?:;.*)?)?)", re.DOTALL)
_PROMPT_MARK = re.compile(rb"(?:[ABC]|D(?:;(-?[0-9]{1,10}))?)(?:;.*)?", re.DOTALL)
_FILE_URL = re.compile(rb"file://([^/]*)(/.*)", re.DOTALL)


def clean_text(text: str, limit: int) -> str:
    """Trim, drop control and format characters (Cc, Cf: bidi controls too), and cut to `limit` code points.

    Variation selectors stay (they are Mn): agents choose their status glyphs by them.
    """
    if not text.isprintable():
        text = "".join(character for character in text if unicodedata.category(character) not in ("Cc", "Cf"))
    return text.strip()[:limit]


class OscReader:
    """Reads the OSC sequences of one stream."""

    def __init__(self) -> None:
        self._notifications = _KittyNotifications()

    def read(self, osc: Osc) -> Signal | None:
        """Tell what a sequence says; None for what says nothing to us, be it unknown or invalid."""
        if osc.data.startswith(_KITTY_NOTIFICATION):
            return self._notifications.read(osc.data[len(_KITTY_NOTIFICATION) :])
        return _read_again(osc) if len(osc.data) <= _MEMO_BYTES else _read(osc)


def _read(osc: Osc) -> Signal | None:
    written, _, payload = osc.data.partition(b";")
    if not written.isdigit() or len(written) > 4:
        return None
    match int(written):
        case OscNumber.TITLE_AND_ICON | OscNumber.TITLE:
            return Title(_clean(payload, MAX_TITLE))
        case OscNumber.CONEMU:
            return _conemu(payload)
        case OscNumber.PROGRAM_STATUS:
            length = len(b"\x1b]") + len(osc.data) + (1 if osc.bel else 2)
            return parse_program_status(payload, sequence_length=length)
        case OscNumber.NOTIFICATION:
            return _urxvt_notification(payload)
        case OscNumber.PROMPT_MARK:
            return _prompt_mark(payload)
        case OscNumber.WORKING_DIRECTORY:
            return _file_url(payload)
    return None


_read_again = lru_cache(maxsize=_MEMO_ENTRIES)(_read)


def _conemu(payload: bytes) -> Progress | WorkingDirectory | Notification | None:
    """OSC 9 is a notification, unless it begins with the number of one of ConEmu's commands."""
    if not _CONEMU_COMMAND.match(payload):
        return _notification(b"", payload)
    if payload.startswith(b"9;"):
        return _working_directory(b"", payload[2:].strip(b'"'))
    return _progress(payload)


def _progress(payload: bytes) -> Progress | None:
    """`4;state[;percent[;ignored]]`. An invalid frame is no signal at all: it neither clears nor renews."""
    written = _PROGRESS.fullmatch(payload)
    if not written:
        return None
    state, percent = written.groups()
    if percent and int(percent) > 100:
        return None
    return Progress(ProgressState(int(state or b"0")), int(percent) if percent else None)


def _urxvt_notification(payload: bytes) -> Notification | None:
    command, _, rest = payload.partition(b";")
    title, _, body = rest.partition(b";")
    return _notification(title, body) if command == b"notify" else None


def _notification(title: bytes, body: bytes) -> Notification | None:
    notification = Notification(_clean(title, MAX_TITLE), _clean(body, MAX_BODY))
    return notification if any(notification) else None


def _prompt_mark(payload: bytes) -> PromptMark | None:
    written = _PROMPT_MARK.fullmatch(payload)
    if not written:
        return None
    return PromptMark(payload[:1].decode("ascii"), int(written[1]) if written[1] else None)


def _file_url(payload: bytes) -> WorkingDirectory | None:
    url = _FILE_URL.fullmatch(payload)
    return _working_directory(unquote_to_bytes(url[1]), unquote_to_bytes(url[2])) if url else None


def _working_directory(host: bytes, path: bytes) -> WorkingDirectory | None:
    try:
        directory = WorkingDirectory(host.decode("utf-8"), path.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if not directory.path.startswith("/") or len(directory.path) > MAX_PATH:
        return None
    if any(unicodedata.category(character) == "Cc" for part in directory for character in part):
        return None
    return directory


def _clean(text: bytes, limit: int) -> str:
    return clean_text(text.decode("utf-8", "replace"), limit)


@dataclass(slots=True)
class _OpenNotification:
    title: bytes = b""
    body: bytes = b""


class _KittyNotifications:
    """Puts kitty's notifications (OSC 99) together from their chunks.

    `99 ; key=value : ... ; payload`, with `i` the id, `d=0` where more chunks follow, `p` what the payload is (title by
    default), `e=1` for base64. Source: sw.kovidgoyal.net/kitty/desktop-notifications.
    """

    def __init__(self) -> None:
        self._open: dict[str, _OpenNotification] = {}

    def read(self, sequence: bytes) -> Notification | None:
        """Take in a chunk; returns the notification that it completes."""
        metadata, _, payload = sequence.partition(b";")
        keys = dict(pair.split("=", 1) for pair in metadata.decode("ascii", "replace").split(":") if pair[1:2] == "=")
        kind = keys.get("p", "title")
        if kind in ("?", "close", "alive"):
            return None
        identifier = keys.get("i", "")[:MAX_TITLE]
        notification = self._open.pop(identifier, None) or _OpenNotification()
        text = _decode_chunk(payload) if keys.get("e") == "1" else payload
        if kind == "title":
            notification.title = (notification.title + text)[:MAX_NOTIFICATION_BYTES]
        elif kind == "body":
            notification.body = (notification.body + text)[:MAX_NOTIFICATION_BYTES]
        if keys.get("d") != "0":
            return _notification(notification.title, notification.body)
        if len(self._open) >= MAX_OPEN_NOTIFICATIONS:
            del self._open[next(iter(self._open))]
        self._open[identifier] = notification
        return None


def _decode_chunk(encoded: bytes) -> bytes:
    """Decode base64 whose padding may be missing; b"" where it is none."""
    bare = encoded.rstrip(b"=")
    try:
        return binascii.a2b_base64(bare + b"=" * (-len(bare) % 4))
    except binascii.Error:
        return b""
