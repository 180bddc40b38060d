"""The terminals we know: what each does with what we could send it, and where each fact is from.

Owns the table of terminals, the reading of names and versions, and the choice of a row from the environment and the
terminal's own answer (XTVERSION). Multiplexers are terminals too; their rows are in `hosts.outer`. Does no I/O.

What is not known is None, and what is None is not done: an unknown terminal is sent nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lifecycle_detectors.modes import USUAL_START, Start

Version = tuple[int, ...]
ALWAYS: Version = (0,)
"""A `since` that holds for every version, also where the version is not known."""

ST = b"\x1b\\"

PROGRAM = "TERM_PROGRAM"
PROGRAM_VERSION = "TERM_PROGRAM_VERSION"
_SURETY = {"TERM": 3, PROGRAM: 2}
"""Every terminal sets TERM itself, most set TERM_PROGRAM; other marks are left standing when another terminal is
started inside."""


class Notify(StrEnum):
    """The sequence that brings up a desktop notification."""

    OSC_9 = "OSC 9"
    OSC_99 = "OSC 99"
    OSC_777 = "OSC 777"
    BELL = "BEL"


def dotted(text: str) -> Version:
    """Read `3.6.6`, `next-3.8`, `20240203-110809-5046fc22`: the leading numbers, words between them left out."""
    match = re.search(r"\d+(?:[.-]\d+)*", text)
    return tuple(int(number) for number in re.split(r"[.-]", match[0])) if match else ()


def packed(text: str) -> Version:
    """Read VTE's `8000`: major, minor and micro in two digits each."""
    version = dotted(text)
    return (version[0] // 10000, version[0] // 100 % 100, version[0] % 100) if len(version) == 1 else version


@dataclass(frozen=True, slots=True)
class Terminal:
    """One terminal, or a row of the table; a row's versions are turned into yes or no by `of_version`.

    Attributes:
        name: for people.
        version: empty where it is not known.
        marks: environment variables that show it, each with how its value begins; any one of them is enough.
        answers: how its answer to XTVERSION begins.
        version_variables: environment variables with its version.
        read_version: turns a version's text into numbers.
        progress_since: the version that began to draw OSC 9;4; None: it draws none, or that is not known.
        misread_before: the version up to which OSC 9;4 brings up a notification; None: it never does.
        keep_alive: seconds after which progress is repeated, where it expires; None: never.
        terminator: what our OSC sequences end with.
        notify: how it is made to notify.
        title_stack: `CSI 22 t` and `CSI 23 t` save and restore the title.
        focus: it reports focus when asked by DECSET 1004.
        start: how it starts, in modes that terminals differ in.
        is_multiplexer: others draw what it shows; it stands between us and the user's terminal.
        answers_by_name: it answers XTVERSION, so that another answer or none says that its marks are inherited.
        wrap: what carries a sequence through it.
        sources: where the facts are from.
    """

    name: str
    version: Version = ()
    marks: tuple[tuple[str, str], ...] = ()
    answers: str = ""
    version_variables: tuple[str, ...] = (PROGRAM_VERSION,)
    read_version: Callable[[str], Version] = dotted
    progress_since: Version | None = None
    misread_before: Version | None = None
    keep_alive: float | None = None
    terminator: bytes = ST
    notify: Notify = Notify.BELL
    title_stack: bool | None = None
    focus: bool | None = None
    start: Start = USUAL_START
    is_multiplexer: bool = False
    answers_by_name: bool = True
    wrap: Callable[[bytes], bytes] | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def draws_progress(self) -> bool:
        """It draws OSC 9;4 in this version."""
        return self.progress_since is not None and self._is_since(self.progress_since)

    @property
    def misreads_progress(self) -> bool:
        """OSC 9;4 brings up a notification in this version, or may do so."""
        return self.misread_before is not None and not self._is_since(self.misread_before)

    def _is_since(self, version: Version) -> bool:
        return version == ALWAYS or self.version >= version

    def shown_by(self, environ: Mapping[str, str]) -> int:
        """Tell how surely the environment shows it: 0 for not at all."""
        shown = [name for name, value in self.marks if name in environ and environ[name].startswith(value)]
        return max((_SURETY.get(name, 1) for name in shown), default=0)


UNKNOWN = Terminal("unknown")

# That a terminal reports its focus is told by its own documentation, and true of nearly all of today's.
TERMINALS: tuple[Terminal, ...] = (
    Terminal(
        "Ghostty",
        marks=((PROGRAM, "ghostty"), ("TERM", "xterm-ghostty")),
        answers="ghostty",
        progress_since=(1, 2),
        keep_alive=10.0,
        notify=Notify.OSC_777,
        title_stack=False,
        focus=True,
        start=Start({1007: True, 1035: True, 1036: True, 2027: True}, b"text"),
        sources={
            "progress": "release notes 1.2.0: drawn; GTK and macOS drop it 15 s after the last report (source)",
            "notify": "source: OSC 9 and 777",
            "title_stack": "source, stream_handler.zig: parsed, does nothing",
            "start": "source, modes.zig and the default configuration (grapheme-width-method = unicode)",
        },
    ),
    Terminal(
        "iTerm2",
        marks=((PROGRAM, "iTerm.app"), ("LC_TERMINAL", "iTerm2")),
        answers="iterm2",
        version_variables=("LC_TERMINAL_VERSION", PROGRAM_VERSION),
        progress_since=(3, 6, 6),
        misread_before=(3, 6, 6),
        notify=Notify.OSC_9,
        title_stack=True,
        focus=True,
        sources={
            "progress": "release notes 3.6.6 (2025-11-17); before, every OSC 9 is a notification",
            "notify": "iterm2.com/documentation-escape-codes: OSC 9",
        },
    ),
    Terminal(
        "kitty",
        marks=(("KITTY_WINDOW_ID", ""), ("TERM", "xterm-kitty")),
        answers="kitty",
        version_variables=(),
        progress_since=(0, 38),
        misread_before=(0, 38),
        keep_alive=30.0,
        notify=Notify.OSC_99,
        title_stack=True,
        focus=True,
        sources={
            "progress": "changelog 0.38: OSC 9;4 is no notification any more; progress.py drops it after 60 s",
            "notify": "sw.kovidgoyal.net/kitty/desktop-notifications",
        },
    ),
    Terminal(
        "WezTerm",
        marks=((PROGRAM, "WezTerm"), ("WEZTERM_PANE", "")),
        answers="wezterm",
        progress_since=(20250201,),
        notify=Notify.OSC_777,
        title_stack=False,
        focus=True,
        sources={
            "progress": "wezterm/wezterm#6581: nightly builds since 2025-02",
            "title_stack": "wezterm/wezterm#5800 is open",
        },
    ),
    Terminal(
        "Windows Terminal",
        marks=(("WT_SESSION", ""),),
        answers="windows terminal",
        progress_since=ALWAYS,
        focus=True,
        sources={"progress": "release notes 1.6 (2020); no version is told, none older is in use"},
    ),
    Terminal(
        "ConEmu",
        marks=(("ConEmuANSI", "ON"), ("ConEmuPID", "")),
        progress_since=ALWAYS,
        title_stack=False,
        sources={"progress": "conemu.github.io/en/AnsiEscapeCodes: where OSC 9;4 is from"},
    ),
    Terminal(
        "VS Code",
        marks=((PROGRAM, "vscode"),),
        progress_since=(1, 97),
        title_stack=False,
        focus=True,
        sources={
            "progress": "release notes 1.97: drawn where the tab's title has ${progress}; whole numbers only",
            "title_stack": "xterm.js has none",
        },
    ),
    Terminal(
        "VTE",
        marks=(("VTE_VERSION", ""),),
        answers="vte",
        version_variables=("VTE_VERSION",),
        read_version=packed,
        progress_since=(0, 80),
        title_stack=True,
        focus=True,
        sources={
            "progress": "VTE 0.80 (0.79 was its development series); ended by ST, not by BEL",
            "notify": "OSC 777 is a patch of some distributions",
        },
    ),
    Terminal(
        "Rio",
        marks=((PROGRAM, "rio"),),
        answers="rio",
        sources={"progress": "raphamorim/rio#1509, #1548: drawn, but repeats restart it; version not known"},
    ),
    Terminal(
        "Konsole",
        marks=(("KONSOLE_VERSION", ""),),
        answers="konsole",
        focus=True,
        sources={"progress": "merge request 1054, open since 2024-12"},
    ),
    Terminal(
        "foot",
        marks=(("TERM", "foot"),),
        answers="foot",
        notify=Notify.OSC_777,
        title_stack=True,
        focus=True,
        sources={"notify": "foot-ctlseqs(7): OSC 9, 777, 99"},
    ),
    Terminal(
        "Alacritty",
        marks=(("ALACRITTY_WINDOW_ID", ""), ("TERM", "alacritty")),
        title_stack=True,
        focus=True,
        sources={"progress": "docs/escape_support.md: no OSC 9", "title_stack": "docs/escape_support.md"},
    ),
    Terminal(
        "Apple Terminal",
        marks=((PROGRAM, "Apple_Terminal"),),
        title_stack=False,
        focus=True,
        sources={"progress": "draws none"},
    ),
    Terminal(
        "xterm",
        marks=(("XTERM_VERSION", ""),),
        answers="xterm(",
        version_variables=("XTERM_VERSION",),
        title_stack=True,
        focus=True,
        start=Start({1007: False, 1035: True, 1036: True}),
        sources={"title_stack": "ctlseqs: XTWINOPS 22, 23", "start": "ctlseqs and the resources' defaults"},
    ),
)


def identify(environ: Mapping[str, str], answer: str | None = None) -> Terminal:
    """Tell which terminal we are in.

    Args:
        environ: our environment.
        answer: the terminal's answer to XTVERSION, empty when it answered other questions but not this one, None when
            it has answered nothing.

    What the terminal answers counts more than the environment, which is inherited by everything that was started in a
    terminal, other terminals included.
    """
    from lifecycle_wrap.hosts.outer import multiplexers

    between = multiplexers(environ)
    if answer:
        for row in (*between, *TERMINALS):
            if row.answers and answer.lower().startswith(row.answers):
                return replace(row, version=row.read_version(answer[len(row.answers) :]))
    for row in between:
        if row.shown_by(environ) and not (row.answers_by_name and answer is not None):
            return _with_version(row, environ)
    possible = [row for row in TERMINALS if not (answer and row.answers)]
    likeliest = max(possible, key=lambda row: row.shown_by(environ))
    if likeliest.shown_by(environ):
        return _with_version(likeliest, environ)
    return replace(UNKNOWN, name=answer) if answer else UNKNOWN


def _with_version(row: Terminal, environ: Mapping[str, str]) -> Terminal:
    told = next((environ[name] for name in row.version_variables if name in environ), "")
    return replace(row, version=row.read_version(told))
